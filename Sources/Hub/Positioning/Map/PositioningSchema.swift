internal import Configuration

/// The JSON Schemas (draft 2020-12) of maps and of the lines of surveys.
public enum PositioningSchema {
    /// The text of `profiles/schema/map.schema.json`.
    public static var map: String { mapJSON.pretty }

    /// The text of `profiles/schema/survey.schema.json`: what one line of a survey is.
    public static var survey: String { surveyJSON.pretty }

    private static let draft: JSONValue = "https://json-schema.org/draft/2020-12/schema"

    // MARK: Surveys

    private static var surveyJSON: JSONValue {
        [
            "$schema": draft,
            "title": "Pharos survey, one line",
            "description": "A survey is JSON Lines: each line is one of these objects.",
            "type": "object",
            "oneOf": [
                line(
                    "survey", "A recording begins.",
                    [
                        "survey": ["description": "The version of the format.", "const": 1],
                        "site": text("The site's name."),
                        "receiver": [
                            "description": "Who heard it.", "type": "object",
                            "properties": [
                                "name": text("Its name."), "adapter": text("Its adapter."),
                                "address": text("Its address."),
                            ],
                        ],
                        "started": text("When, RFC 3339."),
                    ]),
                line(
                    "stay", "Somebody stays at a place.",
                    [
                        "stay": count("Its number."), "place": text("The place's name."), "position": position,
                        "floor": text("The floor's name."),
                        "heading": [
                            "description": "Degrees clockwise from north, or unknown.",
                            "anyOf": [["type": "number"], ["const": "unknown"], ["type": "null"]],
                        ],
                        "session": text("What was recorded together, such as a day."),
                    ]),
                line(
                    "t", "One second of the stay.",
                    [
                        "t": number("Seconds since it began."),
                        "rssi": [
                            "description": "Every packet's level in dBm, by beacon; empty where nothing was heard.",
                            "type": "object",
                            "additionalProperties": [
                                "anyOf": [["type": "number"], ["type": "array", "items": ["type": "number"]]]
                            ],
                        ],
                    ], also: ["rssi"]),
                line(
                    "end", "The stay ends.",
                    ["end": count("Its number."), "seconds": count("How many seconds it has.")]),
                line("drop", "A stay is taken back.", ["drop": count("Its number.")]),
                line(
                    "move", "A stay was taken elsewhere.",
                    ["move": count("Its number."), "position": position, "place": text("The place's name.")],
                    also: ["position"]),
            ],
        ]
    }

    private static func line(
        _ key: String, _ description: String, _ properties: [String: JSONValue], also: [String] = []
    ) -> JSONValue {
        [
            "description": .string(description), "type": "object", "properties": sorted(properties),
            "required": .array(([key] + also).map(JSONValue.string)),
        ]
    }

    // MARK: Maps

    private static var mapJSON: JSONValue {
        [
            "$schema": draft,
            "title": "Pharos map",
            "description": "What is heard where, as pharos map fit writes it.",
            "type": "object",
            "properties": sorted([
                "$schema": text("Where this schema lies, for editors."),
                "version": ["description": "The version of the format.", "const": .integer(SignalMap.version)],
                "site": optional("string", "The site's name; null where no recording has one."),
                "created": optional("string", "When the newest recording began; null where none says."),
                "surveys": list(
                    "The files that it was made from.",
                    ["name": text("As it was named."), "sha256": text("Of its bytes.")]),
                "algorithm": settings, "places": places, "beacons": beacons,
                "statistics": [
                    "description": "What was heard at each place, in the order of places.", "type": "array",
                    "items": statistics,
                ],
                "vectors": [
                    "description":
                        "The survey's seconds: [place, stay, visit, seconds, [beacon, dBm, …]]; null where no algorithm needs them.",
                    "type": ["array", "null"], "items": ["type": "array", "minItems": 5, "maxItems": 5],
                ],
                "field": [
                    "description":
                        "The floor that a map without a survey is computed from; null for a map of a survey.",
                    "type": ["object", "null"], "properties": ["site": ["type": "object"]], "required": ["site"],
                ],
                "evaluation": optional("object", "What leaving visits out told, as map evaluate --json prints it."),
            ]),
            "required": ["version", "algorithm", "places", "beacons", "statistics"],
            "additionalProperties": false,
        ]
    }

    private static var settings: JSONValue {
        [
            "description": "How a place is found, with all parameters.", "type": "object",
            "properties": sorted([
                "name": [
                    "description": "The algorithm.",
                    "enum": .array(
                        (PositioningAlgorithm.allCases + PositioningAlgorithm.baselines).map { .string($0.rawValue) }),
                ],
                "window": optional("integer", "Seconds that count at once; null for all."),
                "reading": [
                    "description": "What relative is relative in.",
                    "enum": .array(RelativeReading.allCases.map { .string($0.rawValue) }),
                ],
                "penalty": number("What relative adds for a beacon that one side has."),
                "prints": [
                    "description": "What relative compares with.",
                    "enum": .array(LocatorSettings.Prints.allCases.map { .string($0.rawValue) }),
                ],
                "neighbors": count("How many vectors wknn takes."),
                "receiverOffset": [
                    "description": "auto, or dB.", "anyOf": [["const": "auto"], ["type": "number"]],
                ],
                "temper": number("What the log-likelihood is divided by."),
                "gridM": optional("number", "Metres between the cells; null for the standard."),
            ]), "required": ["name"],
        ]
    }

    private static var places: JSONValue {
        list(
            "Where the survey stayed.",
            [
                "name": text("Its name."), "position": optional("array", "Metres east and north."),
                "floor": optional("string", "The floor; null on sites with one."), "seconds": count("Seconds there."),
                "headings": ["description": "In degrees.", "type": "array", "items": ["type": "number"]],
            ], ["name"])
    }

    private static var beacons: JSONValue {
        list(
            "What the survey heard.",
            [
                "key": text("What it is called."), "position": optional("array", "Metres east and north."),
                "seconds": count("Seconds in which it was heard."),
                "trend": [
                    "description":
                        "Its level over the distance d, dbmAt1m - 10 * exponent * log10 d; null where no place has a position.",
                    "type": ["object", "null"],
                    "properties": sorted([
                        "center": position,
                        "dbmAt1m": number("In dBm."), "exponent": number("0.5 to 4."),
                    ]),
                ],
            ], ["key"])
    }

    private static var statistics: JSONValue {
        list(
            "Each beacon that was heard there.",
            [
                "beacon": count("Its place in beacons."), "heard": count("Seconds."), "mean": number("In dBm."),
                "median": number("In dBm."), "minimum": number("In dBm."), "maximum": number("In dBm."),
                "standardDeviation": optional("number", "In dB; null for one second."),
                "histogram": [
                    "description": "How often each level was heard: [dBm, seconds].", "type": "array",
                    "items": ["type": "array", "items": ["type": "integer"], "minItems": 2, "maxItems": 2],
                ],
            ], ["beacon", "heard", "mean"])
    }

    // MARK: Parts

    private static var position: JSONValue {
        [
            "description": "Metres east and north.", "type": "array", "items": ["type": "number"], "minItems": 2,
            "maxItems": 2,
        ]
    }

    private static func list(
        _ description: String, _ properties: [String: JSONValue], _ required: [String] = []
    ) -> JSONValue {
        [
            "description": .string(description), "type": "array",
            "items": [
                "type": "object", "properties": sorted(properties), "required": .array(required.map(JSONValue.string)),
            ],
        ]
    }

    private static func sorted(_ members: [String: JSONValue]) -> JSONValue {
        .record(members.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
    }

    private static func text(_ description: String) -> JSONValue {
        ["description": .string(description), "type": "string"]
    }

    private static func number(_ description: String) -> JSONValue {
        ["description": .string(description), "type": "number"]
    }

    private static func count(_ description: String) -> JSONValue {
        ["description": .string(description), "type": "integer"]
    }

    private static func optional(_ type: String, _ description: String) -> JSONValue {
        ["description": .string(description), "type": [.string(type), "null"]]
    }
}
