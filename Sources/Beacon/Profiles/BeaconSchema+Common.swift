internal import BluetoothTypes
package import Configuration

extension BeaconSchema {
    static var commonDefinitions: [JSONValue.Member] {
        [
            .init(
                "intervalMs",
                [
                    "description": """
                    Advertising interval in ms, rounded to the nearest multiple of 0.625. Up to \
                    10 ms of random delay come on top, 5 on average. Below 100 or above 10240 \
                    not every controller can.
                    """,
                    "type": "number", "minimum": milliseconds(AdvertisingInterval.extendedRange.lowerBound),
                    "maximum": milliseconds(AdvertisingInterval.extendedRange.upperBound),
                ]),
            .init(
                "radioPowerDbm",
                integer(
                    """
                    What the transmitter is asked for, in dBm. What it granted is reported. By \
                    default it stays as it is.
                    """,
                    RadioPower.range)),
            .init(
                "channels",
                [
                    "description": "The advertising channels in use; all three by default.", "type": "array",
                    "minItems": 1, "uniqueItems": true, "items": ["enum": [37, 38, 39]],
                ]),
            .init(
                "pdu",
                [
                    "description": """
                    What others may do: listen (nonconnectable, the default), ask for a scan \
                    response as well (scannable, the default where there is one), or connect as \
                    well (connectable).
                    """,
                    "enum": .array(AdvertisingPDU.allCases.map { .string($0.rawValue) }),
                ]),
            .init(
                "address",
                [
                    "description": """
                    Device address: the controller's (public), one that the box derives from its \
                    identity (random-static, the default), or a static random one whose two top \
                    bits are 11.
                    """,
                    "anyOf": [
                        ["enum": ["public", "random-static"]],
                        ["type": "string", "pattern": "^[C-Fc-f][0-9A-Fa-f](:[0-9A-Fa-f]{2}){5}$"],
                    ],
                ]),
            .init(
                "calibration",
                [
                    "description": """
                    Signal strength at 1 m in dBm, by radio power in dBm. Between two powers it \
                    is interpolated; "default" is for controllers that do not tell their power, \
                    and "receiver" names who measured.
                    """,
                    "type": "object", "minProperties": 1,
                    "propertyNames": [
                        "pattern":
                            "^(default|receiver|0|[1-9]|1[0-9]|20|-[1-9]|-[1-9][0-9]|-1[01][0-9]|-12[0-7])$"
                    ],
                    "properties": ["receiver": ["description": "Who measured.", "type": "string"]],
                    "additionalProperties": integer("Signal strength at 1 m, in dBm.", MeasuredPowerAtOneMeter.range),
                ]),
            .init("measuredPower1m", measuredPower("1 m", MeasuredPowerAtOneMeter.range)),
            .init("measuredPower0m", measuredPower("0 m", MeasuredPowerAtZeroMeters.range)),
            .init("identityKeyFile", keyFile("identity key")),
            .init("rotationExponent", integer("K: the id turns over every 2^K seconds.", 0...15)),
            .init("companyId", code("Company identifier, as a number or as in \"0x0118\".", 0...65_535, digits: 4)),
        ]
    }

    static func keyFile(_ what: String) -> JSONValue {
        [
            "description": .string(
                "A file of mode 0600 with the \(what) as 32 hexadecimal digits; never the key itself."),
            "type": "string", "pattern": "^[^\\u0000]+$", "not": ["pattern": "^[0-9A-Fa-f]{32}$"],
        ]
    }

    private static func measuredPower(_ distance: String, _ range: ClosedRange<Int>) -> JSONValue {
        let typical = BeaconProfile.typicalMeasuredPower
        return [
            "description": .string(
                """
                The octet that tells listeners the signal strength at \(distance), in dBm. "typical" \
                sends an unmeasured \(typical).
                """
            ),
            "anyOf": [
                ["const": "typical"],
                [
                    "type": "integer", "minimum": .integer(range.lowerBound), "maximum": .integer(range.upperBound),
                ],
            ],
        ]
    }

    private static func milliseconds(_ interval: AdvertisingInterval) -> JSONValue {
        .number(JSONNumber(thousandths: interval.microseconds))
    }

    package static func integer(_ description: String, _ range: ClosedRange<Int>) -> JSONValue {
        [
            "description": .string(description), "type": "integer", "minimum": .integer(range.lowerBound),
            "maximum": .integer(range.upperBound),
        ]
    }

    /// A number that may also be written in hexadecimal, as a string.
    package static func code(_ description: String, _ range: ClosedRange<Int>, digits: Int) -> JSONValue {
        [
            "description": .string(description), "type": ["integer", "string"], "minimum": .integer(range.lowerBound),
            "maximum": .integer(range.upperBound), "pattern": .string("^0[xX][0-9A-Fa-f]{1,\(digits)}$"),
        ]
    }

    static func flags(_ description: String) -> JSONValue {
        [
            "description": .string(description), "type": ["integer", "string", "null"], "minimum": 0, "maximum": 255,
            "pattern": "^0[xX][0-9A-Fa-f]{1,2}$",
        ]
    }

    /// Digits of so many octets, with or without a space, colon or dash between two octets.
    package static func hexadecimal(_ description: String, _ count: Int, prefix: String = "") -> JSONValue {
        [
            "description": .string(description), "type": "string",
            "pattern": .string("^\(prefix)[0-9A-Fa-f]{2}([ :-]?[0-9A-Fa-f]{2}){\(count - 1)}$"),
        ]
    }
}

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
