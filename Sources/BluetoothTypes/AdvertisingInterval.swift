/// Advertising_Interval: the time between the starts of two advertising events, without the random advDelay of
/// 0...10 ms that the link layer adds to each.
///
/// Stored as the controller's own integer, in units of 0.625 ms, so that what is compared and sent is never rounded
/// twice. Core Specification 5.4, Vol 6 Part B 4.4.2.2.1 and Vol 4 Part E 7.8.5, 7.8.53.
public struct AdvertisingInterval: RawRepresentable, Hashable, Comparable, Sendable {
    /// Units of 0.625 ms.
    public let rawValue: UInt32

    /// Any number of units; whether a controller takes it is asked with the ranges below.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// What the legacy commands take: 20 ms...10.24 s.
    public static let legacyRange = AdvertisingInterval(rawValue: 0x0020)...AdvertisingInterval(rawValue: 0x4000)
    /// What the extended commands take: 20 ms...10,485.759375 s.
    public static let extendedRange = AdvertisingInterval(rawValue: 0x20)...AdvertisingInterval(rawValue: 0xFF_FFFF)
    /// Before Core 5.0 the shortest interval of a non-connectable or scannable advertiser: 100 ms.
    public static let nonconnectableMinimumBefore5 = AdvertisingInterval(rawValue: 0x00A0)

    /// The nearest multiple of 0.625 ms, half a unit rounded up; `nil` when negative or over 24 bits of units.
    public init?(microseconds: Int) {
        guard microseconds >= 0, microseconds <= 0xFF_FFFF * 625 + 312 else { return nil }
        self.init(rawValue: UInt32((2 * microseconds + 625) / 1250))
    }

    /// The exact length.
    public var microseconds: Int { Int(rawValue) * 625 }

    /// The mean of advDelay, which the link layer draws anew for each event, uniform over 0...10 ms, in microseconds
    /// (Core Specification, volume 6, part B, section 4.4.2.2.1).
    public static let meanDelayMicroseconds = 5000

    /// The mean time between advertising events: the interval and the mean advDelay.
    public var meanPeriodMicroseconds: Int { microseconds + Self.meanDelayMicroseconds }

    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

extension AdvertisingInterval: CustomStringConvertible {
    /// Milliseconds without superfluous digits: `100 ms`, `152.5 ms`.
    public var description: String { "\(DecimalText.thousandths(microseconds)) ms" }
}

/// Fixed-point decimal numbers as text, without a detour through binary floating point.
public enum DecimalText {
    /// `value` thousandths, without superfluous digits: 152500 is `152.5`.
    public static func thousandths(_ value: Int) -> String {
        let whole = value.magnitude / 1000
        let fraction = value.magnitude % 1000
        var text = (value < 0 ? "-" : "") + String(whole)
        if fraction != 0 {
            var digits = String(1000 + fraction).dropFirst()
            while digits.last == "0" { digits.removeLast() }
            text += "." + digits
        }
        return text
    }

    /// Reads a decimal number as thousandths, what is finer rounded half up; `nil` for anything else or too large.
    public static func thousandths(_ text: some StringProtocol) -> Int? {
        var digits = text[...]
        let negative = digits.first == "-"
        if negative || digits.first == "+" { digits.removeFirst() }
        let parts = digits.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, !first.isEmpty, first.allSatisfy(isDigit), let whole = Int(first),
            whole < 1 << 50
        else { return nil }
        var fraction = 0
        if parts.count == 2 {
            guard !parts[1].isEmpty, parts[1].allSatisfy(isDigit) else { return nil }
            let padded = (String(parts[1]) + "0000").prefix(4)
            guard let tenThousandths = Int(padded) else { return nil }
            fraction = (tenThousandths + 5) / 10
        }
        return (negative ? -1 : 1) * (whole * 1000 + fraction)
    }

    /// Not a range of characters: "1" with a combining accent lies between "0" and "9".
    private static func isDigit(_ character: Character) -> Bool { character.isASCII && character.isNumber }
}
