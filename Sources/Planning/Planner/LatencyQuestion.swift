public import Airtime
internal import BluetoothTypes

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

    /// The percentiles of the time until a beacon is found, and the share that is not found after the given times. Throws
    /// the models' errors.
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
        let place = air.origin.map { " of \($0.name)" } ?? ""
        let beacon =
            "\(NumberFormat.givenBeacon(of: air.beacons))\(place) at an interval of \(air.frame(air.target).interval)"
        guard let half = latency.percentile(0.5), let most = latency.percentile(0.95) else {
            let share = NumberFormat.percent(latency.received(within: latency.horizonSeconds))
            return "Found within \(NumberFormat.duration(latency.horizonSeconds)) in only \(share) of the cases: "
                + "\(beacon), by \(scanner.name)."
        }
        return "Found within \(NumberFormat.duration(half)) in half of the cases and within "
            + "\(NumberFormat.duration(most)) in 95 %: \(beacon), by \(scanner.name)."
    }

    /// The answer if no packet arrives.
    private func drowned(_ model: LatencyModel) -> PlanAnswer {
        var answer = start(
            model,
            "\(air.beacons) beacons that send every \(air.frame(air.target).interval) drown each other: practically none "
                + "of their packets arrive, and no receiver finds a given beacon within a day.")
        answer.state(.latency, .percentiles { _ in nil })
        answer.state(.horizon, .seconds(LatencyModel.longestHorizonSeconds))
        answer.state(.knownError, .flag(false))
        answer.state(.undiscovered, undiscovered { _ in 1 })
        answer.note("The channel is saturated: `pharos plan interval` finds a longer interval.")
        return answer
    }

    private func undiscovered(_ share: (Double) -> Double?) -> PlanQuantity {
        .record(undiscoveredAfter.map { (NumberFormat.significant($0, 9), .share(share($0))) })
    }

    private func start(_ model: LatencyModel, _ sentence: String) -> PlanAnswer {
        var answer = PlanAnswer(title: "Time to discovery with \(scanner.name)", sentence: sentence)
        answer.stateOrigin(of: air)
        answer.state(.beacons, .count(air.beacons))
        answer.state(.interval, .milliseconds(air.frame(air.target).milliseconds))
        answer.stateTarget(of: air)
        answer.state(.scanner, .word(scanner.name))
        answer.state(
            .collisionFree, .share(model.collisionFreeProbability * model.otherClearProbability), isInText: false)
        answer.noteRounding(of: air)
        return answer
    }

    private func answer(_ group: AdvertiserGroup, _ model: LatencyModel, _ latency: LatencyDistribution) -> PlanAnswer {
        var answer = start(model, sentence(latency))
        answer.state(latency)
        answer.state(.undiscovered, undiscovered { latency.undiscovered(after: $0) })
        for seconds in undiscoveredAfter {
            answer.show(
                "not yet found after", .share(latency.undiscovered(after: seconds)),
                remark: "\(NumberFormat.significant(seconds, 9)) s")
        }
        let row = PlanPageContent.LatencyComparison.Row(scanner.name, latency)
        answer.pictures.terminal.append(
            .curve(
                .init(
                    title: "share found over time", x: .init("time", unit: "s"), y: .init("share"),
                    series: [.init(scanner.name, row.discovered)])))
        answer.pictures.page.latencies = .init(
            caption: "The share of cases in which the beacon is found, over time.", rows: [row])
        if let frame = air.onlyFrame {
            answer.explore(
                group, scanner, payloadOctets: frame.payloadOctets, background: background, latency: latency)
        }
        return answer
    }

    /// The keys of the answer in JSON.
    static let keys: [PlanKey] =
        PlanKey.origin + [.beacons, .interval] + PlanKey.target + [.scanner, .collisionFree] + PlanKey.discovery
        + [.undiscovered]
}
