internal import Configuration
internal import Listener
internal import Messaging
internal import Zones

/// The JSON Schema of a whole listener file.
public enum HubSchema {
    /// The text of `profiles/schema/listener.schema.json`.
    public static var text: String { ListenerSchema.text(sections) }

    private static var sections: [String: JSONValue] {
        [
            "zones": ZoneSchema.json,
            "mqtt": BrokerSchema.json,
            "history": [
                "description": "What is kept of what happened.", "type": "object",
                "properties": [
                    "file": [
                        "description": "The database; by default NAME.db in /var/lib/pharos.", "type": "string",
                        "pattern": "^[^\\u0000]+$",
                    ],
                    "days": [
                        "description": "After how many days events are forgotten (400).", "type": "integer",
                        "minimum": .integer(HubSections.days.lowerBound),
                        "maximum": .integer(HubSections.days.upperBound),
                    ],
                ], "additionalProperties": false,
            ],
            "hooks": [
                "description": "Programs that are started when something happens in a zone.", "type": "array",
                "minItems": 1, "items": hook,
            ],
        ]
    }

    private static var hook: JSONValue {
        let events = ZoneEvent.Kind.allCases.map { JSONValue.string($0.rawValue) }
        return [
            "description": "A program; it reads the event as JSON.", "type": "object",
            "properties": [
                "on": [
                    "description": "What starts it.",
                    "enum": .array(events + [.string(HubSections.everything)]),
                ],
                "zone": ["description": "In which zone; by default in any.", "$ref": "#/$defs/name"],
                "run": [
                    "description": "The program and what it is given; there is no shell.", "type": "array",
                    "minItems": 1, "maxItems": .integer(HubSections.wordLimits.count),
                    "items": ["type": "string", "maxLength": .integer(HubSections.wordLimits.length)],
                ],
            ], "required": ["on", "run"], "additionalProperties": false,
        ]
    }
}
