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
        commandName: "start", abstract: "Start a count, or join the count that is open.",
        discussion: """
            pharos inventory start tools.json --by ana
            pharos inventory start tools.json --receivers hci0 hci1
            pharos inventory start tools.json --replay walk.btsnoop --json

            Walk past the items until all are found. Each run of this command is one part of the count. Ctrl-C ends \
            your part, and `pharos inventory finish` ends the count. Several people and receivers can count at the \
            same time. Every part is kept, even if it is interrupted. To merge the parts of other machines, copy their \
            files into the count's directory.
            """)

    @OptionGroup var source: InventoryFile

    @Option(help: ArgumentHelp("Name of the person who counts (default: the user's name).", valueName: "name"))
    var by: String?

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp("Adapters to use at the same time: all, or their names.", valueName: "name"),
        completion: .adapters)
    var receivers: [String] = []

    @Option(
        help: ArgumentHelp(
            "Distance up to which a beacon is near (default: withinM of the file, or 1).", valueName: "m"),
        transform: { try OptionValue.number($0, in: 0.1...100, "m") })
    var withinM: Double?

    @Option(
        help: ArgumentHelp(
            "Memory for the sightings of earlier seconds: window (for each beacon) or shared-queue (one queue for all beacons) "
                + "(default: that of the file).", valueName: "rule"),
        completion: .list(CountRule.Kind.allCases.map(\.rawValue)), transform: Self.kind)
    var rule: CountRule.Kind?

    @Option(
        help: ArgumentHelp("Length of the window in rounds of one second, 4...60 (default: 6).", valueName: "n"),
        transform: { try OptionValue.integer($0, in: 4...60) })
    var rounds: Int?

    @Option(
        help: ArgumentHelp("Capacity of the shared queue, in sightings.", valueName: "n"),
        transform: { try OptionValue.integer($0, in: 4...100_000) })
    var capacity: Int?

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "Another inventory, whose items are reported as foreign. May be repeated.", valueName: "file"),
        completion: .file())
    var foreign: [String] = []

    @Option(
        help: ArgumentHelp(
            "Join or start the count of this name (default: the open count, or a new count named after the day).",
            valueName: "name"))
    var count: String?

    @OptionGroup var receiver: ReceiverOptions

    @Flag(help: "Print one line of JSON for each found item, and one for the result.")
    var json = false

    func validate() throws {
        if !receivers.isEmpty && (receiver.adapter != nil || !receiver.replay.isEmpty) {
            throw ValidationError("--receivers names the adapters; --adapter and --replay cannot be used with it.")
        }
        if rounds != nil && rule == .sharedQueue {
            throw ValidationError("--rounds cannot be used with --rule shared-queue: give a --capacity.")
        }
        if capacity != nil && rule != .sharedQueue {
            throw ValidationError("--capacity needs --rule shared-queue.")
        }
        if rule == .sharedQueue && capacity == nil { throw ValidationError("--rule shared-queue needs a --capacity.") }
        if receiver.replay.filter({ $0 == "-" }).count + (source.file == "-" ? 1 : 0) > 1 {
            throw ValidationError("Standard input can be read only once.")
        }
        if let count, !Self.isName(count) {
            throw ValidationError(
                "--count: the name of a count has 1 to 64 letters (A-Z, a-z), digits, \".\", \"_\" and \"-\", and "
                    + "begins with a letter, a digit or \"_\".")
        }
        if let by,
            by.isEmpty || by.unicodeScalars.count > 100
                || by.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        {
            throw ValidationError("--by: use 1 to 100 characters, without control characters.")
        }
    }

    private static func isName(_ text: String) -> Bool {
        let hasOnlyAllowedCharacters = text.utf8.allSatisfy {
            Character(Unicode.Scalar($0)).isLetter && $0 < 0x80 || Character(Unicode.Scalar($0)).isNumber && $0 < 0x80
                || "._-".utf8.contains($0)
        }
        return hasOnlyAllowedCharacters && (1...64).contains(text.utf8.count) && !text.hasPrefix(".")
            && !text.hasPrefix("-")
    }

    private static func kind(_ text: String) throws -> CountRule.Kind {
        guard let kind = CountRule.Kind(rawValue: text) else { throw Mistake("use window or shared-queue") }
        return kind
    }

    func run() throws {
        guard source.file != "-" else {
            throw Failure(.usage, "a count needs an inventory file, not standard input: name the file")
        }
        let store = source.store
        let inventory = try store.read()
        guard !inventory.items.isEmpty else {
            throw Failure(
                .configuration, "\(source.file): the inventory has no items; add them with `pharos inventory add`")
        }
        let others = try foreign.map { try InventoryStore($0).read() }
        let known = try KnownBeacons(receiver.known)
        for warning in known.warnings { Terminal.writeMessage(warning) }
        let rule = ruleWithOptions(inventory.rule)
        if case .sharedQueue(let capacity) = rule.memory {
            Terminal.writeMessage(
                "warning: all beacons share one queue of \(capacity) sightings: if "
                    + "\((capacity - 1) / 3 + 1) or more beacons are near, none is found")
        }
        let adapters = try adapters()
        let progressLine = ProgressLine()
        let json = json
        let run = CountRun(
            store, inventory, others: others, rule: rule, by: by ?? CountRun.currentUser, receiver: receiver.settings
        ) { event in
            switch event {
            case .found(let item):
                Terminal.show(item.text + "\n", or: item.json, asJSON: json)
            case .progress(let found, let items):
                progressLine.report { "\(found) of \(items) found; Ctrl-C ends your part" }
            case .warning(let sentence): Terminal.writeMessage(sentence)
            }
        }
        if receiver.replay.isEmpty {
            try run.listen(adapters, inventory.virtualBeacons(known), countName: count)
        } else {
            for file in receiver.replay { try run.replay(file, countName: count) }
        }
        progressLine.finish()
        guard let report = try run.report() else { return }
        Terminal.show(report.summaryText(of: store.path), or: report.summaryJSON, asJSON: json)
    }

    /// Returns the inventory's rule, changed by the options.
    private func ruleWithOptions(_ inventoryRule: CountRule) -> CountRule {
        var changedRule = inventoryRule
        switch rule {
        case .window: changedRule.memory = .window(rounds: rounds ?? 6)
        case .sharedQueue: changedRule.memory = .sharedQueue(capacity: capacity ?? 4)
        case nil: if let rounds { changedRule.memory = .window(rounds: rounds) }
        }
        if let withinM { changedRule.withinMillimetres = Int((withinM * 1000).rounded()) }
        return changedRule
    }

    /// Returns the adapters to listen on; an element `nil` stands for the first adapter of the machine.
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
                throw Failure(
                    .usage, "--receivers \(name): the kernel drops repeated advertisements there; use hci\(index)")
            }
            guard !adapters.contains(adapter) else {
                throw Failure(.usage, "--receivers \(name): this adapter is given twice")
            }
            adapters.append(adapter)
        }
        return adapters
    }
}

struct InventoryFinish: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "finish", abstract: "Finish the open count.",
        discussion: "Later changes of the inventory do not change the report of a finished count.")

    @OptionGroup var source: InventoryFile

    @Option(
        help: ArgumentHelp("Name of the person who finishes the count (default: the user's name).", valueName: "name"))
    var by: String?

    @Option(help: ArgumentHelp("Finish this count (default: the last count).", valueName: "name"))
    var count: String?

    @Flag(help: "Print the report as one JSON object.")
    var json = false

    func run() throws {
        let inventory = try source.store.read()
        let name = try source.store.finish(inventory, by: by ?? CountRun.currentUser, name: count)
        let report = try source.store.lastReport(inventory, of: name)
        if json { return Terminal.write(report.json.line + "\n") }
        Terminal.writeLine("Count \(report.countName) is finished: \(report.summary).")
        for change in report.changes { Terminal.writeLine("  \(change.id): \(change.kind.rawValue)") }
    }
}
