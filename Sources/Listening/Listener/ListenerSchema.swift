internal import BluetoothTypes
public import Configuration
internal import HCI
internal import Profiles

/// The JSON Schema (draft 2020-12) of a listener file, made from the same key lists as the decoder.
public enum ListenerSchema {
    /// The text of `profiles/schema/listener.schema.json`.
    ///
    /// - Parameter sections: The schemas of what only the service uses, by key.
    public static func text(_ sections: [String: JSONValue]) -> String { json(sections).pretty }

    private static func json(_ sections: [String: JSONValue]) -> JSONValue {
        [
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "Pharos listener",
            "description": "What a receiver is, whom it knows, and what it keeps of what it hears.",
            "type": "object",
            "properties": object(ListenerFile.keys, properties.merging(sections) { _, section in section }),
            "required": ["version", "name"],
            "anyOf": [
                ["required": ["known"]], ["required": ["irks"]],
                ["properties": ["strangers": ["const": "list"]], "required": ["strangers"]],
            ],
            "additionalProperties": false,
            "$defs": [
                "name": [
                    "description": "Letters, digits, \".\", \"_\", \"-\".", "type": "string",
                    "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]*$", "maxLength": .integer(ConfigurationDecoder.nameLimit),
                ],
                "label": label("A text that people read."),
                "beacon": beacon,
            ],
        ]
    }

    private static var properties: [String: JSONValue] {
        [
            "$schema": ["description": "Where this schema lies, for editors.", "type": "string"],
            "version": ["description": "The version of the format.", "const": 1],
            "name": named("What this receiver is called: letters, digits, \".\", \"_\", \"-\"."),
            "adapter": BeaconSchema.adapter, "scan": scan, "place": place,
            "rssiOffsetDb": BeaconSchema.integer(
                "What this receiver shows too little, in dB: it is added to each level (0).", ListenerFile.levelOffsets),
            "known": list("Whose advertisements have a name.", known),
            "keys": path(
                "The directory of the keys of ephemeral ids and addresses. By default a fleet's lie beside it, others where this file is."
            ),
            "irks": list("The keys of telephones and watches, which change their address.", addressKey),
            "strangers": [
                "description": "Beacons without a name are counted (count, the default) or told one by one (list).",
                "enum": .array(ListenerFile.Strangers.allCases.map { .string($0.rawValue) }),
            ],
        ]
    }

    private static var scan: JSONValue {
        let range = ScanInterval.legacyRange
        func interval(_ description: String) -> JSONValue {
            number(description, range.lowerBound.microseconds...range.upperBound.microseconds)
        }
        return closed(
            "How is listened.", ListenerFile.scanKeys,
            [
                "mode": [
                    "description": "Whether scannable beacons are asked for their scan response (passive).",
                    "enum": .array(ListenerFile.ScanMode.allCases.map { .string($0.rawValue) }),
                ],
                "intervalMs": interval("How often the channel changes (60)."),
                "windowMs": interval("How long is listened after each change; by default always."),
            ])
    }

    private static var place: JSONValue {
        closed(
            "Where the receiver is, as the fleet's groups are called.", ListenerFile.placeKeys,
            [
                "site": label("The outermost group."), "floor": label("The group in that."),
                "room": label("The group in that."),
                "position": [
                    "description": "Metres east and north on the site's plan.", "type": "array", "minItems": 2,
                    "maxItems": 2, "items": number("Metres.", -ListenerFile.extent...ListenerFile.extent),
                ],
            ])
    }

    private static var known: JSONValue {
        func source(_ key: String, _ description: String) -> JSONValue {
            closed("A file with names.", [key], [key: path(description)], required: [key])
        }
        return [
            "anyOf": [
                source("fleet", "A fleet file, the directory that `pharos fleet generate` wrote, or its manifest."),
                source("profile", "A beacon profile."),
                source("inventory", "An inventory: each of its things is called by its id."),
                ["$ref": "#/$defs/beacon"],
            ]
        ]
    }

    private static var beacon: JSONValue {
        let values: [String: JSONValue] = [
            "name": named("What the beacon is called."),
            "ibeacon": closed(
                "An iBeacon.", ["uuid", "major", "minor"],
                [
                    "uuid": BeaconSchema.hexadecimal("16 octets, the same for all your beacons.", 16),
                    "major": BeaconSchema.integer("Major number.", 0...65_535),
                    "minor": BeaconSchema.integer("Minor number.", 0...65_535),
                ], required: ["uuid", "major", "minor"]),
            "altbeacon": closed(
                "An AltBeacon.", ["companyId", "id"],
                [
                    "companyId": BeaconSchema.code(
                        "Company identifier, as a number or as in \"0x0118\".", 0...65_535, digits: 4),
                    "id": BeaconSchema.hexadecimal("20 octets.", 20),
                ], required: ["companyId", "id"]),
            "uid": closed(
                "An Eddystone-UID.", ["namespace", "instance"],
                [
                    "namespace": BeaconSchema.hexadecimal("10 octets.", 10),
                    "instance": BeaconSchema.hexadecimal("6 octets.", 6),
                ], required: ["namespace", "instance"]),
            "url": ["description": "The URL of an Eddystone-URL.", "type": "string"],
            "address": [
                "description": "The device address of something that keeps it.", "type": "string",
                "pattern": "^[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5}$",
            ],
            "tags": [
                "description": "Words that zones are built around.", "type": "array", "minItems": 1,
                "uniqueItems": true, "items": ["$ref": "#/$defs/label"],
            ],
            "attachments": [
                "description": "Texts under keys of your own.", "type": "object",
                "additionalProperties": [
                    "type": "string", "maxLength": .integer(ListenerFile.textLimits.attachment),
                ],
            ],
        ]
        return [
            "description": "One beacon, by one or more of the identities that it sends.", "type": "object",
            "properties": object(ListenerFile.beaconKeys, values), "required": ["name"],
            "anyOf": .array(ListenerFile.identityKeys.map { ["required": [.string($0)]] }),
            "additionalProperties": false,
        ]
    }

    private static var addressKey: JSONValue {
        closed(
            "A device that changes its address.", ListenerFile.addressKeyKeys,
            [
                "name": named("What the device, or whoever carries it, is called."),
                "file": [
                    "description":
                        "A file of mode 0600 with the identity resolving key as 32 hexadecimal digits, most significant first; never the key itself.",
                    "type": "string", "pattern": "^[^\\u0000]+$", "not": ["pattern": "^[0-9A-Fa-f]{32}$"],
                ],
            ], required: ["name", "file"])
    }

    // MARK: Forms

    /// The members in the order of `keys`.
    private static func object(_ keys: [String], _ values: [String: JSONValue]) -> JSONValue {
        .object(keys.compactMap { key in values[key].map { JSONValue.Member(key, $0) } })
    }

    private static func closed(
        _ description: String, _ keys: [String], _ values: [String: JSONValue], required: [String] = []
    ) -> JSONValue {
        [
            "description": .string(description), "type": "object", "properties": object(keys, values),
            "required": .array(required.map(JSONValue.string)), "additionalProperties": false,
        ]
    }

    private static func list(_ description: String, _ items: JSONValue) -> JSONValue {
        ["description": .string(description), "type": "array", "minItems": 1, "items": items]
    }

    private static func named(_ description: String) -> JSONValue {
        ["description": .string(description), "$ref": "#/$defs/name"]
    }

    private static func path(_ description: String) -> JSONValue {
        ["description": .string(description), "type": "string", "pattern": "^[^\\u0000]+$"]
    }

    private static func label(_ description: String) -> JSONValue {
        [
            "description": .string(description), "type": "string", "minLength": 1,
            "maxLength": .integer(ListenerFile.textLimits.name),
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
