internal import ArgumentParser
internal import BluetoothTypes
internal import CommandSupport
internal import Configuration
internal import LinuxHost
internal import Listener
internal import ListenerService
internal import Sightings
internal import TextEscaping

struct Find: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "find", abstract: "Lead to one beacon.",
        discussion: """
            pharos find lobby-north --known museum.json
            pharos find uid:8b0ca750095477cb3e77-000000000002 --turn
            pharos find lobby-north --known museum.json --json

            "warmer" and "colder" are said only where levels differ by more than chance; a distance is always an \
            interval. It ends before the beacon, or with Ctrl-C.
            """)

    @Argument(help: ArgumentHelp("The name of a known beacon, or an identity.", valueName: "beacon"))
    var name: String

    @OptionGroup var source: BeaconSourceOptions

    @Flag(help: "Turn with the receiver close to your body, a quarter turn each 4 s: it tells the direction.")
    var turn = false

    @Flag(help: "Ring the terminal's bell, faster the stronger the beacon is heard.")
    var sound = false

    @Option(help: ArgumentHelp("How fast the level falls, 1...6: 2 in the open.", valueName: "n"))
    var pathLossExponent: Double = 2

    @Option(
        parsing: .unconditional, help: ArgumentHelp("Stop after so many seconds.", valueName: "seconds"),
        transform: OptionValue.duration)
    var durationS: Int?

    @Flag(help: "Print one JSON object a line, each 500 ms.")
    var json = false

    func validate() throws {
        guard (1...6).contains(pathLossExponent) else {
            throw ValidationError("--path-loss-exponent \(pathLossExponent) is out of range 1...6.")
        }
        if turn && (source.replay != nil || durationS != nil) {
            throw ValidationError(
                "--turn takes four times 4 s of an adapter: it goes without --replay and --duration-s.")
        }
        if source.replay != nil && durationS != nil {
            throw ValidationError("--replay reads a file to its end: it goes without --duration-s.")
        }
    }

    func run() throws {
        let known = try KnownBeacons(source.known)
        for warning in known.warnings { Terminal.writeError("pharos: \(warning)\n") }
        if turn { return try findDirection(known) }
        let feed = try source.open(known, duration: durationS)
        let listener = FindListener(
            try BeaconChoice(name, known, feed.clock), feed.clock, name: name, json: json, sound: sound)
        listener.guide.exponent = pathLossExponent
        try feed.run(listener)
        if !listener.hasHeard { throw Failure(.temporaryFailure, "\(name): nothing was heard of it") }
    }

    private static let words = ["ahead of where you began", "to the right", "behind", "to the left"]
    private static let quarterMicroseconds = 4_000_000

    private func findDirection(_ known: KnownBeacons) throws {
        var result = FindTurn()
        for direction in 0..<FindTurn.directions {
            BeaconSourceOptions.prompt(direction == 0 ? "Hold the receiver before you" : "Turn right by a quarter")
            let feed = try source.open(known, duration: Self.quarterMicroseconds)
            let listener = FindListener(try BeaconChoice(name, known, feed.clock), feed.clock, name: name)
            try feed.run(listener)
            for level in listener.levels { result.hear(level, direction: direction) }
        }
        guard result.levels.contains(where: { $0 != nil }) else {
            throw Failure(.temporaryFailure, "\(name): nothing was heard of it")
        }
        let answer = result.answer
        if json {
            let levels = result.levels.map { level in FindListener.number(level) }
            return Terminal.write(
                JSONValue.record([
                    ("event", "turn"), ("beacon", .string(name)), ("rssiDbm", .array(levels)),
                    ("direction", .optional(answer) { .integer($0.direction * 90) }),
                    ("confidence", FindListener.number(answer?.confidence)),
                ]).line + "\n")
        }
        guard let answer else { return Terminal.write("cannot tell: the directions differ by less than chance does\n") }
        let percent = Int((answer.confidence * 100).rounded(.down))
        Terminal.write("\(Self.words[answer.direction]), with \(percent) % confidence\n")
    }
}

/// Hears one beacon, and tells what the guide says.
private final class FindListener: SightingConsumer {
    var guide = FindGuide()
    private(set) var levels: [Int8] = []
    private(set) var hasHeard = false
    private var table: SightingTable
    private let places: Set<Int>
    private let clock: HearingClock
    private let name: String
    private let json: Bool
    private let sound: Bool
    private let isShown: Bool
    private var nextLine: HeardInstant?
    private var nextBell: HeardInstant?
    private var hasArrived = false

    /// Without anything to print, for a turn.
    convenience init(_ choice: BeaconChoice, _ clock: HearingClock, name: String) {
        self.init(choice, clock, name: name, json: false, sound: false, isShown: false)
    }

    init(
        _ choice: BeaconChoice, _ clock: HearingClock, name: String, json: Bool, sound: Bool, isShown: Bool = true
    ) {
        table = choice.table
        places = choice.places ?? []
        self.clock = clock
        self.name = name
        self.json = json
        self.sound = sound
        self.isShown = isShown
    }

    var isSatisfied: Bool { hasArrived || Terminal.outputIsGone }
    var nextWakeUp: HeardInstant? { [nextLine, nextBell].compactMap { $0 }.min() }

    func begin(at now: HeardInstant) { nextLine = nextLine ?? now }

    func advance(to now: HeardInstant) {
        guard isShown else { return }
        // Of a recording the first packet is the beginning.
        nextLine = nextLine ?? now.advanced(byMicroseconds: json ? 500_000 : 1_000_000)
        while let due = nextLine, due <= now, !hasArrived {
            nextLine = due.advanced(byMicroseconds: json ? 500_000 : 1_000_000)
            show(guide.state(at: due), at: due)
        }
        ring(at: now)
    }

    func hear(_ report: HeardReport, _ octets: Span<UInt8>, _ range: Range<Int>) {
        guard let place = table.hear(report.sighting, octets, range), places.contains(place),
            !report.sighting.isScanResponse
        else { return }
        hasHeard = true
        let level = report.sighting.rssi.flatMap { LevelTally.range.contains($0) ? $0 : nil }
        if let level, !isShown { levels.append(level) }
        guide.powerAtOneMeter = table.tracks[place].powerAtOneMeter ?? guide.powerAtOneMeter
        // Several advertisements of one beacon: the shortest interval tells of silence.
        let interval = places.compactMap { table.tracks[$0].known?.intervalMicroseconds }.min()
        guide.intervalMicroseconds = interval
        guide.hear(level, at: report.sighting.instant)
    }

    func rest(at now: HeardInstant) {}

    func say(_ sentence: String, isWarning: Bool) {
        if isWarning { Terminal.writeError("pharos: \(sentence)\n") }
    }

    func finish(at now: HeardInstant) {
        advance(to: now)
        if isShown, !json, Terminal.outputIsTerminal { Terminal.write("\n") }
    }

    // MARK: Output

    private func show(_ state: FindGuide.State, at now: HeardInstant) {
        hasArrived = state.advice == .arrived
        if json { return Terminal.write(value(state, at: now).line + "\n") }
        let line = text(state)
        Terminal.write(Terminal.outputIsTerminal ? "\r\u{1B}[K" + line : line + "\n")
    }

    private static let bars = 20

    private func text(_ state: FindGuide.State) -> String {
        let filled = state.level.map { Int(($0 + 100) / 60 * Double(Self.bars)) } ?? 0
        let bar = String(repeating: "#", count: max(0, min(Self.bars, filled)))
        let level = state.level.map { "\(Int($0.rounded())) dBm" } ?? "-"
        let best = state.best.map { "best \(Int($0.rounded()))" } ?? ""
        var parts = [
            "[" + bar + String(repeating: " ", count: Self.bars - bar.count) + "]", level, sentence(state), best,
        ]
        if let interval = state.interval, let distance = state.distance {
            parts.insert(
                "\(Self.tenths(distance)) m (\(Self.tenths(interval.lowerBound))–\(Self.tenths(interval.upperBound)))",
                at: 2)
        }
        return parts.filter { !$0.isEmpty }.joined(separator: "  ")
    }

    private func sentence(_ state: FindGuide.State) -> String {
        switch state.advice {
        case .wait: "listening"
        case .warmer: "warmer"
        case .colder: "colder"
        case .same: "same: walk \(state.steps == 10 ? "ten" : "five") steps"
        case .silent:
            "silent for \((state.silentMicroseconds ?? 0) / 1_000_000) s: go back to where it was heard"
        case .arrived: "you stand before it"
        }
    }

    private static func tenths(_ value: Double) -> String {
        DecimalText.thousandths(Int(min(1e9, (value * 10).rounded())) * 100)
    }

    static func number(_ value: Double?) -> JSONValue {
        .optional(value) { .number(JSONNumber(thousandths: Int((min(1e9, max(-1e9, $0)) * 1000).rounded()))) }
    }

    private func value(_ state: FindGuide.State, at now: HeardInstant) -> JSONValue {
        .record([
            ("event", "find"), ("at", clock.json(now)), ("beacon", .string(name)),
            ("advice", .string(state.advice.rawValue)), ("rssiDbm", Self.number(state.level)),
            ("changeDb", Self.number(state.change)), ("leastChangeDb", Self.number(state.leastChange)),
            ("bestRssiDbm", Self.number(state.best)), ("distanceM", Self.number(state.distance)),
            ("distanceLowM", Self.number(state.interval?.lowerBound)),
            ("distanceHighM", Self.number(state.interval?.upperBound)),
            ("proximity", .string(state.proximity.rawValue)),
            ("silentS", Self.number(state.silentMicroseconds.map { Double($0) / 1_000_000 })),
        ])
    }

    /// From one bell in two seconds at -90 dBm to five a second at -45.
    private func ring(at now: HeardInstant) {
        guard sound, Terminal.errorIsTerminal, now >= nextBell ?? now else { return }
        let level = guide.state(at: now).level
        if level != nil { Terminal.writeError("\u{7}") }
        let share = min(1, max(0, ((level ?? -90) + 90) / 45))
        nextBell = now.advanced(byMicroseconds: Int(2_000_000 - 1_800_000 * share))
    }
}
