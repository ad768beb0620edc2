internal import ArgumentParser
internal import BeaconService
internal import BluetoothTypes
internal import CommandSupport
internal import Configuration
internal import HCITransports
internal import Inventory
internal import LinuxHost
internal import Listener

struct InventoryStart: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "start", abstract: "Count: begin, or take part in the count that goes on.",
        discussion: """
            pharos inventory start tools.json --by ana
            pharos inventory start tools.json --receivers hci0 hci1
            pharos inventory start tools.json --replay walk.btsnoop --json

            Walk past the items until all are found; Ctrl-C ends your part, and `pharos inventory finish` the count. \
            Several people and receivers can count at once, and every part is kept, whatever cuts it off. Parts of other \
            machines are merged by copying their files into the count's directory.
            """)

    @OptionGroup var source: InventoryFile

    @Option(help: ArgumentHelp("Who counts (default: the user's name).", valueName: "name"))
    var by: String?

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp("all adapters, or several by name.", valueName: "name"), completion: .adapters)
    var receivers: [String] = []

    @Option(help: ArgumentHelp("Up to this distance a beacon is near (default: that of the file, 1).", valueName: "m"))
    var withinM: Double?

    @Option(
        help: ArgumentHelp("window or shared-queue (default: that of the file).", valueName: "rule"),
        completion: .list(CountRule.Kind.allCases.map(\.rawValue)), transform: Self.kind)
    var rule: CountRule.Kind?

    @Option(
        help: ArgumentHelp("Of a window, in seconds, 4...60.", valueName: "n"),
        transform: { try OptionValue.integer($0, in: 4...60) })
    var rounds: Int?

    @Option(
        help: ArgumentHelp("Of a shared queue, in sightings.", valueName: "n"),
        transform: { try OptionValue.integer($0, in: 4...100_000) })
    var capacity: Int?

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp("Another inventory: its items are told as foreign. May be repeated.", valueName: "file"),
        completion: .file())
    var foreign: [String] = []

    @Option(help: ArgumentHelp("Join or begin the count of this name (default: the day).", valueName: "name"))
    var count: String?

    @OptionGroup var receiver: ReceiverOptions

    @Flag(help: "Print one JSON object a line.")
    var json = false

    func validate() throws {
        if !receivers.isEmpty && (receiver.adapter != nil || !receiver.replay.isEmpty) {
            throw ValidationError("--receivers names the adapters: it goes without --adapter and --replay.")
        }
        if let withinM, !(0.1...100).contains(withinM) {
            throw ValidationError("--within-m \(withinM) is out of range 0.1...100.")
        }
        if rounds != nil && rule == .sharedQueue {
            throw ValidationError("A shared queue has no --rounds: it has a --capacity.")
        }
        if capacity != nil && rule != .sharedQueue {
            throw ValidationError("--capacity belongs to --rule shared-queue.")
        }
        if rule == .sharedQueue && capacity == nil { throw ValidationError("--rule shared-queue needs a --capacity.") }
        if receiver.replay.filter({ $0 == "-" }).count + (source.file == "-" ? 1 : 0) > 1 {
            throw ValidationError("Standard input can be read once only.")
        }
        if let count, !Self.isName(count) {
            throw ValidationError("--count: letters, digits, \".\", \"_\" and \"-\" make a name.")
        }
        if let by,
            by.isEmpty || by.unicodeScalars.count > 100
                || by.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        {
            throw ValidationError("--by takes a name of at most 100 characters, without control characters.")
        }
    }

    private static func isName(_ text: String) -> Bool {
        let isGood = text.utf8.allSatisfy {
            Character(Unicode.Scalar($0)).isLetter && $0 < 0x80 || Character(Unicode.Scalar($0)).isNumber && $0 < 0x80
                || "._-".utf8.contains($0)
        }
        return isGood && (1...64).contains(text.utf8.count) && !text.hasPrefix(".") && !text.hasPrefix("-")
    }

    private static func kind(_ text: String) throws -> CountRule.Kind {
        guard let kind = CountRule.Kind(rawValue: text) else { throw Mistake("use window or shared-queue") }
        return kind
    }

    func run() throws {
        guard source.file != "-" else { throw Failure(.usage, "a count needs a file of its own: name the inventory's") }
        let store = source.store
        let inventory = try store.read()
        guard !inventory.items.isEmpty else {
            throw Failure(
                .configuration, "\(source.file): there is nothing to count; `pharos inventory add` puts items in")
        }
        let others = try foreign.map { try InventoryStore($0).read() }
        let known = try KnownBeacons(receiver.known)
        for warning in known.warnings { Terminal.writeError("pharos: \(warning)\n") }
        let rule = applied(to: inventory.rule)
        if case .sharedQueue(let capacity) = rule.memory {
            Terminal.writeError(
                "pharos: warning: all beacons share one queue of \(capacity): with \((capacity - 1) / 3 + 1) or more of "
                    + "them near none is found\n")
        }
        let adapters = try adapters()
        let person = by ?? UserName.current
        let run = CountRun(store, inventory, others: others, rule: rule, by: person, json: json)
        run.distances = receiver.rule
        run.isEnding = { (try? store.journal($0))?.finish != nil }
        if receiver.replay.isEmpty {
            // Only the first of them hears the samples of --known.
            let (first, settings) = (try receiver.live(adapters[0], known.profiles), receiver.settings)
            try run.listen(first, adapters, count: count) { adapter throws(ListenerServiceError) in
                try ReceiverOptions.live(adapter, settings)
            }
        } else {
            for file in receiver.replay {
                let name = file == "-" ? "standard input" : file.split(separator: "/").last.map(String.init) ?? file
                try run.replay(try receiver.recording(file), name: name, count: count)
            }
        }
        try run.tellSummary()
    }

    private func applied(to rule: CountRule) -> CountRule {
        var applied = rule
        switch self.rule {
        case .window: applied.memory = .window(rounds: rounds ?? 6)
        case .sharedQueue: applied.memory = .sharedQueue(capacity: capacity ?? 4)
        case nil: if let rounds { applied.memory = .window(rounds: rounds) }
        }
        if let withinM { applied.withinMillimetres = Int((withinM * 1000).rounded()) }
        return applied
    }

    /// `nil` for the first adapter that there is.
    private func adapters() throws -> [AdapterName?] {
        guard !receivers.isEmpty else { return [receiver.adapter] }
        if receivers == ["all"] {
            let all = try AdapterReport.all().filter { $0.canListen != false }.map(\.name)
            guard !all.isEmpty else {
                throw Failure(.unavailable, "--receivers all: this machine has no Bluetooth adapter that can listen")
            }
            return try all.map { try OptionValue.adapter($0) }
        }
        var adapters: [AdapterName] = []
        for name in receivers {
            let adapter: AdapterName
            do { adapter = try AdapterName(name) } catch { throw Failure(.usage, "--receivers \(name): \(error)") }
            if case .managed(let index) = adapter {
                throw Failure(.usage, "--receivers \(name): the kernel drops repeats there; use hci\(index)")
            }
            guard !adapters.contains(adapter) else { throw Failure(.usage, "--receivers \(name): it is named twice") }
            adapters.append(adapter)
        }
        return adapters
    }
}

struct InventoryFinish: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "finish", abstract: "End the count that goes on.",
        discussion: "Its report stays what it is, whatever happens to the inventory afterwards.")

    @OptionGroup var source: InventoryFile

    @Option(help: ArgumentHelp("Who ends it (default: the user's name).", valueName: "name"))
    var by: String?

    @Option(help: ArgumentHelp("Another count than the last one.", valueName: "name"))
    var count: String?

    @Flag(help: "Print the report as one JSON object.")
    var json = false

    func run() throws {
        let inventory = try source.store.read()
        let name = try source.store.finish(inventory, by: by ?? UserName.current, name: count)
        let report = try source.store.lastReport(inventory, of: name)
        if json { return Terminal.write(report.json.line + "\n") }
        Terminal.write("Count \(report.count) is finished: \(report.summary).\n")
        for change in report.changes { Terminal.write("  \(change.id): \(change.kind.rawValue)\n") }
    }
}

/// Who the system says that somebody is.
enum UserName {
    static var current: String {
        let id = String(Privileges.user)
        let table = (try? Files.read("/etc/passwd", limit: 1 << 24)) ?? []
        for line in table.split(separator: UInt8(ascii: "\n")) {
            let fields = line.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            if fields.count > 2, String(decoding: fields[2], as: UTF8.self) == id {
                return String(decoding: fields[0], as: UTF8.self)
            }
        }
        return Terminal.environment("LOGNAME") ?? "user \(id)"
    }
}
