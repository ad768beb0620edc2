import BeaconFrames
import BluetoothTypes
import Testing

/// A payload from another project's publication, with its contents.
struct PublishedFrame: Sendable, CustomTestStringConvertible {
    let name: String
    let octets: String
    let flags: ADFlags?
    let frame: BeaconFrame

    var testDescription: String { name }

    init(_ name: String, _ octets: String, flags: ADFlags?, _ frame: BeaconFrame) {
        self.name = name
        self.octets = octets
        self.flags = flags
        self.frame = frame
    }

    var data: AdvertisingData { AdvertisingData(octets: octetRow(octets)) }
}

/// Returns the octets of a literal in a test; none if the literal is wrong, which makes the test fail.
func octetRow(_ text: String) -> [UInt8] { (try? Hexadecimal.octets(text)) ?? [] }

/// Returns the fixed octets of a literal in a test.
func fixed<let count: Int>(_ text: String) -> FixedOctets<count> {
    FixedOctets(octetRow(text)) ?? FixedOctets()
}

/// Returns a received URL, valid or not, cut to 17 octets.
func compressed(_ scheme: UInt8, _ octets: String) -> CompressedURL {
    let octets = octetRow(octets)
    let url = CompressedURL(scheme: scheme, encoded: octets.span, range: octets.indices)
    return url ?? compressed(scheme, Hexadecimal.text(octets.prefix(17)))
}

/// Returns a received packet of BTHome, cut to 26 octets.
func packet(_ information: UInt8, _ octets: String) -> BTHome {
    BTHome(information: information, data: octetRow(octets)) ?? packet(information, String(octets.prefix(52)))
}

let publishedFrames: [PublishedFrame] = [
    PublishedFrame(
        "iBeacon of PureSwift/Bluetooth",
        "02011A1AFF4C000215F7826DA64FA24E988024BC5B71E0893E00AA00BBB3", flags: ADFlags(rawValue: 0x1A),
        .iBeacon(
            IBeacon(
                uuid: .uuid128(fixed("f7826da6-4fa2-4e98-8024-bc5b71e0893e")), major: 170, minor: 187,
                measuredPower: MeasuredPowerAtOneMeter(octet: 0xB3)))),
    PublishedFrame(
        "Eddystone-UID after beacontools",
        "0201060303aafe1716aafe00e3123456789012346789010000000000010000", flags: .beacon,
        .eddystoneUID(
            EddystoneUID(
                namespace: fixed("12345678901234678901"), instance: fixed("000000000001"),
                measuredPower: MeasuredPowerAtZeroMeters(octet: 0xE3)))),
    PublishedFrame(
        "Eddystone-URL of beacontools, without Flags",
        "0303AAFE1316AAFE10F803 676974687562 00 63697472757a", flags: nil,
        .eddystoneURL(
            EddystoneURL(
                url: compressed(0x03, "676974687562 00 63697472757a"),
                measuredPower: MeasuredPowerAtZeroMeters(octet: 0xF8)))),
    PublishedFrame(
        "Eddystone-TLM of node-eddystone-beacon",
        "0201060303aafe1116aafe200001F416800102030405060708", flags: .beacon,
        .eddystoneTLM(
            EddystoneTLM(
                batteryMillivolts: 500, temperature: FixedPointTemperature(rawValue: 0x1680),
                advertisements: 0x0102_0304, uptimeDeciseconds: 0x0506_0708))),
    PublishedFrame(
        "Eddystone-TLM of a real beacon, warm",
        "0201060303aafe1116aafe20000c6f1e000002006d41db9ab6", flags: .beacon,
        .eddystoneTLM(
            EddystoneTLM(
                batteryMillivolts: 3183, temperature: FixedPointTemperature(rawValue: 30 * 256),
                advertisements: 0x0002_006D, uptimeDeciseconds: 0x41DB_9AB6))),
    PublishedFrame(
        "Eddystone-TLM of a real beacon, frosty",
        "0201060303aafe1116aafe20000c8df000001755d10885a5b8", flags: .beacon,
        .eddystoneTLM(
            EddystoneTLM(
                batteryMillivolts: 3213, temperature: FixedPointTemperature(rawValue: -16 * 256),
                advertisements: 0x0017_55D1, uptimeDeciseconds: 0x0885_A5B8))),
    PublishedFrame(
        "encrypted Eddystone-TLM of Nordic's firmware",
        "0201060303aafe1516aafe2001d5d89979ae79ebee4e385fa5f6830efb", flags: .beacon,
        .eddystoneEncryptedTLM(
            EddystoneEncryptedTLM(encrypted: fixed("d5d89979ae79ebee4e385fa5"), salt: 0xF683, mic: 0x0EFB))),
    PublishedFrame(
        "Eddystone-EID with the id of RadiusNetworks/ephemeral_calc",
        "0201060303aafe0d16aafe30eea9b76a71c5f89290", flags: .beacon,
        .eddystoneEID(
            EddystoneEID(id: fixed("a9b76a71c5f89290"), measuredPower: MeasuredPowerAtZeroMeters(octet: 0xEE)))),
    PublishedFrame(
        "AltBeacon of Radius Networks",
        "0201061bff1801beac2f234454cf6d4a0fadf2f4911ba9ffa600010002c509", flags: .beacon,
        .altBeacon(
            AltBeacon(
                companyID: 0x0118, beaconID: fixed("2f234454cf6d4a0fadf2f4911ba9ffa600010002"),
                measuredPower: MeasuredPowerAtOneMeter(octet: 0xC5), reserved: 9))),
    PublishedFrame(
        "BTHome of bthome.io/format, without its name", "0201060a16d2fc4002c40903bf13", flags: .beacon,
        .btHome(packet(0x40, "02c40903bf13"))),
    PublishedFrame(
        "BTHome of bthome.io/encryption", "0201061216d2fc41a47266c95f730011223378237214", flags: .beacon,
        .btHome(packet(0x41, "a47266c95f730011223378237214"))),
]
