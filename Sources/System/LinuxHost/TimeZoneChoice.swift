internal import BluetoothTypes
internal import Glibc

/// Writes and reads times of day in the time zone of this machine, or in UTC.
public enum TimeZoneChoice: Hashable, Sendable {
    /// The time zone of the environment variable `TZ`; without `TZ`, that of `/etc/localtime`.
    case local
    case utc

    /// A date and a time of day. Months count from 1.
    private struct Fields {
        var year = 0, month = 0, day = 0
        var hour = 0, minute = 0, second = 0
    }

    private func fields(_ secondsSince1970: Int) -> Fields {
        var time = time_t(secondsSince1970)
        var fields = unsafe tm()
        _ = unsafe self == .local ? localtime_r(&time, &fields) : gmtime_r(&time, &fields)
        return unsafe Fields(
            year: Int(fields.tm_year) + 1900, month: Int(fields.tm_mon) + 1, day: Int(fields.tm_mday),
            hour: Int(fields.tm_hour), minute: Int(fields.tm_min), second: Int(fields.tm_sec))
    }

    /// Returns the time in seconds since 1970; `nil` if there is no such day.
    private func seconds(_ requested: Fields) -> Int? {
        var fields = unsafe tm()
        unsafe fields.tm_year = Int32(requested.year - 1900)
        unsafe fields.tm_mon = Int32(requested.month - 1)
        unsafe fields.tm_mday = Int32(requested.day)
        unsafe fields.tm_hour = Int32(requested.hour)
        unsafe fields.tm_min = Int32(requested.minute)
        unsafe fields.tm_sec = Int32(requested.second)
        unsafe fields.tm_isdst = -1
        let time = unsafe self == .local ? mktime(&fields) : timegm(&fields)
        // mktime turns a day such as 31 April into a day of the next month.
        let isRequestedDay = unsafe Int(fields.tm_mday) == requested.day && Int(fields.tm_mon) + 1 == requested.month
        return isRequestedDay ? Int(time) : nil
    }

    // MARK: Writing

    /// Returns the date and the time in this zone, such as `2026-11-26 10:01:00`. In UTC the text ends with `Z`.
    public func text(_ secondsSince1970: Int) -> String {
        "\(date(secondsSince1970)) \(clock(secondsSince1970, hasSeconds: true))\(self == .utc ? "Z" : "")"
    }

    /// Returns the time of day in this zone, such as `10:01`. If it is not on the same day as `now`, the date precedes
    /// it.
    public func shortText(_ secondsSince1970: Int, now: Int) -> String {
        let (day, today) = (date(secondsSince1970), date(now))
        let clock = clock(secondsSince1970, hasSeconds: false) + (self == .utc ? " UTC" : "")
        return day == today ? clock : "\(day) \(clock)"
    }

    private func date(_ secondsSince1970: Int) -> String {
        let fields = fields(secondsSince1970)
        return "\(fields.year)-\(Self.twoDigits(fields.month))-\(Self.twoDigits(fields.day))"
    }

    private func clock(_ secondsSince1970: Int, hasSeconds: Bool) -> String {
        let fields = fields(secondsSince1970)
        let minutes = "\(Self.twoDigits(fields.hour)):\(Self.twoDigits(fields.minute))"
        return hasSeconds ? "\(minutes):\(Self.twoDigits(fields.second))" : minutes
    }

    private static func twoDigits(_ value: Int) -> String { NumberFormat.padded(value, to: 2) }

    // MARK: Reading

    /// The forms that ``seconds(_:isEnd:now:)`` reads.
    public static let forms = "today, yesterday, today 10:00, 10:00, 2026-11-01, or 2026-11-01 10:00"

    /// Reads a time in this zone. The text is one of these:
    ///
    /// - `now`
    /// - `today`, `yesterday` or a date such as `2026-11-01`; a time such as `10:00` or `10:00:30` may follow it
    /// - a time alone
    ///
    /// A time alone is on the current day.
    ///
    /// - Parameters:
    ///   - isEnd: True to get the last second of the day or minute, false to get its first second.
    ///   - now: The current time in seconds since 1970.
    /// - Returns: The time in seconds since 1970; `nil` for other texts, and for dates and times that do not exist.
    public func seconds(_ text: String, isEnd: Bool, now: Int) -> Int? {
        if text == "now" { return now }
        var words = text.split(separator: " ", omittingEmptySubsequences: true).map(String.init)
        if words.count == 1, let date = Self.dateAndTime(words[0]) { words = date }
        guard (1...2).contains(words.count) else { return nil }
        var fields = fields(now)
        (fields.hour, fields.minute, fields.second) = isEnd ? (23, 59, 59) : (0, 0, 0)
        switch words[0] {
        case "today": break
        case "yesterday":
            // Noon exists on every day. 24 hours before noon is always on the previous day, even if the clocks were
            // changed.
            fields.hour = 12
            guard let noon = seconds(fields) else { return nil }
            let previousDay = self.fields(noon - 86_400)
            (fields.year, fields.month, fields.day) = (previousDay.year, previousDay.month, previousDay.day)
            fields.hour = isEnd ? 23 : 0
        default:
            if words.count == 1, Self.clock(words[0], isEnd) != nil { break }
            guard let date = Self.numbers(words[0], "-"), date.count == 3, words[0].count == 10,
                (1...9999).contains(date[0]), (1...12).contains(date[1])
            else { return nil }
            (fields.year, fields.month, fields.day) = (date[0], date[1], date[2])
        }
        if words.count == 2 || words[0].contains(":") {
            guard let clock = Self.clock(words[words.count - 1], isEnd) else { return nil }
            (fields.hour, fields.minute, fields.second) = clock
        }
        return seconds(fields)
    }

    /// Returns the date and the time of a text such as `2026-11-01T10:00`; `nil` for other texts.
    private static func dateAndTime(_ text: String) -> [String]? {
        let parts = text.split(separator: "T", omittingEmptySubsequences: false).map(String.init)
        return parts.count == 2 ? parts : nil
    }

    private static func clock(_ text: String, _ isEnd: Bool) -> (Int, Int, Int)? {
        guard let parts = numbers(text, ":"), (2...3).contains(parts.count), (0..<24).contains(parts[0]),
            (0..<60).contains(parts[1]), parts.count == 2 || (0..<60).contains(parts[2])
        else { return nil }
        return (parts[0], parts[1], parts.count == 3 ? parts[2] : isEnd ? 59 : 0)
    }

    private static func numbers(_ text: String, _ separator: Character) -> [Int]? {
        let parts = text.split(separator: separator, omittingEmptySubsequences: false).map(String.init)
        let numbers = parts.compactMap { part in
            (1...4).contains(part.utf8.count) && part.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(part) : nil
        }
        return numbers.count == parts.count ? numbers : nil
    }
}
