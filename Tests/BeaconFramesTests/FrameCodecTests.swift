import BeaconFrames
import BluetoothTypes
import Testing

@Test(arguments: publishedFrames)
func aPublishedFrameIsDecodedAndEncodedAgain(published: PublishedFrame) throws {
    #expect(BeaconFrame(decoding: published.data) == published.frame)
    #expect(try published.frame.advertisingData(flags: published.flags) == published.data)
}

@Test(arguments: publishedFrames)
func aPublishedFrameBreaksNoRule(published: PublishedFrame) {
    #expect(published.data.lint() == [])
}

@Test(arguments: publishedFrames)
func aFrameIsFoundInTheMiddleOfASpan(published: PublishedFrame) {
    let octets = [0xFF, 0xFF] + published.data.octets + [0x1A, 0xFF]
    let frame = BeaconFrame(decoding: octets.span, range: 2..<octets.count - 2)
    #expect(frame == published.frame)
}

@Test func aRangeOutsideTheSpanHoldsNoFrame() {
    let octets = publishedFrames[0].data.octets
    let outside = ADElement(type: .manufacturerData, offset: 90, data: 92..<117)
    let frames = [
        BeaconFrame(decoding: octets.span, range: 0..<octets.count + 1),
        BeaconFrame(decoding: octets.span, range: -1..<octets.count),
        BeaconFrame(decoding: octets.span, range: 0..<0),
        BeaconFrame(outside, in: octets.span),
    ]
    #expect(frames == [nil, nil, nil, nil])
}

@Test func anIBeaconHasThirtyOctetsAndAnAltBeaconThirtyOne() throws {
    #expect(try publishedFrames[0].frame.advertisingData().octets.count == 30)
    #expect(try publishedFrames[8].frame.advertisingData().octets.count == 31)
    #expect(try publishedFrames[8].frame.advertisingData(flags: nil).octets.count == 28)
}

@Test(arguments: [UInt8(0x06), 0x1A, 0x04])
func flagsCanBeChosen(flags: UInt8) throws {
    let data = try publishedFrames[0].frame.advertisingData(flags: ADFlags(rawValue: flags))
    #expect(data.octets.prefix(3) == [0x02, 0x01, flags])
    #expect(BeaconFrame(decoding: data) == publishedFrames[0].frame)
}

@Test func anOldUIDWithoutItsReservedOctetsIsDecoded() throws {
    let old = octetRow("0201060303aafe1516aafe00e312345678901234678901000000000001")
    #expect(BeaconFrame(decoding: AdvertisingData(octets: old)) == publishedFrames[1].frame)
    #expect(try publishedFrames[1].frame.advertisingData().octets.count == 31)
}

@Test(arguments: ["0302aafe", "", "0503 0f18 aafe", "0302 0f18"])
func eddystoneIsDecodedWithAnyListOfServiceUUIDs(list: String) {
    let octets = octetRow(list + "0d16aafe30eea9b76a71c5f89290")
    #expect(BeaconFrame(decoding: AdvertisingData(octets: octets)) == publishedFrames[7].frame)
}

@Test func theFirstOfSeveralFramesIsFound() {
    let both = publishedFrames[6].data.octets + publishedFrames[0].data.octets
    #expect(BeaconFrame(decoding: AdvertisingData(octets: both)) == publishedFrames[6].frame)
    #expect(
        DecodedAdvertisingData(AdvertisingData(octets: both)).frames
            == [publishedFrames[6].frame, publishedFrames[0].frame])
}

@Test(arguments: [
    "03ff4c00",  // Apple, nothing else
    "19ff4c000215f7826da64fa24e988024bc5b71e0893e00aa00bb",  // an iBeacon without its power
    "1bff4c000215f7826da64fa24e988024bc5b71e0893e00aa00bbb300",  // an iBeacon with an octet too many
    "1aff4c000216f7826da64fa24e988024bc5b71e0893e00aa00bbb3",  // an iBeacon with another inner length
    "1aff1801beac2f234454cf6d4a0fadf2f4911ba9ffa600010002c5",  // an AltBeacon without its reserved octet
    "0316aafe",  // no frame type
    "0416aafe00", "0416aafe10", "0416aafe20", "0416aafe30",  // types without content
    "0516aafe10ee",  // a URL without a scheme
    "1816aafe10ee03 6162636465666768696a6b6c6d6e6f707172",  // 18 octets of URL
    "1116aafe20020c6f1e000002006d41db9ab6",  // TLM version 2
    "1116aafe20010c6f1e000002006d41db9ab6",  // TLM version 1 with the length of version 0
    "1516aafe2000d5d89979ae79ebee4e385fa5f6830efb",  // TLM version 0 with the length of version 1
    "0d16aafe31eea9b76a71c5f89290",  // low bits of the frame type
    "0d16aafe40eea9b76a71c5f89290",  // frame type 4
    "0c16aafe30eea9b76a71c5f892",  // an EID of 7 octets
    "0d16abfe30eea9b76a71c5f89290",  // another service UUID
    "0d16aafe30eea9b76a71c5f892",  // cut off
])
func aStructureOfTheWrongLengthOrTypeIsNoFrame(octets: String) {
    let data = AdvertisingData(octets: octetRow("0201060303aafe" + octets))
    #expect(BeaconFrame(decoding: data) == nil)
    #expect(DecodedAdvertisingData(data).frames == [])
    #expect(DecodedAdvertisingData(data).data == data)
}

@Test func namespaceFromAUUIDOmitsItsMiddle() throws {
    let uuid = try #require(FixedOctets<16>(uuid: "8b0ca750-e7a7-4e14-bd99-095477cb3e77"))
    #expect(try EddystoneUID.namespace(fromUUID: uuid).description == "8b0ca750095477cb3e77")
}

@Test(arguments: [("67a45dd0-4533-11e2-bcfd-0800200c9a66", 1), ("00000000-0000-0000-0000-000000000000", 0)])
func aUUIDThatIsNotRandomIsRefused(text: String, version: UInt8) throws {
    let uuid = try #require(FixedOctets<16>(uuid: text))
    #expect(throws: NamespaceError.notRandom(version: version)) { try EddystoneUID.namespace(fromUUID: uuid) }
}
