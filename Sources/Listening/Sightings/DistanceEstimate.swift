internal import Glibc

/// A formula that converts a level into a distance.
public enum DistanceModel: String, Hashable, Sendable, CaseIterable {
    /// 10^((P - r) / 10n) metres. P is the level at 1 m and r the received level, in dBm; n is the path-loss exponent.
    case log
    /// AltBeacon's curve, as in the Android library: q = r/P; q^10 below 1, otherwise 0.42093·q^6.9476 + 0.54992.
    case altbeacon
    /// Radius Networks' first curve: q^10 below 1, otherwise 0.89976·q^7.7095 + 0.111.
    case radius
}

/// The estimated distance of a beacon, with an interval.
public struct DistanceEstimate: Hashable, Sendable {
    /// The distance in metres.
    public let meters: Double
    /// The lower bound of the interval of one standard deviation, in metres.
    public let lowMeters: Double
    /// The upper bound of the interval of one standard deviation, in metres.
    public let highMeters: Double

    /// The formula and its parameters.
    public struct Rule: Hashable, Sendable {
        public var model = DistanceModel.log
        /// The path-loss exponent n, which ``DistanceModel/log`` and the interval of the distance depend on; 2 in free
        /// space.
        public var exponent = 2.0
        /// The standard deviation of levels behind obstacles such as walls and people (shadowing), in dB.
        public var shadowingDecibels = 6.0

        /// The log-distance model with n = 2 and a shadowing of 6 dB.
        public init() {}
    }

    /// The range of plausible levels at 1 m, in dBm.
    public static let plausiblePowers = -100 ... -20

    /// Estimates a distance. Returns `nil` if the level or the power at 1 m is not plausible.
    ///
    /// - Parameters:
    ///   - level: The mean received level in dBm; values from 0 on are not plausible.
    ///   - deviation: The standard deviation of a single level, in dB.
    ///   - count: The number of levels in the mean.
    ///   - power: The level at 1 m, in dBm.
    public init?(level: Double, deviation: Double, count: Int, powerAtOneMeter power: Int, _ rule: Rule) {
        guard level < 0, level >= -127, count > 0, Self.plausiblePowers.contains(power), rule.exponent > 0 else {
            return nil
        }
        let spread =
            (rule.shadowingDecibels * rule.shadowingDecibels + deviation * deviation / Double(count)).squareRoot()
        let factor = PowerFunction.ten(spread / (10 * rule.exponent))
        meters = Self.meters(level, Double(power), rule)
        lowMeters = meters / factor
        highMeters = meters * factor
    }

    private static func meters(_ level: Double, _ power: Double, _ rule: Rule) -> Double {
        let ratio = level / power
        switch rule.model {
        case .log: return PowerFunction.ten((power - level) / (10 * rule.exponent))
        case .altbeacon where ratio >= 1: return 0.42093 * PowerFunction.of(ratio, 6.9476) + 0.54992
        case .radius where ratio >= 1: return 0.89976 * PowerFunction.of(ratio, 7.7095) + 0.111
        case .altbeacon, .radius: return PowerFunction.of(ratio, 10)
        }
    }

    /// The class of the distance.
    public var proximity: Proximity { meters < 0.5 ? .immediate : meters <= 4 ? .near : .far }
}

/// A class of distances, as used in ranging.
public enum Proximity: String, Hashable, Sendable {
    /// Below 0.5 m.
    case immediate
    /// 0.5 m to 4 m.
    case near
    /// Beyond 4 m.
    case far
    /// The distance is not known.
    case unknown
}

/// The power function of the C library.
enum PowerFunction {
    /// Returns 10 to the power of `exponent`.
    static func ten(_ exponent: Double) -> Double { Glibc.pow(10, exponent) }
    /// Returns `base`, which must be positive, to the power of `exponent`.
    static func of(_ base: Double, _ exponent: Double) -> Double { Glibc.pow(base, exponent) }
}

/// Returns the decimal logarithm.
func log10(_ value: Double) -> Double { Glibc.log10(value) }
/// Returns the share of a normal distribution below `deviations` standard deviations.
func normalShare(below deviations: Double) -> Double { 0.5 * Glibc.erfc(-deviations / 2.squareRoot()) }
/// Returns the natural logarithm.
func naturalLogarithm(_ value: Double) -> Double { Glibc.log(value) }
