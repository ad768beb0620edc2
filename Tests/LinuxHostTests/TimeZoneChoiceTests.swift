import LinuxHost
import Testing

@Suite("Times in short form")
struct TimeZoneChoiceTests {
    /// 2026-11-26T10:01:02Z.
    static let now = 1_795_687_262

    @Test(
        "a time is read as the first or the last second of the given period",
        arguments: [
            ("now", 0, 0), ("today", -36_062, 50_337), ("yesterday", -122_462, -36_063),
            ("today 10:00", -62, -3), ("10:00", -62, -3), ("09:59:30", -92, -92), ("yesterday 10:00", -86_462, -86_403),
            ("2026-11-25", -122_462, -36_063), ("2026-11-26 10:00", -62, -3), ("2026-11-26T10:00", -62, -3),
        ])
    func reading(text: String, first: Int, last: Int) {
        #expect(TimeZoneChoice.utc.seconds(text, isEnd: false, now: Self.now) == Self.now + first)
        #expect(TimeZoneChoice.utc.seconds(text, isEnd: true, now: Self.now) == Self.now + last)
    }

    @Test(
        "other texts, and days and times that do not exist, are refused",
        arguments: [
            "", "tomorrow", "24:00", "10:60", "10", "2026-02-29", "2026-13-01", "2026-1-1", "today today", "1:2:3:4",
            "2026-11-26 10:00 11:00", "٣:00",
        ])
    func refused(text: String) {
        #expect(TimeZoneChoice.utc.seconds(text, isEnd: false, now: Self.now) == nil)
    }

    @Test("a short text has a date only if the day differs")
    func shortTexts() {
        #expect(TimeZoneChoice.utc.shortText(Self.now - 60, now: Self.now) == "10:00 UTC")
        #expect(TimeZoneChoice.utc.shortText(Self.now - 86_400, now: Self.now) == "2026-11-25 10:01 UTC")
        #expect(TimeZoneChoice.utc.text(Self.now) == "2026-11-26 10:01:02Z")
    }
}
