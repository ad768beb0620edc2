internal import Airtime
internal import ArgumentParser
internal import BluetoothTypes
internal import PlanReport
internal import Profiles

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
        guard probability > 0, probability < 1 else {
            throw ValidationError("--probability: write a share between 0 and 1, without the ends.")
        }
    }

    func run() throws {
        guard let scanner = try receiver.preset ?? ScannerPreset(named: "continuous") else { return }
        let range = try radio.finiteRange()
        let airtime = try packet.airtime
        let most = try PlanValue.answer { () throws(AirtimeError) in try self.most(scanner, airtime) }
        guard let most else { return try refuse(scanner, airtime) }
        let spacing = try PlanValue.answer { () throws(AirtimeError) in
            try Neighborhood.gridSpacing(holding: most.beacons, radiusMeters: range)
        }
        var answer = PlanAnswer(
            title: "How dense beacons may stand every \(interval.intervalMs)",
            answer: "Up to \(most.beacons) beacons in range of one receiver are each received within "
                + "\(PlanNumber.duration(detectWithinS)) in \(PlanNumber.percent(probability)) of the cases: a square grid of "
                + "\(PlanNumber.text(spacing)) m with a range of \(PlanNumber.text(range)) m.")
        answer.member("beaconsInRange", Double(most.beacons))
        answer.member("gridSpacingM", spacing)
        answer.member("rangeM", range)
        answer.member("intervalMs", Double(interval.intervalMs.microseconds) / 1000)
        answer.json.append(("scanner", .string(scanner.name)))
        answer.figure("beacons in range", "\(most.beacons)", remark: "the asked one included, at the most")
        answer.figure("grid spacing", PlanNumber.text(spacing), unit: "m", remark: "square grid")
        answer.figure(
            "range", PlanNumber.text(range), unit: "m",
            remark: "half of the beacons are heard there, by \(radio.pathLoss.name)")
        answer.add(most.latency)
        try answer.show(output)
    }

    /// The largest fleet that holds the target; `nil` where not even one beacon does.
    private func most(
        _ scanner: ScannerPreset, _ airtime: Double
    ) throws(AirtimeError) -> (beacons: Int, latency: LatencyDistribution)? {
        guard var best = try holding(1, scanner, airtime) else { return nil }
        var (low, high) = (1, 2)
        while high <= PlanValue.countLimit, let found = try holding(high, scanner, airtime) {
            best = found
            low = high
            high *= 2
        }
        while high - low > 1 {
            let middle = low + (high - low) / 2
            if let found = try holding(middle, scanner, airtime) {
                best = found
                low = middle
            } else {
                high = middle
            }
        }
        return (low, best)
    }

    /// The latency of a fleet that holds the target; `nil` of one that does not.
    private func holding(
        _ beacons: Int, _ scanner: ScannerPreset, _ airtime: Double
    ) throws(AirtimeError) -> LatencyDistribution? {
        let latency = try latency(beacons, scanner, airtime)
        let received = latency.received(within: min(detectWithinS, latency.horizonSeconds)) ?? 1
        return received >= probability ? latency : nil
    }

    private func latency(
        _ beacons: Int, _ scanner: ScannerPreset, _ airtime: Double
    ) throws(AirtimeError) -> LatencyDistribution {
        let group = try AdvertiserGroup(
            count: beacons, intervalMicroseconds: Double(interval.intervalMs.microseconds),
            airtimeMicroseconds: airtime)
        return try LatencyModel(group: group, preset: scanner)
            .distribution(untilSeconds: detectWithinS, horizonSeconds: max(detectWithinS, 60))
    }

    private func refuse(_ scanner: ScannerPreset, _ airtime: Double) throws {
        let alone = try PlanValue.answer { () throws(AirtimeError) in try latency(1, scanner, airtime) }
        let share = alone.received(within: min(detectWithinS, alone.horizonSeconds)) ?? 1
        throw Failure(
            .failure,
            "not even a single beacon is received within \(PlanNumber.duration(detectWithinS)) in \(PlanNumber.percent(probability)) "
                + "of the cases by \(scanner.name), but in \(PlanNumber.percent(share)): send more often, allow more time, or "
                + "let the scanner listen more")
    }
}
