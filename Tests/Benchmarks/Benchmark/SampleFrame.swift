import BeaconFrames
import BluetoothTypes

/// A frame for the measurements, and its payload.
struct SampleFrame {
    let name: String
    /// `nil` for a payload without a beacon, which is the usual case for a scanner.
    let frame: BeaconFrame?
    let payload: [UInt8]

    private init(_ frame: BeaconFrame) throws {
        name = frame.typeName
        self.frame = frame
        payload = try frame.advertisingData().octets
    }

    private init(_ name: String, _ structures: [ADStructure]) throws {
        self.name = name
        frame = nil
        payload = try AdvertisingData(structures).octets
    }

    static func all() throws -> [SampleFrame] {
        let oneMeter = try MeasuredPowerAtOneMeter(dBm: -59)
        let zeroMeters = try MeasuredPowerAtZeroMeters(dBm: -18)
        return [
            try SampleFrame(
                .iBeacon(
                    IBeacon(
                        uuid: .uuid128(try FixedOctets(hexadecimal: "2f234454-cf6d-4a0f-adf2-f4911ba9ffa6")), major: 1,
                        minor: 2, measuredPower: oneMeter))),
            try SampleFrame(
                .altBeacon(
                    AltBeacon(
                        companyID: 0x0118,
                        beaconID: try FixedOctets(hexadecimal: "2f234454cf6d4a0fadf2f4911ba9ffa600010002"),
                        measuredPower: oneMeter))),
            try SampleFrame(
                .eddystoneUID(
                    EddystoneUID(
                        namespace: try FixedOctets(hexadecimal: "8b0ca750095477cb3e77"),
                        instance: try FixedOctets(hexadecimal: "000000000002"), measuredPower: zeroMeters))),
            try SampleFrame(
                .eddystoneURL(
                    EddystoneURL(
                        url: try CompressedURL("https://example.org/lobby/7"), measuredPower: zeroMeters))),
            try SampleFrame(
                .eddystoneTLM(
                    EddystoneTLM(
                        batteryMillivolts: 3000, temperature: FixedPointTemperature(rawValue: 21 * 256),
                        advertisements: 70_000, uptimeDeciseconds: 700_000))),
            try SampleFrame(
                .eddystoneEncryptedTLM(
                    EddystoneEncryptedTLM(
                        encrypted: try FixedOctets(hexadecimal: "d5d89979ae79ebee4e385fa5"), salt: 0xF683, mic: 0x0EFB))
            ),
            try SampleFrame(
                .eddystoneEID(
                    EddystoneEID(id: try FixedOctets(hexadecimal: "a9b76a71c5f89290"), measuredPower: zeroMeters))),
            try SampleFrame(
                "no beacon",
                [.flags(.beacon), .completeLocalName("Headphones"), .manufacturerData(0x0075, [0x42, 0x04, 0x01])]),
        ]
    }
}

extension BeaconFrame {
    /// A number that is known only after the frame is decoded, so that the optimiser cannot remove the decoding.
    var digest: Int {
        switch self {
        case .iBeacon(let frame): Int(frame.measuredPower.dBm)
        case .altBeacon(let frame): Int(frame.reserved)
        case .eddystoneUID(let frame): Int(frame.instance[5])
        case .eddystoneURL(let frame): Int(frame.url.count)
        case .eddystoneTLM(let frame): Int(frame.uptimeDeciseconds)
        case .eddystoneEncryptedTLM(let frame): Int(frame.mic)
        case .eddystoneEID(let frame): Int(frame.id[7])
        case .btHome(let frame): Int(frame.information)
        }
    }
}
