internal import Airtime
internal import BluetoothTypes
internal import PlanReport

// What several questions state, show and draw alike.

extension PlanAnswer {
    /// Which site is told of.
    mutating func stateOrigin(of air: PlannedAir) {
        guard let origin = air.origin else { return }
        state("fleet", .word(origin.fleet))
        state("site", .word(origin.site))
    }

    /// Which of a fleet's advertisements is asked about, and how the others count.
    mutating func stateTarget(of air: PlannedAir) {
        guard air.origin != nil else { return }
        let frame = air.frame(air.target)
        state("advertisement", frame.quantity())
        show("asked", .word(frame.name), remark: "every \(frame.interval), \(frame.payloadOctets) octets of data")
        guard air.onlyFrame == nil else { return }
        note(
            "A beacon is found by its most frequent advertisement; asked is the least frequent of these at the site, so "
                + "every beacon is found at least as fast. The site's other advertisements count with intervals and "
                + "lengths of their own; a box does not collide with itself.")
    }

    /// Says so where the interval that was asked for is not one that controllers can be set to.
    mutating func noteRounding(of air: PlannedAir) {
        guard let requested = air.requestedMicroseconds, let interval = AdvertisingInterval(microseconds: requested),
            interval.microseconds != requested
        else { return }
        note(
            "Controllers count in steps of 0.625 ms: \(DecimalText.thousandths(requested)) ms is sent, and computed, as "
                + "\(interval).")
    }

    /// The percentiles that everybody asks for.
    static let percentiles = [(50, 0.5), (90, 0.9), (95, 0.95), (99, 0.99)]

    /// The percentiles of a time to discovery, and the model's known error.
    mutating func state(_ latency: LatencyDistribution) {
        state(
            "latencyS", .record(Self.percentiles.map { ("p\($0.0)", .seconds(latency.percentile($0.1))) }))
        state("horizonS", .seconds(latency.horizonSeconds))
        for (percent, share) in Self.percentiles {
            let time = latency.percentile(share)
            show(
                "\(percent) % received within", .seconds(time),
                remark: time == nil
                    ? "not within \(NumberText.duration(latency.horizonSeconds)), as far as this looks" : "")
        }
        state("knownErrorExceeds2Percent", .flag(latency.knownErrorExceeds2Percent))
        if let reason = latency.knownErrorReason { note(reason) }
    }

    /// The figure with the controls, starting from one fleet before one scanner.
    mutating func explore(
        _ group: AdvertiserGroup, _ scanner: ScannerPreset, payloadOctets: Int, background: BackgroundLoad,
        captureDecibels: Double? = nil, latency: LatencyDistribution? = nil
    ) {
        var numbers = PlanPageContent.Numbers()
        if let model = try? CollisionModel(groups: [group], background: background) {
            numbers.collisionFreeProbability = model.collisionFreeProbability
            numbers.arrivalsPerSecondPerBeacon = model.arrivalsPerSecondPerBeacon
            numbers.channelLoad = model.channelLoad
        }
        let clear = background.clearProbability(forPacketOf: group.airtimeMicroseconds)
        numbers.lossAfterLossProbability =
            (try? RunsModel(group: group, otherClearProbability: clear))?.lossAfterLossProbability
        numbers.airtimeMicroseconds = group.airtimeMicroseconds
        if let best = try? BestInterval(
            beacons: group.count, airtimeMicroseconds: group.airtimeMicroseconds, background: background)
        {
            numbers.bestThroughputIntervalMs = Self.setting(best.throughputMeanPeriodMicroseconds)
            numbers.bestLatencyIntervalMs = Self.setting(best.latencyMeanPeriodMicroseconds)
        }
        numbers.latencyP50 = latency?.percentile(0.5)
        numbers.latencyP90 = latency?.percentile(0.9)
        numbers.latencyP95 = latency?.percentile(0.95)
        numbers.latencyP99 = latency?.percentile(0.99)
        // A scanner of the user's own comes first; the known ones are there to compare.
        let isKnown = ScannerPreset.all.contains { $0.name == scanner.name }
        let scanners = (isKnown ? [] : [scanner]) + ScannerPreset.all
        pictures.explorer = .init(
            beacons: group.count, intervalMs: group.intervalMicroseconds / 1000, payloadOctets: payloadOctets,
            scanners: scanners.map { .init($0.name, $0.pattern) }, scannerName: scanner.name,
            captureDecibels: captureDecibels, backgroundLoad: background.share,
            backgroundAirtimeMicroseconds: background.airtimeMicroseconds, numbers: numbers)
    }

    private static func setting(_ meanPeriod: Double) -> Double? {
        let setting = try? IntervalSetting(meanPeriodMicroseconds: meanPeriod, rounding: .toNearestOrAwayFromZero)
        return setting.map { Double($0.interval.microseconds) / 1000 }
    }
}

extension PlanPageContent.LatencyComparison.Row {
    /// A distribution thinned to what a drawing can show.
    init(_ name: String, _ latency: LatencyDistribution) {
        let stride = max(1, latency.seconds.count / 300)
        let points = Swift.stride(from: 0, to: latency.seconds.count, by: stride).map { index in
            PlanPageContent.Point(latency.seconds[index], latency.receivedShare[index])
        }
        self.init(
            name, p50: latency.percentile(0.5), p90: latency.percentile(0.9), p95: latency.percentile(0.95),
            p99: latency.percentile(0.99), discovered: points)
    }
}
