internal import BeaconFrames
internal import BluetoothTypes

/// A frame in one line of words.
enum FrameText {
    static func sentence(_ frame: BeaconFrame) -> String {
        switch frame {
        case .iBeacon(let frame):
            "iBeacon \(frame.uuid.uuidText), major \(frame.major), minor \(frame.minor), \(frame.measuredPower)"
        case .altBeacon(let frame):
            "AltBeacon \(frame.beaconID), company \(Hexadecimal.number(frame.companyID, width: 4)), "
                + "\(frame.measuredPower)"
        case .eddystoneUID(let frame):
            "Eddystone-UID \(frame.namespace) \(frame.instance), \(frame.measuredPower)"
        case .eddystoneURL(let frame):
            "Eddystone-URL \(frame.url.text), \(frame.measuredPower)"
        case .eddystoneTLM(let frame):
            "Eddystone-TLM \(battery(frame)), \(temperature(frame)), \(frame.advertisements) advertisements, "
                + "up \(tenths(frame.uptimeDeciseconds)) s"
        case .eddystoneEncryptedTLM(let frame):
            "Eddystone-TLM, encrypted: \(frame.encrypted), salt \(hex(frame.salt)), MIC \(hex(frame.mic))"
        case .eddystoneEID(let frame):
            "Eddystone-EID \(frame.id), \(frame.measuredPower)"
        }
    }

    /// Tenths of a second as seconds.
    static func tenths(_ deciseconds: UInt32) -> String { DecimalText.thousandths(Int(deciseconds) * 100) }

    private static func battery(_ frame: EddystoneTLM) -> String {
        frame.batteryMillivolts.map { "\($0) mV" } ?? "battery unknown"
    }

    private static func temperature(_ frame: EddystoneTLM) -> String {
        frame.temperature.map { "\($0)" } ?? "temperature unknown"
    }

    private static func hex(_ number: UInt16) -> String { Hexadecimal.number(number, width: 4) }
}
