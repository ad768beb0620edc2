import BeaconFrames
import BluetoothTypes
import Testing

@Test func aNamespaceFromAUUIDLeavesItsMiddleOut() throws {
    let uuid = try #require(FixedOctets<16>(uuid: "8b0ca750-e7a7-4e14-bd99-095477cb3e77"))
    #expect(try EddystoneUID.namespace(fromUUID: uuid).description == "8b0ca750095477cb3e77")
}

@Test(arguments: [("67a45dd0-4533-11e2-bcfd-0800200c9a66", 1), ("00000000-0000-0000-0000-000000000000", 0)])
func aUUIDThatIsNotRandomIsRefused(text: String, version: UInt8) throws {
    let uuid = try #require(FixedOctets<16>(uuid: text))
    #expect(throws: NamespaceError.notRandom(version: version)) { try EddystoneUID.namespace(fromUUID: uuid) }
}
