internal import Configuration
internal import Profiles

/// The declaration of a template: a beacon profile in which a string with variables may stand for any value.
enum TemplateFormat {
    static let type = ValueType<FleetTemplate>(schema: schema, definitions: definitions) { decoder, node in
        decoder.template(node)
    }

    /// The prefix of the names of profile definitions in the fleet schema.
    private static let prefix = "profile-"

    private static var schema: JSONValue {
        guard case .object(let members) = BeaconSchema.json,
            case .object(let properties) = members.first(where: { $0.key == "properties" })?.value
        else { return false }
        let templateProperties = FleetTemplate.keys.compactMap { key -> JSONValue.Member? in
            if key == "name" {
                return .init(key, ["description": "Name of the beacon, which is always ${name}.", "const": "${name}"])
            }
            return properties.first { $0.key == key }.map {
                .init(key, key == "version" ? $0.value : allowingVariable($0.value))
            }
        }
        return [
            "type": "object", "properties": .object(templateProperties), "required": ["advertisements"],
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

    private static var definitions: [JSONValue.Member] {
        profileDefinitions.map { .init(prefix + $0.key, allowingInnerVariables($0.value)) }
            + [
                .init(
                    prefix + "variable",
                    [
                        "description": """
                        A string that contains variables. If it consists only of ${x}, its value has the type of the variable x.
                        """,
                        "type": "string", "pattern": "\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}",
                    ])
            ]
    }

    /// Returns the description in the schema of a profile's value. If the schema only refers to a definition (`$ref`),
    /// returns the description in that definition.
    private static func description(of schema: JSONValue) -> JSONValue? {
        guard case .object(let members) = schema else { return nil }
        if let description = members.first(where: { $0.key == "description" }) { return description.value }
        guard case .string(let reference)? = members.first(where: { $0.key == "$ref" })?.value,
            let definition = profileDefinitions.first(where: { "#/$defs/" + $0.key == reference })
        else { return nil }
        return description(of: definition.value)
    }

    /// The schema of a value in a template: either the schema of the value in a profile, or a string with variables.
    private static func allowingVariable(_ schema: JSONValue) -> JSONValue {
        // A key that is forbidden stays forbidden: its value may not be a variable either.
        if case .boolean = schema { return schema }
        let description = description(of: schema).map { [JSONValue.Member("description", $0)] } ?? []
        let forms: JSONValue = [allowingInnerVariables(schema), ["$ref": .string("#/$defs/\(prefix)variable")]]
        return .object(description + [.init("anyOf", forms)])
    }

    /// The same schema, changed so that every inner value may also be a string with variables.
    private static func allowingInnerVariables(_ schema: JSONValue) -> JSONValue {
        guard case .object(let members) = schema else { return schema }
        let isConditional = members.contains { $0.key == "if" && mentionsEncryption($0.value) }
        return .object(
            members.compactMap { member in
                switch (member.key, member.value) {
                case ("$ref", .string(let reference)):
                    return .init("$ref", .string("#/$defs/" + prefix + reference.dropFirst("#/$defs/".count)))
                case ("properties", .object(let properties)):
                    return .init("properties", .object(properties.map { .init($0.key, allowingVariable($0.value)) }))
                case ("items", let items): return .init("items", allowingVariable(items))
                case ("additionalProperties", .object): return .init(member.key, allowingVariable(member.value))
                case ("if", _): return isConditional ? nil : member
                case ("then", _), ("else", _):
                    return isConditional ? nil : .init(member.key, allowingInnerVariables(member.value))
                case ("allOf", .array(let schemas)), ("anyOf", .array(let schemas)):
                    return .init(member.key, .array(schemas.map(allowingInnerVariables)))
                default: return member
                }
            })
    }

    /// Returns whether a condition depends on encryption, which a variable may turn on.
    private static func mentionsEncryption(_ schema: JSONValue) -> Bool { schema.line.contains("\"encrypted\"") }
}

extension ConfigurationDecoder {
    fileprivate mutating func template(_ node: JSONNode) -> FleetTemplate? {
        guard let object = self.object(node, keys: FleetTemplate.keys, hint: Self.templateHint) else { return nil }
        version(object["version"])
        if let name = object["name"], name.string != "${name}" {
            error("a profile has the name of its beacon: write \"${name}\", or remove this key", at: name)
        }
        guard required("advertisements", in: object, "the advertisements of the beacons") != nil else { return nil }
        return FleetTemplate(object, &self)
    }

    private static func templateHint(_ key: String) -> String? {
        switch key {
        case "eidEpoch": "Pharos allocates the epoch; \"identities\": { \"eidEpoch\": … } sets it for new beacons"
        case "$schema": "it belongs to the fleet file itself"
        case "uuid", "major", "minor", "namespace", "instance", "url", "intervalMs", "type":
            "it belongs in one of the advertisements"
        default: nil
        }
    }
}
