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
