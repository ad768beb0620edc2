public import BluetoothTypes

/// One frame of a known layout.
public enum BeaconFrame: Hashable, Sendable {
    case iBeacon(IBeacon)
    case altBeacon(AltBeacon)
    case eddystoneUID(EddystoneUID)
    case eddystoneURL(EddystoneURL)
    case eddystoneTLM(EddystoneTLM)
    case eddystoneEncryptedTLM(EddystoneEncryptedTLM)
    case eddystoneEID(EddystoneEID)

    /// The type's name in profiles and in `--json`.
    public var typeName: String {
        switch self {
        case .iBeacon: "ibeacon"
        case .altBeacon: "altbeacon"
        case .eddystoneUID: "eddystone-uid"
        case .eddystoneURL: "eddystone-url"
        case .eddystoneTLM: "eddystone-tlm"
        case .eddystoneEncryptedTLM: "eddystone-etlm"
        case .eddystoneEID: "eddystone-eid"
        }
    }
}

extension BeaconFrame {
    /// The frame's own AD structures, without Flags. Lenient: what was received out of range is written again.
    public var adStructures: [ADStructure] {
        switch self {
        case .iBeacon(let frame): frame.adStructures
        case .altBeacon(let frame): frame.adStructures
        case .eddystoneUID(let frame): frame.adStructures
        case .eddystoneURL(let frame): frame.adStructures
        case .eddystoneTLM(let frame): frame.adStructures
        case .eddystoneEncryptedTLM(let frame): frame.adStructures
        case .eddystoneEID(let frame): frame.adStructures
        }
    }

    /// The payload that puts the frame on the air.
    ///
    /// - Throws: ``BeaconFrameError`` for everything that the frame's specification forbids.
    public func advertisingData(flags: ADFlags? = .beacon) throws(BeaconFrameError) -> AdvertisingData {
        switch self {
        case .iBeacon(let frame): try frame.advertisingData(flags: flags)
        case .altBeacon(let frame): try frame.advertisingData(flags: flags)
        case .eddystoneUID(let frame): try frame.advertisingData(flags: flags)
        case .eddystoneURL(let frame): try frame.advertisingData(flags: flags)
        case .eddystoneTLM(let frame): try frame.advertisingData(flags: flags)
        case .eddystoneEncryptedTLM(let frame): try frame.advertisingData(flags: flags)
        case .eddystoneEID(let frame): try frame.advertisingData(flags: flags)
        }
    }
}
