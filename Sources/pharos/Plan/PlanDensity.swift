internal import Airtime
internal import ArgumentParser
internal import BluetoothTypes
internal import Configuration
internal import PlanReport

struct PlanDensity: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "density",
        abstract: "How many beacons a place bears, and how far apart that is.",
        discussion: """
            Example: pharos plan density --interval-ms 500 --detect-within-s 10 --probability 0.95 \
            --scanner android-low-power
            """)

    @OptionGroup var interval: PlanIntervalOption
    @OptionGroup var packet: PlanPacketOptions
    @OptionGroup var source: PlanSourceOptions

    @Option(
        parsing: .unconditional, help: ArgumentHelp("How long detection may take.", valueName: "s"),
        transform: PlanValue.seconds)
    var detectWithinS: Double

    @Option(
        parsing: .unconditional, help: ArgumentHelp("In which share of cases, such as 0.95.", valueName: "p"),
        transform: PlanValue.share)
    var probability: Double

    @OptionGroup var receiver: PlanScannerOptions
    @OptionGroup var radio: PlanRadioOptions
    @OptionGroup var output: PlanOutput

    func validate() throws {
        try interval.validate(with: source)
        guard probability > 0, probability < 1 else {
            throw ValidationError("--probability: write a share between 0 and 1, without the ends.")
        }
    }

    func run() throws {
        guard let scanner = try receiver.preset ?? ScannerPreset(named: "continuous") else { return }
        let range = try radio.finiteRange()
        let air =
            try source.site(interval: interval.requested?.interval, payloadOctets: packet.payloadOctets)
            ?? PlannedAir(beacons: 1, frames: [packet.frame(interval)])
        let asked = air.frame(air.asked)
        let fleet = try PlanValue.answer { () throws(AirtimeError) in
            try LargestFleet(
                within: detectWithinS, probability: probability,
                around: BoxSurroundings(
                    kind: air.asked.kind, advertisement: air.asked.frame, in: air.kinds(), isAmongMore: true),
                preset: scanner)
        }
        let (beacons, latency) = (fleet.beacons, fleet.latency)
        let spacing =
            beacons == 0
            ? nil
            : try PlanValue.answer { () throws(AirtimeError) in
                try Neighborhood.gridSpacing(holding: beacons, radiusMeters: range)
            }
        var answer = PlanAnswer(
            title: "How dense beacons may stand every \(asked.interval)",
            answer: spacing.map { sentence(beacons, $0, range) } ?? refusal(latency, scanner))
        answer.origin(of: air)
        answer.member("beaconsInRange", Double(beacons))
        answer.member("gridSpacingM", spacing)
        answer.member("rangeM", range)
        answer.member("intervalMs", asked.milliseconds)
        answer.asked(of: air)
        answer.json.append(("scanner", .string(scanner.name)))
        answer.figure("beacons in range", "\(beacons)", remark: "the asked one included, at the most")
        answer.figure("grid spacing", spacing.map { PlanNumber.text($0) }, unit: "m", remark: "square grid")
        answer.figure(
            "range", PlanNumber.text(range), unit: "m",
            remark: "half of the beacons are heard there, by \(radio.pathLoss.name)")
        answer.add(latency)
        if let origin = air.origin { answer.note("More beacons of the same mixture as at \(origin.name).") }
        answer.noteRounding(of: interval.requested)
        try answer.show(output)
        if beacons == 0 { throw Failure(.failure) }
    }

    private func sentence(_ beacons: Int, _ spacing: Double, _ range: Double) -> String {
        let target = "within \(PlanNumber.duration(detectWithinS)) in \(PlanNumber.percent(probability)) of the cases"
        let grid = "a square grid of \(PlanNumber.text(spacing)) m with a range of \(PlanNumber.text(range)) m."
        return beacons == 1
            ? "Only a single beacon in range of a receiver is received \(target): \(grid)"
            : "Up to \(beacons) beacons in range of one receiver are each received \(target): \(grid)"
    }

    private func refusal(_ alone: LatencyDistribution, _ scanner: ScannerPreset) -> String {
        let share = alone.received(within: min(detectWithinS, alone.horizonSeconds)) ?? 1
        return "Not even a single beacon is received within \(PlanNumber.duration(detectWithinS)) in "
            + "\(PlanNumber.percent(probability)) of the cases by \(scanner.name), but in \(PlanNumber.percent(share)): send "
            + "more often, allow more time, or let the scanner listen more."
    }
}
