public import Airtime
public import BluetoothTypes
internal import Configuration
internal import Profiles

/// A question for the planner: which pattern of intervals is best for a mix of scanners, and how much better it is
/// than the best constant interval.
public struct PatternQuestion: Sendable {
    /// The limit of the number of events, or of the beacon's mean power consumption.
    public enum Budget: Sendable {
        case eventsPerSecond(Double)
        /// The mean power consumption of the beacon in µW, and the chip of the beacon.
        case power(microwatts: Double, chip: BeaconChip)
    }

    public let scanners: ScannerMix
    public let budget: Budget
    public let goal: PatternGoal
    /// The beacons in range with the same schedule, including the target beacon.
    public let beacons: Int
    /// The advertisement of each beacon. Its interval is not used.
    private let frame: PlannedFrame
    private let search: PatternSearch

    /// The supply voltage of the chips in V.
    static let volts = 3.0

    /// - Parameters:
    ///   - phy: The PHY of extended PDUs; nil for legacy PDUs.
    ///   - payloadOctets: The bytes of advertising data, 0...31, or 0...1650 in extended PDUs.
    ///
    /// Throws for a budget outside the range of controllers. With extended PDUs, also throws for a limit of the power
    /// consumption if the chip's charge was not measured for empty and for full packets. Also throws the models'
    /// errors.
    public init(
        scanners: ScannerMix, budget: Budget, goal: PatternGoal = .mean, beacons: Int = 1, phy: ExtendedPHY? = nil,
        payloadOctets: Int = 31
    ) throws(PlanError) {
        self.scanners = scanners
        self.budget = budget
        self.goal = goal
        self.beacons = beacons
        let frame = try PlannedFrame(
            interval: AdvertisingInterval.legacyRange.upperBound, phy: phy, payloadOctets: payloadOctets)
        self.frame = frame
        let events = try Self.events(budget, of: frame)
        search = try PlanError.asking { () throws(AirtimeError) in
            try PatternSearch(
                scanners: scanners, count: beacons,
                airtimeMicroseconds: frame.airtimeMicroseconds, extended: frame.extended, goal: goal,
                eventsPerSecond: events)
        }
    }

    /// The events in a second that the budget allows.
    private static func events(_ budget: Budget, of frame: PlannedFrame) throws(PlanError) -> Double {
        let range = PatternSearch.eventRange
        switch budget {
        case .eventsPerSecond(let events):
            guard range.contains(events) else {
                throw PlanError(
                    .question,
                    "--events-per-s \(NumberFormat.significant(events)): advertising has \(rangeText) events in a second"
                )
            }
            return events
        case .power(let microwatts, let chip):
            guard frame.extended == nil || chip.microcoulombsPerMicrosecond > 0 else {
                throw PlanError(
                    .question,
                    "the charge of \(chip.name) is not known for each payload, so its charge for extended PDUs cannot "
                        + "be computed: use --events-per-s, or --chip nrf52832")
            }
            let charge = try PlanError.asking { () throws(AirtimeError) -> Double in
                if let extended = frame.extended { return chip.eventMicrocoulombs(of: extended) }
                return try chip.eventMicrocoulombs(payloadOctets: frame.payloadOctets)
            }
            let events = (microwatts / volts - chip.sleepMicroamperes) / charge
            guard range.contains(events) else {
                let leastMicrowatts = (range.lowerBound * charge + chip.sleepMicroamperes) * volts
                let mostMicrowatts = (range.upperBound * charge + chip.sleepMicroamperes) * volts
                throw PlanError(
                    .question,
                    "--power-uw \(NumberFormat.significant(microwatts)): with \(chip.name), advertising can take "
                        + "\(NumberFormat.significant(leastMicrowatts))...\(NumberFormat.significant(mostMicrowatts)) "
                        + "µW"
                )
            }
            return events
        }
    }

    private static var rangeText: String {
        "\(NumberFormat.significant(PatternSearch.eventRange.lowerBound))..."
            + NumberFormat.significant(PatternSearch.eventRange.upperBound)
    }

    /// A schedule with its results.
    private struct Result {
        let schedule: IntervalSchedule
        let latency: MixLatency
        /// The value of the goal: a time in s, or the share of visitors that do not find the beacon in time.
        let cost: Double
    }

    /// Returns the best constant interval and the best patterns of two and three intervals.
    public func answer() throws(PlanError) -> PlanAnswer {
        try PlanError.asking { () throws(AirtimeError) in
            let single = try result(.constant(search.bestInterval()))
            var results = [single]
            let scale: Double = if case .found(let seconds) = goal { seconds } else { single.cost }
            let patterns = try search.bestAdvertisingPatterns(constantCost: scale.isFinite ? scale : 600)
            for pattern in [patterns.two, patterns.three].compactMap(\.self) {
                results.append(try result(.pattern(pattern)))
            }
            return try answer(results)
        }
    }

    private func result(_ schedule: IntervalSchedule) throws(AirtimeError) -> Result {
        let until: Double = if case .found(let seconds) = goal { seconds } else { 0 }
        let latency = try search.latency(of: schedule, untilSeconds: until, horizonSeconds: max(3600, until))
        return Result(schedule: schedule, latency: latency, cost: search.cost(of: latency))
    }

    /// A pattern is advised only if it is better than simpler schedules by more than this share.
    private static let leastGain = 0.005

    private func answer(_ results: [Result]) throws(AirtimeError) -> PlanAnswer {
        let single = results[0]
        let best = results.min { $0.cost < $1.cost } ?? single
        // The simplest schedule that is about as good as the best schedule.
        let chosen =
            results.first { isAsGood($0, as: best) } ?? best
        var answer = PlanAnswer(
            title: "The best intervals for \(scanners.phrase)", sentence: sentence(chosen, single))
        answer.addScanners(scanners)
        answer.add(.beacons, .count(beacons))
        answer.statePackets(of: frame)
        answer.add(.eventLimit, .number(search.eventsPerSecond), remark: budgetText)
        answer.add(.goal, .word(goalName))
        answer.add(.single, quantity(single, against: single))
        answer.add(.patterns, .list(results.dropFirst().map { quantity($0, against: single) }))
        answer.add(.gain, .share(gain(chosen, single)))
        if case .pattern(let pattern) = chosen.schedule {
            answer.add(.cycle, .seconds(Double(pattern.cycleMicroseconds) / 1_000_000))
            answer.add(.advisedPattern, Self.json(pattern))
            for index in pattern.parts.indices {
                let part = pattern.parts[index]
                answer.show(
                    "part \(index + 1)", .word("\(part.interval.interval) for \(part.seconds) s"),
                    remark: "\(NumberFormat.percent(Self.timeShare(pattern, index))) of the time, "
                        + "\(NumberFormat.percent(pattern.events(inPart: index) / pattern.eventsPerCycle)) of the events"
                )
            }
        } else {
            answer.add(.cycle, .seconds(nil), isInText: false)
            answer.add(.advisedPattern, .nothing)
        }
        answer.pictures.terminal.append(.table(table(results), legend: ""))
        try answer.addResults(of: chosen.latency)
        let rows = results.map { PlanPageContent.LatencyComparison.Row(Self.name($0.schedule), $0.latency.whole) }
        answer.pictures.page.latencies = .init(
            caption: "The share of all visitors that find the beacon over time, with each schedule.", rows: rows)
        answer.pictures.page.tables.append(
            .init(
                caption: "Schedules", header: Self.columns,
                rows: results.map { cells($0, against: single) }))
        if case .pattern(let pattern) = chosen.schedule {
            answer.note("In a profile, replace \"intervalMs\" with \"pattern\": \(pattern.json.line)")
        }
        answer.note(
            "The parts of a pattern are shares of time, not of events. The event at the start of each part is "
                + "counted. The search tries patterns of two and three intervals and finds a good pattern, not a "
                + "proven optimum.")
        answer.note(
            "A visitor arrives at any instant of the cycle with equal probability. Each event is lost independently of the "
                + "other events.")
        return answer
    }

    private func isAsGood(_ result: Result, as best: Result) -> Bool {
        result.cost <= best.cost * (1 + Self.leastGain) || result.cost == best.cost
    }

    /// Returns the share by which a schedule is better than the best constant interval. If the goal is the share found
    /// in time, returns the difference of the two shares. Nil if a value is unknown.
    private func gain(_ result: Result, _ single: Result) -> Double? {
        guard single.cost.isFinite, result.cost.isFinite else { return nil }
        if case .found = goal { return single.cost - result.cost }
        return single.cost > 0 ? 1 - result.cost / single.cost : nil
    }

    // MARK: Words

    private var goalName: String {
        switch goal {
        case .mean: "mean"
        case .percentile(let share): "p\(NumberFormat.significant(share * 100))"
        case .found(let seconds): "within \(NumberFormat.significant(seconds)) s"
        }
    }

    private var budgetText: String {
        switch budget {
        case .eventsPerSecond: "at most, on average over the cycle"
        case .power(let microwatts, let chip):
            "at most, which takes \(NumberFormat.significant(microwatts)) µW with \(chip.name) at "
                + "\(NumberFormat.significant(Self.volts)) V"
        }
    }

    private func value(_ result: Result) -> String {
        switch goal {
        case .mean, .percentile: NumberFormat.duration(result.cost.isFinite ? result.cost : nil)
        case .found: NumberFormat.percent(1 - result.cost)
        }
    }

    private var subject: String {
        switch goal {
        case .mean: "the mean time to discovery"
        case .percentile(let share): "the time within which \(NumberFormat.percent(share)) find the beacon"
        case .found(let seconds): "the share that find the beacon within \(NumberFormat.duration(seconds))"
        }
    }

    private func sentence(_ chosen: Result, _ single: Result) -> String {
        guard case .pattern(let pattern) = chosen.schedule, case .constant(let interval) = single.schedule else {
            return
                "Send every \(Self.name(single.schedule)): no pattern is clearly better, and \(subject) is \(value(single)) "
                + "with \(scanners.phrase)."
        }
        let gain: String
        switch goal {
        case .mean, .percentile:
            gain = self.gain(chosen, single).map { "\(NumberFormat.percent($0)) less than" } ?? "instead of"
        case .found: gain = "instead of"
        }
        return
            "Send every \(pattern): \(subject) is \(value(chosen)), \(gain) the \(value(single)) of \(interval), the best "
            + "constant interval, with \(scanners.phrase)."
    }

    private static func name(_ schedule: IntervalSchedule) -> String {
        switch schedule {
        case .constant(let interval): "\(interval)"
        case .pattern(let pattern): "\(pattern)"
        }
    }

    private static let columns = ["schedule", "cycle", "events/s", "p50", "p95", "mean", "goal", "gain"]

    private func cells(_ result: Result, against single: Result) -> [String] {
        let cycle: Double? =
            if case .pattern(let pattern) = result.schedule { Double(pattern.cycleMicroseconds) / 1_000_000 } else {
                nil
            }
        let latency = result.latency.whole
        return [
            Self.name(result.schedule), cycle.map { NumberFormat.duration($0) } ?? NumberFormat.none,
            NumberFormat.significant(result.schedule.eventsPerSecond), NumberFormat.duration(latency.percentile(0.5)),
            NumberFormat.duration(latency.percentile(0.95)), NumberFormat.duration(latency.meanSeconds), value(result),
            NumberFormat.percent(gain(result, single)),
        ]
    }

    private func table(_ results: [Result]) -> Table {
        var table = Table(Self.columns, alignment: [.left] + Array(repeating: .right, count: 7))
        for result in results { table.add(cells(result, against: results[0])) }
        return table
    }

    // MARK: JSON

    private static func timeShare(_ pattern: AdvertisingPattern, _ index: Int) -> Double {
        Double(pattern.parts[index].durationMicroseconds) / Double(pattern.cycleMicroseconds)
    }

    private static func json(_ pattern: AdvertisingPattern) -> PlanQuantity {
        .list(
            pattern.parts.map { part in
                .object([
                    (.patternPartInterval, .milliseconds(Double(part.interval.microseconds) / 1000)),
                    (.patternPartTime, .number(Double(part.durationMicroseconds) / 1_000_000)),
                ])
            })
    }

    private func quantity(_ result: Result, against single: Result) -> PlanQuantity {
        var members: [(PlanKey, PlanQuantity)] = []
        switch result.schedule {
        case .constant(let interval):
            members.append((.scheduleInterval, .milliseconds(Double(interval.microseconds) / 1000)))
        case .pattern(let pattern):
            members.append((.scheduleCycle, .number(Double(pattern.cycleMicroseconds) / 1_000_000)))
            members.append(
                (
                    .parts,
                    .list(
                        pattern.parts.indices.map { index in
                            let part = pattern.parts[index]
                            return .object([
                                (.partInterval, .milliseconds(Double(part.interval.microseconds) / 1000)),
                                (.partTime, .number(Double(part.durationMicroseconds) / 1_000_000)),
                                (.partShareOfTime, .share(Self.timeShare(pattern, index))),
                                (.partShareOfEvents, .share(pattern.events(inPart: index) / pattern.eventsPerCycle)),
                            ])
                        })
                ))
            members.append((.scheduleGain, .share(gain(result, single))))
        }
        members.append((.scheduleEvents, .number(result.schedule.eventsPerSecond)))
        if case .found(let seconds) = goal {
            members.append((.scheduleFound, .share(result.latency.whole.received(within: seconds))))
        }
        return .object(members + [(PlanKey.latency, .times(result.latency.whole))])
    }

    /// The keys of the answer in JSON.
    static let keys: [PlanKey] = {
        let times = [PlanKey.latency] + PlanKey.percentiles.map(\.key) + [PlanKey.mean]
        let single: [PlanKey] = [.single, .scheduleInterval, .scheduleEvents, .scheduleFound]
        let shared: [PlanKey] =
            [
                .patterns, .scheduleCycle, .parts, .partInterval, .partTime, .partShareOfTime, .partShareOfEvents,
                .scheduleGain,
            ]
            + [PlanKey.patternEvents, PlanKey.patternFound]
        let start: [PlanKey] =
            [.scanner, .beacons] + PlanKey.packets + [.eventLimit, .goal] + single + times.map { $0.within("single") }
        return start + shared + times.map { $0.within("patterns[]") }
            + [.gain, .cycle, .advisedPattern, .patternPartInterval, .patternPartTime] + PlanKey.discovery
    }()
}

extension PlanKey {
    fileprivate static let eventLimit = PlanKey(
        "eventsPerS", "Largest mean number of advertising events in a second.", label: "events", unit: "1/s")
    fileprivate static let goal = PlanKey(
        "goal", "Goal by which schedules are compared: mean, a percentile such as p95, or within and a time.")
    fileprivate static let single = PlanKey("single", "The best constant interval.")
    fileprivate static let scheduleInterval = PlanKey("single.intervalMs", "Advertising interval in ms.")
    fileprivate static let scheduleEvents = PlanKey("single.eventsPerS", "Mean number of events in a second.")
    fileprivate static let scheduleFound = PlanKey(
        "single.foundShare", "With --goal within: share of visitors that find the beacon in time, 0 to 1.")
    fileprivate static let patterns = PlanKey(
        "patterns", "The best patterns of two and three intervals; empty if all have more events than allowed.")
    fileprivate static let scheduleCycle = PlanKey("patterns[].cycleS", "Duration of a cycle in s.")
    fileprivate static let parts = PlanKey("patterns[].parts", "The parts in order.")
    fileprivate static let partInterval = PlanKey(
        "patterns[].parts[].intervalMs", "Advertising interval of the part in ms.")
    fileprivate static let partTime = PlanKey("patterns[].parts[].forS", "Duration of the part in s.")
    fileprivate static let partShareOfTime = PlanKey(
        "patterns[].parts[].shareOfTime", "Share of the cycle's time in the part, 0 to 1.")
    fileprivate static let partShareOfEvents = PlanKey(
        "patterns[].parts[].shareOfEvents", "Share of all events in the part, 0 to 1.")
    fileprivate static let scheduleGain = PlanKey(
        "patterns[].gain",
        "Relative gain over the best constant interval; with --goal within, the difference of the two found "
            + "shares."
    )
    fileprivate static let patternEvents = PlanKey("patterns[].eventsPerS", "Mean number of events in a second.")
    fileprivate static let patternFound = PlanKey(
        "patterns[].foundShare", "With --goal within: share of visitors that find the beacon in time, 0 to 1.")
    fileprivate static let gain = PlanKey(
        "gain", "Gain of the advised schedule, as in patterns; 0 if the constant interval is advised.",
        label: "gain")
    fileprivate static let cycle = PlanKey(
        "cycleS", "Duration of a cycle of the advised pattern in s; null if a constant interval is advised.",
        label: "cycle")
    fileprivate static let advisedPattern = PlanKey(
        "pattern", "The advised pattern, as in a profile's key pattern; null if a constant interval is advised.")
    fileprivate static let patternPartInterval = PlanKey(
        "pattern[].intervalMs", "Advertising interval of the part in ms.")
    fileprivate static let patternPartTime = PlanKey("pattern[].forS", "Duration of the part in s.")
}
