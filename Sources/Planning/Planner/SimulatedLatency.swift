public import Airtime

/// Time to discovery, packet by packet, with the model's values beside it.
public struct SimulatedLatency: SimulationQuestion {
    public let air: PlannedAir
    public let scanner: ScannerPreset
    /// The times in s after which the share that is not yet received is told.
    public let undiscoveredAfter: [Double]
    public let seed: UInt64
    public let scene: AirSimulation
    public let goal: PrecisionGoal
    /// What the model says.
    private let latency: LatencyDistribution

    /// - Parameter precision: Half the width of the 95 % confidence interval of the 95th percentile, as a share of it.
    public init(
        air: PlannedAir, scanner: ScannerPreset, undiscoveredAfter: [Double] = [], seed: UInt64 = 1,
        precision: Double = 0.01
    ) throws(PlanError) {
        self.air = air
        self.scanner = scanner
        self.undiscoveredAfter = undiscoveredAfter
        self.seed = seed
        let longest = undiscoveredAfter.max() ?? 0
        (latency, scene, goal) = try PlanError.asking { () throws(AirtimeError) in
            let (group, otherClear) = try air.fleet()
            let latency = try LatencyModel(group: group, preset: scanner, otherClearProbability: otherClear)
                .distribution(untilSeconds: longest)
            return (
                latency, try Self.scene(air, scanner, latency, longest, seed),
                try Self.goal(precision, minimumBatches: 200)
            )
        }
    }

    private static func scene(
        _ air: PlannedAir, _ scanner: ScannerPreset, _ latency: LatencyDistribution, _ longest: Double, _ seed: UInt64
    ) throws(AirtimeError) -> AirSimulation {
        var receiver = AirReceiver(scan: scanner.pattern)
        receiver.deadTimeMicroseconds = scanner.deadTimeMicroseconds
        receiver.channelGapMicroseconds = scanner.windowGapMicroseconds
        var conditions = AirConditions()
        conditions.playsAllChannels = false
        let horizon = max(longest, 1.5 * (latency.percentile(0.999) ?? latency.horizonSeconds), 1)
        conditions.durationMicroseconds = horizon * 1_000_000
        return try AirSimulation(
            advertisers: air.advertisers(isCounted: air.frame(air.target).pace), receivers: [receiver],
            conditions: conditions, seed: seed)
    }

    /// The 95th percentile in s, with the half-width of its interval as a standard error's.
    public static func estimate(_ tally: AirTally) -> Estimate? {
        let latency = tally.all.latency
        guard let value = latency.percentile(0.95), let range = latency.percentileConfidence95(0.95) else { return nil }
        return Estimate(
            value: value / 1_000_000, standardError: (range.upperBound - range.lowerBound) / 2e6 / 1.96,
            batches: tally.all.clear.batches)
    }

    public func answer(_ outcome: SimulationOutcome) throws(PlanError) -> PlanAnswer {
        try checkBatches(outcome)
        let tally = outcome.tally.all.latency
        let seconds = { (share: Double) in tally.percentile(share).map { $0 / 1e6 } }
        var answer = PlanAnswer(
            title: "Simulated time to discovery with \(scanner.name)",
            sentence:
                "In the simulation a given one of \(NumberText.beacons(air.beacons)) every \(air.frame(air.target).interval)"
                + (air.origin.map { ", of \($0.name)," } ?? "") + " is received within "
                + "\(NumberText.duration(seconds(0.95))) in 95 of 100 cases, by \(scanner.name).")
        answer.stateOrigin(of: air)
        answer.state("beacons", .count(air.beacons))
        answer.stateTarget(of: air)
        answer.state("scanner", .word(scanner.name))
        let percentiles = PlanAnswer.percentiles
        for (percent, share) in percentiles {
            answer.show(
                "\(percent) % received within", .seconds(seconds(share)),
                remark: "the model says \(NumberText.duration(latency.percentile(share)))")
        }
        answer.state("latencyS", .record(percentiles.map { ("p\($0.0)", .seconds(seconds($0.1))) }))
        answer.state(
            "undiscoveredAfterS",
            .record(
                undiscoveredAfter.map { time in
                    let share = tally.undiscoveredShare(afterMicroseconds: time * 1e6)?.value
                    return (NumberText.significant(time, 9), .share(share))
                }))
        let intervals = percentiles.map { percent, share in
            let range = tally.percentileConfidence95(share)
            return ("p\(percent)", PlanQuantity.range(range.map { $0.lowerBound / 1e6...$0.upperBound / 1e6 }))
        }
        var values = SimulatedValues()
        values.add(
            "latencyS", interval: .record(intervals),
            model: .record(percentiles.map { ("p\($0.0)", .seconds(latency.percentile($0.1))) }))
        values.finish(&answer)
        finish(&answer, outcome)
        answer.noteRounding(of: air)
        return answer
    }
}
