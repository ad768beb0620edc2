/// A value that no model accepts.
public enum AirtimeError: Error, Hashable, Sendable {
    /// Too few advertisers, or more than a calculation allows.
    case count(Int)
    /// An airtime in µs that is not a positive number, or longer than a calculation allows.
    case airtime(Double)
    /// An advertising interval in µs that is not a number, or too short.
    case interval(Double)
    /// A number of bytes of advertising data that the packets cannot carry.
    case payload(Int)
    /// A probability or a share outside its range.
    case share(Double)
    /// A scan window and scan interval in µs that are not positive, or a window longer than its interval.
    case scan(windowMicroseconds: Int, intervalMicroseconds: Int)
    /// Advertisers whose interval is shorter than the vulnerable window, both in µs: they send so often that a packet
    /// cannot get through.
    case saturated(intervalMicroseconds: Double, windowMicroseconds: Double)
    /// Any other quantity outside its range.
    case quantity(name: String, value: Double)
    /// A mix of scanners that cannot be used; the text gives the reason.
    case mix(String)
    /// A question that a model does not cover; the text gives the reason.
    case unsupported(String)
}

extension AirtimeError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .count(let count): "\(count) beacons are \(count < 1 ? "not enough" : "too many for this calculation")"
        case .airtime(let value) where value > 0 && value.isFinite:
            "an airtime of \(value) µs is too long for this calculation"
        case .airtime(let value): "an airtime of \(value) µs is not a positive number"
        case .interval(let value) where value > AdvertisingDelay.maximumMicroseconds * 1024:
            "an advertising interval of \(value / 1000) ms is longer than 10.24 s, the longest of legacy advertising"
        case .interval(let value): "an advertising interval of \(value / 1000) ms is too short, or is not a number"
        case .payload(let octets):
            "\(octets) bytes of advertising data: a legacy packet holds 0...31, an extended advertisement 0...1650"
        case .share(let value): "\(value) is not a share between 0 and 1"
        case .scan(let window, let interval):
            "a scan window of \(Double(window) / 1000) ms in a scan interval of \(Double(interval) / 1000) ms: use "
                + "positive values, and a window that is not longer than the interval"
        case .saturated(let interval, let window):
            "an advertising interval of \(interval / 1000) ms is too short for these packets: each needs "
                + "\(window / 1000) ms without another packet"
        case .quantity(let name, let value): "\(name) of \(value) is out of range"
        case .mix(let reason), .unsupported(let reason): reason
        }
    }
}

/// Checks of the range of a quantity.
enum Quantity {
    /// Throws for NaN and for values outside `range`.
    static func check(
        _ value: Double, in range: ClosedRange<Double>, _ name: String
    ) throws(AirtimeError) {
        guard range.contains(value) else { throw .quantity(name: name, value: value) }
    }
}
