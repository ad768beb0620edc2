public import Airtime

/// Whether a beacon is seen by somebody who walks past.
public struct WalkQuestion: Sendable {
    public let air: PlannedAir
    public let scanner: ScannerPreset
    /// m/s, above 0.
    public let speed: Double
    /// The closest approach to the beacon, in m.
    public let distance: Double
    public let range: PlannedRange

    /// `speed` in m/s, and `distance`, the closest approach, in m.
    public init(air: PlannedAir, scanner: ScannerPreset, speed: Double, distance: Double, range: PlannedRange) {
        self.air = air
        self.scanner = scanner
        self.speed = speed
        self.distance = distance
        self.range = range
    }

    /// How long somebody is in range, and how likely the beacon is found in that time. Throws what the models refuse.
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
        var answer = PlanAnswer(title: "Walking past a beacon", sentence: sentence(walk, seen))
        answer.stateOrigin(of: air)
        answer.state("dwellS", .seconds(walk.dwellSeconds), as: "in range for")
        answer.state("probabilitySeen", .share(seen), as: "seen in", remark: "of the cases")
        answer.state("rangeM", .number(range.meters, unit: "m"), as: "range", remark: range.remark)
        answer.state("scanner", .word(scanner.name))
        answer.stateTarget(of: air)
        answer.state(latency)
        if let only = air.onlyFrame, let (group, _) = try? air.fleet() {
            answer.explore(group, scanner, payloadOctets: only.payloadOctets, background: .none, latency: latency)
            answer.pictures.walk = answer.pictures.explorer.map { .init(walk, probabilitySeen: seen, fleet: $0) }
            answer.pictures.explorer = nil
        }
        answer.noteRounding(of: air)
        return answer
    }

    private func sentence(_ walk: WalkPast, _ seen: Double) -> String {
        guard walk.dwellSeconds > 0 else {
            return
                "The beacon is not seen: the way comes no nearer than \(NumberText.significant(distance)) m, and it is heard "
                + "for \(NumberText.significant(range.meters)) m."
        }
        return "Somebody who passes the beacon at a distance of \(NumberText.significant(distance)) m and at "
            + "\(NumberText.significant(speed)) m/s is in range for \(NumberText.duration(walk.dwellSeconds)) and sees it in "
            + "\(NumberText.percent(seen)) of the cases, with \(scanner.name)."
    }
}
