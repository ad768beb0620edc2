public import BluetoothTypes

/// An advertising interval that a controller can be told, for a mean period that was wanted.
public struct IntervalSetting: Hashable, Sendable {
    /// Which end of the controller's range stood in the way.
    public enum Limit: Hashable, Sendable {
        /// The wanted interval is shorter than the controller's shortest.
        case shortest
        /// The wanted interval is longer than the controller's longest.
        case longest
    }

    /// T, in units of 0.625 ms.
    public let interval: AdvertisingInterval
    /// The end of the range that the interval was moved to; `nil` when it lies inside.
    public let limit: Limit?

    /// T = E - J/2 in steps of 0.625 ms, within `range`.
    ///
    /// - Parameters:
    ///   - meanPeriodMicroseconds: E; as short as one likes (small fleets), the range's lower end answers.
    ///   - rounding: `.up` never sends more often than wanted (collisions, energy), `.down` never less often (latency).
    ///   - range: what the controller takes.
    /// - Throws: ``AirtimeError/interval(_:)`` for NaN, an infinity or a negative period.
    public init(
        meanPeriodMicroseconds: Double, rounding: FloatingPointRoundingRule,
        range: ClosedRange<AdvertisingInterval> = AdvertisingInterval.legacyRange
    ) throws(AirtimeError) {
        guard meanPeriodMicroseconds >= 0, meanPeriodMicroseconds.isFinite else {
            throw .interval(meanPeriodMicroseconds)
        }
        let wanted = (meanPeriodMicroseconds - AdvertisingDelay.maximumMicroseconds / 2) / 625
        // A period computed from a whole number of units must come back as that number, not one beside it.
        let whole = wanted.rounded()
        let units = abs(wanted - whole) < 1e-6 ? whole : wanted.rounded(rounding)
        if units < Double(range.lowerBound.rawValue) {
            interval = range.lowerBound
            limit = .shortest
        } else if units > Double(range.upperBound.rawValue) {
            interval = range.upperBound
            limit = .longest
        } else {
            interval = AdvertisingInterval(rawValue: UInt32(units))
            limit = nil
        }
    }

    /// E in µs of what was set.
    public var meanPeriodMicroseconds: Double { Double(interval.meanPeriodMicroseconds) }
}
