internal import BluetoothTypes

/// A frame in one line of words.
extension BeaconFrame {
    /// What the frame says, in one line: type, identifiers and measured power, or the telemetry's values.
    public var sentence: String {
        switch self {
        case .iBeacon(let frame):
            "iBeacon \(frame.uuid), major \(frame.major), minor \(frame.minor), \(frame.measuredPower)"
        case .altBeacon(let frame):
            "AltBeacon \(frame.beaconID), company \(Hexadecimal.number(frame.companyID, width: 4)), "
                + "\(frame.measuredPower)"
        case .eddystoneUID(let frame):
            "Eddystone-UID \(frame.namespace) \(frame.instance), \(frame.measuredPower)"
        case .eddystoneURL(let frame):
            "Eddystone-URL \(frame.url.text), \(frame.measuredPower)"
        case .eddystoneTLM(let frame):
            "Eddystone-TLM \(Self.battery(frame)), \(Self.temperature(frame)), \(frame.advertisements) advertisements, "
                + "up \(frame.uptimeText) s"
        case .eddystoneEncryptedTLM(let frame):
            "Eddystone-TLM, encrypted: \(frame.encrypted), salt \(Self.hex(frame.salt)), MIC \(Self.hex(frame.mic))"
        case .eddystoneEID(let frame):
            "Eddystone-EID \(frame.id), \(frame.measuredPower)"
        }
    }

    private static func battery(_ frame: EddystoneTLM) -> String {
        frame.batteryMillivolts.map { "\($0) mV" } ?? "battery unknown"
    }

    private static func temperature(_ frame: EddystoneTLM) -> String {
        frame.temperature.map { "\($0)" } ?? "temperature unknown"
    }

    private static func hex(_ number: UInt16) -> String { Hexadecimal.number(number, width: 4) }
}

extension EddystoneTLM {
    /// SEC_CNT in seconds, as digits with at most one after the point.
    public var uptimeText: String { DecimalText.thousandths(Int(uptimeDeciseconds) * 100) }
}
