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
            "description":
                "A receiver: its adapter and place, the beacons that it knows, and what it does with their sightings.",
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
                "label": label("A text for people."),
                "beacon": beacon,
            ],
        ]
    }

    private static var properties: [String: JSONValue] {
        [
            "$schema": ["description": "Path or URL of the JSON Schema of this file, for editors.", "type": "string"],
            "version": ["description": "Version of the format, which is 1.", "const": 1],
            "name": named("Name of this receiver: letters, digits, \".\", \"_\" and \"-\"."),
            "adapter": BeaconSchema.adapter, "scan": scan, "place": place,
            "rssiOffsetDb": BeaconSchema.integer(
                "Correction of this receiver: dB added to each received level. Default: 0.", ListenerFile.levelOffsets),
            "known": list("The known beacons.", known),
            "keys": path(
                "Directory with the keys of ephemeral ids and addresses. Default: the keys directory of a fleet, and the directory of this file for other keys."
            ),
            "irks": list("Phones and watches, which change their address.", addressKey),
            "strangers": [
                "description":
                    "Beacons that are not known: only count them (count, the default), or report each (list).",
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
            "How the adapter scans.", ListenerFile.scanKeys,
            [
                "mode": [
                    "description": "passive (the default), or active: ask scannable beacons for their scan response.",
                    "enum": .array(ListenerFile.ScanMode.allCases.map { .string($0.rawValue) }),
                ],
                "intervalMs": interval("Scan interval in ms: time on each channel. Default: 60."),
                "windowMs": interval(
                    "Scan window in ms: listening time in each interval. Default: the whole interval."),
            ])
    }

    private static var place: JSONValue {
        closed(
            "Where the receiver is. Use the names of the fleet's groups.", ListenerFile.placeKeys,
            [
                "site": label("Site, such as a building."), "floor": label("Floor of the site."),
                "room": label("Room of the floor."),
                "position": [
                    "description": "Position on the floor plan: [metres east, metres north].", "type": "array",
                    "minItems": 2,
                    "maxItems": 2, "items": number("Metres.", -ListenerFile.extent...ListenerFile.extent),
                ],
            ])
    }

    private static var known: JSONValue {
        func source(_ key: String, _ description: String) -> JSONValue {
            closed("A file with beacons and their names.", [key], [key: path(description)], required: [key])
        }
        return [
            "anyOf": [
                source("fleet", "Fleet file, directory written by `pharos fleet generate`, or its manifest.json."),
                source("profile", "Beacon profile."),
                source("inventory", "Inventory. Each of its things has its id as its name."),
                ["$ref": "#/$defs/beacon"],
            ]
        ]
    }

    private static var beacon: JSONValue {
        let values: [String: JSONValue] = [
            "name": named("Name of the beacon."),
            "ibeacon": closed(
                "An iBeacon.", ["uuid", "major", "minor"],
                [
                    "uuid": BeaconSchema.hexadecimal("Proximity UUID, 16 bytes.", 16),
                    "major": BeaconSchema.integer("Major number.", 0...65_535),
                    "minor": BeaconSchema.integer("Minor number.", 0...65_535),
                ], required: ["uuid", "major", "minor"]),
            "altbeacon": closed(
                "An AltBeacon.", ["companyId", "id"],
                [
                    "companyId": BeaconSchema.code(
                        "Company identifier, as a number or as in \"0x0118\".", 0...65_535, digits: 4),
                    "id": BeaconSchema.hexadecimal("Beacon id, 20 bytes.", 20),
                ], required: ["companyId", "id"]),
            "uid": closed(
                "An Eddystone-UID.", ["namespace", "instance"],
                [
                    "namespace": BeaconSchema.hexadecimal("Namespace, 10 bytes.", 10),
                    "instance": BeaconSchema.hexadecimal("Instance, 6 bytes.", 6),
                ], required: ["namespace", "instance"]),
            "url": ["description": "The URL of an Eddystone-URL.", "type": "string"],
            "address": [
                "description": "Device address, for devices that do not change it.", "type": "string",
                "pattern": "^[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5}$",
            ],
            "tags": [
                "description": "Words for the tag of zones.", "type": "array", "minItems": 1,
                "uniqueItems": true, "items": ["$ref": "#/$defs/label"],
            ],
            "attachments": [
                "description": "Your own keys and texts, for the texts of zones.", "type": "object",
                "additionalProperties": [
                    "type": "string", "maxLength": .integer(ListenerFile.textLimits.attachment),
                ],
            ],
        ]
        return [
            "description": "A beacon with one or more of the identities that it sends.", "type": "object",
            "properties": object(ListenerFile.beaconKeys, values), "required": ["name"],
            "anyOf": .array(ListenerFile.identityKeys.map { ["required": [.string($0)]] }),
            "additionalProperties": false,
        ]
    }

    private static var addressKey: JSONValue {
        closed(
            "A device that changes its address.", ListenerFile.addressKeyKeys,
            [
                "name": named("Name of the device or of the person who carries it."),
                "file": [
                    "description":
                        "File of mode 0600 with the identity resolving key as 32 hexadecimal digits, most significant first. Not the key itself.",
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
