internal import Airtime
internal import BluetoothTypes
public import Configuration

/// A value of an answer with its unit. In text, the value is rounded according to its unit; in JSON it has all digits.
public indirect enum PlanQuantity: Sendable {
    /// A share: `0.167` in JSON, `16.7 %` in text.
    case share(Double?)
    /// A time in s: `701.6` in JSON, `11.7 min` in text.
    case seconds(Double?)
    /// A number with a unit, which may be empty. Text has three significant digits.
    case number(Double?, unit: String = "")
    /// A time in ms that is set on a device. Text has enough digits to distinguish all times that controllers support.
    case milliseconds(Double?)
    case count(Int)
    /// A number that identifies something, such as a seed.
    case identifier(UInt64)
    case word(String)
    case flag(Bool)
    case list([PlanQuantity])
    /// Members in order.
    case record([(String, PlanQuantity)])
    /// No value: `null` in JSON.
    case nothing

    /// An object with declared keys.
    static func object(_ members: [(PlanKey, PlanQuantity)]) -> PlanQuantity {
        .record(members.map { ($0.0.name, $0.1) })
    }

    /// The percentiles of a time in s.
    static func percentiles(_ time: (_ share: Double) -> Double?) -> PlanQuantity {
        .object(PlanKey.percentiles.map { ($0.key, .seconds(time($0.share))) })
    }

    /// The percentiles and the mean of a time to discovery.
    static func times(_ latency: LatencyDistribution?) -> PlanQuantity {
        .object(
            PlanKey.percentiles.map { ($0.key, .seconds(latency?.percentile($0.share))) }
                + [(PlanKey.mean, .seconds(latency?.meanSeconds))])
    }

    /// Returns a list of the two ends of a range, or the value `null` for nil.
    public static func range(_ range: ClosedRange<Double>?) -> PlanQuantity {
        range.map { .list([.number($0.lowerBound), .number($0.upperBound)]) } ?? .nothing
    }

    /// The value as a number; nil for other kinds of values.
    public var value: Double? {
        switch self {
        case .share(let value), .seconds(let value), .number(let value, _), .milliseconds(let value): value
        case .count(let count): Double(count)
        case .identifier(let number): Double(number)
        case .word, .flag, .list, .record, .nothing: nil
        }
    }

    /// A member of a record by its name.
    public subscript(_ name: String) -> PlanQuantity? {
        guard case .record(let members) = self else { return nil }
        return members.first { $0.0 == name }?.1
    }

    /// The value in JSON; a number that is not finite is `null`.
    public var json: JSONValue {
        switch self {
        case .share(let value), .seconds(let value), .number(let value, _), .milliseconds(let value): Self.real(value)
        case .count(let count): .integer(count)
        case .identifier(let number): .decimal("\(number)")
        case .word(let text): .string(text)
        case .flag(let isSo): .boolean(isSo)
        case .list(let items): .array(items.map(\.json))
        case .record(let members): .record(members.map { ($0.0, $0.1.json) })
        case .nothing: .null
        }
    }

    /// The value as text, without its ``unit``.
    public var text: String {
        switch self {
        case .share(let share): NumberFormat.percent(share)
        case .seconds(let seconds): NumberFormat.duration(seconds)
        case .number(let value, _): NumberFormat.significant(value)
        case .milliseconds(let value): NumberFormat.significant(value, 8)
        case .count(let count): "\(count)"
        case .identifier(let number): "\(number)"
        case .word(let text): text
        case .flag(let isSo): isSo ? "yes" : "no"
        case .list(let items): items.map(\.text).joined(separator: ", ")
        case .record(let members): members.map { "\($0.0) \($0.1.text)" }.joined(separator: ", ")
        case .nothing: NumberFormat.none
        }
    }

    /// The unit of the text; empty if the text includes it.
    public var unit: String {
        switch self {
        case .number(_, let unit): unit
        case .milliseconds: "ms"
        default: ""
        }
    }

    private static func real(_ value: Double?) -> JSONValue {
        guard let value, value.isFinite else { return .null }
        let whole = Int(exactly: value)
        return .decimal(whole.map { "\($0)" } ?? "\(value)")
    }
}

extension NumberFormat {
    /// Returns the number of beacons in words: `one beacon`, `250 beacons`.
    static func beacons(_ count: Int) -> String { count == 1 ? "one beacon" : "\(count) beacons" }

    /// Returns the target beacon of a question in words: `a single beacon`, `a given one of 250 beacons`.
    static func givenBeacon(of count: Int) -> String {
        count == 1 ? "a single beacon" : "a given one of \(count) beacons"
    }

    /// Returns a share in percent, with enough digits to differ from another share in the same sentence.
    static func percent(_ share: Double, unlike other: Double) -> String {
        first(of: [percent(share)] + (4...9).map { significant(share * 100, $0, unit: "%") }, unlike: percent(other))
    }

    /// Returns a time as text, with enough digits to differ from another time in the same sentence. Both are in
    /// seconds.
    static func duration(_ seconds: Double, unlike other: Double) -> String {
        let (unit, unitSeconds) = seconds < 1 ? ("ms", 0.001) : seconds < 600 ? ("s", 1) : ("min", 60)
        let texts = (4...9).map { significant(seconds / unitSeconds, $0, unit: unit) }
        return first(of: [duration(seconds)] + texts, unlike: duration(other))
    }

    /// Returns the first of `texts` that differs from the text `other`; the last text if all are equal to `other`.
    private static func first(of texts: [String], unlike other: String) -> String {
        texts.first { $0 != other } ?? texts[texts.count - 1]
    }

    /// Returns a time in µs as text in ms, without the unit. It has enough digits to distinguish all times that
    /// controllers support.
    static func milliseconds(from microseconds: Double) -> String { significant(microseconds / 1000, 6) }
}
