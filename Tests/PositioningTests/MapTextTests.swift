import Configuration
import Testing

@testable import Positioning

@Suite struct MapTextTests {
    @Test(arguments: [
        (0.0, "0"), (1.0, "1"), (-67.123456789012345, "-67.123456789"), (0.582842712474619, "0.582842712475"),
        (12.000000000001, "12"), (1e-7, "1e-07"), (123_456_789_012_345.0, "123456789012000"),
        (1.0 / 3.0, "0.333333333333"),
    ])
    func scoreHasTwelveDigits(value: Double, text: String) {
        #expect(MapText.score(value).line == text)
    }

    @Test func missingScoreIsNullAndInfiniteScoreIsAWord() {
        #expect(MapText.score(nil).line == "null")
        #expect(MapText.score(.infinity).line == "\"infinity\"")
        #expect(MapText.score(.nan).line == "null")
    }

    @Test(arguments: [(1.234, "1.23"), (0.05, "0.05"), (-0.5, "-0.50"), (12, "12.00")])
    func metresHaveTwoDigits(value: Double, text: String) {
        #expect(MapText.metres(value) == text)
    }

    @Test func unknownValuesAreDashes() {
        #expect(MapText.metres(nil) == "-" && MapText.metres(.nan) == "-" && MapText.percent(nil) == "-")
    }

    /// A map file can contain any number, and the map is written again.
    @Test(arguments: [-0x1p63, 0x1p62, -0x1p53, -9]) func writesLargeNumbersWithoutATrap(_ value: Double) {
        #expect(JSONValue.real(value).line.isEmpty == false)
    }

    @Test func identitiesAreNotShortened() {
        let key = "ibeacon:fb0b57a2-8228-44cd-913a-94a122ba1206-65535-65535@C0:01:02:03:04:05"
        #expect(MapText.key(key) == key)
    }
}
