import BluetoothTypes
import Testing

/// Tools that write milliseconds into the field of 0.625 ms units turn 200 ms into 125 ms.
@Test(arguments: [
    (20_000, 32), (100_000, 160), (200_000, 320), (152_500, 244), (10_240_000, 16384), (1_280_000, 2048),
    (100_312, 160), (100_313, 161), (0, 0), (312, 0), (313, 1), (10_485_759_375, 0xFF_FFFF),
    (10_485_759_687, 0xFF_FFFF),
])
func intervalIsRoundedToTheNearestUnit(microseconds: Int, units: UInt32) {
    #expect(AdvertisingInterval(microseconds: microseconds)?.rawValue == units)
}

@Test(arguments: [-1, Int.min, Int.max, 10_485_759_688])
func refusesIntervalsThatDoNotFitTheField(microseconds: Int) {
    #expect(AdvertisingInterval(microseconds: microseconds) == nil)
}

@Test func microsecondsAroundHalfAUnitAreRoundedDownAndUp() {
    // Half a unit is 312.5 µs, which is no whole number of microseconds.
    for units in [1, 160, 16384] {
        #expect(AdvertisingInterval(microseconds: units * 625 + 312)?.rawValue == UInt32(units))
        #expect(AdvertisingInterval(microseconds: units * 625 + 313)?.rawValue == UInt32(units + 1))
    }
}

@Test func anIntervalIsPrintedInMilliseconds() {
    #expect(AdvertisingInterval(rawValue: 160).description == "100 ms")
    #expect(AdvertisingInterval(rawValue: 244).description == "152.5 ms")
    #expect(AdvertisingInterval(rawValue: 161).description == "100.625 ms")
    #expect(AdvertisingInterval(rawValue: 160).meanPeriodMicroseconds == 105_000)
    #expect(AdvertisingInterval.legacyRange.contains(AdvertisingInterval(rawValue: 32)))
    #expect(!AdvertisingInterval.legacyRange.contains(AdvertisingInterval(rawValue: 31)))
    #expect(!AdvertisingInterval.legacyRange.contains(AdvertisingInterval(rawValue: 16385)))
}

@Test(arguments: [
    ("100", 100_000), ("1.28", 1280), ("-4.5", -4500), ("+1", 1000), ("0.0005", 1), ("0.0004", 0), ("152.5", 152_500),
])
func aDecimalNumberIsReadAsThousandths(text: String, thousandths: Int) {
    #expect(DecimalText.thousandths(text) == thousandths)
}

@Test(arguments: [
    "", "-", ".", "1.", ".5", "1.2.3", "1e3", "0x10", " 1", "1 ", "\u{0661}", "1\u{301}", "0.00001\u{301}", "--1",
    "99999999999999999999", "NaN",
])
func invalidDecimalNumbersAreRefused(text: String) {
    #expect(DecimalText.thousandths(text) == nil)
}

@Test func thousandthsArePrintedWithoutSuperfluousDigits() {
    #expect(
        [0, 1, 10, 100, 1000, -1, -152_500].map { DecimalText.thousandths($0) }
            == ["0", "0.001", "0.01", "0.1", "1", "-0.001", "-152.5"])
}

@Test(arguments: [
    ("100", 160, 100_000), ("100ms", 160, 100_000), ("152.5", 244, 152_500), ("1.28s", 2048, 1_280_000),
    ("100.1ms", 160, 100_100), ("1 s", 1600, 1_000_000),
])
func anIntervalIsReadWithItsUnit(_ text: String, units: UInt32, microseconds: Int) throws {
    let requested = try RequestedInterval(text, in: AdvertisingInterval.legacyRange)
    #expect(requested.interval.rawValue == units && requested.microseconds == microseconds)
}

@Test(arguments: [
    ("", IntervalTextError.notation), ("s", .notation), ("0x20", .notation), ("19", .outOfRange),
    ("10.25s", .outOfRange), ("99999999999999s", .outOfRange), ("-100", .outOfRange),
])
func refusesInvalidIntervalTexts(_ text: String, _ error: IntervalTextError) {
    #expect(throws: error) { try RequestedInterval(text, in: AdvertisingInterval.legacyRange) }
}

@Test func randomUUIDHasTheVersionAndVariantOfRandomUUIDs() {
    var generator = SplitMix64(seed: 1)
    for _ in 0..<100 {
        let text = FixedOctets<16>.randomUUID(using: &generator).uuidText
        let digits = Array(text)
        #expect(digits[14] == "4" && "89ab".contains(digits[19]), "\(text)")
    }
}
