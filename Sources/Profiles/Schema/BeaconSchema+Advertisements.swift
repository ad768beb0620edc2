internal import BluetoothTypes
import Configuration

extension BeaconSchema {
    /// The definition of one type of advertisement.
    static func advertisement(_ kind: AdvertisementKind) -> JSONValue {
        var properties = ownProperties(kind)
        properties["type"] = ["const": .string(kind.rawValue)]
        properties["measuredPowerDbm"] = reference(kind.isEddystone ? "measuredPower0m" : "measuredPower1m")
        properties["measuredPower1mDbm"] = measuredPower1m(kind)
        for key in ["intervalMs", "radioPowerDbm", "channels", "pdu", "address"] { properties[key] = reference(key) }
        var members: [JSONValue.Member] = [
            .init("description", .string(description(kind))),
            .init("type", "object"),
            .init("properties", object(kind.keys, properties)),
            .init("required", .array((["type", "intervalMs"] + requiredKeys(kind)).map { .string($0) })),
        ]
        if kind.hasMeasuredPower {
            members.append(.init("not", ["required": ["measuredPowerDbm", "measuredPower1mDbm"]]))
        }
        if kind == .eddystoneTLM {
            members += [
                .init("if", ["properties": ["encrypted": ["const": true]], "required": ["encrypted"]]),
                .init("then", ["required": ["identityKeyFile", "rotationExponent"]]),
                .init("else", ["properties": ["identityKeyFile": false, "rotationExponent": false]]),
            ]
        }
        members.append(.init("additionalProperties", false))
        return .object(members)
    }

    private static func description(_ kind: AdvertisementKind) -> String {
        switch kind {
        case .iBeacon: "Apple's iBeacon: a UUID with two numbers."
        case .altBeacon: "AltBeacon: an open form of iBeacon under any company's identifier."
        case .eddystoneUID: "Eddystone-UID: a namespace with an instance."
        case .eddystoneURL: "Eddystone-URL: a web address of at most 17 octets after compression."
        case .eddystoneTLM: "Eddystone-TLM: battery, temperature and counters of the beacon."
        case .eddystoneEID: "Eddystone-EID: an id that only those can resolve who know the key."
        case .raw: "AD structures as they are, at most 31 octets."
        }
    }

    private static func requiredKeys(_ kind: AdvertisementKind) -> [String] {
        switch kind {
        case .iBeacon: ["uuid", "major", "minor"]
        case .altBeacon: ["companyId", "id"]
        case .eddystoneUID: ["namespace", "instance"]
        case .eddystoneURL: ["url"]
        case .eddystoneTLM: []
        case .eddystoneEID: ["identityKeyFile", "rotationExponent"]
        case .raw: ["structures"]
        }
    }

    private static func ownProperties(_ kind: AdvertisementKind) -> [String: JSONValue] {
        switch kind {
        case .iBeacon:
            return [
                "uuid": hexadecimal("Proximity UUID, 16 octets, as a rule the same for all beacons of one owner.", 16),
                "major": integer("Major number: a group of beacons.", 0...65_535),
                "minor": integer("Minor number: one beacon of the group.", 0...65_535),
                "flags": flags("Flags octet, 6 by default; null leaves the structure out."),
            ]
        case .altBeacon:
            return [
                "companyId": reference("companyId"),
                "id": hexadecimal("Beacon id, 20 octets; the first 16 are the owner's.", 20),
                "reserved": integer("The octet that is left to the manufacturer; 0 by default.", 0...255),
                "flags": flags("Flags octet, 6 by default; null leaves the structure out."),
            ]
        case .eddystoneUID:
            return [
                "namespace": hexadecimal("Namespace, 10 octets, the same for all beacons of one owner.", 10),
                "instance": hexadecimal("Instance, 6 octets, different for each beacon.", 6),
            ]
        case .eddystoneURL:
            return [
                "url": [
                    "description": """
                    http:// or https:// and what is left of the address in 17 octets of graphic \
                    ASCII after compression.
                    """,
                    "type": "string", "pattern": "^[Hh][Tt][Tt][Pp][Ss]?://[!-~]+$",
                ]
            ]
        case .eddystoneTLM:
            return [
                "temperature": sensor("Sensor of the temperature"), "battery": sensor("Sensor of the battery voltage"),
                "encrypted": [
                    "description": "Whether only those can read it who know the key; false by default.",
                    "type": "boolean",
                ],
                "identityKeyFile": reference("identityKeyFile"), "rotationExponent": reference("rotationExponent"),
            ]
        case .eddystoneEID:
            return [
                "identityKeyFile": reference("identityKeyFile"), "rotationExponent": reference("rotationExponent"),
            ]
        case .raw: return ["structures": reference("structures")]
        }
    }

    private static func measuredPower1m(_ kind: AdvertisementKind) -> JSONValue {
        let step = MeasuredPowerAtZeroMeters.stepToOneMeter
        let high = kind.isEddystone ? MeasuredPowerAtZeroMeters.range.upperBound - step : 0
        let sent = kind.isEddystone ? " \(step) dB more is sent, for 0 m." : ""
        return integer(
            "Signal strength that a receiver sees at 1 m, in dBm.\(sent)",
            MeasuredPowerAtOneMeter.range.lowerBound...high)
    }

    private static func sensor(_ what: String) -> JSONValue {
        [
            "description": .string("\(what), \"auto\" (the default) for what the box has, or null for unknown."),
            "type": ["string", "null"], "minLength": 1,
        ]
    }
}
