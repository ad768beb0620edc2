internal import BluetoothTypes

/// A time in whole seconds, as configuration files and reports contain it: `2026-03-01T12:00:00Z` (RFC 3339).
public struct RFC3339Time: Hashable, Comparable, Sendable {
    /// Seconds since 1970-01-01T00:00:00Z, without leap seconds.
    public let secondsSince1970: Int

    /// Creates a time. Times outside of the years 0...9999 become the first or the last second of these years.
    public init(secondsSince1970: Int) {
        self.secondsSince1970 = min(max(secondsSince1970, Self.range.lowerBound), Self.range.upperBound)
    }

    /// Parses a date, `T`, a time with seconds, and `Z` or an offset from UTC. Fractions of a second are cut off.
    /// Returns `nil` for other texts and for dates that do not exist.
    public init?(_ text: String) {
        let octets = Array(text.utf8)
        func number(_ range: Range<Int>) -> Int? {
            guard range.upperBound <= octets.count else { return nil }
            var value = 0
            for octet in octets[range] {
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(octet) else { return nil }
                value = value * 10 + Int(octet - UInt8(ascii: "0"))
            }
            return value
        }
        func isMark(_ mark: Unicode.Scalar, at index: Int) -> Bool {
            index < octets.count && (octets[index] == UInt8(ascii: mark) || octets[index] == UInt8(ascii: mark) | 0x20)
        }
        guard let year = number(0..<4), isMark("-", at: 4), let month = number(5..<7), isMark("-", at: 7),
            let day = number(8..<10), isMark("T", at: 10), let hour = number(11..<13), isMark(":", at: 13),
            let minute = number(14..<16), isMark(":", at: 16), let second = number(17..<19),
            (1...12).contains(month), day >= 1, day <= Self.days(in: month, of: year), hour < 24, minute < 60,
            second < 60
        else { return nil }
        var end = 19
        if end < octets.count, octets[end] == UInt8(ascii: ".") {
            repeat { end += 1 } while number(end..<end + 1) != nil
            guard end > 20 else { return nil }
        }
        var offset = 0
        if isMark("Z", at: end) {
            end += 1
        } else {
            guard end < octets.count, octets[end] == UInt8(ascii: "+") || octets[end] == UInt8(ascii: "-"),
                let hours = number(end + 1..<end + 3), isMark(":", at: end + 3),
                let minutes = number(end + 4..<end + 6), hours < 24, minutes < 60
            else { return nil }
            offset = (hours * 60 + minutes) * (octets[end] == UInt8(ascii: "-") ? -60 : 60)
            end += 6
        }
        guard end == octets.count else { return nil }
        let days = Self.daysSince1970(year: year, month: month, day: day)
        self.init(secondsSince1970: days * 86_400 + hour * 3600 + minute * 60 + second - offset)
    }

    /// The range of the seconds since 1970 in the years 0...9999.
    private static let range = -62_167_219_200...253_402_300_799

    private static func days(in month: Int, of year: Int) -> Int {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        return month == 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
    }

    /// Returns the days since 1970-01-01. The calculation uses years that begin in March, in which a leap day is the
    /// last day of the year.
    private static func daysSince1970(year: Int, month: Int, day: Int) -> Int {
        // 400 years are added, so that no division has a negative operand. The result subtracts their 146,097 days.
        let year = (month > 2 ? year : year - 1) + 400
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return year * 365 + year / 4 - year / 100 + year / 400 + dayOfYear - 719_468 - 146_097
    }

    /// Returns true if the left time is earlier.
    public static func < (left: Self, right: Self) -> Bool { left.secondsSince1970 < right.secondsSince1970 }
}

extension RFC3339Time: CustomStringConvertible {
    /// The time in UTC: `2026-03-01T12:00:00Z`.
    public var description: String {
        // Days and seconds are counted from 1 March of the year -400, so that no number is negative.
        let total = secondsSince1970 + (719_468 + 146_097) * 86_400
        let (days, second) = (total / 86_400, total % 86_400)
        let (era, dayOfEra) = (days / 146_097, days % 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthsSinceMarch = (5 * dayOfYear + 2) / 153
        let month = monthsSinceMarch < 10 ? monthsSinceMarch + 3 : monthsSinceMarch - 9
        let year = era * 400 + yearOfEra - 400 + (month <= 2 ? 1 : 0)
        func padded(_ value: Int, _ width: Int) -> String { NumberFormat.padded(value, to: width) }
        let day = dayOfYear - (153 * monthsSinceMarch + 2) / 5 + 1
        return padded(year, 4) + "-" + padded(month, 2) + "-" + padded(day, 2) + "T" + padded(second / 3600, 2)
            + ":" + padded(second / 60 % 60, 2) + ":" + padded(second % 60, 2) + "Z"
    }

    /// Returns a time as text with milliseconds: `2026-03-01T12:00:00.250Z`.
    ///
    /// - Parameter time: The time in milliseconds since 1970.
    public static func text(milliseconds time: Int) -> String { text(time, digits: 3, unitsPerSecond: 1000) }

    /// Returns a time as text with microseconds: `2026-03-01T12:00:00.250000Z`.
    ///
    /// - Parameter time: The time in microseconds since 1970.
    public static func text(microseconds time: Int) -> String { text(time, digits: 6, unitsPerSecond: 1_000_000) }

    private static func text(_ time: Int, digits: Int, unitsPerSecond: Int) -> String {
        let (quotient, remainder) = time.quotientAndRemainder(dividingBy: unitsPerSecond)
        let second = RFC3339Time(secondsSince1970: remainder < 0 ? quotient - 1 : quotient)
        let fraction = remainder < 0 ? remainder + unitsPerSecond : remainder
        return "\(second.description.dropLast()).\(NumberFormat.padded(fraction, to: digits))Z"
    }
}
