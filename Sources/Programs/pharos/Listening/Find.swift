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
            pharos find lobby-north --known museum.json
            pharos find uid:8b0ca750095477cb3e77-000000000002 --turn
            pharos find lobby-north --known museum.json --map map.json

            Prints "warmer" or "colder" only if the levels differ by more than chance. A distance is always an interval. \
            Stops when you reach the beacon, or with Ctrl-C.
            """)

    @Argument(help: ArgumentHelp("The name of a known beacon, or an identity.", valueName: "beacon"))
    var name: String

    @OptionGroup var source: BeaconSourceOptions

    // With a map, the other program runs this command.
    @Option(
        help: ArgumentHelp("A map, to show where the beacon is and how far away.", valueName: "file"),
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
        try options.check(with: source)
    }

    func run() throws {
        let known = try KnownBeacons(source.known)
        for warning in known.warnings { Terminal.writeError("pharos: \(warning)\n") }
        if turn { return try findDirection(known) }
        let feed = try source.open(known, duration: options.durationS)
        let listener = FindListener(
            try BeaconChoice(name, known, feed.clock), feed.clock, name: name, json: options.json,
            sound: options.sound)
        listener.guide.exponent = options.pathLossExponent
        try feed.run(listener)
        if !listener.hasHeard { throw Failure(.temporaryFailure, "\(name): nothing was received from it") }
    }

    private static let words = ["ahead of where you began", "to the right", "behind", "to the left"]
    private static let quarterMicroseconds = 4_000_000

    private func findDirection(_ known: KnownBeacons) throws {
        var result = FindTurn()
        for direction in 0..<FindTurn.directions {
            BeaconSourceOptions.prompt(direction == 0 ? "Hold the receiver in front of you" : "Turn right by a quarter")
            let feed = try source.open(known, duration: Self.quarterMicroseconds)
            let listener = FindListener(try BeaconChoice(name, known, feed.clock), feed.clock, name: name)
            try feed.run(listener)
            for level in listener.levels { result.hear(level, direction: direction) }
        }
        guard result.levels.contains(where: { $0 != nil }) else {
            throw Failure(.temporaryFailure, "\(name): nothing was received from it")
        }
        let answer = result.answer
        if options.json {
            let levels = result.levels.map { JSONValue.rounded($0) }
            return Terminal.write(
                JSONValue.record([
                    ("event", "turn"), ("beacon", .string(name)), ("rssiDbm", .array(levels)),
                    ("direction", .optional(answer) { .integer($0.direction * 90) }),
                    ("confidence", .rounded(answer?.confidence)),
                ]).line + "\n")
        }
        guard let answer else { return Terminal.write("no direction found: the levels differ by less than chance\n") }
        let percent = Int((answer.confidence * 100).rounded(.down))
        Terminal.write("\(Self.words[answer.direction]), with \(percent) % confidence\n")
    }
}
