internal import ArgumentParser
internal import CommandSupport
internal import Configuration
internal import LinuxHost
internal import Listener
internal import Sightings

struct Find: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "find", abstract: "Guide you to one beacon.",
        discussion: """
            pharos find
            pharos find lobby.json
            pharos find C5:A1:CB:0C:56:13
            pharos find --strongest
            pharos find lobby-north --known museum.json
            pharos find uid:8b0ca750095477cb3e77-000000000002 --turn
            pharos find lobby-north --known museum.json --map map.json

            Name the beacon as you know it: its name in --known, an identity as `pharos scan` prints it, an address, a \
            UUID, the name that a device sends, or a profile. Without a beacon, or if several beacons have the UUID or \
            name, it listens for 5 s and shows a list to choose from.

            Prints "warmer" or "colder" only if the levels differ by more than chance (three standard errors). A \
            distance is always an interval, which contained the true distance in 92 % of measurements between devices \
            of two people. Stops when you reach the beacon, or with Ctrl-C.
            """)

    @Argument(
        help: ArgumentHelp("The name, identity, address, UUID or profile of a beacon.", valueName: "beacon"),
        completion: .file())
    var beacon: String?

    @Flag(help: "Take the strongest beacon, or the strongest of those with the given UUID or name.")
    var strongest = false

    @Flag(help: "Ask for scan responses, in which many devices send their names. This costs other devices' batteries.")
    var active = false

    @OptionGroup var source: BeaconSourceOptions

    // With this option, pharos-hub runs the command. The option is declared here for help and completions.
    @Option(
        help: ArgumentHelp("A map, to show where the beacon is and how far away it is.", valueName: "file"),
        completion: .file())
    var map: String?

    @Flag(help: "Find the direction: turn by a quarter every 4 s, with the receiver close to your body.")
    var turn = false

    @OptionGroup var options: FindOptions

    func validate() throws {
        if turn && (source.replay != nil || options.durationS != nil) {
            throw ValidationError(
                "--turn needs an adapter for four times 4 s: leave out --replay and --duration-s.")
        }
        if beacon != nil, strongest, beacon.map(BeaconQuery.identity) ?? nil != nil {
            throw ValidationError("An identity belongs to one beacon: leave out --strongest.")
        }
        if active, source.replay != nil { throw ValidationError("--replay reads a file: leave out --active.") }
        try options.check(with: source)
    }

    func run() throws {
        let file = beacon.flatMap { $0.hasSuffix(".json") || $0.contains("/") && Files.exists($0) ? $0 : nil }
        let known = try KnownBeacons(source.known + (file.map { [$0] } ?? []))
        for warning in known.warnings { Terminal.writeMessage(warning) }
        guard let name = try choose(known, file) else { return }
        if turn { return try findDirection(name, known) }
        let feed = try source.open(known, duration: options.durationS, isActive: active)
        let listener = FindListener(
            try BeaconChoice(name, known, feed.clock), feed.clock, name: name, json: options.json,
            sound: options.sound)
        listener.guide.exponent = options.pathLossExponent
        try feed.run(listener)
        if let problem = listener.problem { throw Failure(.temporaryFailure, "\(name): \(problem)") }
    }

    private static let directionWords = ["ahead of where you began", "to the right", "behind", "to the left"]
    private static let quarterMicroseconds = 4_000_000

    /// Returns the name or identity of the beacon to find. If several beacons are possible and no user can choose,
    /// prints their list and returns `nil`.
    private func choose(_ known: KnownBeacons, _ file: String?) throws -> String? {
        let query: BeaconQuery
        if let file {
            let names = try KnownBeacons([file]).names
            query = names.count == 1 ? .known(names.first ?? "") : .names(names)
        } else {
            query = beacon.map { BeaconQuery($0, known) } ?? .all
        }
        switch query {
        case .known(let name): return name
        case .identity: return beacon
        case .pattern, .names, .localName, .all: break
        }
        let candidates = try search(query, known)
        if let first = candidates.first, strongest || candidates.count == 1 && beacon != nil { return first.title }
        Terminal.show(BeaconSearch.text(candidates), or: BeaconSearch.json(candidates), asJSON: options.json)
        if let chosen = ask(candidates) { return chosen.title }
        guard let beacon else { return nil }
        throw Failure(
            .usage,
            "\(TerminalText.line(beacon)): \(candidates.count) beacons match: name one of the list, or use --strongest"
        )
    }

    private func search(_ query: BeaconQuery, _ known: KnownBeacons) throws -> [BeaconSearch.Candidate] {
        if source.replay == "-" {
            throw Failure(.usage, "Standard input can be read only once: name one beacon by its identity or address.")
        }
        let feed = try source.open(known, duration: BeaconSearch.microseconds, isActive: active)
        let search = BeaconSearch(query, known.table(feed.clock))
        if Terminal.errorIsTerminal, source.replay == nil { Terminal.writeError("listening for 5 s\n") }
        try feed.run(search)
        let candidates = search.candidates
        guard candidates.isEmpty else { return candidates }
        let what = beacon.map(TerminalText.line) ?? "any beacon"
        guard case .localName = query else {
            throw Failure(.temporaryFailure, "\(what): nothing was received from it")
        }
        let nearestName = beacon.flatMap { NearestWord.find($0, among: known.names.sorted()) }
        let condition = active ? "" : " (many send it only with --active)"
        let question = nearestName.map { "; did you mean \(TerminalText.line($0))?" } ?? ""
        throw Failure(
            .usage,
            "\(what): this is not an identity such as ibeacon:UUID-1-2 or AA:BB:CC:DD:EE:FF, no beacon of --known has that name, "
                + "and no device sends it as its name\(condition)\(question)")
    }

    /// Returns the beacon that the user chooses by its number; `nil` without a terminal, or if the user chooses none.
    private func ask(_ candidates: [BeaconSearch.Candidate]) -> BeaconSearch.Candidate? {
        guard Terminal.inputIsTerminal, Terminal.errorIsTerminal else { return nil }
        while true {
            Terminal.writeError("number of the beacon (1...\(candidates.count)): ")
            guard let line = BeaconSourceOptions.answer(), !line.isEmpty else { return nil }
            if let number = Int(line), candidates.indices.contains(number - 1) { return candidates[number - 1] }
        }
    }

    private func findDirection(_ name: String, _ known: KnownBeacons) throws {
        var result = FindTurn()
        let signals = try SignalDescriptor()
        for direction in 0..<FindTurn.directions {
            BeaconSourceOptions.prompt(direction == 0 ? "Hold the receiver in front of you" : "Turn right by a quarter")
            let feed = try source.open(known, duration: Self.quarterMicroseconds, signals: signals)
            let listener = FindListener(try BeaconChoice(name, known, feed.clock), feed.clock, name: name)
            try feed.run(listener)
            // An interrupted turn gives no direction.
            if signals.takenAt != nil { throw Failure(.temporaryFailure) }
            for level in listener.levels { result.receive(level, direction: direction) }
        }
        guard result.levels.contains(where: { $0 != nil }) else {
            throw Failure(.temporaryFailure, "\(name): nothing was received from it")
        }
        let estimate = result.beaconDirection
        if options.json {
            let levels = result.levels.map { JSONValue.rounded($0) }
            return Terminal.write(
                JSONValue.record([
                    ("event", "turn"), ("beacon", .string(name)), ("rssiDbm", .array(levels)),
                    ("direction", .optional(estimate) { .integer($0.direction * 90) }),
                    ("confidence", .rounded(estimate?.confidence)),
                ]).line + "\n")
        }
        guard let estimate else {
            return Terminal.show("no direction found: the differences of the levels may be chance\n")
        }
        let percent = Int((estimate.confidence * 100).rounded(.down))
        Terminal.show("\(Self.directionWords[estimate.direction]), with \(percent) % confidence\n")
    }
}
