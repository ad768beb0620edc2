internal import BluetoothTypes
package import Configuration

/// The JSON Schema (draft 2020-12) of a beacon profile, made from the same ranges and key lists as the decoder.
///
/// It says what a schema can say. Whether 31 octets are enough, how long a URL becomes and whether a calibration covers
/// the radio power only the decoder knows.
public enum BeaconSchema {
    /// The text of `profiles/schema/beacon.schema.json`, and what `pharos profile schema` prints.
    public static var text: String { json.pretty }

    package static var json: JSONValue {
        [
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "Pharos beacon profile",
            "description": "What one Linux box sends as a Bluetooth beacon.",
            "type": "object",
            "properties": object(BeaconProfile.keys, properties),
            "required": ["version", "name", "advertisements"],
            "additionalProperties": false,
            "$defs": definitions,
        ]
    }

    private static let adapterPattern =
        "^(hci(0|[1-9][0-9]{0,4})(:user|:mgmt)?|virtual|unix:[^\\u0000-\\u001f\\u007f]+"
        + "|tcp:(?!\\[\\]:)[^\\u0000-\\u0020\\u007f]+:[1-9][0-9]{0,4}"
        + "|serial:([^\\u0000-\\u001f\\u007f@]+|[^\\u0000-\\u001f\\u007f]+@("
        + AdapterName.serialRates.map(String.init).joined(separator: "|") + ")))$"

    package static var adapter: JSONValue {
        [
            "description": """
            The controller: hci0, hci0:user, hci0:mgmt, tcp:HOST:PORT, unix:PATH, \
            serial:PATH@RATE or virtual. By default the first that there is.
            """,
            "type": "string",
            "pattern": .string(adapterPattern),
        ]
    }

    private static let timePattern =
        "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])[Tt]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]"
        + "(\\.[0-9]+)?([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$"

    private static var properties: [String: JSONValue] {
        [
            "$schema": ["description": "Where this schema lies, for editors.", "type": "string"],
            "version": ["description": "The version of the format.", "const": 1],
            "name": [
                "description":
                    "What this beacon is called. Names files and units: letters, digits, \".\", \"_\", \"-\".",
                "type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]*$",
                "maxLength": .integer(ConfigurationDecoder.nameLimit),
            ],
            "adapter": adapter,
            "address": reference("address"), "radioPowerDbm": reference("radioPowerDbm"),
            "channels": reference("channels"), "pdu": reference("pdu"), "calibration": reference("calibration"),
            "eidEpoch": [
                "description": """
                When the counter that ephemeral ids are made from was 65280, as RFC 3339 has it: \
                2026-03-01T12:00:00Z.
                """,
                "type": "string", "format": "date-time",
                "pattern": .string(timePattern),
            ],
            "advertisements": [
                "description": "What is sent, each at its own interval.", "type": "array", "minItems": 1,
                "items": reference("advertisement"),
            ],
            "scanResponse": [
                "description": "What scanners get that ask, at most 31 octets. Never beside an EID.",
                "type": "object",
                "properties": [
                    "localName": [
                        "description": "The name that phones show, at most 29 octets of UTF-8.", "type": "string",
                        "minLength": 1, "maxLength": 29,
                    ],
                    "structures": reference("structures"),
                ],
                "anyOf": [["required": ["localName"]], ["required": ["structures"]]],
                "additionalProperties": false,
            ],
        ]
    }

    private static var definitions: JSONValue {
        let kinds = AdvertisementKind.allCases.map { JSONValue.Member($0.rawValue, advertisement($0)) }
        let structures = structureDefinitions
        return .object(
            [.init("advertisement", choice(AdvertisementKind.allCases.map(\.rawValue), "Which frame is sent."))]
                + kinds + commonDefinitions + structures)
    }

    /// An object whose `type` selects one of the definitions.
    static func choice(_ types: [String], _ description: String) -> JSONValue {
        [
            "type": "object",
            "properties": [
                "type": ["description": .string(description), "enum": .array(types.map { .string($0) })]
            ],
            "required": ["type"],
            "allOf": .array(
                types.map { type in
                    [
                        "if": ["properties": ["type": ["const": .string(type)]], "required": ["type"]],
                        "then": reference(type),
                    ]
                }),
        ]
    }

    static func reference(_ name: String) -> JSONValue { ["$ref": .string("#/$defs/" + name)] }

    /// Members in the order of `keys`.
    static func object(_ keys: [String], _ values: [String: JSONValue]) -> JSONValue {
        .object(keys.compactMap { key in values[key].map { .init(key, $0) } })
    }
}

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
        case .btHome: "BTHome v2: values of the box that Home Assistant reads by itself."
        case .raw: "AD structures as they are, at most 31 octets."
        }
    }

    private static func requiredKeys(_ kind: AdvertisementKind) -> [String] {
        switch kind {
        case .iBeacon: ["uuid", "major", "minor"]
        case .altBeacon: ["companyId", "id"]
        case .eddystoneUID: ["namespace", "instance"]
        case .eddystoneURL: ["url"]
        case .eddystoneTLM, .btHome: []
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
        case .btHome:
            return [
                "temperature": sensor("Sensor of the temperature", "left out"),
                "battery": sensor("Sensor of the battery's charge", "left out"),
                "voltage": sensor("Sensor of the battery voltage", "left out"),
                "advertisements": [
                    "description": "Whether advertising events are counted; true by default.", "type": "boolean",
                ],
                "uptime": [
                    "description": "Whether seconds since the start are counted; false by default.",
                    "type": "boolean",
                ],
                "encryptionKeyFile": keyFile("encryption key, which Home Assistant asks for,"),
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

    private static func sensor(_ what: String, _ without: String = "unknown") -> JSONValue {
        [
            "description": .string("\(what), \"auto\" (the default) for what the box has, or null for \(without)."),
            "type": ["string", "null"], "minLength": 1,
        ]
    }
}
