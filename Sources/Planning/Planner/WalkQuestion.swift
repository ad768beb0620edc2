public import Airtime
internal import BluetoothTypes

/// Asks how likely a scanner finds a beacon while it is carried past.
public struct WalkQuestion: Sendable {
    public let air: PlannedAir
    public let scanner: ScannerPreset
    /// The speed in m/s, above 0.
    public let speed: Double
    /// The shortest distance between the path and the beacon, in m.
    public let distance: Double
    public let range: PlannedRange

    public init(air: PlannedAir, scanner: ScannerPreset, speed: Double, distance: Double, range: PlannedRange) {
        self.air = air
        self.scanner = scanner
        self.speed = speed
        self.distance = distance
        self.range = range
    }

    /// The time in range, and the probability that the beacon is found in that time. Throws the models' errors.
    public func answer() throws(PlanError) -> PlanAnswer {
        let (walk, latency, seen) = try PlanError.asking { () throws(AirtimeError) in
            let walk = try WalkPast(
                speedMetersPerSecond: speed, closestDistanceMeters: distance, rangeMeters: range.meters)
            let (group, otherClear) = try air.fleet()
            let dwell = min(walk.dwellSeconds, LatencyModel.longestHorizonSeconds)
            let latency = try LatencyModel(group: group, preset: scanner, otherClearProbability: otherClear)
                .distribution(untilSeconds: dwell, horizonSeconds: max(3600, dwell))
            let seen = try walk.seenProbability { latency.received(within: min($0, latency.horizonSeconds)) ?? 1 }
            return (walk, latency, seen)
        }
        var answer = PlanAnswer(title: "Discovery while walking past a beacon", sentence: sentence(walk, seen))
        answer.stateOrigin(of: air)
        answer.state(.dwell, .seconds(walk.dwellSeconds))
        answer.state(.probabilitySeen, .share(seen), remark: "of the walks")
        answer.state(.range, .number(range.meters), remark: range.remark)
        answer.state(.scanner, .word(scanner.name))
        answer.stateTarget(of: air)
        answer.state(latency)
        if let only = air.onlyFrame, let (group, _) = try? air.fleet() {
            answer.explore(group, scanner, payloadOctets: only.payloadOctets, background: .none, latency: latency)
            answer.pictures.page.walk = answer.pictures.page.explorer.map {
                .init(path: walk, probabilitySeen: seen, fleet: $0)
            }
            answer.pictures.page.explorer = nil
        }
        answer.noteRounding(of: air)
        return answer
    }

    private func sentence(_ walk: WalkPast, _ seen: Double) -> String {
        guard walk.dwellSeconds > 0 else {
            return
                "0 % of the walks find the beacon: its range is \(NumberFormat.significant(range.meters)) m, and the path stays "
                + "at least \(NumberFormat.significant(distance)) m away."
        }
        return "\(NumberFormat.percent(seen)) of the walks find the beacon, with \(scanner.name): at a distance of "
            + "\(NumberFormat.significant(distance)) m and \(NumberFormat.significant(speed)) m/s it is in range for "
            + "\(NumberFormat.duration(walk.dwellSeconds))."
    }

    /// The keys of the answer in JSON.
    static let keys: [PlanKey] =
        PlanKey.origin + [.dwell, .probabilitySeen, .range, .scanner] + PlanKey.target + PlanKey.discovery
}

extension PlanKey {
    fileprivate static let dwell = PlanKey("dwellS", "Time in range of the beacon, in s.", label: "in range for")
    fileprivate static let probabilitySeen = PlanKey(
        "probabilitySeen", "Share of walks in which the beacon is found, 0 to 1.", label: "found in")
}
