public import Configuration

/// The JSON Schema of the `zones` of a listener file, made from the same key lists as the decoder.
public enum ZoneSchema {
    /// The list. A name refers to `#/$defs/name` and a word to `#/$defs/label` of the file's schema.
    public static var json: JSONValue {
        [
            "description": "Zones that beacons enter and leave.", "type": "array", "minItems": 1,
            "items": [
                "description": "A zone around beacons.", "type": "object",
                "properties": .object(
                    ZoneSection.keys.compactMap { key in properties[key].map { JSONValue.Member(key, $0) } }),
                "required": ["name"],
                "oneOf": [["required": ["tag"]], ["required": ["beacons"]]],
                "not": ["required": ["withinM", "aboveDbm"]],
                "dependentSchemas": [
                    "leaveBelowDbm": ["required": ["aboveDbm"]],
                    "leaveBeyondM": ["not": ["required": ["aboveDbm"]]],
                ],
                "additionalProperties": false,
            ],
        ]
    }

    private static var properties: [String: JSONValue] {
        [
            "name": ["description": "What the zone is called.", "$ref": "#/$defs/name"],
            "tag": ["description": "The tag of its beacons.", "$ref": "#/$defs/label"],
            "beacons": [
                "description": "Its beacons by name.", "type": "array", "minItems": 1, "uniqueItems": true,
                "items": ["type": "string"],
            ],
            "per": [
                "description":
                    "Whether each beacon has its own place in it (beacon, the default with a tag) or all share one (zone).",
                "enum": .array(ZoneRule.Per.allCases.map { .string($0.rawValue) }),
            ],
            "withinM": number("How near a beacon is inside, in metres (1).", ZoneSection.distances),
            "leaveBeyondM": number("Beyond which it is outside, in metres (1.5 times withinM).", ZoneSection.distances),
            "aboveDbm": integer(
                "The level from which on a beacon is inside.", ZoneSection.levels),
            "leaveBelowDbm": integer(
                "The level below which it is outside (6 dB less than aboveDbm).", ZoneSection.levels),
            "reports": integer("Reports that are needed to enter (2).", ZoneSection.reports),
            "windowS": automatic(
                "Within so many seconds: auto is 3 s, or 3 periods of the beacon.", ZoneSection.windows),
            "leaveAfterS": number("How long it must be outside to leave, in seconds (5).", ZoneSection.leaveTimes),
            "silentAfterS": automatic(
                "The silence after which it has left, in seconds: auto computes it from interval and loss.",
                ZoneSection.silences),
            "dwellS": [
                "description": "After how many seconds inside that is told, ascending.", "type": "array", "minItems": 1,
                "uniqueItems": true, "items": integer("Seconds.", ZoneSection.dwells),
            ],
            "exclusive": [
                "description": "Of all zones with this word only the nearest is inside.", "$ref": "#/$defs/name",
            ],
            "proof": [
                "description": "What a beacon must show: its identity (none) or an ephemeral id of its key (eid).",
                "enum": .array(ZoneRule.Proof.allCases.map { .string($0.rawValue) }),
            ],
            "onEnter": content("What is said on entering."), "onExit": content("What is said on leaving."),
        ]
    }

    private static func content(_ description: String) -> JSONValue {
        func text(_ limit: Int) -> JSONValue {
            ["description": "${key} stands for an attachment.", "type": "string", "maxLength": .integer(limit)]
        }
        return [
            "description": .string(description), "type": "object",
            "properties": [
                "title": text(ZoneSection.textLimits.title), "body": text(ZoneSection.textLimits.body),
            ], "additionalProperties": false,
        ]
    }

    private static func automatic(_ description: String, _ range: ClosedRange<Int>) -> JSONValue {
        [
            "description": .string(description),
            "anyOf": [["const": .string(ZoneSection.automatic)], number("Seconds.", range)],
        ]
    }

    private static func number(_ description: String, _ range: ClosedRange<Int>) -> JSONValue {
        [
            "description": .string(description), "type": "number",
            "minimum": .number(JSONNumber(thousandths: range.lowerBound)),
            "maximum": .number(JSONNumber(thousandths: range.upperBound)),
        ]
    }

    private static func integer(_ description: String, _ range: ClosedRange<Int>) -> JSONValue {
        [
            "description": .string(description), "type": "integer", "minimum": .integer(range.lowerBound),
            "maximum": .integer(range.upperBound),
        ]
    }
}
