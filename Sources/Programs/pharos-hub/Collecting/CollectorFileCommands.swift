internal import ArgumentParser
internal import BluetoothTypes
internal import Collector
internal import CommandSupport
internal import Configuration
internal import LinuxHost
internal import Listener
internal import Positioning
internal import Sites

struct CollectGroup: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "collect",
        abstract: "Combine the reports of all receivers of a site to find the room of each beacon.",
        discussion: """
            pharos collect init museum.json --receiver hall --receiver desk
            pharos collect check museum.json
            pharos listen hall.json --print --json | pharos collect museum.json
            pharos collect museum.json

            `pharos collect run --help` shows the options of a collector; the word run may be left out.
            """,
        subcommands: [CollectCommand.self, CollectCheck.self, CollectInit.self], defaultSubcommand: CollectCommand.self)
}

struct CollectCheck: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "List every problem of a collector file and its site files; exit 1 if there is an error.")

    @OptionGroup var source: CheckedFile

    func run() throws { try source.report { try CheckResult(collector: $0) } }
}

extension CheckResult {
    /// Checks a collector file and the site files that it names.
    ///
    /// - Throws: An error if the collector file cannot be read.
    init(collector path: String) throws {
        let name = Files.inputName(path)
        let (decoded, problems) = CollectorFile.decode(try InputFile.read(path))
        self.init(
            errors: problems.filter(\.isError).map { $0.text(file: name) },
            warnings: problems.filter { !$0.isError }.map { $0.text(file: name) }, summary: "")
        guard var file = decoded else { return }
        let directory = Files.directory(of: path)
        var sites: [Site] = []
        for floor in file.floors {
            do {
                sites.append(try MapFile.site(floor.site.hasPrefix("/") ? floor.site : directory + floor.site))
            } catch {
                errors += error.messages
            }
        }
        if sites.count == file.floors.count {
            file.placeReceivers(by: sites)
            warnings += file.placesOutside(of: sites).map { "\(name): \($0)" }
        }
        for receiver in file.receivers where receiver.position == nil && receiver.room == nil {
            warnings.append(
                "\(name): the receiver \(receiver.name) has neither a position nor a room, so it cannot place a beacon")
        }
        let counts = [
            NumberFormat.count(file.receivers.count, "receiver"), NumberFormat.count(file.floors.count, "floor"),
            NumberFormat.count(file.beacons.count, "described beacon"),
        ]
        summary = "\(name): the collector \(file.name) with \(counts.joined(separator: ", ")) is correct"
    }
}

struct CollectInit: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Write a collector file to start from.",
        discussion: """
            pharos collect init museum.json --receiver hall --receiver desk
            pharos collect init museum.json --receiver hall --receiver desk --broker mqtt://broker

            Each receiver has the name of its listener, and a room of the same name. Without floor plans, a beacon is \
            in the room of the receiver with the highest level. Add "floors" and positions for better rooms.
            """)

    @Argument(help: ArgumentHelp("File to write, or - for standard output.", valueName: "file"), completion: .file())
    var file: String

    @Option(help: ArgumentHelp("Name of the site (default: the file's name).", valueName: "name"))
    var name: String?

    @Option(
        parsing: .singleValue, help: ArgumentHelp("Name of a receiver. May be repeated.", valueName: "name"))
    var receiver: [String] = []

    @Option(help: ArgumentHelp("Address of an MQTT broker, such as mqtt://broker.", valueName: "url"))
    var broker: String?

    @OptionGroup var replaceOption: ReplaceOption

    func validate() throws {
        if receiver.isEmpty { throw ValidationError("Give at least one --receiver NAME, the name of a listener.") }
    }

    func run() throws {
        var members: [(String, JSONValue)] = [
            ("version", .integer(1)), ("name", .string(name ?? NewHubFile.stem(of: file))),
            (
                "receivers",
                .array(receiver.map { .record([("name", .string($0)), ("room", .string($0))]) })
            ), ("history", .record([])),
        ]
        if let broker {
            members.append(("mqtt", .record([("url", .string(broker)), ("homeAssistant", .boolean(true))])))
        }
        let text = JSONValue.record(members).pretty
        let next = broker == nil ? "pharos listen \(receiver[0]).json --print --json | " : ""
        try NewHubFile.write(text, to: file, replaceOption, next: next + "pharos collect \(file)") {
            CollectorFile.decode(Array(text.utf8)).problems
        }
    }
}
