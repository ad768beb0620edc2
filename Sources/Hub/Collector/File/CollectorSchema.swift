internal import Configuration
internal import Messaging
internal import Sightings

/// The JSON Schema (draft 2020-12) of a collector file, made from the same key lists as the decoder.
public enum CollectorSchema {
    /// The text of `profiles/schema/collector.schema.json`.
    public static var text: String { json.pretty }

    private static var json: JSONValue {
        [
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "Pharos collector",
            "description": "The receivers of a site and their positions.",
            "type": "object",
            "properties": object(CollectorFile.keys, properties),
            "required": ["version", "name", "receivers"],
            "additionalProperties": false,
            "$defs": [
                "name": [
                    "description": "Letters, digits, \".\", \"_\", \"-\".", "type": "string",
                    "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]*$", "maxLength": .integer(ConfigurationDecoder.nameLimit),
                ],
                "label": [
                    "description": "A text for people.", "type": "string", "minLength": 1,
                    "maxLength": .integer(ConfigurationDecoder.labelLimit),
                ],
                "position": [
                    "description": "Position on the floor plan: [metres east, metres north].", "type": "array",
                    "minItems": 2,
                    "maxItems": 2, "items": number("Metres.", CollectorFile.extent),
                ],
            ],
        ]
    }

    private static var properties: [String: JSONValue] {
        [
            "$schema": ["description": "Path or URL of the JSON Schema of this file, for editors.", "type": "string"],
            "version": ["description": "Version of the format, which is 1.", "const": 1],
            "name": reference("Name of this site.", "name"),
            "floors": list(
                "The floors, from the lowest to the highest.", CollectorFile.floorKeys,
                [
                    "name": reference("Name of the floor.", "label"),
                    "site": [
                        "description": "Site file of the floor, relative to this file.", "type": "string",
                        "pattern": "^[^\\u0000]+$",
                    ],
                    "rooms": list(
                        "Rooms of the floor. Where two overlap, the first counts.", CollectorFile.roomKeys,
                        [
                            "name": reference("Name of the room.", "label"),
                            "outline": [
                                "description": "Corners of the room in order.", "type": "array", "minItems": 3,
                                "maxItems": .integer(CollectorFile.partLimit), "items": ["$ref": "#/$defs/position"],
                            ],
                        ], required: CollectorFile.roomKeys, limit: CollectorFile.partLimit),
                ], required: ["name", "site"], limit: CollectorFile.partLimit),
            "receivers": list(
                "The receivers and their positions.", CollectorFile.receiverKeys,
                [
                    "name": reference("Name of the receiver.", "name"),
                    "floor": reference("Floor of the receiver.", "label"),
                    "room": reference("Room of the receiver.", "label"),
                    "position": ["$ref": "#/$defs/position"],
                    "rssiOffsetDb": integer(
                        "Correction of the receiver: dB added to each received level. Default: 0.",
                        CollectorFile.offsets),
                ], required: ["name"], limit: CollectorFile.receiverLimit),
            "beacons": list(
                "Names and properties of beacons.", CollectorFile.beaconKeys,
                [
                    "name": reference("Name of the beacon or of the person who carries it.", "name"),
                    "identity": [
                        "description": "Identity, such as ibeacon:UUID-MAJOR-MINOR.", "type": "string",
                        "pattern": "^(ibeacon|altbeacon|uid|url|eid|address):",
                    ],
                    "intervalMs": number("Configured advertising interval, in ms.", CollectorFile.intervals),
                    "measuredPowerAt1mDbm": integer(
                        "Signal strength at 1 m, in dBm.", DistanceEstimate.plausiblePowers),
                ], required: ["name", "identity"], limit: CollectorFile.beaconLimit),
            "strangers": [
                "description":
                    "Beacons that are not known: only count them (count, the default), or report each (list).",
                "enum": .array(CollectorFile.Strangers.allCases.map { .string($0.rawValue) }),
            ],
            "cellM": number(
                "Size of the cells of the floor, in metres. Default: 0.5, and 1 for large floors.", CollectorFile.cells),
            "mqtt": BrokerKeys.mqtt.schema,
            "history": [
                "description": "The database of past events. Without it none are kept.", "type": "object",
                "properties": object(
                    CollectorFile.historyKeys,
                    [
                        "file": path("SQLite database. Default: NAME.collect.db in /var/lib/pharos."),
                        "days": integer(
                            "Events older than this many days are deleted. Default: 400.", CollectorFile.days),
                    ]), "additionalProperties": false,
            ],
            "postgresql": [
                "description": "A PostgreSQL database for the history of several sites.", "type": "object",
                "properties": object(
                    CollectorFile.siteStoreKeys,
                    [
                        "connection": [
                            "description":
                                "Connection string of libpq, such as host=db dbname=pharos user=pharos sslmode=verify-full; no password.",
                            "type": "string", "minLength": 1, "maxLength": .integer(CollectorFile.connectionLimit),
                            "pattern": "^[^\\u0000]+$",
                        ],
                        "passwordFile": path("File of mode 0600 with the password in one line."),
                    ]), "required": ["connection"], "additionalProperties": false,
            ],
            "fastestMPerS": number("Highest speed of a beacon, in m/s. Default: 1.5.", CollectorFile.speeds),
        ]
    }

    // MARK: Forms

    /// The members in the order of `keys`.
    private static func object(_ keys: [String], _ values: [String: JSONValue]) -> JSONValue {
        .object(keys.compactMap { key in values[key].map { JSONValue.Member(key, $0) } })
    }

    private static func list(
        _ description: String, _ keys: [String], _ values: [String: JSONValue], required: [String], limit: Int
    ) -> JSONValue {
        [
            "description": .string(description), "type": "array", "minItems": 1, "maxItems": .integer(limit),
            "items": [
                "type": "object", "properties": object(keys, values),
                "required": .array(required.map(JSONValue.string)), "additionalProperties": false,
            ],
        ]
    }

    private static func path(_ description: String) -> JSONValue {
        ["description": .string(description), "type": "string", "pattern": "^[^\\u0000]+$"]
    }

    private static func reference(_ description: String, _ name: String) -> JSONValue {
        ["description": .string(description), "$ref": .string("#/$defs/\(name)")]
    }

    private static func integer(_ description: String, _ range: ClosedRange<Int>) -> JSONValue {
        [
            "description": .string(description), "type": "integer", "minimum": .integer(range.lowerBound),
            "maximum": .integer(range.upperBound),
        ]
    }

    /// Within so many thousandths.
    private static func number(_ description: String, _ range: ClosedRange<Int>) -> JSONValue {
        [
            "description": .string(description), "type": "number",
            "minimum": .number(JSONNumber(thousandths: range.lowerBound)),
            "maximum": .number(JSONNumber(thousandths: range.upperBound)),
        ]
    }
}
