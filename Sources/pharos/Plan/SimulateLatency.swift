internal import Airtime
internal import ArgumentParser
internal import BluetoothTypes
internal import Configuration
internal import PlanReport

struct SimulateLatency: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "latency", abstract: "Time to discovery, packet by packet.",
        discussion: """
            Example: pharos plan simulate latency --beacons 100 --interval-ms 100 --scanner android-low-latency --seed 7
            """)

    @OptionGroup var fleet: PlanFleetOptions
    @OptionGroup var interval: PlanIntervalOption
    @OptionGroup var receiver: PlanScannerOptions

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp("Tell the share that is not yet received after so many seconds.", valueName: "s"),
        transform: PlanValue.seconds)
    var undiscoveredAfterS: [Double] = []

    @OptionGroup var simulation: SimulationOptions
    @OptionGroup var output: PlanOutput

    private static let shares = [(50, 0.5), (90, 0.9), (95, 0.95), (99, 0.99)]

    func validate() throws { try interval.validate(with: fleet.source) }

    func run() throws {
        let scanner = try receiver.preset ?? ScannerPreset(named: "continuous")
        guard let scanner else { return }
        let air = try fleet.air(interval)
        let latency = try PlanValue.answer { () throws(AirtimeError) in
            let (group, otherClear) = try air.fleet()
            return try LatencyModel(group: group, preset: scanner, otherClearProbability: otherClear)
                .distribution(untilSeconds: undiscoveredAfterS.max() ?? 0)
        }
        let scene = try PlanValue.answer { () throws(AirtimeError) in try self.scene(air, scanner, latency) }
        let outcome = try simulation.run(scene, minimumBatches: 200) { tally in
            Self.estimate(tally.all.latency, 0.95, batches: tally.all.clear.batches)
        }
        var answer = answer(air, scanner, latency, outcome)
        answer.noteRounding(of: interval.requested)
        try answer.show(output)
    }

    private func scene(
        _ air: PlannedAir, _ scanner: ScannerPreset, _ latency: LatencyDistribution
    ) throws(AirtimeError) -> AirSimulation {
        var receiver = AirReceiver(scan: scanner.pattern)
        receiver.deadTimeMicroseconds = scanner.deadTimeMicroseconds
        receiver.channelGapMicroseconds = scanner.windowGapMicroseconds
        var conditions = AirConditions()
        conditions.playsAllChannels = false
        let asked = undiscoveredAfterS.max() ?? 0
        let horizon = max(asked, 1.5 * (latency.percentile(0.999) ?? latency.horizonSeconds), 1)
        conditions.durationMicroseconds = horizon * 1_000_000
        return try AirSimulation(
            advertisers: air.advertisers(isCounted: air.frame(air.asked).pace), receivers: [receiver],
            conditions: conditions,
            seed: simulation.seed)
    }

    /// A percentile in s with the half-width of its interval as a standard error's.
    private static func estimate(_ tally: LatencyTally, _ share: Double, batches: Int) -> Estimate? {
        guard let value = tally.percentile(share), let range = tally.percentileConfidence95(share) else { return nil }
        return Estimate(
            value: value / 1_000_000, standardError: (range.upperBound - range.lowerBound) / 2e6 / 1.96,
            batches: batches)
    }

    private func answer(
        _ air: PlannedAir, _ scanner: ScannerPreset, _ latency: LatencyDistribution,
        _ outcome: SimulationRunner<AirSimulation>.Outcome
    ) -> PlanAnswer {
        let tally = outcome.tally.all.latency
        let most = tally.percentile(0.95).map { $0 / 1_000_000 }
        var answer = PlanAnswer(
            title: "Simulated time to discovery with \(scanner.name)",
            answer:
                "In the simulation a given one of \(PlanNumber.beacons(air.beacons)) every \(air.frame(air.asked).interval)"
                + (air.origin.map { ", of \($0.name)," } ?? "") + " is received within "
                + "\(PlanNumber.duration(most)) in 95 of 100 cases, by \(scanner.name).")
        answer.origin(of: air)
        answer.member("beacons", Double(air.beacons))
        answer.asked(of: air)
        answer.json.append(("scanner", .string(scanner.name)))
        var intervals: [(String, JSONValue)] = []
        for (percent, share) in Self.shares {
            let range = tally.percentileConfidence95(share)
            intervals.append(
                ("p\(percent)", .optional(range) { .array([.real($0.lowerBound / 1e6), .real($0.upperBound / 1e6)]) }))
            let value = tally.percentile(share).map { $0 / 1_000_000 }
            answer.figure(
                "\(percent) % received within", PlanNumber.duration(value),
                remark: "the model says \(PlanNumber.duration(latency.percentile(share)))")
        }
        answer.json.append(
            ("latencyS", .record(Self.shares.map { ("p\($0.0)", .real(tally.percentile($0.1).map { $0 / 1e6 })) })))
        answer.json.append(
            (
                "undiscoveredAfterS",
                .record(
                    undiscoveredAfterS.map { seconds in
                        (
                            "\(PlanNumber.text(seconds, digits: 9))",
                            .real(tally.undiscoveredShare(afterMicroseconds: seconds * 1e6)?.value)
                        )
                    })
            ))
        answer.json.append(("confidence95", .record([("latencyS", .record(intervals))])))
        answer.json.append(
            (
                "model",
                .record([("latencyS", .record(Self.shares.map { ("p\($0.0)", .real(latency.percentile($0.1))) }))])
            ))
        answer.finish(outcome, simulation.seed)
        return answer
    }
}
