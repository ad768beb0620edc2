import BeaconFrames
import BluetoothTypes
import Testing

@Test(arguments: [5, 127, 1, -128] as [Int8])
func aMeasuredPowerOutOfRangeIsDecodedButNotEncoded(dBm: Int8) throws {
    let power = MeasuredPowerAtOneMeter(octet: UInt8(bitPattern: dBm))
    let iBeacon = IBeacon(uuid: .uuid128(FixedOctets()), major: 1, minor: 2, measuredPower: power)
    let altBeacon = AltBeacon(companyID: 0x0118, beaconID: FixedOctets(), measuredPower: power)
    let error = BeaconFrameError.measuredPower(
        ValueOutOfRange("measured power at 1 m", Int(dBm), range: -127...0, unit: "dBm"))
    for frame in [BeaconFrame.iBeacon(iBeacon), .altBeacon(altBeacon)] {
        #expect(throws: error) { try frame.advertisingData() }
        let received = try AdvertisingData(frame.adStructures)
        #expect(BeaconFrame(decoding: received) == frame)
        #expect(received.lint().map(\.rule) == [.measuredPowerRange])
    }
}

@Test(arguments: [21, 127, -101, -128] as [Int8])
func aMeasuredPowerAtZeroMetersOutOfRangeIsDecodedButNotEncoded(dBm: Int8) throws {
    let power = MeasuredPowerAtZeroMeters(octet: UInt8(bitPattern: dBm))
    let frames: [BeaconFrame] = [
        .eddystoneUID(EddystoneUID(namespace: FixedOctets(), instance: FixedOctets(), measuredPower: power)),
        .eddystoneURL(EddystoneURL(url: try CompressedURL("https://a.org"), measuredPower: power)),
        .eddystoneEID(EddystoneEID(id: FixedOctets(), measuredPower: power)),
    ]
    let error = BeaconFrameError.measuredPower(
        ValueOutOfRange("measured power at 0 m", Int(dBm), range: -100...20, unit: "dBm"))
    for frame in frames {
        #expect(throws: error) { try frame.advertisingData() }
        let received = try AdvertisingData(frame.adStructures)
        #expect(BeaconFrame(decoding: received) == frame)
        #expect(received.lint().map(\.rule) == [.measuredPowerRange])
    }
}

@Test(
    arguments: [
        ("0416", URLEncodingError.reservedScheme(4)),
        ("0161", nil),
        ("03", .empty),
        ("03 61 20 62", .reservedCode(0x20, offset: 1)),
        ("03 0e", .reservedCode(0x0E, offset: 0)),
        ("03 61 7f", .reservedCode(0x7F, offset: 1)),
        ("00 c3a4", .reservedCode(0xC3, offset: 0)),
    ] as [(String, URLEncodingError?)])
func aReceivedURLWithReservedOctetsIsKeptButNotSent(octets: String, error: URLEncodingError?) throws {
    let octets = octetRow(octets)
    let url = compressed(octets[0], Hexadecimal.text(octets.dropFirst()))
    let frame = EddystoneURL(url: url, measuredPower: try MeasuredPowerAtZeroMeters(dBm: -20))
    let received = try AdvertisingData(frame.adStructures)
    #expect(BeaconFrame(decoding: received) == .eddystoneURL(frame))
    if let error {
        #expect(throws: BeaconFrameError.url(error)) { try frame.advertisingData() }
        #expect(received.lint().count >= 1)
    } else {
        #expect(try frame.advertisingData(flags: nil) == received)
        #expect(received.lint() == [])
    }
}

@Test func uuidIsSentInTextOrder() throws {
    let uuid = try #require(BluetoothUUID("FB0B57A2-8228-44cd-913a-94a122ba1206"))
    let frame = IBeacon(uuid: uuid, major: 1, minor: 2, measuredPower: try MeasuredPowerAtOneMeter(dBm: -59))
    #expect(
        try frame.advertisingData().description == "0201061aff4c000215fb0b57a2822844cd913a94a122ba120600010002c5")
}

/// An iBeacon has no field for the width of its UUID, so a short UUID is sent as the equal long one.
@Test func shortUUIDOfAnIBeaconIsExpanded() throws {
    let power = try MeasuredPowerAtOneMeter(dBm: -59)
    var frame = IBeacon(uuid: .uuid16(0xFEAA), major: 1, minor: 2, measuredPower: power)
    #expect(frame.uuid == BluetoothUUID("0000feaa-0000-1000-8000-00805f9b34fb"))
    #expect(
        try frame.advertisingData().description == "0201061aff4c0002150000feaa00001000800000805f9b34fb00010002c5")
    #expect(BeaconFrame(decoding: try frame.advertisingData()) == .iBeacon(frame))
    frame.uuid = .uuid32(0x1234_5678)
    #expect(frame.uuid.description == "12345678-0000-1000-8000-00805f9b34fb")
}

/// The four AD structures of the advertiser in the thesis of 2013 fill 31 octets. Its listing states length 06 for the
/// five-letter name, which is right: one octet of type and five of name.
@Test func encodesAndDecodesFourStructuresOf31Octets() throws {
    let uuid = try #require(BluetoothUUID("67a45dd0-4533-11e2-bcfd-0800200c9a66"))
    let data = try AdvertisingData([
        .flags(.beacon),
        .txPowerLevel(try RadioPower(dBm: 3)),
        .completeLocalName("NdeM1"),
        ADStructure(.complete128BitUUIDs, uuid.littleEndian),
    ])
    #expect(data.octets.count == 31)
    #expect(
        data.description
            == "020106" + "020a03" + "06094e64654d31" + "1107669a0c200008fdbce2113345d05da467")
    #expect(data.lint() == [])
    let decoded = DecodedAdvertisingData(data)
    #expect(
        decoded.structures.map(\.type.key)
            == ["flags", "tx-power-level", "complete-local-name", "complete-128-bit-uuids"])
    #expect(decoded.frames == [])
    #expect(decoded.data == data)
}
