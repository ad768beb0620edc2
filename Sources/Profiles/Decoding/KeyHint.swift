/// What to say about keys that other tools have, or that belong elsewhere.
enum KeyHint {
    static func profile(_ key: String) -> String? {
        if let hint = common(key) { return hint }
        if key != "type", AdvertisementKind.allCases.contains(where: { $0.keys.contains(key) }) {
            return "it belongs into one of the advertisements"
        }
        return nil
    }

    static func advertisement(_ key: String, in kind: AdvertisementKind) -> String? {
        if let hint = common(key) { return hint }
        if kind == .eddystoneEID, key == "address" {
            return "an EID has its own address, which turns over with the id"
        }
        if kind == .eddystoneTLM, key.hasPrefix("measuredPower") {
            return "telemetry carries no measured power"
        }
        if kind == .raw, key.hasPrefix("measuredPower") {
            return "raw structures carry their octets themselves"
        }
        if key == "eidEpoch" { return "it belongs to the profile itself, since all ids are made from one counter" }
        let others = AdvertisementKind.allCases.filter { $0.keys.contains(key) }
        if others.isEmpty { return BeaconProfile.keys.contains(key) ? "it belongs to the profile itself" : nil }
        return "it belongs to \(others.map(\.rawValue).joined(separator: ", ")), not to \(kind.rawValue)"
    }

    private static func common(_ key: String) -> String? {
        switch key.lowercased().filter({ $0 != "-" && $0 != "_" }) {
        case "txpower", "txpowerdbm", "power", "powerdbm":
            "\"radioPowerDbm\" is what the radio sends with, \"measuredPowerDbm\" what the frame says of it"
        case "rssi", "rssi1m", "rssiat1m": "the signal strength at 1 m is \"measuredPower1mDbm\""
        default: nil
        }
    }
}
