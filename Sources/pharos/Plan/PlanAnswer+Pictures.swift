internal import Airtime
internal import BluetoothTypes
internal import PlanReport

extension PlanAnswer {
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
            numbers.bestThroughputIntervalMs = setting(best.throughputMeanPeriodMicroseconds)
            numbers.bestLatencyIntervalMs = setting(best.latencyMeanPeriodMicroseconds)
        }
        numbers.latencyP50 = latency?.percentile(0.5)
        numbers.latencyP90 = latency?.percentile(0.9)
        numbers.latencyP95 = latency?.percentile(0.95)
        numbers.latencyP99 = latency?.percentile(0.99)
        // A scanner of the user's own comes first; the known ones are there to compare.
        let known = ScannerPreset.all.contains { $0.name == scanner.name }
        let scanners = (known ? [] : [scanner]) + ScannerPreset.all
        content.explorer = .init(
            beacons: group.count, intervalMs: group.intervalMicroseconds / 1000, payloadOctets: payloadOctets,
            scanners: scanners.map { .init($0.name, $0.pattern) }, scannerName: scanner.name,
            captureDecibels: captureDecibels, backgroundLoad: background.share,
            backgroundAirtimeMicroseconds: background.airtimeMicroseconds, numbers: numbers)
    }

    private func setting(_ meanPeriod: Double) -> Double? {
        guard let setting = try? IntervalSetting(meanPeriodMicroseconds: meanPeriod, rounding: .toNearestOrAwayFromZero)
        else { return nil }
        return Double(setting.interval.microseconds) / 1000
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
