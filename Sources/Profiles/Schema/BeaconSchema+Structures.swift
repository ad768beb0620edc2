internal import BluetoothTypes
import Configuration

extension BeaconSchema {
    static var structureDefinitions: [JSONValue.Member] {
        let names = StructureKind.allCases.map(\.rawValue)
        let list = JSONValue.Member(
            "structures",
            [
                "description": "AD structures in the order of the air.", "type": "array", "minItems": 1,
                "items": reference("structure"),
            ])
        let named = choice(names, "The kind of AD structure.")
        let structure = JSONValue.Member(
            "structure",
            [
                "type": "object", "required": ["type"],
                "if": ["properties": ["type": ["type": "string", "not": ["pattern": "^0[xX]"]]]],
                "then": named, "else": reference("octets"),
            ])
        let octets = JSONValue.Member(
            "octets",
            [
                "description": "Any AD structure as octets.", "type": "object",
                "properties": [
                    "type": code("AD type, as a number or as in \"0x09\".", 0...255, digits: 2),
                    "data": data("The octets after the type."),
                ],
                "required": ["type", "data"], "additionalProperties": false,
            ])
        return [list, structure, octets] + StructureKind.allCases.map { .init($0.rawValue, definition($0)) }
    }

    private static func definition(_ kind: StructureKind) -> JSONValue {
        var properties = properties(kind)
        properties["type"] = ["const": .string(kind.rawValue)]
        return [
            "description": .string(kind.type.name), "type": "object",
            "properties": object(kind.keys, properties), "required": .array(kind.keys.map { .string($0) }),
            "additionalProperties": false,
        ]
    }

    private static func properties(_ kind: StructureKind) -> [String: JSONValue] {
        switch kind.fields {
        case .flags:
            return ["flags": code("The octet of flags, as a number or as in \"0x06\".", 0...255, digits: 2)]
        case .uuids(let width):
            return [
                "uuids": [
                    "description": "Most significant digits first.", "type": "array", "minItems": 1,
                    "items": uuid("One UUID.", width),
                ]
            ]
        case .name:
            return ["name": ["description": "Sent as UTF-8.", "type": "string", "minLength": 1]]
        case .power:
            return ["powerDbm": integer("What the radio sends with, in dBm.", -127...127)]
        case .serviceData(let width):
            return ["uuid": uuid("Whose data it is.", width), "data": data("The octets after the UUID.")]
        case .manufacturerData:
            return ["companyId": reference("companyId"), "data": data("The octets after the company identifier.")]
        }
    }

    private static func uuid(_ description: String, _ width: Int) -> JSONValue {
        hexadecimal(description, width, prefix: width < 16 ? "(0[xX])?" : "")
    }

    private static func data(_ description: String) -> JSONValue {
        [
            "description": .string(description), "type": "string",
            "pattern": "^([0-9A-Fa-f]{2}([ :-]?[0-9A-Fa-f]{2})*)?$",
        ]
    }
}
