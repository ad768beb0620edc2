internal import Airtime
internal import ArgumentParser
internal import BluetoothTypes
internal import Configuration
internal import PlanReport

struct PlanWalk: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "walk",
        abstract: "Whether a beacon is seen by somebody who walks past.",
        discussion: """
            Example: pharos plan walk --speed-mps 1.4 --distance-m 3 --range-m 10 --interval-ms 760 \
            --scanner android-low-power
            """)

    @Option(
        parsing: .unconditional, help: ArgumentHelp("How fast (people: 1.4).", valueName: "m/s"),
        transform: { try PlanValue.number($0, in: 0.001...1000, "m/s") })
    var speedMps: Double

    @Option(
        parsing: .unconditional, help: ArgumentHelp("How near the way comes to the beacon.", valueName: "m"),
        transform: { try PlanValue.number($0, in: 0...1_000_000, "m") })
    var distanceM: Double

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("How far the beacon is heard; left out, from power and path loss.", valueName: "m"),
        transform: { try PlanValue.number($0, in: 0.001...1_000_000, "m") })
    var rangeM: Double?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Beacons in range, the asked one included (default: 1).", valueName: "n"),
        transform: PlanValue.count)
    var beacons: Int?

    @OptionGroup var source: PlanSourceOptions

    @OptionGroup var interval: PlanIntervalOption
    @OptionGroup var packet: PlanPacketOptions
    @OptionGroup var receiver: PlanScannerOptions
    @OptionGroup var radio: PlanRadioOptions
    @OptionGroup var output: PlanOutput

    func validate() throws {
        try source.validate(beacons: beacons, isOptional: true)
        try interval.validate(with: source)
    }

    func run() throws {
        let range = if let rangeM { rangeM } else { try radio.finiteRange() }
        guard let scanner = try receiver.preset ?? ScannerPreset(named: "continuous") else { return }
        let air =
            try source.site(interval: interval.requested?.interval, payloadOctets: packet.payloadOctets)
            ?? PlannedAir(beacons: beacons ?? 1, frames: [packet.frame(interval)])
        let (walk, latency) = try PlanValue.answer { () throws(AirtimeError) in
            let walk = try WalkPast(
                speedMetersPerSecond: speedMps, closestDistanceMeters: distanceM, rangeMeters: range)
            let (group, otherClear) = try air.fleet()
            let dwell = min(walk.dwellSeconds, LatencyModel.longestHorizonSeconds)
            let latency = try LatencyModel(group: group, preset: scanner, otherClearProbability: otherClear)
                .distribution(untilSeconds: dwell, horizonSeconds: max(3600, dwell))
            return (walk, latency)
        }
        let seen = try PlanValue.answer { () throws(AirtimeError) in
            try walk.seenProbability { latency.received(within: min($0, latency.horizonSeconds)) ?? 1 }
        }
        try show(walk, range, seen, latency, scanner, air)
    }

    private func show(
        _ walk: WalkPast, _ range: Double, _ seen: Double, _ latency: LatencyDistribution, _ scanner: ScannerPreset,
        _ air: PlannedAir
    ) throws {
        let sentence =
            walk.dwellSeconds > 0
            ? "Somebody who passes the beacon at a distance of \(PlanNumber.text(distanceM)) m and at \(PlanNumber.text(speedMps)) m/s "
                + "is in range for \(PlanNumber.duration(walk.dwellSeconds)) and sees it in \(PlanNumber.percent(seen)) of the "
                + "cases, with \(scanner.name)."
            : "The beacon is not seen: the way comes no nearer than \(PlanNumber.text(distanceM)) m, and it is heard for "
                + "\(PlanNumber.text(range)) m."
        var answer = PlanAnswer(title: "Walking past a beacon", answer: sentence)
        answer.origin(of: air)
        answer.member("dwellS", walk.dwellSeconds)
        answer.member("probabilitySeen", seen)
        answer.member("rangeM", range)
        answer.json.append(("scanner", .string(scanner.name)))
        answer.figure("in range for", PlanNumber.duration(walk.dwellSeconds))
        answer.figure("seen in", PlanNumber.percent(seen), remark: "of the cases")
        answer.figure(
            "range", PlanNumber.text(range), unit: "m",
            remark: rangeM == nil ? "half of the beacons are heard there, by \(radio.pathLoss.name)" : "as given")
        answer.asked(of: air)
        answer.add(latency)
        answer.noteRounding(of: interval.requested)
        try answer.show(output)
    }
}
