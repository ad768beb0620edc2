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
            "description": "What one Linux machine sends as a Bluetooth beacon.",
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
            The Bluetooth adapter: hci0, hci0:user, hci0:mgmt, tcp:HOST:PORT, unix:PATH, \
            serial:PATH@RATE or virtual. Default: the first adapter.
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
            "$schema": ["description": "Path or URL of the JSON Schema of this file, for editors.", "type": "string"],
            "version": ["description": "Version of the format, which is 1.", "const": 1],
            "name": [
                "description":
                    "Name of this beacon, also of its files and units: letters, digits, \".\", \"_\" and \"-\".",
                "type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]*$",
                "maxLength": .integer(ConfigurationDecoder.nameLimit),
            ],
            "adapter": adapter,
            "address": reference("address"), "radioPowerDbm": reference("radioPowerDbm"),
            "channels": reference("channels"), "pdu": reference("pdu"), "calibration": reference("calibration"),
            "eidEpoch": [
                "description": """
                Time at which the counter of the ephemeral ids was 65280, in RFC 3339, such as \
                2026-03-01T12:00:00Z.
                """,
                "type": "string", "format": "date-time",
                "pattern": .string(timePattern),
            ],
            "advertisements": [
                "description": "The advertisements, each with its own interval.", "type": "array", "minItems": 1,
                "items": reference("advertisement"),
            ],
            "scanResponse": [
                "description": "Data for scanners that ask for it, at most 31 bytes. Not allowed together with an EID.",
                "type": "object",
                "properties": [
                    "localName": [
                        "description": "Name that phones show, at most 29 bytes of UTF-8.", "type": "string",
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
            [.init("advertisement", choice(AdvertisementKind.allCases.map(\.rawValue), "Type of the frame."))]
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
        properties["type"] = ["description": "The type of this advertisement.", "const": .string(kind.rawValue)]
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
        case .eddystoneURL: "Eddystone-URL: a web address of at most 17 bytes after compression."
        case .eddystoneTLM: "Eddystone-TLM: battery, temperature and counters of the beacon."
        case .eddystoneEID: "Eddystone-EID: an id that changes, and that only holders of the key can resolve."
        case .btHome: "BTHome v2: values of the machine that Home Assistant reads without configuration."
        case .raw: "AD structures as given, at most 31 bytes."
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
                "uuid": hexadecimal("Proximity UUID, 16 bytes, usually the same for all beacons of one owner.", 16),
                "major": integer("Major number: a group of beacons.", 0...65_535),
                "minor": integer("Minor number: one beacon of the group.", 0...65_535),
                "flags": flags("Flags byte; null omits the structure. Default: 6."),
            ]
        case .altBeacon:
            return [
                "companyId": reference("companyId"),
                "id": hexadecimal("Beacon id, 20 bytes; the first 16 are the owner's.", 20),
                "reserved": integer("Byte that the manufacturer may use. Default: 0.", 0...255),
                "flags": flags("Flags byte; null omits the structure. Default: 6."),
            ]
        case .eddystoneUID:
            return [
                "namespace": hexadecimal("Namespace, 10 bytes, the same for all beacons of one owner.", 10),
                "instance": hexadecimal("Instance, 6 bytes, different for each beacon.", 6),
            ]
        case .eddystoneURL:
            return [
                "url": [
                    "description": """
                    Web address that starts with http:// or https://, at most 17 bytes of visible ASCII \
                    after compression.
                    """,
                    "type": "string", "pattern": "^[Hh][Tt][Tt][Pp][Ss]?://[!-~]+$",
                ]
            ]
        case .eddystoneTLM:
            return [
                "temperature": sensor("Sensor of the temperature"), "battery": sensor("Sensor of the battery voltage"),
                "encrypted": [
                    "description":
                        "Encrypt the telemetry, so that only holders of the key can read it. Default: false.",
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
                "temperature": sensor("Sensor of the temperature", "no value"),
                "battery": sensor("Sensor of the battery's charge", "no value"),
                "voltage": sensor("Sensor of the battery voltage", "no value"),
                "advertisements": [
                    "description": "Send the number of advertising events. Default: true.", "type": "boolean",
                ],
                "uptime": [
                    "description": "Send the number of seconds since the start. Default: false.",
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
        let sent = kind.isEddystone ? " The packet carries \(step) dB more, the value for 0 m." : ""
        return integer(
            "Signal strength that a receiver measures at 1 m, in dBm.\(sent)",
            MeasuredPowerAtOneMeter.range.lowerBound...high)
    }

    private static func sensor(_ what: String, _ without: String = "an unknown value") -> JSONValue {
        [
            "description": .string(
                "\(what), \"auto\" (the default) for the sensor of the machine, or null for \(without)."),
            "type": ["string", "null"], "minLength": 1,
        ]
    }
}
