internal import Airtime
internal import ArgumentParser
internal import BluetoothTypes
internal import Configuration
internal import PlanReport

struct PlanLatency: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "latency",
        abstract: "How long until one given beacon is first received by a scanner.",
        discussion: """
            Example: pharos plan latency --beacons 100 --interval-ms 760 --scanner android-low-power \
            --undiscovered-after-s 10 60
            """)

    @OptionGroup var fleet: PlanFleetOptions
    @OptionGroup var interval: PlanIntervalOption
    @OptionGroup var receiver: PlanScannerOptions
    @OptionGroup var background: PlanBackgroundOptions

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp("Tell the share that is not yet received after so many seconds.", valueName: "s"),
        transform: PlanValue.seconds)
    var undiscoveredAfterS: [Double] = []

    @OptionGroup var output: PlanOutput

    func validate() throws {
        try interval.validate(with: fleet.source)
        guard receiver.scanner != nil || receiver.scanWindowMs != nil else {
            throw ValidationError("Name the receiver: --scanner, or --scan-window-ms and --scan-interval-ms.")
        }
    }

    func run() throws {
        guard let scanner = try receiver.preset else { return }
        let air = try fleet.air(interval)
        let load = try background.load
        let answer = try PlanValue.answer { () throws(AirtimeError) in
            let (group, otherClear) = try air.fleet()
            let model = try LatencyModel(
                group: group, pattern: scanner.pattern, windowGapMicroseconds: scanner.windowGapMicroseconds,
                deadTimeMicroseconds: scanner.deadTimeMicroseconds,
                otherClearProbability: otherClear * load.clearProbability(forPacketOf: group.airtimeMicroseconds))
            let asked = undiscoveredAfterS.max() ?? 0
            // Not one packet in a million days: there is no distribution to draw.
            let packets = LatencyModel.longestHorizonSeconds * 1_000_000 / model.meanPeriodMicroseconds
            guard model.collisionFreeProbability * packets > 1e-6 else { return drowned(scanner, model, air) }
            let latency = try model.distribution(untilSeconds: asked, horizonSeconds: max(3600, asked))
            return try self.answer(scanner, group, load, model, latency, air)
        }
        try answer.show(output)
    }

    private func sentence(_ latency: LatencyDistribution, _ scanner: ScannerPreset, _ air: PlannedAir) -> String {
        let interval = air.frame(air.asked).interval
        let subject =
            if let origin = air.origin {
                "Of the \(PlanNumber.beacons(air.beacons)) of \(origin.name), one that sends every \(interval) is"
            } else if air.beacons == 1 {
                "One beacon that sends every \(interval) is"
            } else {
                "Of \(air.beacons) beacons that send every \(interval), a given one is"
            }
        guard let half = latency.percentile(0.5), let most = latency.percentile(0.95) else {
            let share = latency.received(within: latency.horizonSeconds)
            return "\(subject) not reliably received by \(scanner.name): within "
                + "\(PlanNumber.duration(latency.horizonSeconds)) in \(PlanNumber.percent(share)) of the cases."
        }
        return "\(subject) first received within \(PlanNumber.duration(half)) half of the time and within "
            + "\(PlanNumber.duration(most)) in 95 of 100 cases, by \(scanner.name)."
    }

    /// The answer where nothing at all arrives.
    private func drowned(_ scanner: ScannerPreset, _ model: LatencyModel, _ air: PlannedAir) -> PlanAnswer {
        var answer = start(
            scanner, model, air,
            "\(air.beacons) beacons that send every \(air.frame(air.asked).interval) drown each other: practically none of their "
                + "packets arrive, and no receiver finds a given one within a day.")
        answer.json.append(("latencyS", .record(["p50", "p90", "p95", "p99"].map { ($0, .null) })))
        answer.member("horizonS", LatencyModel.longestHorizonSeconds)
        answer.json.append(("knownErrorExceeds2Percent", .boolean(false)))
        let asked = undiscoveredAfterS.map { (PlanNumber.text($0, digits: 9), JSONValue.integer(1)) }
        answer.json.append(("undiscoveredAfterS", .record(asked)))
        answer.note("This is beyond saturation: `pharos plan interval` finds an interval that is not.")
        return answer
    }

    private func start(
        _ scanner: ScannerPreset, _ model: LatencyModel, _ air: PlannedAir, _ sentence: String
    ) -> PlanAnswer {
        var answer = PlanAnswer(title: "Time to discovery with \(scanner.name)", answer: sentence)
        answer.origin(of: air)
        answer.member("beacons", Double(air.beacons))
        answer.member("intervalMs", air.frame(air.asked).milliseconds)
        answer.asked(of: air)
        answer.json.append(("scanner", .string(scanner.name)))
        answer.member("collisionFreeProbability", model.collisionFreeProbability * model.otherClearProbability)
        answer.noteRounding(of: interval.requested)
        return answer
    }

    private func answer(
        _ scanner: ScannerPreset, _ group: AdvertiserGroup, _ load: BackgroundLoad, _ model: LatencyModel,
        _ latency: LatencyDistribution, _ air: PlannedAir
    ) throws(AirtimeError) -> PlanAnswer {
        var answer = start(scanner, model, air, sentence(latency, scanner, air))
        answer.add(latency)
        let asked = undiscoveredAfterS.map { ("\(PlanNumber.text($0, digits: 9))", latency.undiscovered(after: $0)) }
        answer.json.append(("undiscoveredAfterS", .record(asked.map { ($0.0, .real($0.1)) })))
        for (seconds, share) in asked {
            answer.figure("not yet received after", PlanNumber.percent(share), remark: "\(seconds) s")
        }
        let row = PlanPageContent.LatencyComparison.Row(scanner.name, latency)
        answer.chart(
            .init(
                title: "share received over time", x: .init("time", unit: "s"), y: .init("share"),
                series: [.init(scanner.name, row.discovered)]))
        answer.content.latencies = .init(
            caption: "The share discovered over time.", rows: [row])
        if let frame = air.onlyFrame {
            answer.explore(
                group, scanner, payloadOctets: frame.payloadOctets, background: load, latency: latency)
        }
        return answer
    }
}

extension PlanAnswer {
    /// The percentiles, for everybody.
    mutating func add(_ latency: LatencyDistribution) {
        let shares = [(50, 0.5), (90, 0.9), (95, 0.95), (99, 0.99)]
        json.append(("latencyS", .record(shares.map { ("p\($0.0)", .real(latency.percentile($0.1))) })))
        member("horizonS", latency.horizonSeconds)
        for (percent, share) in shares {
            let time = latency.percentile(share)
            figure(
                "\(percent) % received within", PlanNumber.duration(time),
                remark: time == nil
                    ? "not within \(PlanNumber.duration(latency.horizonSeconds)), as far as this looks" : "")
        }
        json.append(("knownErrorExceeds2Percent", .boolean(latency.knownErrorExceeds2Percent)))
        if let reason = latency.knownErrorReason { note(reason) }
    }
}
