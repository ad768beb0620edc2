/// How long a beacon must be silent, in a time that was listened through, before it has left.
///
/// A fixed time is wrong by orders of magnitude: what counts is how often a run of losses is as long as that. Here a
/// beacon that stays is taken for gone once in 30 days.
public enum ExitRule {
    /// What is waited at least and at most, in microseconds: 10 s and 5 min.
    public static let rangeMicroseconds = 10_000_000...300_000_000
    /// For a beacon whose interval is not known: 30 s, as Android has it.
    public static let unknownMicroseconds = 30_000_000
    /// False exits of one beacon a second.
    public static let falseExitsPerSecond = 1.0 / (30 * 86_400)
    /// A loss is never taken for smaller than this, because it was counted over a few dozen events.
    static let leastLoss = 0.1
    /// Nor for larger than this: a beacon of which nothing is heard has no exit.
    static let mostLoss = 0.99

    /// The shortest silence, in microseconds, by which `period` and `loss` explain nothing any more:
    /// n·period with n = ⌈ln(ε·period/(1 - q))/ln q⌉ events in a row lost, within ``rangeMicroseconds``.
    ///
    /// - Parameters:
    ///   - period: The mean time between two events that are sent, in microseconds.
    ///   - loss: q, the share of events that is not heard, 0...1.
    public static func silenceMicroseconds(period: Double, loss: Double) -> Int {
        Int(
            min(
                max(unlimited(period: period, loss: loss), Double(rangeMicroseconds.lowerBound)),
                Double(rangeMicroseconds.upperBound)))
    }

    /// The same without limits.
    static func unlimited(period: Double, loss: Double) -> Double {
        guard period > 0 else { return Double(unknownMicroseconds) }
        let loss = min(max(loss, leastLoss), mostLoss)
        let events = naturalLogarithm(falseExitsPerSecond * period / 1_000_000 / (1 - loss)) / naturalLogarithm(loss)
        return max(1, events.rounded(.up)) * period
    }

    /// The silence after which this beacon has left.
    static func silenceMicroseconds(_ track: BeaconTrack, at now: HeardInstant) -> Int {
        guard let period = track.periodMicroseconds else { return unknownMicroseconds }
        // Half of all is lost where nothing is known yet.
        return silenceMicroseconds(period: period, loss: 1 - (track.share(until: now) ?? 0.5))
    }
}
