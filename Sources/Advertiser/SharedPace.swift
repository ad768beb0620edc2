public import BluetoothTypes

/// How fast one advertising set must run to give each of several advertisements its share.
///
/// An advertisement of interval T is owed one event in each T + 5 ms on average: its own interval and the mean advDelay.
/// A set of interval T_s sends one in each T_s + 5 ms, whosever data it holds, so T_s is the largest interval (in steps
/// of 0.625 ms) with Σ (T_s + 5 ms) / (T + 5 ms) ≤ 1.
///
/// All in integers: 5 ms are eight steps, so periods are whole numbers of steps.
public struct SharedPace: Hashable, Sendable {
    /// T_s; `nil` where even the shortest thinkable interval, 0, would be too long.
    public let interval: AdvertisingInterval?
    /// The exact period that the members need, in 2⁻²⁰ steps of 0.625 ms, rounded down.
    let period: Int

    /// Steps of 0.625 ms in the mean advDelay.
    static let delaySteps = AdvertisingInterval.meanDelayMicroseconds / 625
    /// Binary digits of a step that are kept.
    static let fractionBits = 20

    /// - Parameter intervals: of the advertisements, at least one.
    public init(_ intervals: [AdvertisingInterval]) {
        // 1 / period in units of 2⁻⁹⁶, rounded down: exact to far below what a step of any period needs.
        let one = UInt128(1) << 96
        let rate = intervals.reduce(UInt128(0)) { $0 + one / UInt128($1.steps) }
        guard rate > 0 else {
            interval = nil
            period = 0
            return
        }
        period = Int(clamping: (one << Self.fractionBits) / rate)
        let steps = UInt32(clamping: one / rate)
        interval = steps >= UInt32(Self.delaySteps) ? AdvertisingInterval(rawValue: steps - 8) : nil
    }

    /// Advertising events that `intervals` need in a second, in thousandths, rounded to the nearest.
    static func eventsPerThousandSeconds(_ intervals: [AdvertisingInterval]) -> Int {
        // Microhertz, then rounded once.
        let sum = intervals.reduce(0) { $0 + 1_000_000_000_000 / $1.meanPeriodMicroseconds }
        return (sum + 500) / 1000
    }
}

extension AdvertisingInterval {
    /// The mean period in steps of 0.625 ms.
    var steps: Int { Int(rawValue) + SharedPace.delaySteps }
}
