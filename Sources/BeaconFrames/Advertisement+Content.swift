extension Advertisement.Content {
    /// The type's name in profiles and in `--json`.
    public var typeName: String {
        switch self {
        case .iBeacon: "ibeacon"
        case .altBeacon: "altbeacon"
        case .eddystoneUID: "eddystone-uid"
        case .eddystoneURL: "eddystone-url"
        case .eddystoneTLM: "eddystone-tlm"
        case .eddystoneEID: "eddystone-eid"
        case .raw: "raw"
        }
    }

    /// The key that the payload is made with; `nil` for payloads in the clear.
    public var rotatingKey: Advertisement.RotatingKey? {
        switch self {
        case .eddystoneEID(let key): key
        case .eddystoneTLM(_, let encryption): encryption
        case .iBeacon, .altBeacon, .eddystoneUID, .eddystoneURL, .raw: nil
        }
    }
}
