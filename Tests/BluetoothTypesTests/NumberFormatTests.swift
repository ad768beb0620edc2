import BluetoothTypes
import Testing

@Suite struct NumberFormatTests {
    @Test(arguments: [
        (0.0, 2, "0.00"), (1.005, 1, "1.0"), (-0.04, 1, "0.0"), (-0.06, 1, "-0.1"), (12.5, 0, "13"), (0.05, 2, "0.05"),
        (999.9999, 2, "1000.00"), (Double.nan, 2, "–"), (.infinity, 0, "–"), (1e300, 2, "1e+300"),
    ])
    func numberOfDecimalsIsFixed(value: Double, decimals: Int, text: String) {
        #expect(NumberFormat.fixed(value, decimals) == text)
    }

    @Test(arguments: [
        (0.0, "0"), (2.154, "2.15"), (120, "120"), (0.00043, "0.00043"), (1022.5, "1023"), (-3.10, "-3.1"),
        (.nan, "–"), (1e-12, "1e-12"), (9.999, "10"), (3.21e-7, "3.21e-7"), (123_456.7, "123457"), (9.9996e-5, "1e-4"),
    ])
    func numbersAreRoundedToSignificantDigits(value: Double, text: String) {
        #expect(NumberFormat.significant(value) == text)
    }

    @Test(arguments: [
        (0.083, "83 ms"), (2.154, "2.15 s"), (99.9, "99.9 s"), (185, "185 s"), (702, "11.7 min"),
        (7800, "2.17 h"), (-1, "–"), (.nan, "–"),
    ])
    func durationsUseASuitableUnit(seconds: Double, text: String) {
        #expect(NumberFormat.duration(seconds) == text)
    }

    @Test(arguments: [
        (0.167, "16.7 %"), (1, "100 %"), (0.99999, "99.999 %"), (0.0000123, "0.00123 %"), (1e-12, "< 1e-7 %"),
        (.nan, "–"),
    ])
    func sharesAreInPercent(share: Double, text: String) {
        #expect(NumberFormat.percent(share) == text)
    }

    @Test func missingNumbersHaveNoUnit() {
        #expect(NumberFormat.fixed(3.5, 2, unit: "m") == "3.50 m")
        #expect(NumberFormat.significant(250, unit: "beacons/s") == "250 beacons/s")
        #expect(NumberFormat.fixed(nil, 2, unit: "m") == "–")
        #expect(NumberFormat.milliseconds(1022.5) == "1022.5 ms")
        #expect(NumberFormat.milliseconds(nil) == "–")
    }

    @Test func numbersArePaddedWithZeros() {
        #expect(NumberFormat.padded(7, to: 3) == "007")
        #expect(NumberFormat.padded(1234, to: 3) == "1234")
        #expect(NumberFormat.padded(UInt64.max, to: 4, radix: 16) == "ffffffffffffffff")
    }

    @Test func nounsAgreeWithTheirNumber() {
        #expect([0, 1, 2].map { NumberFormat.count($0, "beacon") } == ["0 beacons", "1 beacon", "2 beacons"])
    }
}
