import BluetoothTypes
import Testing

@Test(arguments: [(-127, UInt8(0x81)), (-59, 0xC5), (0, 0x00)])
func aMeasuredPowerAtOneMeterIsASignedOctet(dBm: Int, octet: UInt8) throws {
    #expect(try MeasuredPowerAtOneMeter(dBm: dBm).octet == octet)
    #expect(MeasuredPowerAtOneMeter(octet: octet).dBm == Int8(dBm))
}

@Test(arguments: [5, 1, -128, 127, Int.max, Int.min])
func aMeasuredPowerAtOneMeterOutOfRangeIsRefused(dBm: Int) {
    #expect(throws: ValueOutOfRange("measured power at 1 m", dBm, range: -127...0, unit: "dBm")) {
        try MeasuredPowerAtOneMeter(dBm: dBm)
    }
}

@Test(arguments: [21, -101, 127, -128, Int.max, Int.min])
func aMeasuredPowerAtZeroMetersOutOfRangeIsRefused(dBm: Int) {
    #expect(throws: ValueOutOfRange("measured power at 0 m", dBm, range: -100...20, unit: "dBm")) {
        try MeasuredPowerAtZeroMeters(dBm: dBm)
    }
}

@Test func measuredPowersAtZeroAndOneMeterDifferBy41DB() throws {
    #expect(try MeasuredPowerAtOneMeter(dBm: -59).atZeroMeters().dBm == -18)
    #expect(try MeasuredPowerAtZeroMeters(dBm: -18).atOneMeter().dBm == -59)
    #expect(try MeasuredPowerAtOneMeter(dBm: -21).atZeroMeters().dBm == 20)
    #expect(throws: ValueOutOfRange.self) { try MeasuredPowerAtOneMeter(dBm: -20).atZeroMeters() }
    #expect(throws: ValueOutOfRange.self) { try MeasuredPowerAtZeroMeters(dBm: -87).atOneMeter() }
    #expect(throws: ValueOutOfRange.self) { try MeasuredPowerAtOneMeter(octet: 0x7F).atZeroMeters() }
}

@Test func aRadioPowerHasItsOwnRange() throws {
    #expect(try RadioPower(dBm: 20).octet == 20)
    #expect(try RadioPower(dBm: -127).octet == 0x81)
    #expect(throws: ValueOutOfRange("radio power", 21, range: -127...20, unit: "dBm")) { try RadioPower(dBm: 21) }
    #expect(throws: ValueOutOfRange.self) { try RadioPower(dBm: -128) }
    #expect(RadioPower.noPreference.octet == 0x7F)
    #expect(RadioPower.noPreference.description == "no preference")
    #expect(try RadioPower(dBm: -12) < RadioPower(dBm: 4))
}

@Test func anErrorNamesFieldValueRangeAndUnit() {
    #expect(ValueOutOfRange("major", 70000, range: 0...65535).description == "major: 70000 is out of range 0...65535")
    #expect(
        ValueOutOfRange("radio power", 21, range: -127...20, unit: "dBm").description
            == "radio power: 21 is out of range -127...20 dBm")
}
