internal import Configuration
internal import Profiles

/// The schema of a template: that of a beacon profile, in which a string with variables may stand for any value.
enum TemplateSchema {
    /// In the fleet schema, what belongs to profiles has this before its name.
    private static let prefix = "profile-"

    static var template: JSONValue {
        guard case .object(let members) = BeaconSchema.json,
            case .object(let properties) = members.first(where: { $0.key == "properties" })?.value
        else { return false }
        let kept = FleetTemplate.keys.compactMap { key -> JSONValue.Member? in
            if key == "name" { return .init(key, ["const": "${name}"]) }
            return properties.first { $0.key == key }.map { .init(key, key == "version" ? $0.value : open($0.value)) }
        }
        return [
            "description": "The profile that all beacons are made from. Strings may hold ${variables}.",
            "type": "object", "properties": .object(kept), "required": ["advertisements"],
            "additionalProperties": false,
        ]
    }

    static var definitions: [JSONValue.Member] {
        guard case .object(let members) = BeaconSchema.json,
            case .object(let definitions) = members.first(where: { $0.key == "$defs" })?.value
        else { return [] }
        return definitions.map { .init(prefix + $0.key, changed($0.value)) }
            + [
                .init(
                    prefix + "variable",
                    [
                        "description": "A value with variables in it; exactly ${x} takes the value's type.",
                        "type": "string", "pattern": "\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}",
                    ])
            ]
    }

    /// A value, or a string with variables.
    private static func open(_ schema: JSONValue) -> JSONValue {
        // What may not be there may not be a variable either.
        if case .boolean = schema { return schema }
        return ["anyOf": [changed(schema), ["$ref": .string("#/$defs/\(prefix)variable")]]]
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
