public import BluetoothTypes

/// What one interval gives: a point of the curve around the advice.
public struct IntervalPoint: Hashable, Sendable {
    public let interval: AdvertisingInterval
    /// Of a packet on one channel, 0...1.
    public let collisionFreeProbability: Double
    /// Percentiles of the latency in seconds; nil where they lie beyond the horizon.
    public let p50: Double?
    public let p90: Double?
    public let p99: Double?
    /// The percentile that was asked for beside them, in seconds; nil where none was, or beyond the horizon.
    public let wanted: Double?
    /// Whether it stands between the even ones because the curve turns there.
    public let isExtra: Bool
}

extension IntervalAdvice {
    /// The latency of the same fleet at another interval before another scanner, within `horizonSeconds`.
    public func distribution(
        intervalMicroseconds: Double, preset: ScannerPreset, horizonSeconds: Double = 3600
    ) throws(AirtimeError) -> LatencyDistribution {
        try search.distribution(intervalMicroseconds, preset: preset, horizonSeconds: horizonSeconds)
    }

    /// What other intervals would give, in ascending order: `count` of them (2...1000), evenly spread over `range` on a
    /// logarithmic scale, without repetition; and up to `extra` more, where resonances lie and where the percentiles
    /// turn between two of the others.
    ///
    /// Percentiles are sought within `horizonSeconds`, that of `wantedShare` (0..<1) beside the usual ones. Refuses what
    /// `LatencyModel` refuses.
    public func curve(
        over range: ClosedRange<AdvertisingInterval>, points count: Int = 13, extra: Int = 0,
        wantedShare: Double? = nil, horizonSeconds: Double = 3600
    ) throws(AirtimeError) -> [IntervalPoint] {
        let low = max(range.lowerBound.rawValue, AdvertisingInterval.legacyRange.lowerBound.rawValue)
        let high = min(range.upperBound.rawValue, AdvertisingInterval.legacyRange.upperBound.rawValue)
        guard low <= high else { throw .interval(Double(range.lowerBound.microseconds)) }
        guard count >= 2, count <= 1000 else { throw .quantity(name: "a number of points", value: Double(count)) }
        var sampling = IntervalSampling(search: search, wantedShare: wantedShare, horizonSeconds: horizonSeconds)
        for index in 0..<count {
            let part = Double(index) / Double(count - 1)
            try sampling.add(UInt32((Double(low) * pow(Double(high) / Double(low), part)).rounded()), isExtra: false)
        }
        if extra > 0 { try sampling.refine(within: low...high, upTo: sampling.points.count + extra) }
        return sampling.points
    }
}

/// Points of a curve over the interval, and where more of them are of use.
private struct IntervalSampling {
    let search: IntervalSearch
    let wantedShare: Double?
    let horizonSeconds: Double
    /// In ascending order of the interval.
    private(set) var points: [IntervalPoint] = []

    init(search: IntervalSearch, wantedShare: Double?, horizonSeconds: Double) {
        self.search = search
        self.wantedShare = wantedShare
        self.horizonSeconds = horizonSeconds
    }

    /// Adds the point of an interval, unless it is there.
    mutating func add(_ unit: UInt32, isExtra: Bool) throws(AirtimeError) {
        let place = points.firstIndex { $0.interval.rawValue >= unit } ?? points.count
        if place < points.count, points[place].interval.rawValue == unit { return }
        let interval = AdvertisingInterval(rawValue: unit)
        let distribution = try search.distribution(
            interval, horizonSeconds: horizonSeconds,
            of: ([0.5, 0.9, 0.99] + (wantedShare.map { [$0] } ?? [])).sorted())
        let model = try search.model(interval)
        points.insert(
            IntervalPoint(
                interval: interval,
                collisionFreeProbability: model.collisionFreeProbability * model.otherClearProbability,
                p50: distribution.percentile(0.5), p90: distribution.percentile(0.9),
                p99: distribution.percentile(0.99),
                wanted: wantedShare.flatMap(distribution.percentile), isExtra: isExtra),
            at: place)
    }

    /// First the middles of the widest resonances, which may lie between two points that show nothing of them; then,
    /// again and again, the middle of the stretch over which the percentiles change most.
    mutating func refine(within range: ClosedRange<UInt32>, upTo limit: Int) throws(AirtimeError) {
        let step = LatencyModel.stepMicroseconds
        let bands = try Resonance.bands(
            within: Double(range.lowerBound) * step...Double(range.upperBound) * step, pattern: search.preset.pattern,
            airtimeMicroseconds: search.airtime)
        let slowest = bands.sorted { $0.worst.slowness > $1.worst.slowness }
        for band in slowest.prefix((limit - points.count) / 2) {
            try add(center(of: band), isExtra: true)
        }
        let narrowest = log(Double(range.upperBound) / Double(range.lowerBound)) / Self.columns
        while points.count < limit {
            let stretches = zip(points, points.dropFirst()).map {
                (low: $0, high: $1, weight: Self.weight($0, $1, narrowest: narrowest))
            }
            guard let heaviest = stretches.max(by: { $0.weight < $1.weight }), heaviest.weight > 0 else { return }
            let (low, high) = (heaviest.low.interval.rawValue, heaviest.high.interval.rawValue)
            try add(UInt32((Double(low) * Double(high)).squareRoot().rounded()), isExtra: true)
        }
    }

    /// Where k·E = m·I.
    private func center(of band: Resonance.Band) -> UInt32 {
        let scanInterval = Double(search.preset.pattern.intervalMicroseconds)
        let period = Double(band.worst.scanIntervals) * scanInterval / Double(band.worst.events)
        let interval = period - AdvertisingDelay.maximumMicroseconds / 2
        let range = band.intervalsMicroseconds
        return UInt32(
            (min(range.upperBound, max(range.lowerBound, interval)) / LatencyModel.stepMicroseconds).rounded())
    }

    /// What a point between two others is worth: how far the percentiles move beyond what the interval itself does, as
    /// a logarithm, times the width of the stretch; 0 where neither would be seen.
    private static func weight(_ low: IntervalPoint, _ high: IntervalPoint, narrowest: Double) -> Double {
        let (first, last) = (Double(low.interval.rawValue), Double(high.interval.rawValue))
        let width = log(last / first)
        guard last - first >= 2, width > narrowest else { return 0 }
        let turns = [(low.p50, high.p50), (low.p90, high.p90), (low.p99, high.p99)].map { before, after in
            switch (before, after) {
            case (nil, nil): 0.0
            case (let before?, let after?):
                min(endOfLine, abs(log(max(after, 1e-9) / max(before, 1e-9)) - width))
            default: endOfLine
            }
        }
        let turn = turns.max() ?? 0
        return turn > smallestTurn ? turn * width : 0
    }

    /// Stretches narrower than one of so many columns are not told apart.
    private static let columns = 120.0
    /// A line that ends at a horizon turns as much as any.
    private static let endOfLine = 2.0
    /// What the eye does not see, about a tenth.
    private static let smallestTurn = 0.1
}
