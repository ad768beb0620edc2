public import Airtime
internal import BluetoothTypes

/// A question for the planner: the probability that a scanner finds a beacon while the scanner is carried past the
/// beacon.
public struct WalkQuestion: Sendable {
    public let air: PlannedAir
    public let scanners: ScannerMix
    /// The speed in m/s, above 0.
    public let speed: Double
    /// The shortest distance between the path and the beacon, in m.
    public let distance: Double
    public let range: PlannedRange

    public init(air: PlannedAir, scanners: ScannerMix, speed: Double, distance: Double, range: PlannedRange) {
        self.air = air
        self.scanners = scanners
        self.speed = speed
        self.distance = distance
        self.range = range
    }

    /// Returns the time in range, and the probability that the beacon is found in that time. Throws the models' errors.
    public func answer() throws(PlanError) -> PlanAnswer {
        let (walk, mix, seen) = try PlanError.asking { () throws(AirtimeError) in
            let walk = try WalkPast(
                speedMetersPerSecond: speed, closestDistanceMeters: distance, rangeMeters: range.meters)
            let (group, otherClear) = try air.fleet()
            let dwell = min(walk.dwellSeconds, LatencyModel.longestHorizonSeconds)
            let mix = try MixLatency(scanners, untilSeconds: dwell, horizonSeconds: max(3600, dwell)) {
                scanner throws(AirtimeError) in
                try LatencyModel(group: group, preset: scanner, otherClearProbability: otherClear)
            }
            return (walk, mix, try Self.seen(walk, mix.whole))
        }
        var answer = PlanAnswer(title: "Discovery while walking past a beacon", sentence: sentence(walk, seen))
        answer.addOrigin(of: air)
        answer.add(.dwell, .seconds(walk.dwellSeconds))
        answer.add(.probabilitySeen, .share(seen), remark: "of the walks")
        answer.add(.range, .number(range.meters), remark: range.remark)
        answer.addScanners(scanners)
        answer.stateTarget(of: air)
        try PlanError.asking { () throws(AirtimeError) in
            try answer.addResults(of: mix, extra: (.mixSeen, "found in")) { latency throws(AirtimeError) in
                try Self.seen(walk, latency)
            }
        }
        if let only = air.onlyFrame, only.extended == nil, let (group, _) = try? air.fleet() {
            answer.explore(group, scanners, payloadOctets: only.payloadOctets, background: .none, latency: mix.whole)
            answer.pictures.page.walk = answer.pictures.page.explorer.map {
                .init(path: walk, probabilitySeen: seen, fleet: $0)
            }
            answer.pictures.page.explorer = nil
        }
        answer.noteRounding(of: air)
        answer.note(range.note)
        answer.noteTraffic(of: air.onlyFrame)
        answer.note("The path is straight, and the speed is the same all the way.")
        answer.noteMeanIntervals(of: air)
        return answer
    }

    private static func seen(_ walk: WalkPast, _ latency: LatencyDistribution) throws(AirtimeError) -> Double {
        try walk.seenProbability { latency.received(within: min($0, latency.horizonSeconds)) ?? 1 }
    }

    private func sentence(_ walk: WalkPast, _ seen: Double) -> String {
        guard walk.dwellSeconds > 0 else {
            return
                "0 % of the walks find the beacon: its range is \(NumberFormat.significant(range.meters)) m, and the path stays "
                + "at least \(NumberFormat.significant(distance)) m away."
        }
        return "\(NumberFormat.percent(seen)) of the walks find the beacon, with \(scanners.phrase): at a distance of "
            + "\(NumberFormat.significant(distance)) m and \(NumberFormat.significant(speed)) m/s it is in range for "
            + "\(NumberFormat.duration(walk.dwellSeconds))."
    }

    /// The keys of the answer in JSON.
    static let keys: [PlanKey] =
        PlanKey.origin + [.dwell, .probabilitySeen, .range, .scanner] + PlanKey.extendedTarget + PlanKey.discovery
        + [.mixSeen]
}

extension PlanKey {
    fileprivate static let dwell = PlanKey("dwellS", "Time in range of the beacon, in s.", label: "in range for")
    fileprivate static let mixSeen = PlanKey(
        "scanners[].probabilitySeen", "Share of walks in which this scanner finds the beacon, 0 to 1.")
    fileprivate static let probabilitySeen = PlanKey(
        "probabilitySeen", "Share of walks in which the beacon is found, 0 to 1.", label: "found in")
}
