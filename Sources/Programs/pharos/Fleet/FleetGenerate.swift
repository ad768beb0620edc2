internal import ArgumentParser
internal import BluetoothTypes
internal import CommandSupport
internal import Configuration
internal import Fleet
internal import FleetStore
internal import LinuxHost
internal import Planner

struct FleetInit: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Write a fleet file: a sample, or one for your table of beacons.",
        discussion: """
            pharos fleet init museum
            pharos fleet init --from beacons.csv

            --from guesses which column has the names, sites, floors, rooms, hosts, positions, iBeacon values, intervals \
            and radio powers. On a terminal, it asks you to confirm each guess. If the meaning of a column is still \
            unknown, it also asks which columns have the other values. The fleet file is written next to the table. Cells \
            may be separated by commas, semicolons or tabs; with semicolons or tabs, numbers may have decimal commas.
            """)

    @Argument(
        help: "Sample: museum (rooms and iBeacon), shop (sites and Eddystone) or car-park (a table).",
        transform: FleetInit.sample)
    var sample: FleetSample?

    @Option(
        help: ArgumentHelp("Make the fleet file for this table, a CSV file of a spreadsheet.", valueName: "table"),
        completion: .file())
    var from: String?

    @Option(name: .shortAndLong, help: ArgumentHelp("The fleet file to make.", valueName: "file"), completion: .file())
    var output: String?

    func validate() throws {
        if from != nil, sample != nil { throw ValidationError("Give a sample or --from, not both.") }
    }

    func run() throws {
        if let from { return try propose(from) }
        let sample = sample ?? .museum
        let path = output ?? sample.rawValue + ".json"
        var files = [(path, sample.text)]
        if let table = sample.table { files.append((Files.directory(of: path) + table.name, table.text)) }
        for (path, _) in files { try Self.refuseExisting(path) }
        for (path, text) in files { try Self.write(text, to: path) }
        let paths = files.map(\.0).joined(separator: " and ")
        Terminal.writeLine("Made \(paths). Next: pharos fleet check \(path)")
    }

    /// Writes a fleet file for a table of beacons.
    private func propose(_ table: String) throws {
        let stem = table.split(separator: "/").last.map { String($0.prefix { $0 != "." }) } ?? ""
        let path = output ?? Files.directory(of: table) + stem + ".json"
        guard Files.directory(of: path) == Files.directory(of: table) else {
            throw Failure(.usage, "\(path): the fleet file must be in the directory of its table")
        }
        try Self.refuseExisting(path)
        let octets = try InputFile.read(table)
        var proposal: FleetProposal
        do throws(FleetProposalError) {
            proposal = try FleetProposal(octets, file: table)
        } catch {
            throw Failure(.dataFormat, error.messages)
        }
        if Terminal.inputIsTerminal, Terminal.errorIsTerminal { ask(&proposal) }
        if let fault = proposal.fault { throw Failure(.dataFormat, fault) }
        var uuid = FixedOctets<16>(Privileges.randomOctets(16)) ?? FixedOctets()
        // Mark the UUID as random: version 4 and the variant 10 (RFC 9562).
        uuid[6] = uuid[6] & 0x0F | 0x40
        uuid[8] = uuid[8] & 0x3F | 0x80
        let name = FleetProposal.groupName(for: stem) ?? "fleet"
        try Self.write(proposal.text(name: name, uuid: uuid.uuidText), to: path)
        var text = "Made \(path) for \(proposal.rows) beacons:\n"
        for role in FleetProposal.Role.allCases {
            guard let column = proposal.roles[role] else { continue }
            text += "  \(TerminalText.quoted(column)) is \(role.text)\n"
        }
        for column in proposal.columns where proposal.unusable[column] != nil {
            let cell = proposal.unusable[column] ?? ""
            let example = FleetProposal.groupName(for: cell).map { ", such as \(TerminalText.quoted($0))" } ?? ""
            text +=
                "  \(TerminalText.quoted(column)) is not used: \(TerminalText.quoted(cell)) cannot name a group; use letters, "
                + "digits, '.', '_' and '-', or add a column with short names\(example)\n"
        }
        for column in proposal.unused { text += "  \(TerminalText.quoted(column)) is not used\n" }
        Terminal.show(text + "Next: pharos fleet check \(path)\n")
    }

    /// Asks on the terminal which column of the table has the names, the sites and so on. The guessed column is the
    /// default answer. Asks for a value without a guessed column only while columns without a meaning remain.
    private func ask(_ proposal: inout FleetProposal) {
        Terminal.writeError("The table has the columns \(proposal.columns.joined(separator: ", ")).\n")
        Terminal.writeError("Press Enter to accept a column, or type another column, or - for none.\n")
        for role in FleetProposal.Role.allCases
        where role == .name || proposal.roles[role] != nil || !proposal.unused.isEmpty {
            while true {
                let question = "Column with \(role.text) [\(proposal.roles[role] ?? "-")]: "
                guard let answer = Terminal.answer(to: question), !answer.isEmpty else { break }
                do throws(FleetProposalError) {
                    try proposal.set(role, to: answer == "-" ? nil : answer)
                    break
                } catch {
                    Terminal.writeError(error.messages.joined(separator: "\n") + "\n")
                }
            }
        }
    }

    private static func refuseExisting(_ path: String) throws {
        if Files.exists(path) { throw Failure(.usage, "\(path): this file exists; choose another name with --output") }
    }

    private static func write(_ text: String, to path: String) throws {
        try ExportFile.write(octets: Array(text.utf8), to: path)
    }

    private static func sample(_ text: String) throws -> FleetSample {
        if let sample = FleetSample(rawValue: text) { return sample }
        if text.hasSuffix(".csv") {
            throw ValidationError("\(text) is a table: use pharos fleet init --from \(text)")
        }
        let known = FleetSample.allCases.map(\.rawValue).joined(separator: ", ")
        throw ValidationError("There is no sample \"\(text)\"; there are \(known).")
    }
}

struct FleetGenerate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "generate",
        abstract: "Write a profile for each beacon, a manifest, and the lock of the identities.",
        discussion: """
            The directory is replaced in one step. Files that do not change are not written. The lock is next to the \
            fleet file; keep both in version control.

            If more than one beacon would get another identity, if a beacon seems to be renamed, or if the lock has \
            lost lines, the command asks on a terminal; without a terminal it needs --renumber. If a group or a beacon \
            has a new name, `pharos fleet rename` keeps the identities.
            """)

    @Argument(help: "The fleet file.", completion: .file())
    var file: String

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The directory for the files. It is created if it does not exist.", valueName: "dir"))
    var output: String

    @Flag(help: "Write only manifest.json and manifest.csv.")
    var manifestOnly = false

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp("Give up the identity of this retired beacon. May be repeated.", valueName: "name")
    )
    var release: [String] = []

    @Flag(help: "Accept a fleet file without beacons, and retire all beacons.")
    var empty = false

    @Flag(help: "Restore a lock that is lost or damaged from the manifest in the directory.")
    var adopt = false

    @Flag(help: "Let the fleet file change the identities of several beacons, and of renamed beacons.")
    var renumber = false

    @Flag(help: "Print what would change, and write nothing.")
    var dryRun = false

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() throws {
        var options = FleetGeneration.Options()
        (options.allowsRenumbering, options.isDryRun) = (renumber, dryRun)
        (options.releasing, options.manifestOnly) = (release, manifestOnly)
        (options.allowsEmpty, options.adoptsManifest) = (empty, adopt)
        let progress = ProgressLine()
        defer { progress.finish() }
        func generate() throws(FleetStoreError) -> FleetGeneration {
            try FleetGeneration(file, into: output, options) { progress.report($0, of: $1, "beacons") }
        }
        let generation: FleetGeneration
        do throws(FleetStoreError) {
            generation = try generate()
        } catch {
            guard error.kind == .renumbering, Self.wantsRenumbering(error) else { throw error }
            options.allowsRenumbering = true
            generation = try generate()
        }
        progress.finish()
        let airtime = FleetAirtime(generation.traffic).warnings(for: generation.fleet)
        for warning in FileProblem.sorted(generation.warnings + airtime) {
            Terminal.writeMessage(warning)
        }
        if dryRun, generation.needsRenumberOption, !renumber {
            let count = generation.renumbered.count
            let change =
                count == 1 ? "1 beacon would get another identity" : "\(count) beacons would get other identities"
            Terminal.writeMessage("\(change), which needs --renumber")
        }
        Terminal.show(generation.text, or: generation.json, asJSON: json)
    }

    /// Asks on the terminal whether beacons may get other identities. Returns false without a terminal.
    private static func wantsRenumbering(_ error: FleetStoreError) -> Bool {
        guard Terminal.inputIsTerminal, Terminal.errorIsTerminal else { return false }
        for message in error.messages.dropLast() { Terminal.writeMessage(message) }
        let answer = Terminal.answer(to: "Give them other identities? [y/N]: ")
        return ["y", "yes"].contains(answer?.lowercased() ?? "")
    }
}

struct FleetRename: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rename", abstract: "Give a group or a beacon another name, and keep its identities.",
        discussion: """
            Changes the fleet file, its tables and the lock. If the fleet file or its table has the new name already, \
            only the lock is changed. The file of a beacon's identity key gets the new name, too. Names have letters \
            from a to z, digits, '.', '_' and '-', so write ae, oe, ue for umlauts. The column `title` of the table has \
            names for people, such as "Main hall". Examples:

              pharos fleet rename museum.json museum/ground ground-floor
              pharos fleet rename museum.json hall-3 hall-east
            """)

    @Argument(help: "The fleet file.", completion: .file())
    var file: String

    @Argument(help: "The present name of a beacon, or the path of a group, such as museum/ground.")
    var old: String

    @Argument(help: "The new name.")
    var new: String

    @Flag(help: "OLD is a group, even if a beacon has the same name.")
    var group = false

    @Flag(help: "OLD is a beacon, even if a group has the same name.")
    var beacon = false

    func validate() throws {
        guard !group || !beacon else { throw ValidationError("Give either --group or --beacon.") }
    }

    func run() throws {
        let kind: FleetNameChange.Kind? = group ? .group : beacon ? .beacon : nil
        let renaming = try FleetRenaming(file, old, to: new, kind: kind)
        Terminal.show(renaming.text + "Next: pharos fleet generate \(file) --output DIRECTORY\n")
    }
}

struct FleetSchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "Print the JSON Schema of fleet files, for editors.")

    func run() {
        Terminal.write(Fleet.schema)
    }
}
