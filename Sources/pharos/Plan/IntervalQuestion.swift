internal import Airtime
internal import BluetoothTypes
internal import Configuration
internal import PlanReport

/// What `plan interval` asks, and its answer in words, numbers and pictures.
struct IntervalQuestion {
    let beacons: Int
    let payloadOctets: Int
    /// tau in µs.
    let airtime: Double
    let goal: IntervalGoal
    let scanner: ScannerPreset
    /// The site of a fleet whose beacons they are.
    let fleet: FleetInterval?
    /// Comparing scanners takes time that only the page is worth.
    let drawsPage: Bool

    func answer(_ advice: IntervalAdvice) throws(AirtimeError) -> PlanAnswer {
        var answer = PlanAnswer(title: "The interval for \(beacons) beacons", answer: sentence(advice))
        let latency = advice.distribution
        let milliseconds = Double(advice.interval.microseconds) / 1000
        let clear = advice.collisionFreeProbability
        if let fleet { answer.origin(of: fleet.air) }
        answer.member("beacons", Double(beacons))
        answer.json.append(("scanner", .string(scanner.name)))
        answer.member("intervalMs", milliseconds)
        answer.member("meanPeriodMs", advice.meanPeriodMicroseconds / 1000)
        answer.member("collisionFreeProbability", clear)
        answer.figure(
            "interval to set", DecimalText.thousandths(advice.interval.microseconds), unit: "ms",
            remark: "an event every \(PlanNumber.milliseconds(advice.meanPeriodMicroseconds)) ms on average")
        answer.figure("collision-free packets", PlanNumber.percent(clear))
        answer.figure(
            "arriving", PlanNumber.text(clear * 1_000_000 / advice.meanPeriodMicroseconds), unit: "1/s",
            remark: "from each beacon, on one channel")
        answer.add(latency)
        answer.json.append(("outcome", .string(outcomeName(advice.outcome))))
        try addCost(advice, to: &answer)
        try addResonances(advice, to: &answer)
        try addCurve(advice, to: &answer)
        let group = try AdvertiserGroup(
            count: beacons, intervalMicroseconds: Double(advice.interval.microseconds), airtimeMicroseconds: airtime)
        if fleet.map({ $0.logSparingOther == 0 }) ?? true {
            answer.explore(group, scanner, payloadOctets: payloadOctets, background: .none, latency: latency)
        }
        if let fleet { answer.note(fleet.note) }
        if drawsPage { try compareScanners(advice, to: &answer) }
        if beacons > 1 {
            answer.note(
                "Spread the intervals over the fleet, each beacon within ±10 % of this one: beacons of equal intervals that met once meet again, and this costs nothing."
            )
        }
        return answer
    }

    private func sentence(_ advice: IntervalAdvice) -> String {
        let set = "Set \(advice.interval)"
        switch (goal, advice.outcome) {
        case (.detect(let seconds, let probability), .impossible(let shortfall)):
            return
                "No interval lets \(scanner.name) find a given one of \(PlanNumber.beacons(beacons)) within \(PlanNumber.duration(seconds)) in "
                + "\(PlanNumber.percent(probability)) of the cases; the best, \(advice.interval), does in \(PlanNumber.percent(shortfall.share)). "
                + remedy(shortfall)
        case (.detect(let seconds, let probability), let outcome):
            return
                "\(set): a given one of \(PlanNumber.beacons(beacons)) is found by \(scanner.name) within \(PlanNumber.duration(seconds)) in at least "
                + "\(PlanNumber.percent(probability)) of the cases, and no longer interval does that." + remark(outcome)
        case (.maximumThroughput, let outcome):
            return
                "\(set): the most advertisements of \(PlanNumber.beacons(beacons)) arrive, \(PlanNumber.percent(advice.collisionFreeProbability)) of those sent."
                + remark(outcome)
        }
    }

    private func remark(_ outcome: IntervalOutcome) -> String {
        switch outcome {
        case .met, .impossible: ""
        case .metAtLongest: " (It is the longest that controllers take.)"
        case .clampedToShortest: " (Shorter would be better still, but controllers take no shorter one.)"
        case .clampedToLongest: " (Longer would be better still, but controllers take no longer one.)"
        }
    }

    private func remedy(_ shortfall: IntervalOutcome.Shortfall) -> String {
        var remedies: [String] = []
        if let seconds = shortfall.seconds { remedies.append("allow \(PlanNumber.duration(seconds))") }
        if let fewer = shortfall.beacons { remedies.append("have at most \(fewer) beacons in range") }
        remedies.append(
            "use a scanner that listens more (without a pause it would be \(PlanNumber.percent(shortfall.continuousShare)))"
        )
        return "What would help: " + remedies.joined(separator: ", or ") + "."
    }

    private func outcomeName(_ outcome: IntervalOutcome) -> String {
        switch outcome {
        case .met: "met"
        case .metAtLongest: "met-at-longest"
        case .clampedToShortest: "clamped-to-shortest"
        case .clampedToLongest: "clamped-to-longest"
        case .impossible: "impossible"
        }
    }

    /// What the interval costs, with a usual chip and battery.
    private func addCost(_ advice: IntervalAdvice, to answer: inout PlanAnswer) throws(AirtimeError) {
        guard let chip = BeaconChip.named("nrf52832"), let battery = BeaconBattery.named("cr2477") else { return }
        let energy = try EnergyModel(
            chip: chip, battery: battery, intervalMicroseconds: Double(advice.interval.microseconds),
            payloadOctets: payloadOctets)
        answer.member("lifeDays", energy.lifeDays)
        answer.figure(
            "battery life", PlanNumber.text(energy.lifeDays), unit: "days",
            remark: "with \(chip.name) and a \(battery.name), for comparison")
    }

    /// Stretches of intervals around the advice that a scanner that pauses meets too seldom.
    private func addResonances(_ advice: IntervalAdvice, to answer: inout PlanAnswer) throws(AirtimeError) {
        let center = Double(advice.interval.microseconds)
        let range = max(20_000, center * 0.7)...min(10_240_000, center * 1.4)
        let bands = try Resonance.bands(within: range, pattern: scanner.pattern, airtimeMicroseconds: airtime)
        answer.json.append(
            (
                "resonances",
                .array(
                    bands.map { band in
                        .record([
                            ("fromMs", .real(band.intervalsMicroseconds.lowerBound / 1000)),
                            ("toMs", .real(band.intervalsMicroseconds.upperBound / 1000)),
                            ("events", .integer(band.worst.events)),
                            ("scanIntervals", .integer(band.worst.scanIntervals)),
                            ("sweepS", .real(band.worst.sweepSeconds)),
                        ])
                    })
            ))
        for band in bands.sorted(by: { $0.worst.slowness > $1.worst.slowness }).prefix(4) {
            answer.figure(
                "avoid",
                "\(PlanNumber.milliseconds(band.intervalsMicroseconds.lowerBound))–\(PlanNumber.milliseconds(band.intervalsMicroseconds.upperBound))",
                unit: "ms",
                remark:
                    "\(Self.steps(band.worst)): up to \(PlanNumber.duration(band.worst.sweepSeconds)) unseen"
            )
        }
    }

    private static func steps(_ resonance: Resonance) -> String {
        let events = resonance.events == 1 ? "every event keeps" : "\(resonance.events) events keep"
        let scans = resonance.scanIntervals == 1 ? "each scan interval" : "\(resonance.scanIntervals) scan intervals"
        return "\(events) step with \(scans)"
    }

    private func addCurve(_ advice: IntervalAdvice, to answer: inout PlanAnswer) throws(AirtimeError) {
        let units = Double(advice.interval.rawValue)
        let legacy = AdvertisingInterval.legacyRange
        let low = max(legacy.lowerBound, AdvertisingInterval(rawValue: UInt32(units / 3)))
        let high = min(legacy.upperBound, AdvertisingInterval(rawValue: UInt32(units * 3)))
        let horizon = max(60, 4 * (advice.distribution.percentile(0.99) ?? 900))
        let points = try advice.curve(over: low...high, points: drawsPage ? 25 : 7, horizonSeconds: horizon)
        answer.json.append(
            (
                "curve",
                .array(
                    points.map { point in
                        .record([
                            ("intervalMs", .real(Double(point.interval.microseconds) / 1000)),
                            ("collisionFreeProbability", .real(point.collisionFreeProbability)),
                            ("p50", .real(point.p50)), ("p90", .real(point.p90)), ("p99", .real(point.p99)),
                        ])
                    })
            ))
        var table = Table(
            ["interval", "p50", "p90", "p99", "collision-free"], alignment: [.right, .right, .right, .right, .right])
        for point in points {
            table.add([
                "\(point.interval)", PlanNumber.duration(point.p50), PlanNumber.duration(point.p90),
                PlanNumber.duration(point.p99), PlanNumber.percent(point.collisionFreeProbability),
            ])
        }
        let isComplete = points.allSatisfy { $0.p99 != nil }
        answer.charts.append(table.text + (isComplete ? "" : "–: not within \(PlanNumber.duration(horizon))\n"))
        func series(_ name: String, _ value: (IntervalPoint) -> Double?) -> PlanPageContent.Curve.Series {
            .init(
                name,
                points.compactMap { point in
                    value(point).map { .init(Double(point.interval.microseconds) / 1000, $0) }
                })
        }
        let curve = PlanPageContent.Curve(
            title: "Time to discovery over the interval",
            caption: "By \(scanner.name), \(beacons) beacons in range.",
            x: .init("advertising interval", unit: "ms", isLogarithmic: true),
            y: .init("time", unit: "s", isLogarithmic: true),
            series: [series("half are found", \.p50), series("90 %", \.p90), series("99 %", \.p99)],
            markers: [.init("to set", x: Double(advice.interval.microseconds) / 1000)])
        answer.content.curves.append(curve)
        answer.chart(curve)
    }

    /// The same fleet before the known scanners, and each interval of a list with each of them.
    private func compareScanners(_ advice: IntervalAdvice, to answer: inout PlanAnswer) throws(AirtimeError) {
        let presets =
            ScannerPreset.all.contains { $0.name == scanner.name } ? ScannerPreset.all : [scanner] + ScannerPreset.all
        let intervals =
            ([100.0, 152.5, 211.25, 318.75, 417.5, 546.25, 760, 852.5, 1022.5, 1285] + [
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
        for interval in intervals {
            var row: [PlanPageContent.HeatMap.Cell] = []
            for preset in presets {
                let slow = try Resonance.slowest(
                    intervalMicroseconds: interval * 1000, pattern: preset.pattern, airtimeMicroseconds: airtime)
                row.append(
                    .init(
                        try latency(interval, preset).percentile(0.95),
                        isResonant: (slow?.slowness ?? 0) >= Resonance.avoidedSlowness))
            }
            cells.append(row)
        }
        answer.content.latencies = .init(caption: "The same beacons before other scanners.", rows: rows)
        answer.content.heatMap = .init(
            title: "Interval and scan mode", caption: "Marked: interval and scan interval keep step.",
            valueName: "time to 95 %", unit: "s", intervalsMs: intervals, scanModes: presets.map(\.name), cells: cells)
    }
}
