public import Airtime

/// Asks how long a scanner takes to receive a given beacon for the first time.
public struct LatencyQuestion: Sendable {
    public let air: PlannedAir
    public let scanner: ScannerPreset
    public let background: BackgroundLoad
    /// The times in s after which the answer gives the share that is not yet received.
    public let undiscoveredAfter: [Double]

    /// `undiscoveredAfter`: times in s, at most a day.
    public init(
        air: PlannedAir, scanner: ScannerPreset, background: BackgroundLoad = .none, undiscoveredAfter: [Double] = []
    ) {
        self.air = air
        self.scanner = scanner
        self.background = background
        self.undiscoveredAfter = undiscoveredAfter
    }

    /// The percentiles of the time until a beacon is found, and the share that is not found after the given times. Throws what
    /// the models refuse.
    public func answer() throws(PlanError) -> PlanAnswer {
        try PlanError.asking { () throws(AirtimeError) in
            let (group, otherClear) = try air.fleet()
            let clear = background.clearProbability(forPacketOf: group.airtimeMicroseconds)
            let model = try LatencyModel(group: group, preset: scanner, otherClearProbability: otherClear * clear)
            let longest = undiscoveredAfter.max() ?? 0
            // Not one packet in a million days: there is no distribution to draw.
            let packets = LatencyModel.longestHorizonSeconds * 1_000_000 / model.meanPeriodMicroseconds
            guard model.collisionFreeProbability * packets > 1e-6 else { return drowned(model) }
            let latency = try model.distribution(untilSeconds: longest, horizonSeconds: max(3600, longest))
            return answer(group, model, latency)
        }
    }

    private func sentence(_ latency: LatencyDistribution) -> String {
        let interval = air.frame(air.target).interval
        let subject =
            if let origin = air.origin {
                "Of the \(NumberText.beacons(air.beacons)) of \(origin.name), one that sends every \(interval) is"
            } else if air.beacons == 1 {
                "One beacon that sends every \(interval) is"
            } else {
                "Of \(air.beacons) beacons that send every \(interval), a given one is"
            }
        guard let half = latency.percentile(0.5), let most = latency.percentile(0.95) else {
            let share = latency.received(within: latency.horizonSeconds)
            return "\(subject) not reliably received by \(scanner.name): within "
                + "\(NumberText.duration(latency.horizonSeconds)) in \(NumberText.percent(share)) of the cases."
        }
        return "\(subject) first received within \(NumberText.duration(half)) half of the time and within "
            + "\(NumberText.duration(most)) in 95 of 100 cases, by \(scanner.name)."
    }

    /// The answer if no packet arrives.
    private func drowned(_ model: LatencyModel) -> PlanAnswer {
        var answer = start(
            model,
            "\(air.beacons) beacons that send every \(air.frame(air.target).interval) drown each other: practically none "
                + "of their packets arrive, and no receiver finds a given beacon within a day.")
        answer.state("latencyS", .record(PlanAnswer.percentiles.map { ("p\($0.0)", .nothing) }))
        answer.state("horizonS", .seconds(LatencyModel.longestHorizonSeconds))
        answer.state("knownErrorExceeds2Percent", .flag(false))
        answer.state("undiscoveredAfterS", undiscovered { _ in 1 })
        answer.note("The channel is saturated: `pharos plan interval` finds a longer interval.")
        return answer
    }

    private func undiscovered(_ share: (Double) -> Double?) -> PlanQuantity {
        .record(undiscoveredAfter.map { (NumberText.significant($0, 9), .share(share($0))) })
    }

    private func start(_ model: LatencyModel, _ sentence: String) -> PlanAnswer {
        var answer = PlanAnswer(title: "Time to discovery with \(scanner.name)", sentence: sentence)
        answer.stateOrigin(of: air)
        answer.state("beacons", .count(air.beacons))
        answer.state("intervalMs", .milliseconds(air.frame(air.target).milliseconds))
        answer.stateTarget(of: air)
        answer.state("scanner", .word(scanner.name))
        answer.state("collisionFreeProbability", .share(model.collisionFreeProbability * model.otherClearProbability))
        answer.noteRounding(of: air)
        return answer
    }

    private func answer(_ group: AdvertiserGroup, _ model: LatencyModel, _ latency: LatencyDistribution) -> PlanAnswer {
        var answer = start(model, sentence(latency))
        answer.state(latency)
        answer.state("undiscoveredAfterS", undiscovered { latency.undiscovered(after: $0) })
        for seconds in undiscoveredAfter {
            answer.show(
                "not yet received after", .share(latency.undiscovered(after: seconds)),
                remark: "\(NumberText.significant(seconds, 9)) s")
        }
        let row = PlanPageContent.LatencyComparison.Row(scanner.name, latency)
        answer.pictures.terminal.append(
            .curve(
                .init(
                    title: "share received over time", x: .init("time", unit: "s"), y: .init("share"),
                    series: [.init(scanner.name, row.discovered)])))
        answer.pictures.latencies = .init(caption: "The share discovered over time.", rows: [row])
        if let frame = air.onlyFrame {
            answer.explore(
                group, scanner, payloadOctets: frame.payloadOctets, background: background, latency: latency)
        }
        return answer
    }
}
