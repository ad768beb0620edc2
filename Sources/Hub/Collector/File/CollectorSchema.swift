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
            "description": "The receivers of a site, and where they stand.",
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
                    "description": "A text that people read.", "type": "string", "minLength": 1,
                    "maxLength": .integer(ConfigurationDecoder.labelLimit),
                ],
                "position": [
                    "description": "Metres east and north on the floor's plan.", "type": "array", "minItems": 2,
                    "maxItems": 2, "items": number("Metres.", CollectorFile.extent),
                ],
            ],
        ]
    }

    private static var properties: [String: JSONValue] {
        [
            "$schema": ["description": "Where this schema lies, for editors.", "type": "string"],
            "version": ["description": "The version of the format.", "const": 1],
            "name": reference("What this site is called.", "name"),
            "floors": list(
                "The floors, the lowest first.", CollectorFile.floorKeys,
                [
                    "name": reference("What the floor is called.", "label"),
                    "site": [
                        "description": "Its site file, relative to this file.", "type": "string",
                        "pattern": "^[^\\u0000]+$",
                    ],
                    "rooms": list(
                        "Its rooms; of two that overlap the first counts.", CollectorFile.roomKeys,
                        [
                            "name": reference("What the room is called.", "label"),
                            "outline": [
                                "description": "Its corners.", "type": "array", "minItems": 3,
                                "maxItems": .integer(CollectorFile.partLimit), "items": ["$ref": "#/$defs/position"],
                            ],
                        ], required: CollectorFile.roomKeys, limit: CollectorFile.partLimit),
                ], required: ["name", "site"], limit: CollectorFile.partLimit),
            "receivers": list(
                "Who hears, and where.", CollectorFile.receiverKeys,
                [
                    "name": reference("What the receiver is called.", "name"),
                    "floor": reference("The floor that it is on.", "label"),
                    "room": reference("The room that it is in.", "label"),
                    "position": ["$ref": "#/$defs/position"],
                    "rssiOffsetDb": integer("What it shows too little.", CollectorFile.offsets),
                ], required: ["name"], limit: CollectorFile.receiverLimit),
            "beacons": list(
                "What is known of beacons.", CollectorFile.beaconKeys,
                [
                    "name": reference("What the beacon, or who carries it, is called.", "name"),
                    "identity": [
                        "description": "Its identity.", "type": "string",
                        "pattern": "^(ibeacon|altbeacon|uid|url|eid|address):",
                    ],
                    "intervalMs": number("The interval that it is configured with.", CollectorFile.intervals),
                    "measuredPowerAt1mDbm": integer("What a receiver sees at 1 m.", DistanceEstimate.plausiblePowers),
                ], required: ["name", "identity"], limit: CollectorFile.beaconLimit),
            "strangers": [
                "description": "Beacons without a name are counted (count, the default) or told one by one (list).",
                "enum": .array(CollectorFile.Strangers.allCases.map { .string($0.rawValue) }),
            ],
            "cellM": number("The side of a cell of the floor (0.5, on large floors 1).", CollectorFile.cells),
            "mqtt": BrokerSchema.json,
            "history": [
                "description": "What is kept of what happened; without it nothing is.", "type": "object",
                "properties": object(
                    CollectorFile.historyKeys,
                    [
                        "file": path("The database; by default NAME.collect.db in /var/lib/pharos."),
                        "days": integer("After how many days events are forgotten (400).", CollectorFile.days),
                    ]), "additionalProperties": false,
            ],
            "postgresql": [
                "description": "A database of PostgreSQL that keeps the history of several sites.", "type": "object",
                "properties": object(
                    CollectorFile.siteStoreKeys,
                    [
                        "connection": [
                            "description":
                                "As libpq takes it, such as host=db dbname=pharos user=pharos sslmode=verify-full; no password.",
                            "type": "string", "minLength": 1, "maxLength": .integer(CollectorFile.connectionLimit),
                            "pattern": "^[^\\u0000]+$",
                        ],
                        "passwordFile": path("A file of mode 0600 with the password in its one line."),
                    ]), "required": ["connection"], "additionalProperties": false,
            ],
            "fastestMPerS": number("How fast a beacon is carried (1.5).", CollectorFile.speeds),
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
