public import Airtime
internal import BluetoothTypes

/// A question for the planner: how many beacons may be in range of one receiver, and how far apart they are on a square
/// grid.
public struct DensityQuestion: Sendable {
    /// The mixture of beacons and advertisements. The question varies the number of beacons, not the mixture.
    public let air: PlannedAir
    public let scanners: ScannerMix
    public let target: DetectionTarget
    public let range: PlannedRange
    /// True to add a curve over other numbers of beacons. The curve takes additional time.
    public let drawsCurve: Bool

    public init(
        air: PlannedAir, scanners: ScannerMix, target: DetectionTarget, range: PlannedRange,
        drawsCurve: Bool = false
    ) {
        self.air = air
        self.scanners = scanners
        self.target = target
        self.range = range
        self.drawsCurve = drawsCurve
    }

    /// Returns the answer. Its `holds` is false if even a single beacon is not received in time.
    public func answer() throws(PlanError) -> PlanAnswer {
        let frame = air.frame(air.target)
        let (beacons, latency, spacing) = try PlanError.asking { () throws(AirtimeError) in
            let fleet = try LargestFleet(
                within: target.seconds, probability: target.probability,
                collisions: TargetCollisions(
                    kind: air.target.kind, advertisement: air.target.frame, in: air.kinds(), isAmongMore: true),
                scanners: scanners)
            let spacing =
                fleet.beacons == 0
                ? nil : try Neighborhood.gridSpacing(holding: fleet.beacons, radiusMeters: range.meters)
            return (fleet.beacons, fleet.latency, spacing)
        }
        var answer = PlanAnswer(
            title: "Density of beacons that send every \(frame.interval)",
            sentence: spacing.map { sentence(beacons, $0) } ?? refusal(latency.whole))
        answer.holds = beacons > 0
        answer.addOrigin(of: air)
        answer.add(.beaconsInRange, .count(beacons), remark: "at most, including the target beacon")
        answer.add(
            .gridSpacing, .number(spacing), isInText: spacing != nil,
            remark: "square grid, counted for a receiver at a beacon")
        answer.add(.range, .number(range.meters), remark: range.remark)
        answer.add(.interval, .milliseconds(frame.milliseconds))
        answer.stateTarget(of: air)
        answer.addScanners(scanners)
        try PlanError.asking { () throws(AirtimeError) in
            try answer.addResults(of: latency, extra: (.mixDetected, "in time")) { target.share(of: $0) }
        }
        if let only = air.onlyFrame, only.extended == nil, let scanner = scanners.onPage {
            let scanners = [scanner] + ScannerPreset.all.filter { $0.name != scanner.name }
            answer.pictures.page.density = .init(
                beaconsInRange: beacons, gridSpacingM: spacing, detectWithinS: target.seconds,
                probability: target.probability, rangeM: range.meters, intervalMs: only.milliseconds,
                payloadOctets: only.payloadOctets, scanners: scanners.map { .init($0.name, $0.pattern) },
                scannerName: scanner.name,
                shares: drawsCurve
                    ? try PlanError.asking { () throws(AirtimeError) in try shares(around: beacons, of: only, scanner) }
                    : [])
        }
        if let origin = air.origin {
            answer.note("The additional beacons send the same mixture of advertisements as those of \(origin.name).")
        }
        answer.noteRounding(of: air)
        if spacing != nil {
            answer.note(
                "On the square grid, a receiver at a beacon, such as a phone, has that many beacons in range. At some "
                    + "other places a few more beacons are in range: to reach the target there too, use a slightly "
                    + "wider grid.")
        }
        answer.note(range.note)
        answer.noteTraffic(of: air.onlyFrame)
        answer.note(PlanAnswer.overlapNote)
        answer.noteMeanIntervals(of: air)
        return answer
    }

    /// Returns the share of beacons that are received in time, for several numbers of beacons in range.
    private func shares(around beacons: Int, of frame: PlannedFrame, _ scanner: ScannerPreset) throws(AirtimeError)
        -> [PlanPageContent.Point]
    {
        let counts = Set([1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, beacons]).filter {
            (1...4 * beacons + 4).contains($0)
        }
        var points: [PlanPageContent.Point] = []
        for count in counts.sorted() {
            let share = try LatencyModel(group: frame.group(count), preset: scanner)
                .distribution(untilSeconds: target.seconds, horizonSeconds: max(60, target.seconds))
                .received(within: target.seconds)
            points.append(.init(Double(count), share ?? 1))
        }
        return points
    }

    private func sentence(_ beacons: Int, _ spacing: Double) -> String {
        let grid =
            "a square grid of \(NumberFormat.significant(spacing)) m with a range of \(NumberFormat.significant(range.meters)) m."
        return beacons == 1
            ? "One beacon in range of a receiver is found \(target.text) by \(scanners.phrase), but two are not: \(grid)"
            : "Up to \(beacons) beacons in range of one receiver are each found \(target.text) by \(scanners.phrase): \(grid)"
    }

    private func refusal(_ latencyOfOne: LatencyDistribution) -> String {
        let share = latencyOfOne.received(within: min(target.seconds, latencyOfOne.horizonSeconds)) ?? 1
        return "Even a single beacon is found within \(NumberFormat.duration(target.seconds)) in only "
            + "\(NumberFormat.percent(share, unlike: target.probability)) of the cases by \(scanners.phrase), less than the "
            + "\(NumberFormat.percent(target.probability)) of the target. \(scanners.remedies)"
    }

    /// The keys of the answer in JSON.
    static let keys: [PlanKey] =
        PlanKey.origin + [.beaconsInRange, .gridSpacing, .range, .interval] + PlanKey.extendedTarget + [.scanner]
        + PlanKey.discovery + [.mixDetected]
}

extension PlanKey {
    fileprivate static let beaconsInRange = PlanKey(
        "beaconsInRange",
        "Largest number of beacons in range of one receiver that meets the target; 0 if even one beacon misses it.",
        label: "beacons in range")
    fileprivate static let gridSpacing = PlanKey(
        "gridSpacingM",
        "Spacing of a square grid that has this number of beacons in range of a receiver at a beacon, in m; null for 0 "
            + "beacons.",
        label: "grid spacing", unit: "m")
}

/// The time within which a beacon has to be found, and the share of cases in which this must succeed.
public struct DetectionTarget: Sendable {
    public let seconds: Double
    /// The share of cases: above 0 and below 1.
    public let probability: Double

    /// The models throw for times of 0 s or less, and for times above an hour.
    public init(withinSeconds seconds: Double, probability: Double) {
        self.seconds = seconds
        self.probability = probability
    }

    /// The share of cases in which the beacon is found in time.
    func share(of latency: LatencyDistribution) -> Double? {
        latency.received(within: min(seconds, latency.horizonSeconds))
    }

    var text: String {
        "within \(NumberFormat.duration(seconds)) in \(NumberFormat.percent(probability)) of the cases"
    }
}
