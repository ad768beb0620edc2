public import Airtime
public import BluetoothTypes
internal import Configuration
internal import LinuxHost

/// A question for the planner: which advertising interval to set.
public struct IntervalQuestion: Sendable {
    /// The number of beacons in range of one receiver, at least 1.
    public let beacons: Int
    /// The advertisement of each beacon. Its interval is not used.
    private let frame: PlannedFrame
    public let goal: IntervalGoal
    public let scanners: ScannerMix
    /// The site of a fleet with these beacons; nil if the question states only their number.
    public let fleet: FleetInterval?
    /// True to compare scanners and to add controls. Only a page needs both. The comparison takes additional time.
    public let comparesScanners: Bool
    /// The advised interval.
    public let advice: IntervalAdvice

    /// Creates a question about a number of equal beacons.
    ///
    /// - Parameters:
    ///   - phy: The PHY of extended PDUs; nil for legacy PDUs.
    ///   - payloadOctets: The bytes of advertising data, 0...31, or 0...1650 in extended PDUs.
    public init(
        beacons: Int, phy: ExtendedPHY? = nil, payloadOctets: Int = 31, goal: IntervalGoal, scanners: ScannerMix,
        comparesScanners: Bool = false
    ) throws(PlanError) {
        try self.init(
            beacons: beacons, phy: phy, payloadOctets: payloadOctets, goal: goal, scanners: scanners, fleet: nil,
            comparesScanners: comparesScanners)
    }

    /// Creates a question about the beacons of one site of a fleet.
    public init(
        fleet: FleetInterval, goal: IntervalGoal, scanners: ScannerMix, comparesScanners: Bool = false
    ) throws(PlanError) {
        try self.init(
            beacons: fleet.air.beacons, phy: fleet.phy, payloadOctets: fleet.payloadOctets, goal: goal,
            scanners: scanners, fleet: fleet, comparesScanners: comparesScanners)
    }

    private init(
        beacons: Int, phy: ExtendedPHY?, payloadOctets: Int, goal: IntervalGoal, scanners: ScannerMix,
        fleet: FleetInterval?, comparesScanners: Bool
    ) throws(PlanError) {
        (self.beacons, self.goal, self.scanners) = (beacons, goal, scanners)
        (self.fleet, self.comparesScanners) = (fleet, comparesScanners)
        let frame = try PlannedFrame(
            interval: AdvertisingInterval.legacyRange.upperBound, phy: phy, payloadOctets: payloadOctets)
        self.frame = frame
        advice = try PlanError.asking { () throws(AirtimeError) in
            try IntervalAdvice(
                goal: goal, count: beacons, airtimeMicroseconds: frame.airtimeMicroseconds, extended: frame.extended,
                scanners: scanners, logOtherClearProbability: fleet?.logOtherClearProbability ?? 0)
        }
    }

    /// tau in µs: the airtime of a packet on one primary channel.
    private var airtime: Double { frame.airtimeMicroseconds }

    /// Returns the answer. Its `holds` is false if no interval reaches the goal.
    public func answer() throws(PlanError) -> PlanAnswer {
        try PlanError.asking { () throws(AirtimeError) in try computedAnswer() }
    }

    private func computedAnswer() throws(AirtimeError) -> PlanAnswer {
        var answer = PlanAnswer(title: "Advertising interval for \(beacons) beacons", sentence: sentence)
        answer.holds = !isMissed
        let clear = advice.collisionFreeProbability
        if let fleet { answer.addOrigin(of: fleet.air) }
        answer.add(.beacons, .count(beacons))
        answer.statePackets(of: frame)
        answer.addScanners(scanners)
        let interval = PlanQuantity.milliseconds(Double(advice.interval.microseconds) / 1000)
        let pace = "an event every \(NumberFormat.milliseconds(from: advice.meanPeriodMicroseconds)) ms on average"
        answer.add(.advisedInterval, interval, isInText: !isMissed, remark: pace)
        // If no interval meets the target, the text shows this interval as the closest interval, not as the interval to
        // set.
        if isMissed { answer.show("closest interval", interval, remark: pace) }
        answer.add(.meanPeriod, .milliseconds(advice.meanPeriodMicroseconds / 1000))
        answer.add(.collisionFree, .share(clear))
        answer.show(
            "arriving", .number(clear * 1_000_000 / advice.meanPeriodMicroseconds, unit: "1/s"),
            remark: "from each beacon, on one channel")
        let target = wanted.map { DetectionTarget(withinSeconds: $0.seconds, probability: $0.probability) }
        try answer.addResults(of: advice.latency, extra: target.map { _ in (.mixDetected, "in time") }) {
            target?.share(of: $0)
        }
        answer.add(.outcome, .word(outcomeName))
        answer.add(.wantedSeconds, .seconds(wanted?.seconds))
        answer.add(.wantedProbability, .share(wanted?.probability))
        try addCost(to: &answer)
        try addResonances(to: &answer)
        let spread = try addSpread(to: &answer)
        try addCurve(to: &answer)
        if comparesScanners, frame.extended == nil, fleet.map({ $0.logOtherClearProbability == 0 }) ?? true {
            let group = try AdvertiserGroup(
                count: beacons, interval: advice.interval, airtimeMicroseconds: airtime)
            answer.explore(
                group, scanners, payloadOctets: frame.payloadOctets, background: .none, latency: advice.distribution)
            reconcile(in: &answer)
        }
        if let fleet { answer.note(fleet.note) }
        if comparesScanners { try compareScanners(in: &answer) }
        if let spread { answer.note(Self.advice(spread)) }
        if spread == nil, beacons > 1, !isMissed { answer.note(adviceForOneInterval) }
        answer.noteTraffic(of: frame)
        answer.note(PlanAnswer.overlapNote)
        return answer
    }

    /// True if no interval reaches the target.
    private var isMissed: Bool {
        if case .impossible = advice.outcome { true } else { false }
    }

    private var sentence: String {
        let set = "Set \(advice.interval)"
        switch (goal, advice.outcome) {
        case (.detect(let seconds, let probability), .impossible(let shortfall)):
            return
                "At best, \(scanners.phrase) finds \(NumberFormat.givenBeacon(of: beacons)) within "
                + "\(NumberFormat.duration(seconds)) in about "
                + "\(NumberFormat.percent(shortfall.share, unlike: probability)) of the cases, with "
                + "\(advice.interval): less than the \(NumberFormat.percent(probability)) of the target."
                + remedy(shortfall, seconds, probability)
        case (.detect(let seconds, let probability), let outcome):
            return
                "\(set): \(scanners.phrase) finds \(NumberFormat.givenBeacon(of: beacons)) within "
                + "\(NumberFormat.duration(seconds)) in at least \(NumberFormat.percent(probability)) of the cases. "
                + ruleSentence(outcome)
        case (.maximumThroughput, let outcome):
            return
                "\(set): at this interval the most advertisements of \(NumberFormat.beacons(beacons)) arrive, "
                + "\(NumberFormat.percent(advice.collisionFreeProbability)) of those sent." + remark(outcome)
        }
    }

    /// Returns a sentence with the rule by which the interval was chosen.
    private func ruleSentence(_ outcome: IntervalOutcome) -> String {
        if outcome == .metAtLongest { return "This is the longest interval that controllers support." }
        guard advice.isSteady else {
            return "Not all intervals nearby meet the target, so set exactly this interval."
        }
        return "This is the longest interval found that meets the target. Intervals 1 % longer or shorter nearly meet "
            + "it."
            + (scanners.pauses
                ? " Some longer intervals may meet the target too, and some intervals nearby may miss it, because "
                    + "of resonance." : "")
    }

    private func remark(_ outcome: IntervalOutcome) -> String {
        switch outcome {
        case .met, .metAtLongest, .impossible: ""
        case .clampedToShortest:
            if advice.shortestPossible == AdvertisingInterval.legacyRange.lowerBound {
                " (A shorter interval would be better, but this is the shortest that controllers support.)"
            } else if beacons > 1 {
                " (A shorter interval may be better, but is not computed: two events of one beacon could then hit the same "
                    + "event of another beacon.)"
            } else {
                " (A shorter interval would be better, but leaves no time for the packets of an event.)"
            }
        case .clampedToLongest:
            " (A longer interval would be better, but this is the longest that controllers support.)"
        }
    }

    /// Returns a sentence with changes, each of which reaches the target by itself. Returns an empty text if there is
    /// no such change.
    private func remedy(
        _ shortfall: IntervalOutcome.Shortfall, _ target: Double, _ probability: Double
    ) -> String {
        var remedies: [String] = []
        if let seconds = shortfall.seconds {
            remedies.append("allow \(NumberFormat.duration(seconds, unlike: target)) at \(advice.interval)")
        }
        if let fewer = shortfall.beacons, let interval = shortfall.intervalOfFewer {
            remedies.append("have \(NumberFormat.beacons(fewer)) or fewer in range and set \(interval)")
        }
        if shortfall.continuousShare >= probability, scanners.pauses {
            remedies.append(
                "use a scanner that never pauses: at \(advice.interval) it finds the beacon in "
                    + "\(NumberFormat.percent(shortfall.continuousShare)) of the cases")
        }
        return remedies.isEmpty ? "" : " To reach the target, " + remedies.joined(separator: ", or ") + "."
    }

    private var outcomeName: String {
        switch advice.outcome {
        case .met: "met"
        case .metAtLongest: "met-at-longest"
        case .clampedToShortest: "clamped-to-shortest"
        case .clampedToLongest: "clamped-to-longest"
        case .impossible: "impossible"
        }
    }

    /// Adds the battery life at the advised interval, with a common chip and battery.
    private func addCost(to answer: inout PlanAnswer) throws(AirtimeError) {
        guard let chip = BeaconChip.named("nrf52832"), let battery = BeaconBattery.named("cr2477") else { return }
        let energy = try EnergyModel(
            chip: chip, battery: battery, interval: advice.interval, payloadOctets: frame.payloadOctets,
            extended: frame.extended)
        answer.add(
            .comparedLife, .number(energy.lifeDays),
            remark: "with \(chip.name) and a \(battery.name), for comparison"
                + (energy.exceedsShelfLife ? "; " + BeaconBattery.shelfLifeRemark : ""))
    }

    /// Adds the intervals near the advised interval that resonate with a scanner that pauses.
    private func addResonances(to answer: inout PlanAnswer) throws(AirtimeError) {
        let center = Double(advice.interval.microseconds)
        let range = max(Double(advice.shortestPossible.microseconds), center * 0.7)...min(10_240_000, center * 1.4)
        var bands: [(scanner: ScannerPreset, band: Resonance.Band)] = []
        for part in scanners.parts {
            let bandsOfScanner = try Resonance.bands(
                within: range, pattern: part.scanner.pattern, airtimeMicroseconds: airtime)
            bands += bandsOfScanner.map { (part.scanner, $0) }
        }
        answer.add(
            .resonances,
            .list(
                bands.map { scanner, band in
                    .object([
                        (.resonanceScanner, .word(scanner.name)),
                        (.resonanceFrom, .milliseconds(band.intervalsMicroseconds.lowerBound / 1000)),
                        (.resonanceTo, .milliseconds(band.intervalsMicroseconds.upperBound / 1000)),
                        (.resonanceEvents, .count(band.worst.events)),
                        (.resonanceScanIntervals, .count(band.worst.scanIntervals)),
                        (.resonanceSweep, .seconds(band.worst.sweepSeconds)),
                    ])
                }))
        let slowest = bands.sorted { $0.band.worst.slowness > $1.band.worst.slowness }
        for (scanner, band) in slowest.prefix(4) {
            let ends = [band.intervalsMicroseconds.lowerBound, band.intervalsMicroseconds.upperBound]
            answer.show(
                "avoid", .milliseconds(nil),
                shown: ends.map { NumberFormat.milliseconds(from: $0) }.joined(separator: "–"),
                remark: "\(ratio(band.worst, scanner)): may stay undiscovered for "
                    + (band.worst.sweepSeconds > 86_400
                        ? "more than a day" : "up to " + NumberFormat.duration(band.worst.sweepSeconds)))
        }
    }

    /// Adds the range in which each beacon of the fleet gets its own interval.
    private func addSpread(to answer: inout PlanAnswer) throws(AirtimeError) -> IntervalSpread? {
        // If the advised interval misses the target, no range around it can be advised.
        let spread = isMissed ? nil : try advice.spread()
        guard let ends = spread?.intervals else {
            answer.add(.spread, .nothing, isInText: false)
            return nil
        }
        let milliseconds = [ends.lowerBound, ends.upperBound].map { Double($0.microseconds) / 1000 }
        answer.add(
            .spread,
            .object([(.spreadFrom, .milliseconds(milliseconds[0])), (.spreadTo, .milliseconds(milliseconds[1]))]),
            shown: milliseconds.map { NumberFormat.significant($0, 6) }.joined(separator: "–") + " ms",
            remark: "a range in which each beacon gets its own interval")
        return spread
    }

    private static func advice(_ spread: IntervalSpread) -> String {
        let cost =
            if abs(spread.extraEvents) < 0.005 {
                "this costs no energy"
            } else if spread.extraEvents > 0 {
                "this sends \(NumberFormat.percent(spread.extraEvents)) more often, and costs that much more energy"
            } else {
                "this sends \(NumberFormat.percent(-spread.extraEvents)) less often, and saves that much energy"
            }
        return "Give each beacon its own interval between \(spread.intervals.lowerBound) and "
            + "\(spread.intervals.upperBound): beacons with equal intervals that collide are likely to collide again; "
            + "\(cost). In a fleet file, \"intervalSpread\" does this."
    }

    private var adviceForOneInterval: String {
        "Give all beacons the same interval: other intervals nearby "
            + (scanners.pauses ? "resonate with the scanner or miss the target." : "miss the target.")
    }

    private func ratio(_ resonance: Resonance, _ scanner: ScannerPreset) -> String {
        let name = scanners.only == nil ? scanner.name : "the scanner"
        return "resonates with \(name) (\(resonance.events):\(resonance.scanIntervals))"
    }

    private func addCurve(to answer: inout PlanAnswer) throws(AirtimeError) {
        let units = Double(advice.interval.rawValue)
        let legacy = AdvertisingInterval.legacyRange
        let low = max(advice.shortestPossible, AdvertisingInterval(rawValue: UInt32(units / 3)))
        let high = min(legacy.upperBound, AdvertisingInterval(rawValue: UInt32(units * 3)))
        let horizon = max(60, 4 * (advice.distribution.percentile(0.99) ?? 900))
        let points = try advice.curve(
            over: low...high, points: comparesScanners ? 25 : 7, between: 1,
            resonances: comparesScanners ? 10 : 4, wantedShare: comparesScanners ? wanted?.probability : nil,
            horizonSeconds: horizon)
        answer.add(
            .curve,
            .list(
                points.map { point in
                    .object([
                        (.interval, .milliseconds(Double(point.interval.microseconds) / 1000)),
                        (.collisionFree, .share(point.collisionFreeProbability)),
                        (.curveP50, .seconds(point.p50)), (.curveP90, .seconds(point.p90)),
                        (.curveP99, .seconds(point.p99)),
                    ])
                }))
        draw(points, horizon, in: &answer)
    }

    private func draw(_ points: [IntervalPoint], _ horizon: Double, in answer: inout PlanAnswer) {
        var table = Table(
            ["interval", "p50", "p90", "p99", "collision-free"], alignment: [.right, .right, .right, .right, .right])
        for point in points where !point.isExtra {
            table.add([
                "\(point.interval)", NumberFormat.duration(point.p50), NumberFormat.duration(point.p90),
                NumberFormat.duration(point.p99), NumberFormat.percent(point.collisionFreeProbability),
            ])
        }
        let isComplete = points.allSatisfy { $0.p99 != nil }
        let isTableComplete = points.allSatisfy { $0.isExtra || $0.p99 != nil }
        answer.pictures.terminal.append(
            .table(table, legend: isTableComplete ? "" : "–: not within \(NumberFormat.duration(horizon))"))
        func series(_ name: String, _ value: (IntervalPoint) -> Double?) -> PlanPageContent.Curve.Series {
            .init(name, points.map { .init(Double($0.interval.microseconds) / 1000, value($0) ?? .nan) })
        }
        var curve = PlanPageContent.Curve(
            title: "Time to discovery over the interval",
            caption: "By \(scanners.phrase), \(beacons) beacons in range.",
            x: .init("advertising interval", unit: "ms", isLogarithmic: true),
            y: .init("time", unit: "s", isLogarithmic: true),
            series: [series("half are found", \.p50), series("90 %", \.p90), series("99 %", \.p99)],
            markers: [.init(isMissed ? "closest" : "to set", x: Double(advice.interval.microseconds) / 1000)],
            gapMeaning: isComplete ? "" : "not within \(NumberFormat.duration(horizon))")
        answer.pictures.terminal.append(.curve(curve))
        if comparesScanners, let wanted {
            if ![0.5, 0.9, 0.99].contains(wanted.probability) {
                curve.series.insert(series("\(NumberFormat.percent(wanted.probability)), as wanted", \.wanted), at: 0)
            }
            curve.wanted = wanted.seconds
        }
        answer.pictures.page.decidingCurve = curve
    }

    /// The goal's time in s and share of cases; nil if the goal is the throughput.
    private var wanted: (seconds: Double, probability: Double)? {
        guard case .detect(let seconds, let probability) = goal else { return nil }
        return (seconds, probability)
    }

    /// Adds a sentence that compares the advised interval with the best intervals for latency and for throughput. The
    /// page marks these intervals too.
    private func reconcile(in answer: inout PlanAnswer) {
        guard let numbers = answer.pictures.page.explorer?.numbers,
            let latencyIntervalMs = numbers.bestLatencyIntervalMs,
            let throughputIntervalMs = numbers.bestThroughputIntervalMs
        else { return }
        let soonestText =
            "a receiver that never pauses finds all beacons soonest at "
            + "\(NumberFormat.significant(latencyIntervalMs, 7)) ms"
        let otherIntervals =
            "Other goals have other intervals: \(soonestText), and the most packets arrive at "
            + "\(NumberFormat.significant(throughputIntervalMs, 7)) ms."
        answer.pictures.page.reconciliation =
            switch (goal, advice.outcome) {
            case (.detect, .impossible):
                "Of the examined intervals, \(advice.interval) misses the target by the least. \(otherIntervals)"
            case (.detect, _):
                "\(advice.interval) is the longest interval found that meets your target, so batteries last longest. "
                    + "\(otherIntervals)"
            case (.maximumThroughput, _):
                "The most packets arrive at \(advice.interval). Another goal has another interval: \(soonestText)."
            }
    }

    /// Adds the times to discovery with each known scanner, and a table of intervals and scanners.
    private func compareScanners(in answer: inout PlanAnswer) throws(AirtimeError) {
        let customScanners = scanners.parts.map(\.scanner).filter { !ScannerPreset.all.contains($0) }
        let presets = customScanners + ScannerPreset.all
        let shortest = Double(advice.shortestPossible.microseconds) / 1000
        let intervals =
            ([100.0, 152.5, 211.25, 318.75, 417.5, 546.25, 760, 852.5, 1022.5, 1285].filter { $0 >= shortest } + [
                Double(advice.interval.microseconds) / 1000
            ]).sorted()
        func latency(_ milliseconds: Double, _ preset: ScannerPreset) throws(AirtimeError) -> LatencyDistribution {
            try advice.distribution(intervalMicroseconds: milliseconds * 1000, preset: preset, horizonSeconds: 300)
        }
        var rows: [PlanPageContent.LatencyComparison.Row] = []
        var cells: [[PlanPageContent.HeatMap.Cell]] = []
        for preset in presets {
            rows.append(.init(preset.name, try latency(Double(advice.interval.microseconds) / 1000, preset)))
        }
        if scanners.only == nil { rows.insert(.init("all visitors", advice.distribution), at: 0) }
        for interval in intervals {
            var row: [PlanPageContent.HeatMap.Cell] = []
            for preset in presets {
                let resonance = try Resonance.slowest(
                    intervalMicroseconds: interval * 1000, pattern: preset.pattern, airtimeMicroseconds: airtime)
                row.append(
                    .init(
                        try latency(interval, preset).percentile(0.95),
                        isResonant: (resonance?.slowness ?? 0) >= Resonance.avoidedSlowness))
            }
            cells.append(row)
        }
        answer.pictures.page.latencies = .init(caption: "The same beacons with other scanners.", rows: rows)
        answer.pictures.page.heatMap = .init(
            title: "Interval and scan mode", caption: "Marked: the interval resonates with the scan interval.",
            valueName: "time to 95 %", unit: "s", intervalsMs: intervals, scanModes: presets.map(\.name), cells: cells)
    }
}

extension PlanKey {
    fileprivate static let advisedInterval = PlanKey(
        "intervalMs", "Advertising interval to set, in ms; if outcome is impossible, the interval that comes closest.",
        label: "interval to set")
    fileprivate static let meanPeriod = PlanKey("meanPeriodMs", "Mean time between two events, in ms.")
    fileprivate static let outcome = PlanKey(
        "outcome",
        "Outcome of the search: met, met-at-longest, clamped-to-shortest, clamped-to-longest or impossible.")
    fileprivate static let wantedSeconds = PlanKey(
        "detectWithinS", "Time of the target, in s; null with --max-throughput.")
    fileprivate static let wantedProbability = PlanKey(
        "probability", "Share of cases of the target, 0 to 1; null with --max-throughput.")
    fileprivate static let comparedLife = PlanKey(
        "lifeDays", "Battery life of a CR2477 with an nRF52832 in days, for comparison.", label: "battery life",
        unit: "days")
    fileprivate static let resonances = PlanKey(
        "resonances", "Ranges of intervals to avoid near the advice, because they resonate with the scanner's pauses.")
    fileprivate static let resonanceScanner = PlanKey(
        "resonances[].scanner", "Name of the scanner that resonates with these intervals.")
    fileprivate static let resonanceFrom = PlanKey("resonances[].fromMs", "Shortest interval of the range, in ms.")
    fileprivate static let resonanceTo = PlanKey("resonances[].toMs", "Longest interval of the range, in ms.")
    fileprivate static let resonanceEvents = PlanKey(
        "resonances[].events", "Number of events after which the pattern of events and pauses repeats.")
    fileprivate static let resonanceScanIntervals = PlanKey(
        "resonances[].scanIntervals", "Number of scan intervals after which this pattern repeats.")
    fileprivate static let resonanceSweep = PlanKey(
        "resonances[].sweepS", "Longest time that a beacon may stay undiscovered because of the resonance, in s.")
    fileprivate static let spread = PlanKey(
        "intervalSpread",
        "Range in which each beacon gets its own interval; null if all beacons should have the same interval, or if no "
            + "interval reaches the target.",
        label: "spread")
    fileprivate static let spreadFrom = PlanKey("intervalSpread.fromMs", "Shortest interval of the range, in ms.")
    fileprivate static let spreadTo = PlanKey("intervalSpread.toMs", "Longest interval of the range, in ms.")
    fileprivate static let curve = PlanKey("curve", "The results at intervals around the advised interval.")
    fileprivate static let curveP50 = PlanKey(
        "curve[].p50", "Time within which a beacon is found in 50 % of the cases, in s; null if it is unknown.")
    fileprivate static let curveP90 = PlanKey("curve[].p90", "Time for 90 % of the cases, in s; null if it is unknown.")
    fileprivate static let curveP99 = PlanKey("curve[].p99", "Time for 99 % of the cases, in s; null if it is unknown.")
}

extension IntervalQuestion {
    /// The keys of the answer in JSON.
    static let keys: [PlanKey] =
        PlanKey.origin + [.beacons] + PlanKey.packets + [.scanner, .advisedInterval, .meanPeriod, .collisionFree]
        + PlanKey.discovery + [
            .mixDetected, .outcome, .wantedSeconds, .wantedProbability, .comparedLife, .resonances, .resonanceScanner,
            .resonanceFrom, .resonanceTo,
            .resonanceEvents,
            .resonanceScanIntervals, .resonanceSweep, .spread, .spreadFrom, .spreadTo, .curve,
            PlanKey.interval.within("curve[]"), PlanKey.collisionFree.within("curve[]"), .curveP50, .curveP90,
            .curveP99,
        ]
}

/// A site of a fleet for which an interval is advised. The advised interval applies to each beacon's most frequent
/// advertisement. The beacons' other advertisements keep their intervals.
public struct FleetInterval: Sendable {
    public let air: PlannedAir
    /// The bytes of advertising data in the longest of the beacons' most frequent advertisements.
    public let payloadOctets: Int
    /// The PHY of the most frequent advertisements; nil for legacy PDUs.
    let phy: ExtendedPHY?
    /// ln of the probability that the other advertisements of one beacon do not hit an event.
    let logOtherClearProbability: Double

    /// Throws an error if the beacons' most frequent advertisements use several PHYs. Also throws the errors of the
    /// models for the other advertisements.
    public init(_ air: PlannedAir) throws(PlanError) {
        self.air = air
        let fastest = air.machines.compactMap { $0.frames.min { $0.sortKey < $1.sortKey } }
        let names = Set(fastest.map { $0.extended?.phy.name ?? "legacy PDUs" })
        guard names.count <= 1 else {
            throw PlanError(
                .question,
                "an interval can be found only for advertisements on one PHY, but the most frequent ones of "
                    + "\(air.origin?.name ?? "the fleet") use \(names.sorted().joined(separator: ", ")): use --phy "
                    + "to plan all beacons on one PHY")
        }
        let octets = fastest.map(\.payloadOctets).max() ?? 31
        let phy = fastest.first?.extended?.phy
        (payloadOctets, self.phy) = (octets, phy)
        let frame = try PlannedFrame(
            interval: AdvertisingInterval.legacyRange.upperBound, phy: phy, payloadOctets: octets)
        logOtherClearProbability = try PlanError.asking { () throws(AirtimeError) in
            try TargetCollisions.logCompanionClearProbability(in: air.kinds(), ofEventOf: frame.group(1))
        }
    }

    var note: String {
        "The advice is for the most frequent advertisement of each beacon of \(air.origin?.name ?? "the fleet"), now "
            + "every \(currentIntervals). It assumes that each of them is as long as the longest, \(payloadOctets) "
            + "bytes of data."
            + (logOtherClearProbability == 0 ? "" : " The beacons' other advertisements keep their intervals.")
    }

    /// The current intervals in the fleet file.
    private var currentIntervals: String {
        let intervals = air.machines.compactMap { $0.frames.map(\.interval).min() }
        guard let low = intervals.min(), let high = intervals.max() else { return "–" }
        return low == high ? "\(low)" : "\(low) to \(high)"
    }
}
