public import BluetoothTypes

/// The best mean periods for N equal beacons: the period with the highest throughput (in closed form), and the period
/// with the lowest latency.
///
/// Symbols: N the beacons within range of one receiver, tau a packet's airtime in µs, E = T + J/2 the mean period in
/// µs. Assumptions as in ``CollisionModel``; the receiver listens all the time.
public struct BestInterval: Hashable, Sendable {
    /// N, the number of beacons in range, at least 1.
    public let beacons: Int
    /// tau, the airtime of a packet in µs.
    public let airtimeMicroseconds: Double
    /// Other devices' packets. They do not change the best period for throughput; they move the best period for latency
    /// towards the best period for throughput.
    public let background: BackgroundLoad

    /// Throws for fewer than one beacon, and for an airtime that is not a positive number.
    public init(
        beacons: Int, airtimeMicroseconds: Double, background: BackgroundLoad = .none
    ) throws(AirtimeError) {
        guard beacons > 0 else { throw .count(beacons) }
        guard airtimeMicroseconds > 0, airtimeMicroseconds.isFinite else { throw .airtime(airtimeMicroseconds) }
        self.beacons = beacons
        self.airtimeMicroseconds = airtimeMicroseconds
        self.background = background
    }

    /// E* = 2·tau·N in µs, the mean period with the most collision-free packets a second (exact). At this period, a
    /// packet is clear with probability (1 - 1/N)^(N-1), close to 1/e.
    public var throughputMeanPeriodMicroseconds: Double { 2 * airtimeMicroseconds * Double(beacons) }

    /// The mean period in µs that minimises a high percentile (p99) of the time to receive one beacon, or the time to
    /// receive all beacons. Without background it is 2·tau/(1 - 2^(-1/(N-1))), about 2·tau·N/ln 2; at this period, a
    /// packet is clear with probability 1/2.
    ///
    /// The optimum is flat: a period that is about a fifth longer is almost as good and saves energy. For p90, a period
    /// that is a tenth longer is best, and the time is then 2 % shorter. If the background leaves a share b of the
    /// packets clear, the best share x of packets without a collision in the fleet is the x at which ln x · ln(1 - b·x)
    /// is largest: 1/2 for b = 1, close to 1/e for small b.
    public var latencyMeanPeriodMicroseconds: Double {
        meanPeriod(fleetShare: latencyShare)
    }

    /// Returns the mean period in µs at which a share x = `fleetShare` of the packets has no collision in the fleet:
    /// 2·tau/(1 - x^(1/(N-1))). The code uses expm1, because the plain difference loses digits for large fleets.
    private func meanPeriod(fleetShare: Double) -> Double {
        guard beacons > 1 else { return 2 * airtimeMicroseconds }
        return 2 * airtimeMicroseconds / -expm1(log(fleetShare) / Double(beacons - 1))
    }

    /// The x at which ln x · ln(1 - b·x) is largest, found by bisection on the sign of the derivative.
    private var latencyShare: Double {
        let backgroundClear = exp(background.logClearProbability(forPacketOf: airtimeMicroseconds))
        guard backgroundClear < 1 else { return 0.5 }
        guard backgroundClear > 0 else { return exp(-1) }
        var low = exp(-1.0)
        var high = 0.5
        for _ in 0..<60 {
            let middle = (low + high) / 2
            let slope =
                log1p(-backgroundClear * middle) / middle - backgroundClear * log(middle)
                / (1 - backgroundClear * middle)
            if slope > 0 { low = middle } else { high = middle }
        }
        return (low + high) / 2
    }
}

/// The advertising interval that a controller supports and that comes closest to a wanted mean period.
public struct IntervalSetting: Hashable, Sendable {
    /// The end of the controller's range beyond which the wanted interval lies.
    public enum Limit: Hashable, Sendable {
        /// The wanted interval is shorter than the shortest interval of the controller.
        case shortest
        /// The wanted interval is longer than the longest interval of the controller.
        case longest
    }

    /// T, in units of 0.625 ms.
    public let interval: AdvertisingInterval
    /// The end of the range to which the interval was moved; `nil` if the wanted interval lies inside the range.
    public let limit: Limit?

    /// Creates the setting T = E - J/2 in steps of 0.625 ms, within `range`.
    ///
    /// - Parameters:
    ///   - meanPeriodMicroseconds: E. If it is too short for the controller, as for small fleets, the result is the
    ///     lower end of `range`.
    ///   - rounding: `.up` if the beacon must not send more often than wanted (for collisions and energy), `.down` if
    ///     it must not send less often (for latency).
    ///   - range: The intervals that the controller supports.
    /// - Throws: ``AirtimeError/interval(_:)`` for NaN, an infinity or a negative period.
    public init(
        meanPeriodMicroseconds: Double, rounding: FloatingPointRoundingRule,
        range: ClosedRange<AdvertisingInterval> = AdvertisingInterval.legacyRange
    ) throws(AirtimeError) {
        guard meanPeriodMicroseconds >= 0, meanPeriodMicroseconds.isFinite else {
            throw .interval(meanPeriodMicroseconds)
        }
        let wantedUnits = (meanPeriodMicroseconds - AdvertisingDelay.meanMicroseconds) / 625
        // A period that was computed from a whole number of units must give this number again, despite rounding errors.
        let nearestUnits = wantedUnits.rounded()
        let units = abs(wantedUnits - nearestUnits) < 1e-6 ? nearestUnits : wantedUnits.rounded(rounding)
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
}
