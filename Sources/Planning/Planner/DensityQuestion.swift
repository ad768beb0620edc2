public import Airtime

/// Asks how many beacons fit in range of one receiver, and how far apart they are then.
public struct DensityQuestion: Sendable {
    /// The mixture of beacons to which more of the same are added.
    public let air: PlannedAir
    public let scanner: ScannerPreset
    public let target: DetectionTarget
    public let range: PlannedRange
    /// Whether the answer also has a curve over other numbers of beacons, which takes longer.
    public let drawsCurve: Bool

    /// `air`: the beacons of which there may be more.
    public init(
        air: PlannedAir, scanner: ScannerPreset, target: DetectionTarget, range: PlannedRange,
        drawsCurve: Bool = false
    ) {
        self.air = air
        self.scanner = scanner
        self.target = target
        self.range = range
        self.drawsCurve = drawsCurve
    }

    /// The answer; its `holds` is false if not even one beacon is received in time.
    public func answer() throws(PlanError) -> PlanAnswer {
        let asked = air.frame(air.target)
        let (beacons, latency, spacing) = try PlanError.asking { () throws(AirtimeError) in
            let fleet = try LargestFleet(
                within: target.seconds, probability: target.probability,
                around: BoxSurroundings(
                    kind: air.target.kind, advertisement: air.target.frame, in: air.kinds(), isAmongMore: true),
                preset: scanner)
            let spacing =
                fleet.beacons == 0
                ? nil : try Neighborhood.gridSpacing(holding: fleet.beacons, radiusMeters: range.meters)
            return (fleet.beacons, fleet.latency, spacing)
        }
        var answer = PlanAnswer(
            title: "Density of beacons that send every \(asked.interval)",
            sentence: spacing.map { sentence(beacons, $0) } ?? refusal(latency))
        answer.holds = beacons > 0
        answer.stateOrigin(of: air)
        answer.state("beaconsInRange", .count(beacons))
        answer.state("gridSpacingM", .number(spacing, unit: "m"))
        answer.state("rangeM", .number(range.meters, unit: "m"))
        answer.state("intervalMs", .milliseconds(asked.milliseconds))
        answer.stateTarget(of: air)
        answer.state("scanner", .word(scanner.name))
        answer.show("beacons in range", .count(beacons), remark: "at most, including the target beacon")
        if spacing != nil { answer.show("grid spacing", .number(spacing, unit: "m"), remark: "square grid") }
        answer.show("range", .number(range.meters, unit: "m"), remark: range.remark)
        answer.state(latency)
        if let only = air.onlyFrame {
            let scanners = [scanner] + ScannerPreset.all.filter { $0.name != scanner.name }
            answer.pictures.density = .init(
                beaconsInRange: beacons, gridSpacingM: spacing, detectWithinS: target.seconds,
                probability: target.probability, rangeM: range.meters, intervalMs: only.milliseconds,
                payloadOctets: only.payloadOctets, scanners: scanners.map { .init($0.name, $0.pattern) },
                scannerName: scanner.name,
                shares: drawsCurve
                    ? try PlanError.asking { () throws(AirtimeError) in try shares(around: beacons, of: only) } : [])
        }
        if let origin = air.origin { answer.note("More beacons of the same mixture as at \(origin.name).") }
        answer.noteRounding(of: air)
        return answer
    }

    /// The share received in time by other numbers of beacons.
    private func shares(around beacons: Int, of frame: PlannedFrame) throws(AirtimeError) -> [PlanPageContent.Point] {
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
            "a square grid of \(NumberText.significant(spacing)) m with a range of \(NumberText.significant(range.meters)) m."
        return beacons == 1
            ? "Only a single beacon in range of a receiver meets the target (\(target.text)): \(grid)"
            : "Up to \(beacons) beacons in range of one receiver are each received \(target.text): \(grid)"
    }

    private func refusal(_ alone: LatencyDistribution) -> String {
        let share = alone.received(within: min(target.seconds, alone.horizonSeconds)) ?? 1
        return "Not even a single beacon is received \(target.text) by \(scanner.name), but in "
            + "\(NumberText.percent(share)): send more often, allow more time, or let the scanner listen more."
    }
}

/// How soon a beacon is to be found, and in which share of the cases.
public struct DetectionTarget: Hashable, Sendable {
    public let seconds: Double
    /// Between 0 and 1, without the ends.
    public let probability: Double

    /// Above 0 s and at most an hour; the models refuse others.
    public init(withinSeconds seconds: Double, probability: Double) {
        self.seconds = seconds
        self.probability = probability
    }

    var text: String {
        "within \(NumberText.duration(seconds)) in \(NumberText.percent(probability)) of the cases"
    }
}
