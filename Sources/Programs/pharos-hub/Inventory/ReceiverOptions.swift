internal import ArgumentParser
internal import BeaconService
internal import BluetoothTypes
internal import CommandSupport
internal import Configuration
internal import HCITransports
internal import Inventory
internal import LinuxHost
internal import Listener
internal import Sightings

/// Where beacons are heard for an inventory.
struct ReceiverOptions: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "hci0, hci0:user, tcp:HOST:PORT, unix:PATH, serial:PATH@RATE or virtual.", valueName: "name"),
        completion: .adapters, transform: OptionValue.adapter)
    var adapter: AdapterName?

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp("Read a btsnoop, pcap or pcapng file, or - for standard input.", valueName: "file"),
        completion: .file())
    var replay: [String] = []

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "A profile, a fleet or a listener file: the virtual adapter hears profiles, and intervals are known. May be repeated.",
            valueName: "file"), completion: .file())
    var known: [String] = []

    @Option(
        parsing: .unconditional, help: ArgumentHelp("Stop after so many seconds.", valueName: "seconds"),
        transform: OptionValue.duration)
    var durationS: Int?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("What the receiver shows too little: it is added to each level, -40...40.", valueName: "dB"),
        transform: { try OptionValue.integer($0, in: ListenerFile.levelOffsets) })
    var rssiOffsetDb: Int = 0

    @Option(help: ArgumentHelp("How fast the level falls, 1...6: 2 in the open.", valueName: "n"))
    var pathLossExponent: Double = 2

    var isGiven: Bool { adapter != nil || !replay.isEmpty || !known.isEmpty || durationS != nil }

    func validate() throws {
        if !replay.isEmpty && (adapter != nil || durationS != nil) {
            throw ValidationError("--replay reads a file: it goes without --adapter and --duration-s.")
        }
        guard (1...6).contains(pathLossExponent) else {
            throw ValidationError("--path-loss-exponent \(pathLossExponent) is out of range 1...6.")
        }
        if case .managed(let index)? = adapter {
            throw ValidationError(
                "The kernel drops repeats on hci\(index):mgmt, so rounds cannot be counted there: use hci\(index).")
        }
    }

    var rule: DistanceEstimate.Rule {
        var rule = DistanceEstimate.Rule()
        rule.exponent = pathLossExponent
        return rule
    }

    /// How an adapter is listened to: what several of them share.
    struct Settings: Sendable {
        let durationMicroseconds: Int?
        let levelOffset: Int
    }

    var settings: Settings { Settings(durationMicroseconds: durationS, levelOffset: rssiOffsetDb) }

    /// An adapter, by its name, or the first that there is.
    ///
    /// - Parameter samples: What a second controller sends where the adapter is virtual.
    func live(_ adapter: AdapterName?, _ samples: [LoadedProfile]) throws(ListenerServiceError) -> SightingSource {
        try Self.live(adapter, settings, samples)
    }

    static func live(
        _ adapter: AdapterName?, _ settings: Settings, _ samples: [LoadedProfile] = []
    ) throws(ListenerServiceError) -> SightingSource {
        var options = SightingSource.Options(adapter: adapter)
        options.durationMicroseconds = settings.durationMicroseconds
        options.samples = samples
        options.purpose = "pharos inventory"
        let source = try SightingSource.live(options)
        source.levelOffset = settings.levelOffset
        return source
    }

    /// A recording.
    func recording(_ file: String) throws(ListenerServiceError) -> SightingSource {
        let source = try SightingSource.recording(file)
        source.levelOffset = rssiOffsetDb
        return source
    }
}

/// Listens for the beacon that is held to the receiver.
final class NearestListener: SightingConsumer {
    private var pick: NearestPick
    private let line = ProgressLine()
    private let start = MonotonicClock.nanoseconds()

    private init(_ pick: NearestPick) { self.pick = pick }

    /// - Returns: the beacon that was picked.
    /// - Throws: 75 where none was close enough for long enough.
    static func pick(
        _ inventory: Inventory, _ receiver: ReceiverOptions, for name: String
    ) throws -> NearestPick.Answer {
        let known = try KnownBeacons(receiver.known)
        for warning in known.warnings { Terminal.writeError("pharos: \(warning)\n") }
        let described = inventory.beacons.map {
            KnownBeacon(
                name: $0.name ?? "\($0.identity)", identity: $0.identity,
                calibrationAtOneMeter: $0.calibrationAtOneMeter)
        }
        let listener = NearestListener(
            NearestPick(rule: inventory.rule, known: described + known.beacons, distances: receiver.rule))
        if Terminal.errorIsTerminal {
            Terminal.writeError("Hold \(ProblemText.quoted(name)) within half a metre of the receiver …\n")
        }
        let source =
            try receiver.replay.first.map { try receiver.recording($0) }
            ?? receiver.live(receiver.adapter, known.profiles)
        try source.run(listener)
        listener.line.finish()
        guard let answer = listener.pick.answer else {
            throw Failure(
                .temporaryFailure,
                "no beacon was within half a metre and above -75 dBm in more than three of six seconds; hold it closer, "
                    + "or name it with --beacon")
        }
        if let item = inventory.items.first(where: { $0.beacon == answer.identity }) {
            throw Failure(
                .usage, "\(answer.identity) is the nearest, and \(item.id) has it already; take that one farther away")
        }
        let meters = DecimalText.thousandths(Int((answer.meters * 100).rounded()) * 10)
        Terminal.writeError(
            "pharos: taken after \(DecimalText.thousandths((answer.afterMicroseconds + 50_000) / 100_000 * 100)) s: "
                + "\(answer.identity), \(Int(answer.level.rounded())) dBm, \(meters) m\n")
        if !answer.others.isEmpty {
            Terminal.writeError(
                "pharos: warning: as close by were \(answer.others.map { "\($0)" }.joined(separator: ", "))\n")
        }
        return answer
    }

    var nextWakeUp: HeardInstant? { pick.nextWakeUp }
    var isSatisfied: Bool { pick.answer != nil }
    func advance(to now: HeardInstant) { pick.advance(to: now) }

    func hear(_ report: HeardReport, _ octets: Span<UInt8>, _ range: Range<Int>) {
        pick.hear(report.sighting, octets, range)
    }

    func change(_ state: ScanKeeper.State, at now: HeardInstant) { pick.change(isHearing: state.isHearing) }
    func rest(at now: HeardInstant) { line.report { "\(pick.atHand) beacons within half a metre" } }

    func say(_ sentence: String, isWarning: Bool) {
        if isWarning { Terminal.writeError("pharos: \(sentence)\n") }
    }

    func finish(at now: HeardInstant) { pick.finish(at: now) }
}
