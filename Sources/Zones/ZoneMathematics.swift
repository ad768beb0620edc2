internal import Glibc

/// The arithmetic of levels and of silences.
enum ZoneMathematics {
    /// How fast a level falls: 2 in the open.
    static let exponent = 2.0

    /// The level at a distance, relative to that at 1 m, in dB.
    static func gain(meters: Double) -> Double { -10 * exponent * Glibc.log10(max(0.001, meters)) }

    /// The distance in metres at which a level is so many dB above that at 1 m.
    static func meters(gain: Double) -> Double { Glibc.pow(10, -gain / (10 * exponent)) }

    /// The shortest run of losses that a beacon which stays shows less often than `rate` times a second.
    ///
    /// A run begins with probability `first` after an event that was heard, and goes on with probability `next` after one
    /// that was lost: rate of runs of n or more = (1 - loss)/period·first·next^(n - 1).
    ///
    /// - Parameter period: In seconds.
    static func lostInARow(period: Double, loss: Double, first: Double, next: Double, rate: Double) -> Double {
        1 + max(1, (Glibc.log(rate * period / ((1 - loss) * first)) / Glibc.log(next)).rounded(.up))
    }
}
