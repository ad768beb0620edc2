internal import Glibc

/// How a level becomes a distance.
public enum DistanceModel: String, Hashable, Sendable, CaseIterable {
    /// 10^((P - r) / 10n) metres, P the level at 1 m and r the level heard, in dBm; n is the path-loss exponent.
    case log
    /// AltBeacon's curve, as Android has it: q = r/P; q^10 below 1, else 0.42093·q^6.9476 + 0.54992.
    case altbeacon
    /// Radius Networks' first curve: q^10 below 1, else 0.89976·q^7.7095 + 0.111.
    case radius
}

/// How far a beacon seems to be, with the interval in which it probably lies.
public struct DistanceEstimate: Hashable, Sendable {
    /// In metres.
    public let meters: Double
    /// The ends of the interval of one standard deviation, in metres.
    public let lowMeters: Double
    public let highMeters: Double

    /// What turns levels into distances.
    public struct Rule: Hashable, Sendable {
        public var model = DistanceModel.log
        /// n, of ``DistanceModel/log`` and of the interval: 2 in the open.
        public var exponent = 2.0
        /// The standard deviation of the shadowing in dB.
        public var shadowingDecibels = 6.0

        /// The log-distance model with n = 2 and 6 dB.
        public init() {}
    }

    /// Levels at 1 m that can be, in dBm.
    public static let plausiblePowers = -100 ... -20

    /// `nil` where the level or the power at 1 m means nothing: never a number that nobody measured.
    ///
    /// - Parameters:
    ///   - level: The mean of what was heard, in dBm; 0 and above mean nothing.
    ///   - deviation: The standard deviation of a single level, in dB.
    ///   - count: Of how many levels it is the mean.
    ///   - power: What a receiver sees at 1 m, in dBm.
    public init?(level: Double, deviation: Double, count: Int, powerAtOneMeter power: Int, _ rule: Rule) {
        guard level < 0, level >= -127, count > 0, Self.plausiblePowers.contains(power), rule.exponent > 0 else {
            return nil
        }
        let spread =
            (rule.shadowingDecibels * rule.shadowingDecibels + deviation * deviation / Double(count)).squareRoot()
        let factor = Power.ten(spread / (10 * rule.exponent))
        meters = Self.meters(level, Double(power), rule)
        lowMeters = meters / factor
        highMeters = meters * factor
    }

    private static func meters(_ level: Double, _ power: Double, _ rule: Rule) -> Double {
        let ratio = level / power
        switch rule.model {
        case .log: return Power.ten((power - level) / (10 * rule.exponent))
        case .altbeacon where ratio >= 1: return 0.42093 * Power.of(ratio, 6.9476) + 0.54992
        case .radius where ratio >= 1: return 0.89976 * Power.of(ratio, 7.7095) + 0.111
        case .altbeacon, .radius: return Power.of(ratio, 10)
        }
    }

    /// In which zone of closeness the distance lies.
    public var proximity: Proximity { meters < 0.5 ? .immediate : meters <= 4 ? .near : .far }
}

/// How close a beacon is, in the words of ranging.
public enum Proximity: String, Hashable, Sendable {
    /// Below 0.5 m.
    case immediate
    /// Up to 4 m.
    case near
    /// Beyond.
    case far
    /// Nothing is known of the distance.
    case unknown
}

/// The C library's functions that the arithmetic here uses, named in one place.
enum Power {
    /// 10 to the power of `exponent`.
    static func ten(_ exponent: Double) -> Double { Glibc.pow(10, exponent) }
    /// `base`, which is positive, to the power of `exponent`.
    static func of(_ base: Double, _ exponent: Double) -> Double { Glibc.pow(base, exponent) }
}

/// The decimal logarithm.
func log10(_ value: Double) -> Double { Glibc.log10(value) }
/// The share of a normal distribution that lies below `deviations` standard deviations.
func normalShare(below deviations: Double) -> Double { 0.5 * Glibc.erfc(-deviations / 2.squareRoot()) }
/// ln.
func naturalLogarithm(_ value: Double) -> Double { Glibc.log(value) }
