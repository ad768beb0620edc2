internal import Airtime
internal import ArgumentParser
internal import BluetoothTypes
internal import Glibc
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
        let (beacons, latency) = try PlanValue.answer { () throws(AirtimeError) in try self.most(scanner, airtime) }
        let spacing =
            beacons == 0
            ? nil
            : try PlanValue.answer { () throws(AirtimeError) in
                try Neighborhood.gridSpacing(holding: beacons, radiusMeters: range)
            }
        var answer = PlanAnswer(
            title: "How dense beacons may stand every \(interval.intervalMs)",
            answer: spacing.map { sentence(beacons, $0, range) } ?? refusal(latency, scanner))
        answer.member("beaconsInRange", Double(beacons))
        answer.member("gridSpacingM", spacing)
        answer.member("rangeM", range)
        answer.member("intervalMs", Double(interval.intervalMs.microseconds) / 1000)
        answer.json.append(("scanner", .string(scanner.name)))
        answer.figure("beacons in range", "\(beacons)", remark: "the asked one included, at the most")
        answer.figure("grid spacing", spacing.map { PlanNumber.text($0) }, unit: "m", remark: "square grid")
        answer.figure(
            "range", PlanNumber.text(range), unit: "m",
            remark: "half of the beacons are heard there, by \(radio.pathLoss.name)")
        answer.add(latency)
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

    /// The largest fleet that holds the target and its latency; none, and the latency of a single beacon, where not
    /// even that does.
    private func most(
        _ scanner: ScannerPreset, _ airtime: Double
    ) throws(AirtimeError) -> (beacons: Int, latency: LatencyDistribution) {
        var low = 1
        var best = try model(1, scanner, airtime).latency(within: detectWithinS)
        guard share(of: best) >= probability else { return (0, best) }
        var high = try ceiling(scanner, airtime)
        var hasFailed = false
        while high - low > 1 {
            let guess = hasFailed ? low + (high - low) / 2 : guess(from: low, best, high, airtime)
            let beacons = min(high - 1, max(low + 1, guess))
            let latency = try model(beacons, scanner, airtime).latency(within: detectWithinS)
            hasFailed = share(of: latency) < probability
            if hasFailed { high = beacons } else { (low, best) = (beacons, latency) }
        }
        return (low, best)
    }

    private func share(of latency: LatencyDistribution) -> Double {
        latency.received(within: min(detectWithinS, latency.horizonSeconds)) ?? 1
    }

    private func model(
        _ beacons: Int, _ scanner: ScannerPreset, _ airtime: Double
    ) throws(AirtimeError) -> LatencyModel {
        let group = try AdvertiserGroup(
            count: beacons, intervalMicroseconds: Double(interval.intervalMs.microseconds),
            airtimeMicroseconds: airtime)
        return try LatencyModel(group: group, preset: scanner)
    }

    /// A fleet that cannot hold the target: a beacon is received at least once no more often than it is on average.
    private func ceiling(_ scanner: ScannerPreset, _ airtime: Double) throws(AirtimeError) -> Int {
        let alone = try model(1, scanner, airtime)
        let packets = alone.windowShare * detectWithinS * 1_000_000 / alone.meanPeriodMicroseconds
        let beacons = 2 + log(probability / packets) / log1p(-2 * airtime / alone.meanPeriodMicroseconds)
        return Int(max(2, min(beacons.rounded(.up), Double(PlanValue.countLimit))))
    }

    /// Where the target would just hold if losses were independent: packets get through with a probability that falls
    /// by the same factor with each beacon.
    private func guess(from low: Int, _ latency: LatencyDistribution, _ high: Int, _ airtime: Double) -> Int {
        let share = share(of: latency)
        let hit = 2 * airtime / Double(interval.intervalMs.meanPeriodMicroseconds)
        guard share < 1 - 1e-9 else { return Int((Double(low) * Double(high)).squareRoot()) }
        let more = log(log1p(-share) / log1p(-probability)) / -log1p(-hit)
        return low + Int(min(max(more * 1.02, 0), Double(high - low))) + 1
    }
}

extension LatencyModel {
    /// The distribution up to a time that is asked for.
    fileprivate func latency(within seconds: Double) throws(AirtimeError) -> LatencyDistribution {
        try distribution(untilSeconds: seconds, horizonSeconds: max(seconds, 60))
    }
}
