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
        + "|tcp:[^\\u0000-\\u0020\\u007f]+:[1-9][0-9]{0,4}"
        + "|serial:[^\\u0000-\\u001f\\u007f]+@[1-9][0-9]{0,8})$"

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
            "adapter": [
                "description": """
                The controller: hci0, hci0:user, hci0:mgmt, tcp:HOST:PORT, unix:PATH, \
                serial:PATH@BAUD or virtual. By default the first that there is.
                """,
                "type": "string",
                "pattern": .string(adapterPattern),
            ],
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
