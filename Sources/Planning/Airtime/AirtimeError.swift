/// What no model can answer, with the value that was given.
public enum AirtimeError: Error, Hashable, Sendable {
    /// A count of advertisers below what the question needs.
    case count(Int)
    /// An airtime, in µs, that is no positive number.
    case airtime(Double)
    /// An advertising interval, in µs, that is no number, or no longer than what it must hold.
    case interval(Double)
    /// More or fewer octets of advertising data than a legacy packet holds.
    case payload(Int)
    /// A probability or a share outside the range that the question allows.
    case share(Double)
    /// A scan window and scan interval, in µs, that are not positive, or a window longer than its interval.
    case scan(windowMicroseconds: Int, intervalMicroseconds: Int)
    /// Advertisers that send so often that one packet cannot miss two of theirs: the vulnerable window, in µs, is longer
    /// than their interval.
    case saturated(intervalMicroseconds: Double, windowMicroseconds: Double)
    /// Any other quantity out of its range, by its name.
    case quantity(name: String, value: Double)
}

extension AirtimeError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .count(let count): "\(count) beacons are not enough"
        case .airtime(let value): "an airtime of \(value) µs is not a positive number"
        case .interval(let value) where value > AdvertisingDelay.maximumMicroseconds * 1024:
            "an advertising interval of \(value / 1000) ms is longer than the 10.24 s that legacy advertising has"
        case .interval(let value): "an advertising interval of \(value / 1000) ms is too short, or no number"
        case .payload(let octets): "\(octets) bytes of advertising data: a legacy packet holds 0...31"
        case .share(let value): "\(value) is not a share between 0 and 1"
        case .scan(let window, let interval):
            "a scan window of \(Double(window) / 1000) ms in a scan interval of \(Double(interval) / 1000) ms: both "
                + "are positive, and the window is no longer than the interval"
        case .saturated(let interval, let window):
            "beacons that send every \(interval / 1000) ms leave no gap as long as the \(window / 1000) ms that a packet "
                + "needs clear"
        case .quantity(let name, let value): "\(name) of \(value) is out of range"
        }
    }
}

/// One check for all physical quantities that the models take.
enum Quantity {
    /// Throws for NaN and what lies outside `range`, with a name that tells the range.
    static func check(
        _ value: Double, in range: ClosedRange<Double>, _ name: String
    ) throws(AirtimeError) {
        guard range.contains(value) else { throw .quantity(name: name, value: value) }
    }
}
