internal import Airtime
internal import BluetoothTypes
internal import Configuration

/// The JSON Schema (draft 2020-12) of a site file, made from the same key lists as the decoder.
public enum SiteSchema {
    /// The text of `profiles/schema/site.schema.json`.
    public static var text: String { json.pretty }

    static var json: JSONValue {
        [
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "Pharos site",
            "description":
                "A floor with walls and beacons, for the planner. Lengths in metres, x to the east, y to the north.",
            "type": "object",
            "properties": [
                "$schema": ["description": "Where this schema lies, for editors.", "type": "string"],
                "version": ["description": "The version of the format.", "const": 1],
                "name": [
                    "description": "What this site is called: letters, digits, \".\", \"_\", \"-\".", "type": "string",
                    "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]*$", "maxLength": 64,
                ],
                "outline": list(
                    "The floor's corners in order; it may not cross itself.", reference("position"), atLeast: 3,
                    atMost: Site.cornerLimit),
                "walls": list("Straight walls, or rows of them.", reference("wall"), atMost: Site.wallLimit),
                "beacons": [
                    "description":
                        "The beacons, each at its place; or the fleet whose beacons have places of their own.",
                    "anyOf": [
                        list("The beacons, each at its place.", reference("beacon"), atMost: Site.beaconLimit),
                        reference("fleet"),
                    ],
                ],
                "mounts": list(
                    "Where beacons can be mounted, for proposals; left out where anywhere will do.",
                    reference("position"), atMost: Site.mountLimit),
                "paths": list("Ways that people walk.", reference("path"), atMost: Site.pathLimit),
                "defaults": beacon("What beacons are that say nothing of themselves.", Site.defaultKeys, required: []),
                "pathLoss": pathLoss,
                "receiverSensitivityDbm": number("The weakest power that is received (-90).", -130, 0),
                "backgroundLoad": number("The share of the channel that strangers keep busy.", 0, 0.99),
                "scanner": [
                    "description": "The receiver: a known one by its name, or its scan window and interval.",
                    "anyOf": [
                        ["enum": .array(ScannerPreset.all.map { .string($0.name) })],
                        [
                            "type": "object",
                            "properties": [
                                "windowMs": number("How long it listens.", 2.5, 40959.375),
                                "intervalMs": number("How often.", 2.5, 40959.375),
                            ],
                            "required": ["windowMs", "intervalMs"], "additionalProperties": false,
                        ],
                    ],
                ],
                "target": [
                    "description": "What is to be reached everywhere.", "type": "object",
                    "properties": [
                        "detectWithinS": number("How long detection may take.", 0.01, 3600),
                        "probability": number("In which share of the cases.", 0.01, 0.9999),
                    ],
                    "required": ["detectWithinS", "probability"], "additionalProperties": false,
                ],
            ],
            "required": ["version", "name", "target"],
            "anyOf": [["required": ["outline"]], ["required": ["walls"]], ["required": ["beacons"]]],
            "additionalProperties": false,
            "$defs": [
                "position": [
                    "description": "Metres east and north.", "type": "array", "minItems": 2, "maxItems": 2,
                    "items": number("Metres.", -Site.extent, Site.extent),
                ],
                "wall": wall, "beacon": beacon("A beacon.", Site.beaconKeys, required: ["position"]), "fleet": fleet,
                "path": path,
            ],
        ]
    }

    private static var wall: JSONValue {
        [
            "type": "object",
            "properties": [
                "from": reference("position"), "to": reference("position"),
                "points": list(
                    "Corners of a row of walls.", reference("position"), atLeast: 2, atMost: Site.wallLimit),
                "attenuationDb": number("What one crossing costs: plaster 3, brick 6, concrete 12.", 0, 100),
            ],
            "required": ["attenuationDb"],
            "oneOf": [["required": ["from", "to"]], ["required": ["points"]]],
            "additionalProperties": false,
        ]
    }

    private static var fleet: JSONValue {
        func text(_ description: String) -> JSONValue {
            ["description": .string(description), "type": "string", "minLength": 1]
        }
        return [
            "description": "A fleet. Its beacons bring their places, intervals, payloads and radio power.",
            "type": "object",
            "properties": [
                "fleet": text(
                    "The fleet file, the folder that `pharos fleet generate` wrote, or the manifest.json in it, relative to this file."
                ),
                "site": text("Which of the fleet's sites; left out where it has one."),
                "floor": text("Which floor of that."),
            ],
            "required": ["fleet"], "additionalProperties": false,
        ]
    }

    private static var path: JSONValue {
        [
            "type": "object",
            "properties": [
                "name": ["description": "What the path is called.", "type": "string"],
                "points": list(
                    "The corners of the way.", reference("position"), atLeast: 2, atMost: Site.cornerLimit),
                "speedMps": number("Metres a second (1.4).", 0.01, 100),
            ],
            "required": ["name", "points"], "additionalProperties": false,
        ]
    }

    private static var pathLoss: JSONValue {
        [
            "description": "How the mean power falls with the distance.", "type": "object",
            "properties": [
                "model": ["enum": ["log-distance", "heydon", "thesis", "itu"]],
                "lossAt1mDb": number("log-distance: loss at 1 m (65).", 0, 120),
                "exponent": number("log-distance: n (2.03).", 1, 8),
                "coefficient": number("itu: N (30).", 10, 80),
                "floorLossDb": number("itu: what the floors in between cost (0).", 0, 100),
                "shadowingDb": number("Standard deviation of each link (4).", 0, 20),
            ],
            "required": ["model"], "additionalProperties": false,
        ]
    }

    private static func beacon(_ description: String, _ keys: [String], required: [JSONValue]) -> JSONValue {
        let all: [String: JSONValue] = [
            "name": ["description": "What it is called.", "type": "string"], "position": reference("position"),
            "intervalMs": number("Advertising interval (500).", 20, 10240),
            "payloadOctets": [
                "description": "Octets of advertising data (31).", "type": "integer", "minimum": 0, "maximum": 31,
            ],
            "radioPowerDbm": number("What its antenna radiates (0).", -127, 20),
        ]
        return [
            "description": .string(description), "type": "object",
            "properties": .object(keys.compactMap { key in all[key].map { .init(key, $0) } }),
            "required": .array(required), "additionalProperties": false,
        ]
    }

    private static func list(
        _ description: String, _ items: JSONValue, atLeast least: Int = 1, atMost most: Int
    ) -> JSONValue {
        [
            "description": .string(description), "type": "array", "minItems": .integer(least),
            "maxItems": .integer(most), "items": items,
        ]
    }

    private static func number(_ description: String, _ low: Double, _ high: Double) -> JSONValue {
        ["description": .string(description), "type": "number", "minimum": real(low), "maximum": real(high)]
    }

    private static func real(_ value: Double) -> JSONValue {
        Int(exactly: value).map { .integer($0) } ?? JSONNumber("\(value)").map { .number($0) } ?? .null
    }

    private static func reference(_ name: String) -> JSONValue { ["$ref": .string("#/$defs/" + name)] }
}
