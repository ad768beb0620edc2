import BluetoothTypes
import Testing

@Test(arguments: ["F0:01:02:03:04:05", "f0-01-02-03-04-05", "f00102030405"])
func addressIsSentInReverseByteOrder(text: String) throws {
    let address = try #require(DeviceAddress(text))
    #expect(address.littleEndian == [0x05, 0x04, 0x03, 0x02, 0x01, 0xF0])
    #expect(address.description == "F0:01:02:03:04:05")
    let octets: [UInt8] = [0xAA] + address.littleEndian
    let received = [0, 1, 2].map { DeviceAddress(littleEndian: octets.span, at: $0) }
    #expect(received[1] == address)
    #expect(received[0] != address)
    #expect(received[2] == nil)
}

@Test(arguments: ["", "F0:01:02:03:04", "F0:01:02:03:04:05:06", "F0:01:02:03:04:0g"])
func invalidAddressesAreRefused(text: String) {
    #expect(DeviceAddress(text) == nil)
}

@Test(arguments: [
    ("C0:00:00:00:00:00", false), ("FF:FF:FF:FF:FF:FF", false), ("C0:00:00:00:00:01", true),
    ("FF:FF:FF:FF:FF:FE", true), ("80:00:00:00:00:01", false), ("40:00:00:00:00:01", false),
    ("00:00:00:00:00:01", false),
])
func staticRandomAddressesAreChecked(text: String, isValid: Bool) throws {
    let address = try #require(DeviceAddress(text))
    #expect(address.isValidStaticRandom == isValid)
    #expect(DeviceAddress.staticRandom(from: address.octets).isValidStaticRandom)
}

@Test func topBitsDecideTheKindOfRandomAddress() throws {
    let kinds = try ["00", "40", "80", "C0"].map { try #require(DeviceAddress("\($0):00:00:00:00:01")).randomKind }
    #expect(kinds == [.nonResolvablePrivate, .resolvablePrivate, .reserved, .staticDevice])
}

@Test(arguments: [
    ("FEAA", BluetoothUUID.uuid16(0xFEAA)), ("0xfeaa", .uuid16(0xFEAA)), ("0000feaa", .uuid32(0xFEAA)),
])
func shortUUIDKeepsItsWidth(text: String, uuid: BluetoothUUID) {
    #expect(BluetoothUUID(text) == uuid)
    #expect(BluetoothUUID.uuid128(uuid.expanded).description == "0000feaa-0000-1000-8000-00805f9b34fb")
}

/// Some tools refuse UUIDs with dashes, others reverse their bytes.
@Test(arguments: [
    "67a45dd0-4533-11e2-bcfd-0800200c9a66", "67A45DD0453311E2BCFD0800200C9A66", "67A45dd0-453311e2-bcfd0800200c9a66",
])
func aLongUUIDIsReadWithOrWithoutDashesInEitherCase(text: String) throws {
    let uuid = try #require(BluetoothUUID(text))
    #expect(uuid.description == "67a45dd0-4533-11e2-bcfd-0800200c9a66")
    #expect(Hexadecimal.text(uuid.littleEndian) == "669a0c200008fdbce2113345d05da467")
    #expect(FixedOctets<16>(uuid: text)?.uuidText == uuid.description)
}

@Test(arguments: ["", "F", "FEA", "FEAAFE", "67a45dd0-4533-11e2-bcfd-0800200c9a6", "hello"])
func invalidUUIDsAreRefused(text: String) {
    #expect(BluetoothUUID(text) == nil)
}

@Test func channelsAreNumberedFromThirtySeven() {
    #expect(AdvertisingChannels(numbers: [39, 37])?.numbers == [37, 39])
    #expect(AdvertisingChannels(numbers: []) == nil)
    #expect(AdvertisingChannels(numbers: [36]) == nil)
    #expect(AdvertisingChannels(numbers: [40, 37]) == nil)
    #expect(AdvertisingChannels.all.description == "37,38,39")
}
