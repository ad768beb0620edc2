public import Airtime
internal import BluetoothTypes

/// A question for the planner: how long a scanner takes to receive a given beacon for the first time.
public struct LatencyQuestion: Sendable {
    public let air: PlannedAir
    public let scanners: ScannerMix
    public let background: BackgroundLoad
    /// The times in s for which the answer states the share of beacons that are not yet received.
    public let undiscoveredAfter: [Double]
    /// True to compare the scanner with all known scanners. Only a page needs the comparison, which takes additional
    /// time.
    public let comparesScanners: Bool

    /// - Parameter undiscoveredAfter: Times in s, at most a day.
    public init(
        air: PlannedAir, scanners: ScannerMix, background: BackgroundLoad = .none, undiscoveredAfter: [Double] = [],
        comparesScanners: Bool = false
    ) {
        self.air = air
        self.scanners = scanners
        self.background = background
        self.undiscoveredAfter = undiscoveredAfter
        self.comparesScanners = comparesScanners
    }

    /// Returns the percentiles of the time until a beacon is found, and the share that is not found after the given
    /// times. Throws the models' errors.
    public func answer() throws(PlanError) -> PlanAnswer {
        try PlanError.asking { () throws(AirtimeError) in
            let (group, otherClear) = try air.fleet()
            let clear = background.clearProbability(ofEventOf: try air.frame(air.target).group(1))
            func model(_ scanner: ScannerPreset) throws(AirtimeError) -> LatencyModel {
                try LatencyModel(group: group, preset: scanner, otherClearProbability: otherClear * clear)
            }
            let firstModel = try model(scanners.parts[0].scanner)
            let longest = undiscoveredAfter.max() ?? 0
            // If less than one packet arrives in a million days, the distribution cannot be computed.
            let packets = LatencyModel.longestHorizonSeconds * 1_000_000 / firstModel.meanPeriodMicroseconds
            guard firstModel.collisionFreeProbability * packets > 1e-6 else { return saturatedAnswer(firstModel) }
            if let pattern = air.frame(air.target).pattern {
                return try answer(
                    pattern, firstModel, otherClear: otherClear * clear * group.auxiliaryClearProbability)
            }
            let latency = try MixLatency(
                scanners, untilSeconds: longest, horizonSeconds: max(3600, longest), model: model)
            var answer = try answer(group, firstModel, latency)
            guard comparesScanners, scanners.only != nil else { return answer }
            var rows = latency.rows
            for preset in ScannerPreset.all where !rows.contains(where: { $0.name == preset.name }) {
                rows.append(.init(preset.name, try model(preset).distribution(horizonSeconds: Self.comparedSeconds)))
            }
            answer.pictures.page.latencies = .init(
                caption:
                    "The share of cases in which the beacon is found, over time, with this scanner and with others.",
                rows: rows)
            return answer
        }
    }

    /// The longest time of a comparison, in s.
    private static let comparedSeconds = 300.0

    private func sentence(_ latency: LatencyDistribution) -> String {
        let place = air.origin.map { " of \($0.name)" } ?? ""
        let beacon =
            "\(NumberFormat.givenBeacon(of: air.beacons))\(place) "
            + (air.frame(air.target).pattern.map { "with the pattern \($0)" }
                ?? "at an interval of \(air.frame(air.target).interval)")
        guard let half = latency.percentile(0.5), let nearlyAll = latency.percentile(0.95) else {
            let share = NumberFormat.percent(latency.received(within: latency.horizonSeconds))
            return "Found within \(NumberFormat.duration(latency.horizonSeconds)) in only \(share) of the cases: "
                + "\(beacon), by \(scanners.phrase)."
        }
        return "Found within \(NumberFormat.duration(half)) in half of the cases and within "
            + "\(NumberFormat.duration(nearlyAll)) in 95 %: \(beacon), by \(scanners.phrase)."
    }

    /// The answer if no packet arrives.
    private func saturatedAnswer(_ model: LatencyModel) -> PlanAnswer {
        var answer = start(
            model,
            "\(air.beacons) beacons that send every \(air.frame(air.target).intervalText) destroy each other's packets: "
                + "practically none of their packets arrive, and no receiver finds a given beacon within a day.")
        answer.add(.latency, .times(nil))
        answer.add(.horizon, .seconds(LatencyModel.longestHorizonSeconds))
        answer.add(.knownError, .flag(false))
        answer.add(.undiscovered, undiscovered { _ in 1 })
        answer.note("The channel is saturated: `pharos plan interval` finds a longer interval.")
        return answer
    }

    private func undiscovered(_ share: (Double) -> Double?) -> PlanQuantity {
        .record(undiscoveredAfter.map { (NumberFormat.significant($0, 9), .share(share($0))) })
    }

    private func start(_ model: LatencyModel, _ sentence: String) -> PlanAnswer {
        var answer = PlanAnswer(title: "Time to discovery with \(scanners.phrase)", sentence: sentence)
        answer.addOrigin(of: air)
        answer.add(.beacons, .count(air.beacons))
        answer.add(.interval, .milliseconds(air.frame(air.target).milliseconds))
        answer.add(.targetPattern, air.frame(air.target).pattern.map { .word("\($0)") } ?? .nothing)
        answer.stateTarget(of: air)
        answer.addScanners(scanners)
        answer.add(
            .collisionFree, .share(model.collisionFreeProbability * model.otherClearProbability), isInText: false)
        answer.noteRounding(of: air)
        answer.noteTraffic(of: air.onlyFrame, background)
        if !background.loads.isEven {
            answer.note(
                "Each event is computed with the mean of the channels' loads, whichever channel the scanner uses.")
        }
        return answer
    }

    private func answer(
        _ group: AdvertiserGroup, _ model: LatencyModel, _ mix: MixLatency
    ) throws(AirtimeError) -> PlanAnswer {
        var answer = try answer(model, mix)
        if let frame = air.onlyFrame, frame.extended == nil {
            answer.explore(
                group, scanners, payloadOctets: frame.payloadOctets, background: background, latency: mix.whole)
        }
        return answer
    }

    /// Returns the answer for a target beacon with a pattern of intervals.
    ///
    /// - Parameter otherClear: The probability that no packet from outside the equal fleet of `model` destroys a
    ///   packet.
    private func answer(
        _ pattern: AdvertisingPattern, _ model: LatencyModel, otherClear: Double
    ) throws(AirtimeError) -> PlanAnswer {
        let longest = undiscoveredAfter.max() ?? 0
        let mix = try MixLatency(
            scanners, untilSeconds: longest, horizonSeconds: max(3600, longest),
            pattern: { scanner throws(AirtimeError) in
                try PatternLatencyModel(
                    pattern: pattern, count: model.group.count,
                    airtimeMicroseconds: air.frame(air.target).airtimeMicroseconds, scanner: scanner,
                    otherClearProbability: otherClear)
            })
        var answer = try answer(model, mix)
        answer.note(
            "A visitor arrives at any instant of the pattern's cycle with equal probability. Each event is lost independently of "
                + "the events before it, so with many collisions the longest times are too short.")
        return answer
    }

    private func answer(_ model: LatencyModel, _ mix: MixLatency) throws(AirtimeError) -> PlanAnswer {
        let latency = mix.whole
        var answer = start(model, sentence(latency))
        try answer.addResults(of: mix)
        answer.add(.undiscovered, undiscovered { latency.undiscovered(after: $0) })
        for seconds in undiscoveredAfter {
            answer.show(
                "not yet found after \(NumberFormat.duration(seconds))", .share(latency.undiscovered(after: seconds)))
        }
        let rows = mix.rows
        answer.pictures.terminal.append(
            .curve(
                .init(
                    title: "share found over time", x: .init("time", unit: "s"), y: .init("share"),
                    series: rows.map { .init($0.name, $0.discovered) })))
        answer.pictures.page.latencies = .init(
            caption: "The share of cases in which the beacon is found, over time.", rows: rows)
        return answer
    }

    /// The keys of the answer in JSON.
    static let keys: [PlanKey] =
        PlanKey.origin + [.beacons, .interval, .targetPattern] + PlanKey.extendedTarget + [.scanner, .collisionFree]
        + PlanKey.discovery + [.undiscovered]
}

extension PlanKey {
    fileprivate static let targetPattern = PlanKey(
        "pattern", "The intervals of the pattern, each with its duration; null for a constant interval.")
}
