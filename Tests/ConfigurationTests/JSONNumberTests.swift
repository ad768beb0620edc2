import Configuration
import Testing

@Suite("JSON numbers")
struct JSONNumberTests {
    @Test(
        "are converted exactly",
        arguments: [
            ("0", 0, 0), ("-0", 0, 0), ("0.0e9", 0, 0), ("152.5", nil, 152_500), ("-12", -12, -12_000),
            ("1e3", 1000, 1_000_000), ("1.0", 1, 1000), ("0.2E1", 2, 2000), ("-590e-1", -59, -59_000),
            ("100.3125", nil, 100_313), ("0.0005", nil, 1), ("0.0004999", nil, 0), ("-0.0005", nil, -1),
            ("999999999999999999", 999_999_999_999_999_999, nil), ("1000000000000000000", nil, nil),
            ("1e400", nil, nil), ("1e-400", nil, 0), ("1e99999999999999999999", nil, nil),
            ("1e-99999999999999999999", nil, 0), ("0e99999999999999999999", 0, 0),
            ("10000000000000000000000000e-24", 10, 10_000), ("123456789012345.678", nil, 123_456_789_012_345_678),
        ] as [(String, Int?, Int?)])
    func convert(_ text: String, _ integer: Int?, _ thousandths: Int?) throws {
        let number = try #require(JSONNumber(text))
        #expect(number.integer == integer)
        #expect(number.thousandths == thousandths)
        #expect(number.text == text)
    }

    @Test(
        "that violate the grammar are refused",
        arguments: ["", "-", "+1", "01", "-01", "00", ".5", "1.", "1.e3", "1e", "1e+", "0x1", "1 ", " 1", "1_0", "NaN"])
    func refuse(_ text: String) {
        #expect(JSONNumber(text) == nil)
    }

    @Test(
        "are compared with all their digits",
        arguments: [
            ("20", 0), ("20.0000001", 1), ("19.9999999", -1), ("19.9995", -1), ("19.9994", -1), ("20.0004", 1),
            ("2e1", 0), ("1e400", 1), ("-1e400", -1), ("20.00000000000000000000000000000000000001", 1),
        ])
    func compare(_ text: String, _ order: Int) throws {
        let number = try #require(JSONNumber(text))
        #expect(number.isLess(thanThousandths: 20_000) == (order < 0))
        #expect(number.isGreater(thanThousandths: 20_000) == (order > 0))
    }

    @Test("below zero are compared correctly", arguments: [("-20.0000001", -1), ("-19.9999999", 1), ("-20", 0)])
    func compareNegative(_ text: String, _ order: Int) throws {
        let number = try #require(JSONNumber(text))
        #expect(number.isLess(thanThousandths: -20_000) == (order < 0))
        #expect(number.isGreater(thanThousandths: -20_000) == (order > 0))
    }

    @Test("are written with up to three decimals", arguments: [(152_500, "152.5"), (-20, "-0.02"), (3000, "3")])
    func write(_ thousandths: Int, _ text: String) {
        #expect(JSONNumber(thousandths: thousandths).text == text)
        #expect(JSONNumber(thousandths: thousandths).thousandths == thousandths)
        #expect(JSONNumber(Int.min).text == "-9223372036854775808")
    }
}

@Suite("Writing JSON")
struct JSONValueTests {
    private let value: JSONValue = [
        "text": "a\"\\\n\u{1}é", "list": [1, 2], "nested": [["a": []], [:]], "none": .null, "yes": true,
    ]

    @Test("on one line has no spaces")
    func line() {
        let expected =
            "{\"text\":\"a\\\"\\\\\\n\\u0001é\",\"list\":[1,2],\"nested\":[{\"a\":[]},{}],\"none\":null,\"yes\":true}"
        #expect(value.line == expected)
    }

    @Test("in pretty form is indented")
    func pretty() {
        let expected = """
            {
              "text": "a\\"\\\\\\n\\u0001é",
              "list": [1, 2],
              "nested": [
                {
                  "a": []
                },
                {}
              ],
              "none": null,
              "yes": true
            }

            """
        #expect(value.pretty == expected)
        #expect(JSONDocument.parse(Array(value.pretty.utf8)).problems == [])
    }
}

@Suite("RFC 3339 times")
struct RFC3339TimeTests {
    @Test(
        "are read",
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("2000-02-29T12:34:56Z", 951_827_696), ("2026-03-01t12:00:00z", 1_772_366_400),
            ("2026-03-01T12:00:00.999+01:30", 1_772_361_000), ("1969-12-31T23:59:59-00:01", 59),
            ("0000-01-01T00:00:00Z", -62_167_219_200), ("9999-12-31T23:59:59Z", 253_402_300_799),
        ])
    func read(_ text: String, _ seconds: Int) throws {
        let time = try #require(RFC3339Time(text))
        #expect(time.secondsSince1970 == seconds)
        #expect(RFC3339Time(time.description) == time)
    }

    @Test(
        "that do not exist are refused",
        arguments: [
            "", "2026-03-01", "2026-03-01T12:00:00", "2026-02-29T00:00:00Z", "2100-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-04-31T00:00:00Z", "2026-01-01T24:00:00Z",
            "2026-01-01T00:60:00Z", "2026-01-01T00:00:60Z", "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00+1:00",
            "2026-01-01T00:00:00Zx", "2026-01-01 00:00:00Z", "2026-01-01T00:00:00+24:00", "２026-01-01T00:00:00Z",
        ])
    func refuse(_ text: String) {
        #expect(RFC3339Time(text) == nil)
    }

    @Test("are written with a fraction, also before 1970")
    func writeFractions() {
        #expect(RFC3339Time.text(milliseconds: 1_772_366_400_025) == "2026-03-01T12:00:00.025Z")
        #expect(RFC3339Time.text(milliseconds: -1) == "1969-12-31T23:59:59.999Z")
        #expect(RFC3339Time.text(microseconds: 1_772_366_400_000_250) == "2026-03-01T12:00:00.000250Z")
        #expect(RFC3339Time.text(microseconds: -1_000_000) == "1969-12-31T23:59:59.000000Z")
    }

    @Test("are unchanged after writing and reading, for every day of four centuries")
    func roundTrip() {
        for day in stride(from: -719_528, through: 2_932_896, by: 97) {
            let time = RFC3339Time(secondsSince1970: day * 86_400 + 86_399)
            #expect(RFC3339Time(time.description) == time)
        }
    }
}
