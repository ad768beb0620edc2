internal import BluetoothTypes
internal import Configuration

/// The JSON Schema (draft 2020-12) of an inventory file, made from the same key lists as the decoder.
public enum InventorySchema {
    /// The text of `profiles/schema/inventory.schema.json`.
    public static var text: String { json.pretty }

    static var json: JSONValue {
        [
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "Pharos inventory",
            "description": "Things with beacons on them, and where they belong.",
            "type": "object",
            "properties": object(Inventory.keys, properties),
            "required": ["version", "name", "items"],
            "allOf": [
                [
                    "if": ["properties": ["rule": ["const": "shared-queue"]], "required": ["rule"]],
                    "then": ["required": ["capacity"], "not": ["required": ["rounds"]]],
                    "else": ["not": ["required": ["capacity"]]],
                ]
            ],
            "additionalProperties": false,
            "$defs": [
                "name": [
                    "description": "Letters, digits, \".\", \"_\", \"-\".", "type": "string",
                    "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]*$", "maxLength": .integer(ConfigurationDecoder.nameLimit),
                ],
                "identity": [
                    "description":
                        "ibeacon:UUID-MAJOR-MINOR, altbeacon:COMPANY-ID, uid:NAMESPACE-INSTANCE, url:TEXT or address:AA:BB:CC:DD:EE:FF.",
                    "type": "string", "pattern": "^(ibeacon|altbeacon|uid|url|address):",
                ],
                "position": [
                    "description": "Metres east and north on the site's plan.", "type": "array", "minItems": 2,
                    "maxItems": 2, "items": number("Metres.", Inventory.Position.limit),
                ],
            ],
        ]
    }

    private static var properties: [String: JSONValue] {
        [
            "$schema": ["description": "Where this schema lies, for editors.", "type": "string"],
            "version": ["description": "The version of the format.", "const": 1],
            "name": named("What this inventory is called: letters, digits, \".\", \"_\", \"-\"."),
            "title": label("What people call it."),
            "site": label("The site file whose plan the positions are on, relative to this file.", Inventory.noteLimit),
            "rule": [
                "description":
                    "What is remembered: the last rounds of each beacon (window, the default), or one queue for all (shared-queue), in which none is found once too many are near.",
                "enum": .array(CountRule.Kind.allCases.map { .string($0.rawValue) }),
            ],
            "rounds": integer(
                "window: how many rounds of a second (6), of which 4 must hear it near.", CountRule.roundLimits),
            "capacity": integer("shared-queue: how many sightings it holds.", CountRule.capacityLimits),
            "withinM": number("Up to this distance a beacon is near, in metres (1).", CountRule.distanceLimits),
            "lowBatteryMv": integer("A battery below this is low, in millivolts (2400).", Inventory.batteries),
            "beacons": list(
                "What is known of beacons.", Inventory.beaconKeys,
                [
                    "name": named("What items may call it instead of its identity."),
                    "identity": ["$ref": "#/$defs/identity"],
                    "intervalMs": number("The interval that it is configured with.", Inventory.intervals),
                    "measuredPowerAt1mDbm": integer("What a receiver sees at 1 m.", Inventory.calibrations),
                ], required: ["identity"]),
            "places": list(
                "Where things belong.", Inventory.placeKeys,
                ["name": label("What the place is called."), "position": ["$ref": "#/$defs/position"]],
                required: ["name"]),
            "items": list(
                "The things.", Inventory.itemKeys,
                [
                    "id": named("What tells it from others: letters, digits, \".\", \"_\", \"-\"."),
                    "name": label("What it is called."),
                    "beacon": [
                        "description": "The beacon on it: its identity, or its name in \"beacons\".",
                        "type": "string",
                        "anyOf": [["$ref": "#/$defs/identity"], ["$ref": "#/$defs/name"]],
                    ],
                    "place": label("The name of the place where it belongs."),
                    "position": ["$ref": "#/$defs/position"],
                    "note": label("What else there is to say.", Inventory.noteLimit),
                    "photo": label("A picture's file, relative to this file.", Inventory.noteLimit),
                ], required: ["id", "name", "beacon"]),
        ]
    }

    // MARK: Forms

    /// The members in the order of `keys`.
    private static func object(_ keys: [String], _ values: [String: JSONValue]) -> JSONValue {
        .object(keys.compactMap { key in values[key].map { JSONValue.Member(key, $0) } })
    }

    private static func list(
        _ description: String, _ keys: [String], _ values: [String: JSONValue], required: [String]
    ) -> JSONValue {
        [
            "description": .string(description), "type": "array", "maxItems": .integer(Inventory.itemLimit),
            "items": [
                "type": "object", "properties": object(keys, values),
                "required": .array(required.map(JSONValue.string)), "additionalProperties": false,
            ],
        ]
    }

    private static func named(_ description: String) -> JSONValue {
        ["description": .string(description), "$ref": "#/$defs/name"]
    }

    private static func label(_ description: String, _ limit: Int = Inventory.nameLimit) -> JSONValue {
        [
            "description": .string(description), "type": "string", "minLength": 1, "maxLength": .integer(limit),
            "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f]*$",
        ]
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
