import BluetoothTypes
import Testing

@Test func structuresAreEncodedInTheirOrder() throws {
    let data = try AdvertisingData([
        .flags(.beacon), .serviceData(0xFEAA, [0x10]), .manufacturerData(0x004C, [0x02]), .completeLocalName("é"),
        .txPowerLevel(RadioPower(dBm: -12)),
    ])
    #expect(data.description == "020106" + "0416aafe10" + "04ff4c0002" + "0309c3a9" + "020af4")
    #expect(
        data.structures.map(\.type) == [.flags, .serviceData16, .manufacturerData, .completeLocalName, .txPowerLevel])
    #expect(try AdvertisingData(data.structures) == data)
    #expect(data.remainder.isEmpty)
}

@Test func dataThatIsTooLongIsRefusedWithTheStructure() throws {
    let fits = ADStructure(.manufacturerData, [UInt8](repeating: 0, count: 26))
    #expect(try AdvertisingData([.flags(.beacon), fits]).octets.count == 31)
    let over = ADStructure(.manufacturerData, [UInt8](repeating: 0, count: 27))
    let error = AdvertisingDataError(.tooLong(octets: 35, limit: 31, type: .manufacturerData), structure: 1)
    #expect(throws: error) { try AdvertisingData([.flags(.beacon), over, .flags(.beacon)]) }
    #expect(
        error.description
            == "the structures have 35 bytes, 4 more than the 31 of an advertisement: structure 2 (Manufacturer Specific "
            + "Data) does not fit; shorten or remove a structure")
}

@Test func refusesAStructureThatItsLengthOctetCannotCount() throws {
    let largest = ADStructure(.manufacturerData, [UInt8](repeating: 0, count: 254))
    #expect(try AdvertisingData([largest], limit: AdvertisingData.extendedLimit).octets.first == 255)
    let over = ADStructure(.manufacturerData, [UInt8](repeating: 0, count: 255))
    #expect(throws: AdvertisingDataError(.structureTooLong(octets: 255), structure: 0)) {
        try AdvertisingData([over], limit: AdvertisingData.extendedLimit)
    }
}

@Test func anEmptyListIsEmptyData() throws {
    #expect(try AdvertisingData([]).octets == [])
    #expect(AdvertisingData(octets: []).structures == [])
    #expect(throws: AdvertisingDataError.self) { try AdvertisingData([.flags(.beacon)], limit: 0) }
}

@Test(arguments: [
    ("020106", 1, ""),
    ("020106 00", 1, "00"),
    ("020106 0000ff", 1, "0000ff"),
    ("020106 0309", 1, "0309"),
    ("ff", 0, "ff"),
    ("00", 0, "00"),
    ("01ff", 1, ""),
    ("020106 02", 1, "02"),
])
func remainderAfterTheLastWholeStructureIsKept(text: String, structures: Int, remainder: String) throws {
    let data = AdvertisingData(octets: try Hexadecimal.octets(text))
    #expect(data.structures.count == structures)
    #expect(Hexadecimal.text(data.remainder) == remainder)
}

@Test func cursorDistinguishesTerminationFromTruncation() {
    for (octets, isTruncated) in [
        ([0x02, 0x01, 0x06, 0x00, 0x05] as [UInt8], false), ([0x02, 0x01, 0x06, 0x05], true),
    ] {
        var cursor = ADStructureCursor(octets.indices)
        #expect(cursor.next(in: octets.span) == ADElement(type: .flags, offset: 0, data: 2..<3))
        #expect(cursor.next(in: octets.span) == nil)
        #expect(cursor.next(in: octets.span) == nil)
        #expect(cursor.offset == 3)
        #expect(cursor.isTruncated == isTruncated)
    }
}

@Test func unknownTypesAreNamedByTheirNumber() {
    #expect(ADType.flags.key == "flags")
    #expect(ADType.manufacturerData.name == "Manufacturer Specific Data")
    #expect(ADType(rawValue: 0x3D).key == nil)
    #expect(ADType(rawValue: 0x3D).name == "AD type 0x3D")
}
