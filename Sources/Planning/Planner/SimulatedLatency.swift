public import Airtime
internal import BluetoothTypes

/// A question for the planner: the time to discovery in a simulation of every packet, compared with the model's values.
public struct SimulatedLatency: SimulationQuestion {
    public let air: PlannedAir
    public let scanners: ScannerMix
    /// The times in s for which the answer states the share of beacons that are not yet found.
    public let undiscoveredAfter: [Double]
    public let seed: UInt64
    public let scene: AirSimulation
    public let goal: PrecisionGoal
    /// The model's distribution.
    private let latency: LatencyDistribution

    /// - Parameter precision: The relative precision at which the simulation stops: half the width of the 95 %
    ///   confidence interval of the 95th percentile, divided by this percentile.
    public init(
        air: PlannedAir, scanners: ScannerMix, undiscoveredAfter: [Double] = [], seed: UInt64 = 1,
        precision: Double = 0.01
    ) throws(PlanError) {
        self.air = air
        self.scanners = scanners
        self.undiscoveredAfter = undiscoveredAfter
        self.seed = seed
        let longest = undiscoveredAfter.max() ?? 0
        (latency, scene, goal) = try PlanError.asking { () throws(AirtimeError) in
            let (group, otherClear) = try air.fleet()
            let latency = try MixLatency(scanners, untilSeconds: longest) { scanner throws(AirtimeError) in
                try LatencyModel(group: group, preset: scanner, otherClearProbability: otherClear)
            }.whole
            return (
                latency, try Self.scene(air, scanners, latency, longest, seed),
                try Self.goal(precision, minimumBatches: 200)
            )
        }
    }

    private static func scene(
        _ air: PlannedAir, _ scanners: ScannerMix, _ latency: LatencyDistribution, _ longest: Double, _ seed: UInt64
    ) throws(AirtimeError) -> AirSimulation {
        var conditions = AirConditions()
        conditions.simulatesAllChannels = false
        let horizon = max(longest, 1.5 * (latency.percentile(0.999) ?? latency.horizonSeconds), 1)
        conditions.durationMicroseconds = horizon * 1_000_000
        return try AirSimulation(
            advertisers: air.advertisers(isCounted: air.frame(air.target).sortKey), scanners: scanners,
            conditions: conditions, seed: seed)
    }

    /// Returns the 95th percentile in s. Its standard error is computed from the width of its 95 % confidence interval.
    public static func estimate(_ tally: AirTally) -> Estimate? {
        let latency = tally.latency
        guard let value = latency.percentile(0.95), let range = latency.percentileConfidence95(0.95) else { return nil }
        return Estimate(
            value: value / 1_000_000, standardError: (range.upperBound - range.lowerBound) / 2e6 / 1.96,
            batches: tally.clear.batches)
    }

    public func answer(_ outcome: SimulationOutcome) throws(PlanError) -> PlanAnswer {
        try checkBatches(outcome)
        let tally = outcome.tally.latency
        let seconds = { (share: Double) in tally.percentile(share).map { $0 / 1e6 } }
        let place = air.origin.map { " of \($0.name)" } ?? ""
        var answer = PlanAnswer(
            title: "Simulated time to discovery with \(scanners.phrase)",
            sentence:
                "Found within \(NumberFormat.duration(seconds(0.95))) in 95 % of the simulated cases: "
                + "\(NumberFormat.givenBeacon(of: air.beacons))\(place) at an interval of "
                + "\(air.frame(air.target).interval), by \(scanners.phrase).")
        answer.addOrigin(of: air)
        answer.add(.beacons, .count(air.beacons))
        answer.stateTarget(of: air)
        answer.addScanners(scanners)
        for (_, percent, share) in PlanKey.percentiles {
            let range = tally.percentileConfidence95(share)
            let width = range.map { "± \(NumberFormat.duration(($0.upperBound - $0.lowerBound) / 2e6)); " }
            answer.show(
                "\(percent) % received within", .seconds(seconds(share)),
                remark: (width ?? "") + "the model's value is \(NumberFormat.duration(latency.percentile(share)))")
        }
        for time in undiscoveredAfter {
            let share = tally.undiscoveredShare(afterMicroseconds: time * 1e6)
            answer.show(
                "not yet found after \(NumberFormat.duration(time))", .share(share?.value),
                remark: (share.map { "± \(NumberFormat.percent($0.halfWidth95)); " } ?? "")
                    + "the model's value is \(NumberFormat.percent(latency.undiscovered(after: time)))")
        }
        answer.add(.latency, .percentiles(seconds))
        answer.add(
            .undiscovered,
            .record(
                undiscoveredAfter.map { time in
                    let share = tally.undiscoveredShare(afterMicroseconds: time * 1e6)?.value
                    return (NumberFormat.significant(time, 9), .share(share))
                }))
        let intervals = PlanKey.percentiles.map { key, _, share in
            let range = tally.percentileConfidence95(share)
            return (key, PlanQuantity.range(range.map { $0.lowerBound / 1e6...$0.upperBound / 1e6 }))
        }
        var values = SimulatedValues()
        values.add(.latency, interval: .object(intervals), model: .percentiles { latency.percentile($0) })
        values.finish(&answer)
        finish(&answer, outcome)
        answer.note(
            "The run ends when the time for 95 % is as precise as --precision requires. The number after ± is half the "
                + "width of a value's 95 % confidence interval; other values may have wider intervals than the time "
                + "for 95 %.")
        answer.noteRounding(of: air)
        answer.noteMeanIntervals(of: air)
        return answer
    }

    /// The keys of the answer in JSON.
    static let keys: [PlanKey] =
        PlanKey.origin + [.beacons] + PlanKey.extendedTarget + [.scanner, .latency] + PlanKey.percentiles.map(\.key)
        + [.undiscovered] + PlanKey.comparisons(PlanKey.percentiles.map(\.key)) + PlanKey.simulation
}
