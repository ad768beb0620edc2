internal import BluetoothTypes
internal import Configuration
internal import Profiles

/// The JSON Schema (draft 2020-12) of a fleet file, made from the same key lists as the decoder.
///
/// It says what a schema can say. What variables stand for, whether identities meet and what a table holds only the
/// decoder and `fleet check` know.
public enum FleetSchema {
    /// The text of `profiles/schema/fleet.schema.json`, and what `pharos fleet schema` prints.
    public static var text: String { json.pretty }

    static var json: JSONValue {
        [
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "Pharos fleet",
            "description": "What many boxes send: one template, what differs between them, and who they are.",
            "type": "object",
            "properties": [
                "$schema": ["description": "Where this schema lies, for editors.", "type": "string"],
                "version": ["description": "The version of the format.", "const": 1],
                "name": name("What this fleet is called."),
                "listeners": [
                    "description": "Who listens, as far as it changes what is good for the fleet.", "type": "array",
                    "minItems": 1, "uniqueItems": true, "items": words(FleetListener.self, "A kind of receiver."),
                ],
                "keys": [
                    "description": "The directory with identity keys, beside this file: one file of mode 0600 each.",
                    "type": "string",
                ],
                "template": TemplateSchema.template,
                "defaults": [
                    "description": "What holds for all beacons.", "type": "object",
                    "properties": object(
                        Fleet.defaultKeys,
                        [
                            "controller": reference("controller"), "intervalSpread": reference("intervalSpread"),
                            "variables": reference("variables"),
                        ]),
                    "additionalProperties": false,
                ],
                "identities": identities,
                "groups": list("The sites.", reference("site")),
                "beacons": reference("beacons"),
            ],
            "required": ["version", "name", "template"],
            "anyOf": [["required": ["beacons"]], ["required": ["groups"]]],
            "additionalProperties": false,
            "$defs": .object(definitions + TemplateSchema.definitions),
        ]
    }

    private static var definitions: [JSONValue.Member] {
        [
            .init(
                "controller",
                [
                    "description": "The kind of controller that the boxes have.",
                    "enum": .array(ControllerKind.allCases.map { .string($0.rawValue) }),
                ]),
            .init(
                "variables",
                [
                    "description": """
                    Values for ${variables}: the innermost one holds. A string may have other variables in it.
                    """,
                    "type": "object",
                    "propertyNames": [
                        "pattern": "^[A-Za-z_][A-Za-z0-9_]*$",
                        "not": ["enum": .array(Variable.reserved.map { .string($0) })],
                    ],
                ]),
            .init("intervalSpread", intervalSpread),
            .init("site", group("A site: what shares the air.", below: "floor")),
            .init("floor", group("A floor of a site.", below: "room")),
            .init("room", group("A room of a floor.", below: nil)),
            .init(
                "beacons",
                [
                    "description": "The beacons: a list, or a table.",
                    "anyOf": [list("The beacons.", reference("beacon")), reference("table")],
                ]),
            .init("beacon", beacon),
            .init("table", table),
        ]
    }

    private static var identities: JSONValue {
        let first = BoundedInteger.schema("The first number (1).", 0, 65_535)
        return [
            "description": "What is given out, by which rule; the lock file keeps it.", "type": "object",
            "properties": [
                "major": [
                    "description": "${major}: each part of the fleet has its own.", "type": "object",
                    "properties": [
                        "per": words(AllocationRules.Level.self, "The kind of group that has its own major."),
                        "first": first,
                    ], "required": ["per"], "additionalProperties": false,
                ],
                "minor": [
                    "description": "${minor}: counted within each part of the fleet.", "type": "object",
                    "properties": [
                        "within": words(AllocationRules.Level.self, "The kind of group in which minors are counted."),
                        "first": first,
                    ], "required": ["within"],
                    "additionalProperties": false,
                ],
                "namespace": [
                    "description": "${namespace}: from a domain name of yours, or from a UUID.", "type": "object",
                    "properties": [
                        "domain": [
                            "description": "A domain name of yours.", "type": "string", "pattern": "^[A-Za-z0-9._-]+$",
                        ],
                        "uuid": [
                            "description": "A UUID of yours.", "type": "string",
                            "pattern": "^[0-9A-Fa-f]{2}([ :-]?[0-9A-Fa-f]{2}){15}$",
                        ],
                    ],
                    "oneOf": [["required": ["domain"]], ["required": ["uuid"]]], "additionalProperties": false,
                ],
                "instance": [
                    "description": "${instance}: counted, or the last 12 digits of the box's serial number.",
                    "type": "object",
                    "properties": [
                        "from": words(
                            FleetDecoder.InstanceSource.self,
                            "Source of the instance: a counter, or the serial number of the machine."),
                        "first": BoundedInteger.schema("The first number (1).", 0, Int(AllocationRules.instanceLimit)),
                    ],
                    "required": ["from"],
                    "if": ["properties": ["from": ["const": "serial"]], "required": ["from"]],
                    "then": ["properties": ["first": false]], "additionalProperties": false,
                ],
                "eidEpoch": [
                    "description":
                        "From when the counters of new beacons run (RFC 3339); else from when they are made.",
                    "type": "string",
                    "pattern": """
                    ^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})$
                    """,
                ],
            ],
            "additionalProperties": false,
        ]
    }

    private static func group(_ description: String, below: String?) -> JSONValue {
        var properties: [String: JSONValue] = [
            "name": name("What it is called."), "was": name("What it was called: its numbers stay as they are."),
            "controller": reference("controller"), "intervalSpread": reference("intervalSpread"),
            "variables": reference("variables"), "beacons": reference("beacons"),
        ]
        if let below { properties["groups"] = list("The \(below)s in it.", reference(below)) }
        return [
            "description": .string(description), "type": "object", "properties": object(Fleet.groupKeys, properties),
            "required": ["name"], "additionalProperties": false,
        ]
    }

    private static var intervalSpread: JSONValue {
        let range = AdvertisingInterval.extendedRange
        func end(_ description: String) -> JSONValue {
            [
                "description": .string(description), "type": "number",
                "minimum": .decimal(DecimalText.thousandths(range.lowerBound.microseconds)),
                "maximum": .decimal(DecimalText.thousandths(range.upperBound.microseconds)),
            ]
        }
        return [
            "description": """
            ${intervalMs}: each beacon has its own interval between these, which follows from its name. `pharos plan \
            interval` says which are clear of the intervals to avoid.
            """,
            "type": "object",
            "properties": [
                "fromMs": end("The shortest interval in milliseconds."),
                "toMs": end("The longest interval in milliseconds, above \"fromMs\"."),
            ],
            "required": ["fromMs", "toMs"], "additionalProperties": false,
        ]
    }

    private static var beacon: JSONValue {
        let word = "^[A-Za-z0-9][A-Za-z0-9._:-]*$"
        return [
            "description": "One box.", "type": "object",
            "properties": object(
                Fleet.beaconKeys,
                [
                    "name": name("What it is called: its profile is NAME.json."),
                    "group": [
                        "description": "The group's names with slashes between them.", "type": "string",
                        "pattern":
                            "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}(/[A-Za-z0-9][A-Za-z0-9._-]{0,63}){0,2}$",
                    ],
                    "was": name("What it was called: its identity stays."),
                    "host": [
                        "description": "Under which name or address the box is reached.", "type": "string",
                        "pattern": .string(word), "maxLength": .integer(NameRule.limit),
                    ],
                    "serial": [
                        "description": "The box's own serial number. Another box keeps the beacon's identity.",
                        "type": "string", "pattern": .string(word), "maxLength": .integer(NameRule.limit),
                    ],
                    "controller": reference("controller"), "position": position,
                    "variables": reference("variables"),
                ]),
            "required": ["name"], "additionalProperties": false,
        ]
    }

    private static var position: JSONValue {
        func number(_ description: String, _ limit: Int) -> JSONValue {
            [
                "description": .string(description), "type": "number", "minimum": .integer(-limit),
                "maximum": .integer(limit),
            ]
        }
        return [
            "description": "Where the box hangs: metres east, north and up, or degrees.",
            "anyOf": [
                [
                    "type": "array", "minItems": 2, "maxItems": 3, "items": number("Metres.", Int(Fleet.extent)),
                ],
                [
                    "type": "object",
                    "properties": [
                        "latitude": number("Degrees north.", 90), "longitude": number("Degrees east.", 180),
                    ],
                    "required": ["latitude", "longitude"], "additionalProperties": false,
                ],
            ],
        ]
    }

    private static var table: JSONValue {
        [
            "description": "A CSV file with a header row, one row a beacon.", "type": "object",
            "properties": [
                "csv": ["description": "The file, beside this one.", "type": "string", "minLength": 1],
                "columns": [
                    "description": """
                    Which of its columns is what, where they are not called so: name, site, floor, room or group, host, \
                    serial, was, controller, x, y, z, latitude, longitude, and variables.
                    """,
                    "type": "object", "additionalProperties": ["type": "string"],
                ],
            ],
            "required": ["csv"], "additionalProperties": false,
        ]
    }

    private static func name(_ description: String) -> JSONValue {
        [
            "description": .string(description + " Letters, digits, \".\", \"_\", \"-\"."), "type": "string",
            "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]*$", "maxLength": .integer(NameRule.limit),
        ]
    }

    private static func list(_ description: String, _ items: JSONValue) -> JSONValue {
        ["description": .string(description), "type": "array", "minItems": 1, "items": items]
    }

    private static func words<Word: RawRepresentable<String> & CaseIterable>(
        _ type: Word.Type, _ description: String
    ) -> JSONValue {
        ["description": .string(description), "enum": .array(Word.allCases.map { .string($0.rawValue) })]
    }

    /// Members in the order of `keys`.
    private static func object(_ keys: [String], _ values: [String: JSONValue]) -> JSONValue {
        .object(keys.compactMap { key in values[key].map { .init(key, $0) } })
    }

    static func reference(_ name: String) -> JSONValue { ["$ref": .string("#/$defs/" + name)] }

    private enum BoundedInteger {
        static func schema(_ description: String, _ low: Int, _ high: Int) -> JSONValue {
            [
                "description": .string(description), "type": "integer", "minimum": .integer(low),
                "maximum": .integer(high),
            ]
        }
    }
}

/// The schema of a template: that of a beacon profile, in which a string with variables may stand for any value.
private enum TemplateSchema {
    /// In the fleet schema, what belongs to profiles has this before its name.
    private static let prefix = "profile-"

    static var template: JSONValue {
        guard case .object(let members) = BeaconSchema.json,
            case .object(let properties) = members.first(where: { $0.key == "properties" })?.value
        else { return false }
        let kept = FleetTemplate.keys.compactMap { key -> JSONValue.Member? in
            if key == "name" {
                return .init(key, ["description": "The name of each beacon: always ${name}.", "const": "${name}"])
            }
            return properties.first { $0.key == key }.map { .init(key, key == "version" ? $0.value : open($0.value)) }
        }
        return [
            "description": "The profile that all beacons are made from. Strings may hold ${variables}.",
            "type": "object", "properties": .object(kept), "required": ["advertisements"],
            "additionalProperties": false,
        ]
    }

    /// The definitions of the schema of profiles.
    private static let profileDefinitions: [JSONValue.Member] = {
        guard case .object(let members) = BeaconSchema.json,
            case .object(let definitions) = members.first(where: { $0.key == "$defs" })?.value
        else { return [] }
        return definitions
    }()

    static var definitions: [JSONValue.Member] {
        profileDefinitions.map { .init(prefix + $0.key, changed($0.value)) }
            + [
                .init(
                    prefix + "variable",
                    [
                        "description": "A value with variables in it; exactly ${x} takes the value's type.",
                        "type": "string", "pattern": "\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}",
                    ])
            ]
    }

    /// The description of a value of a profile, also if it stands in a definition.
    private static func description(of schema: JSONValue) -> JSONValue? {
        guard case .object(let members) = schema else { return nil }
        if let own = members.first(where: { $0.key == "description" }) { return own.value }
        guard case .string(let place)? = members.first(where: { $0.key == "$ref" })?.value,
            let definition = profileDefinitions.first(where: { "#/$defs/" + $0.key == place })
        else { return nil }
        return description(of: definition.value)
    }

    /// A value, or a string with variables.
    private static func open(_ schema: JSONValue) -> JSONValue {
        // What may not be there may not be a variable either.
        if case .boolean = schema { return schema }
        let description = description(of: schema).map { [JSONValue.Member("description", $0)] } ?? []
        let forms: JSONValue = [changed(schema), ["$ref": .string("#/$defs/\(prefix)variable")]]
        return .object(description + [.init("anyOf", forms)])
    }

    /// The same with every value in it opened.
    private static func changed(_ schema: JSONValue) -> JSONValue {
        guard case .object(let members) = schema else { return schema }
        let isConditional = members.contains { $0.key == "if" && mentionsEncryption($0.value) }
        return .object(
            members.compactMap { member in
                switch (member.key, member.value) {
                case ("$ref", .string(let place)):
                    return .init("$ref", .string("#/$defs/" + prefix + place.dropFirst("#/$defs/".count)))
                case ("properties", .object(let properties)):
                    return .init("properties", .object(properties.map { .init($0.key, open($0.value)) }))
                case ("items", let items): return .init("items", open(items))
                case ("additionalProperties", .object): return .init(member.key, open(member.value))
                case ("if", _): return isConditional ? nil : member
                case ("then", _), ("else", _): return isConditional ? nil : .init(member.key, changed(member.value))
                case ("allOf", .array(let schemas)), ("anyOf", .array(let schemas)):
                    return .init(member.key, .array(schemas.map(changed)))
                default: return member
                }
            })
    }

    /// Whether encryption is on only the beacon's own variables may say.
    private static func mentionsEncryption(_ schema: JSONValue) -> Bool { schema.line.contains("\"encrypted\"") }
}
