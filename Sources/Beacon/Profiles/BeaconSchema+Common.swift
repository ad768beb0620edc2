internal import BluetoothTypes
package import Configuration

extension BeaconSchema {
    static var commonDefinitions: [JSONValue.Member] {
        [
            .init(
                "intervalMs",
                [
                    "description": """
                    Advertising interval in ms, rounded to the nearest multiple of 0.625. The \
                    controller adds a random delay of up to 10 ms, 5 ms on average. Not every \
                    controller supports less than 100 or more than 10240.
                    """,
                    "type": "number", "minimum": milliseconds(AdvertisingInterval.extendedRange.lowerBound),
                    "maximum": milliseconds(AdvertisingInterval.extendedRange.upperBound),
                ]),
            .init(
                "radioPowerDbm",
                integer(
                    """
                    Transmit power that is requested from the controller, in dBm. The granted power \
                    is reported. By default the power is not changed.
                    """,
                    RadioPower.range)),
            .init(
                "channels",
                [
                    "description": "Advertising channels. Default: 37, 38 and 39.", "type": "array",
                    "minItems": 1, "uniqueItems": true, "items": ["enum": [37, 38, 39]],
                ]),
            .init(
                "pdu",
                [
                    "description": """
                    What other devices may do: only listen (nonconnectable, the default), also ask \
                    for the scan response (scannable, the default with a scan response), or also \
                    connect (connectable).
                    """,
                    "enum": .array(AdvertisingPDU.allCases.map { .string($0.rawValue) }),
                ]),
            .init(
                "address",
                [
                    "description": """
                    Device address: that of the controller (public), one derived from the machine \
                    and the profile name (random-static, the default), or a static random address \
                    whose two top bits are 11.
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
                    Signal strength at 1 m in dBm for each radio power in dBm. Between two powers \
                    it is interpolated. "default" is for controllers that do not report their \
                    power, and "receiver" names the device that measured.
                    """,
                    "type": "object", "minProperties": 1,
                    "propertyNames": [
                        "pattern":
                            "^(default|receiver|0|[1-9]|1[0-9]|20|-[1-9]|-[1-9][0-9]|-1[01][0-9]|-12[0-7])$"
                    ],
                    "properties": ["receiver": ["description": "Name of the device that measured.", "type": "string"]],
                    "additionalProperties": integer("Signal strength at 1 m, in dBm.", MeasuredPowerAtOneMeter.range),
                ]),
            .init("measuredPower1m", measuredPower("1 m", MeasuredPowerAtOneMeter.range)),
            .init("measuredPower0m", measuredPower("0 m", MeasuredPowerAtZeroMeters.range)),
            .init("identityKeyFile", keyFile("identity key")),
            .init("rotationExponent", integer("K: the id changes every 2^K seconds, 0...15.", 0...15)),
            .init("companyId", code("Company identifier, as a number or as in \"0x0118\".", 0...65_535, digits: 4)),
        ]
    }

    static func keyFile(_ what: String) -> JSONValue {
        [
            "description": .string(
                "File of mode 0600 with the \(what) as 32 hexadecimal digits. Not the key itself."),
            "type": "string", "pattern": "^[^\\u0000]+$", "not": ["pattern": "^[0-9A-Fa-f]{32}$"],
        ]
    }

    private static func measuredPower(_ distance: String, _ range: ClosedRange<Int>) -> JSONValue {
        let typical = BeaconProfile.typicalMeasuredPower
        return [
            "description": .string(
                """
                Byte in the packet from which receivers estimate the distance: the signal strength at \
                \(distance), in dBm. "typical" sends \(typical), which was not measured.
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
                "description": "AD structures in the order in which they are sent.", "type": "array", "minItems": 1,
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
                "description": "Any AD structure as bytes.", "type": "object",
                "properties": [
                    "type": code("AD type, as a number or as in \"0x09\".", 0...255, digits: 2),
                    "data": data("The bytes after the type."),
                ],
                "required": ["type", "data"], "additionalProperties": false,
            ])
        return [list, structure, octets] + StructureKind.allCases.map { .init($0.rawValue, definition($0)) }
    }

    private static func definition(_ kind: StructureKind) -> JSONValue {
        var properties = properties(kind)
        properties["type"] = ["description": "The type of this AD structure.", "const": .string(kind.rawValue)]
        return [
            "description": .string(kind.type.name), "type": "object",
            "properties": object(kind.keys, properties), "required": .array(kind.keys.map { .string($0) }),
            "additionalProperties": false,
        ]
    }

    private static func properties(_ kind: StructureKind) -> [String: JSONValue] {
        switch kind.fields {
        case .flags:
            return ["flags": code("The flags byte, as a number or as in \"0x06\".", 0...255, digits: 2)]
        case .uuids(let width):
            return [
                "uuids": [
                    "description": "Service UUIDs, most significant digits first.", "type": "array", "minItems": 1,
                    "items": uuid("One UUID.", width),
                ]
            ]
        case .name:
            return ["name": ["description": "The name, sent in UTF-8.", "type": "string", "minLength": 1]]
        case .power:
            return ["powerDbm": integer("Transmit power, in dBm.", -127...127)]
        case .serviceData(let width):
            return ["uuid": uuid("UUID of the service.", width), "data": data("The bytes after the UUID.")]
        case .manufacturerData:
            return ["companyId": reference("companyId"), "data": data("The bytes after the company identifier.")]
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
