public import BluetoothTypes

/// Intervals to spread a fleet over, so that beacons that met once do not meet again: around or below the advised
/// interval, clear of the stretches that keep step with the scanner.
public struct IntervalSpread: Hashable, Sendable {
    /// The shortest and the longest interval that a beacon gets.
    public let intervals: ClosedRange<AdvertisingInterval>
    /// How many more events a second the fleet sends than with the advised interval everywhere, as a share of these;
    /// negative for fewer. Energy goes with it.
    public let extraEvents: Double

    /// Narrower spreads than this share of the interval pull nobody apart.
    static let narrowest = 0.02

    /// A beacon's own interval: the same for the same identity, and even over the spread over many of them.
    public func interval(of identity: String) -> AdvertisingInterval {
        Self.interval(of: identity.utf8, within: intervals)
    }

    /// The interval that the beacon with this identity gets of a spread, in steps of 0.625 ms.
    public static func interval(
        of identity: some Sequence<UInt8>, within intervals: ClosedRange<AdvertisingInterval>
    ) -> AdvertisingInterval {
        // FNV-1a, mixed once more: names that count up must not lie in a row.
        let hash = identity.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        var generator = SplitMix64(seed: hash)
        let width = UInt64(intervals.upperBound.rawValue - intervals.lowerBound.rawValue) + 1
        let step = generator.next().multipliedFullWidth(by: width).high
        return AdvertisingInterval(rawValue: intervals.lowerBound.rawValue + UInt32(truncatingIfNeeded: step))
    }
}

extension IntervalAdvice {
    /// The widest spread within `share` of the advised interval to both sides that holds no interval to avoid, and whose
    /// ends reach the goal; `nil` where there is none that is wide enough to be of use, and for a single beacon.
    public func spread(within share: Double = 0.1) throws(AirtimeError) -> IntervalSpread? {
        guard search.count > 1 else { return nil }
        let center = Double(interval.microseconds)
        let legacy = AdvertisingInterval.legacyRange
        let lowest = max(center * (1 - share), Double(legacy.lowerBound.microseconds))
        let highest = min(center * (1 + share), Double(legacy.upperBound.microseconds))
        let bands = try Resonance.bands(
            within: lowest...highest, pattern: search.preset.pattern, airtimeMicroseconds: search.airtime)
        guard !bands.contains(where: { $0.intervalsMicroseconds.contains(center) }) else { return nil }
        let step = LatencyModel.stepMicroseconds
        let below = bands.map(\.intervalsMicroseconds.upperBound).filter { $0 < center }.max().map { $0 + step }
        let above = bands.map(\.intervalsMicroseconds.lowerBound).filter { $0 > center }.min().map { $0 - step }
        let low = try reaching(max(lowest, below ?? lowest))
        let high = try reaching(min(highest, above ?? highest))
        guard Double(high.microseconds - low.microseconds) >= IntervalSpread.narrowest * center else { return nil }
        // The mean of 1/E over intervals that are even over the spread.
        let (short, long) = (Double(low.meanPeriodMicroseconds), Double(high.meanPeriodMicroseconds))
        let events = log(long / short) / (long - short)
        return IntervalSpread(intervals: low...high, extraEvents: events * meanPeriodMicroseconds - 1)
    }

    /// The interval at this end, or half as far away, or none: the first that reaches the goal.
    private func reaching(_ end: Double) throws(AirtimeError) -> AdvertisingInterval {
        let center = Double(interval.microseconds)
        for share in [1, 0.5] {
            let place = center + (end - center) * share
            // Toward the advised interval, so that a band's rim is not stepped over.
            let units = (place / LatencyModel.stepMicroseconds).rounded(end < center ? .up : .down)
            let candidate = AdvertisingInterval(rawValue: UInt32(units))
            guard case .detect(let seconds, let probability) = goal else { return candidate }
            if try search.share(candidate, within: seconds) >= probability { return candidate }
        }
        return interval
    }
}
