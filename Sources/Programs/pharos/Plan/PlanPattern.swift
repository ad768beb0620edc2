internal import Airtime
internal import ArgumentParser
internal import BluetoothTypes
internal import CommandSupport
internal import Planner

struct PlanPattern: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pattern",
        abstract: "Find the best pattern of intervals for the visitors' scanners.",
        discussion: """
            The answer compares the best constant interval with the best patterns of two and three intervals within the \
            same limit for events or power. It also prints the key for a profile. Examples:

              pharos plan pattern --scanners android-low-power:6,android-balanced:3,continuous:1 --events-per-s 2
              pharos plan pattern --scanner ios-background --power-uw 60 --chip nrf52832 --goal p95
            """)

    @OptionGroup var receiver: PlanScannerOptions

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Limit for the mean number of advertising events in a second.", valueName: "n"),
        transform: PlanValue.positive)
    var eventsPerS: Double?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Limit for the beacon's mean power consumption, at a supply of 3 V; needs --chip.", valueName: "microwatts"),
        transform: PlanValue.positive)
    var powerUw: Double?

    @Option(
        help: ArgumentHelp("Chip: \(BeaconChip.all.map(\.name).joined(separator: ", ")).", valueName: "name"),
        completion: .list(BeaconChip.all.map(\.name)), transform: PlanValue.chip)
    var chip: BeaconChip?

    @Option(
        help: ArgumentHelp(
            "Goal: mean for the shortest mean time until the beacon is found (default), a percentile of this time such as p95, "
                + "or within:10 for the largest share of visitors that find it within 10 s.",
            valueName: "goal"),
        completion: .list(["mean", "p50", "p90", "p95", "p99", "within:10"]), transform: PlanValue.goal)
    var goal: PatternGoal = .mean

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Beacons in range with the same pattern, including the target beacon (default: 1).", valueName: "n"),
        transform: PlanValue.count)
    var beacons: Int = 1

    @OptionGroup var packet: PlanPacketOptions
    @OptionGroup var output: PlanOutput

    func validate() throws {
        try output.refuseOverwriting([receiver.scannerFile])
        guard receiver.isGiven else {
            throw ValidationError("Give a scanner: --scanner, --scanners, or --scan-window-ms and --scan-interval-ms.")
        }
        guard (eventsPerS == nil) != (powerUw == nil) else {
            throw ValidationError("Give a limit: either --events-per-s, or --power-uw with --chip.")
        }
        guard (powerUw == nil) == (chip == nil) else { throw ValidationError("--power-uw and --chip belong together.") }
    }

    func run() throws {
        let budget: PatternQuestion.Budget =
            if let powerUw, let chip {
                .power(microwatts: powerUw, chip: chip)
            } else {
                .eventsPerSecond(eventsPerS ?? 1)
            }
        let scanners = try receiver.mix
        if let phy = packet.phy { try scanners.check(receiving: phy, on: receiver.scannerPhy) }
        let question = try PatternQuestion(
            scanners: scanners, budget: budget, goal: goal, beacons: beacons, phy: packet.phy,
            payloadOctets: packet.payloadOctets ?? 31)
        try output.show(question.answer())
    }
}

/// The option for a pattern of intervals instead of one interval, for the questions that support patterns.
struct PlanPatternOption: ParsableArguments {
    @Option(
        name: .customLong("pattern"), parsing: .unconditional,
        help: ArgumentHelp(
            "Pattern of alternating intervals, instead of --interval-ms: each interval in ms, with the time in s for which it "
                + "is used, such as 100:2,1000:8.",
            valueName: "ms:s,..."), transform: PlanValue.pattern)
    var requested: AdvertisingPattern?

    /// Throws an error if no interval, no pattern and no fleet is given, or if a pattern is given together with an
    /// interval or a fleet.
    func validate(_ interval: PlanIntervalOption, with source: PlanSourceOptions) throws {
        guard requested != nil else { return try interval.validate(with: source) }
        if interval.requested != nil { throw ValidationError("Give --interval-ms or --pattern, not both.") }
        if source.fromFleet != nil { throw ValidationError("Give --pattern or --from-fleet, not both.") }
    }

    /// Returns the beacons with the pattern; `nil` if no pattern is given.
    func air(_ packet: PlanPacketOptions, beacons: Int?) throws -> PlannedAir? {
        guard let requested else { return nil }
        let frame = try PlannedFrame(
            interval: requested.meanInterval, pattern: requested, phy: packet.phy,
            payloadOctets: packet.payloadOctets ?? 31)
        return PlannedAir(beacons: beacons ?? 1, frames: [frame])
    }
}

extension PlanValue {
    /// Parses a goal: `mean`, a percentile such as `p95`, or a time in seconds such as `within:10`.
    static func goal(_ text: String) throws -> PatternGoal {
        if text == "mean" { return .mean }
        if text.hasPrefix("p"), let percent = Double(text.dropFirst()), percent > 0, percent < 100 {
            return .percentile(percent / 100)
        }
        if text.hasPrefix("within:") {
            return .found(withinSeconds: try seconds(String(text.dropFirst("within:".count))))
        }
        throw Mistake("write mean, a percentile such as p95, or within:10 for a time in s")
    }

    /// Parses a pattern such as `100:2,1000:8`: intervals in ms, each followed by the time in s for which it is used.
    static func pattern(_ text: String) throws -> AdvertisingPattern {
        let texts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard AdvertisingPattern.countRange.contains(texts.count) else {
            throw Mistake("write two to 16 intervals with their times, such as 100:2,1000:8")
        }
        let parts = try texts.enumerated().map { index, text in
            let prefix = "part \(index + 1), \(text): "
            let values = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
            guard values.count == 2 else { throw Mistake(prefix + "write an interval and its time, such as 100:2") }
            do {
                let interval = try interval(values[0])
                let time = try seconds(values[1])
                let microseconds = Int((time * 1000).rounded()) * 1000
                guard AdvertisingPattern.durationRange.contains(microseconds) else {
                    throw Mistake("a time is 0.5 s to one day")
                }
                guard microseconds >= interval.interval.microseconds else {
                    throw Mistake("the time is shorter than the interval")
                }
                return AdvertisingPattern.Part(interval: interval, durationMicroseconds: microseconds)
            } catch let mistake as Mistake {
                throw Mistake(prefix + "\(mistake)")
            }
        }
        guard let pattern = AdvertisingPattern(parts), pattern.shortestInterval < pattern.longestInterval else {
            throw Mistake("all parts have the same interval: use --interval-ms")
        }
        return pattern
    }
}
