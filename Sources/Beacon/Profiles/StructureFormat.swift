internal import BluetoothTypes
internal import Configuration

/// The declaration of AD structures in profiles. A structure whose type has a name has a key for each of its fields.
/// Any other structure consists of the number of its type and its bytes.
enum StructureFormat {
    static let structures = Key("structures", list, meaning)
    static let requiredStructures = Key("structures", list, meaning, isRequired: true)

    private static let meaning = "AD structures in the order in which they are sent."
    private static let list = ValueType<[ADStructure]>.list(
        "AD structures", 1...Int.max, of: structure, isWhole: true
    ).defined(as: "structures")

    private static var structure: ValueType<ADStructure> {
        let namedType = ValueType<JSONNode>.choice(
            "named-structure", "The kind of AD structure.",
            of: StructureKind.all.map { (type: $0.name, section: $0.section) }
        ) { $1 }
        let numberedType = ValueType<JSONNode>.section(StructureKeys.section).defined(as: "octets")
        return ValueType(
            schema: [
                "type": "object", "required": ["type"],
                "if": ["properties": ["type": ["type": "string", "not": ["pattern": "^0[xX]"]]]],
                "then": .object(namedType.schema), "else": .object(numberedType.schema),
            ],
            definitions: namedType.definitions + numberedType.definitions
        ) { $0.structure($1) }.defined(as: "structure")
    }
}

/// The fields of an AD structure of a type that has a name.
struct StructureKind: Sendable {
    enum Fields {
        case flags
        /// UUIDs of this size.
        case uuids(bytes: Int)
        case name
        case power
        /// A UUID of this size, and data.
        case serviceData(bytes: Int)
        case manufacturerData
    }

    let type: ADType
    let fields: Fields
    /// The name of the type in profiles, such as `complete-local-name`.
    var name: String { type.key ?? "" }
    let section: Section

    private init(_ type: ADType, _ fields: Fields) {
        self.type = type
        self.fields = fields
        let kind = Key("type", .constant(type.key ?? ""), "The type of this AD structure.", isRequired: true)
        section = Section(type.name, [kind] + Self.keys(fields))
    }

    private static func keys(_ fields: Fields) -> [any DeclaredKey] {
        switch fields {
        case .flags: [StructureKeys.flags]
        case .uuids(let bytes): [StructureKeys.uuids(bytes)]
        case .name: [StructureKeys.name]
        case .power: [StructureKeys.power]
        case .serviceData(let bytes): [StructureKeys.uuid(bytes), StructureKeys.data]
        case .manufacturerData: [StructureKeys.companyID, StructureKeys.data]
        }
    }

    static let all: [StructureKind] = [
        StructureKind(.flags, .flags),
        StructureKind(.incomplete16BitUUIDs, .uuids(bytes: 2)), StructureKind(.complete16BitUUIDs, .uuids(bytes: 2)),
        StructureKind(.incomplete32BitUUIDs, .uuids(bytes: 4)), StructureKind(.complete32BitUUIDs, .uuids(bytes: 4)),
        StructureKind(.incomplete128BitUUIDs, .uuids(bytes: 16)),
        StructureKind(.complete128BitUUIDs, .uuids(bytes: 16)),
        StructureKind(.shortenedLocalName, .name), StructureKind(.completeLocalName, .name),
        StructureKind(.txPowerLevel, .power),
        StructureKind(.serviceData16, .serviceData(bytes: 2)), StructureKind(.serviceData32, .serviceData(bytes: 4)),
        StructureKind(.serviceData128, .serviceData(bytes: 16)),
        StructureKind(.manufacturerData, .manufacturerData),
    ]

    static func of(_ type: ADType) -> StructureKind? { all.first { $0.type == type } }
}

/// The keys of AD structures.
enum StructureKeys {
    static let typeNumber: Key<Int> = Key(
        "type", ValueType<Int>.code(0...255, digits: 2), "AD type, as a number or as in \"0x09\".", isRequired: true)
    static let data: Key<[UInt8]> = Key(
        "data",
        ValueType<[UInt8]>(schema: ["type": "string", "pattern": "^([0-9A-Fa-f]{2}([ :-]?[0-9A-Fa-f]{2})*)?$"]) {
            $0.octets($1)
        }, "The bytes after the other fields.", isRequired: true)
    /// An AD structure of any type.
    static let section: Section = Section("Any AD structure as bytes.", [typeNumber, data])

    static let flags = Key(
        "flags", ValueType<Int>.code(0...255, digits: 2), "The flags byte, as a number or as in \"0x06\".",
        isRequired: true)
    static let name = Key(
        "name", ValueType<String>(schema: ["type": "string", "minLength": 1]) { $0.nonemptyText($1) },
        "The name, sent in UTF-8.", isRequired: true)
    static let power = Key(
        "powerDbm", ValueType<Int>.integer(-127...127, unit: "dBm"), "Transmit power.", isRequired: true)
    static let companyID = Key(
        "companyId", ValueType<UInt16>.companyID, "Company identifier, as a number or as in \"0x0118\".",
        isRequired: true)

    static func uuid(_ bytes: Int) -> Key<[UInt8]> {
        Key("uuid", uuidType(bytes), "UUID of the service, most significant digits first.", isRequired: true)
    }

    static func uuids(_ bytes: Int) -> Key<[[UInt8]]> {
        Key(
            "uuids", .list("UUIDs", 1...Int.max, of: uuidType(bytes), isWhole: true),
            "Service UUIDs, most significant digits first.", isRequired: true)
    }

    /// A UUID of `size` bytes. Its text has the most significant digits first; the value has the least significant byte
    /// first, as in AD structures. The text of a UUID of 16 or 32 bits may start with `0x`.
    private static func uuidType(_ size: Int) -> ValueType<[UInt8]> {
        let prefix = size < 16 ? "(0[xX])?" : ""
        let pattern = "^\(prefix)[0-9A-Fa-f]{2}([ :-]?[0-9A-Fa-f]{2}){\(size - 1)}$"
        return ValueType(schema: ["type": "string", "pattern": .string(pattern)]) { decoder, node in
            guard let text = decoder.text(node) else { return nil }
            guard size < 16, text.hasPrefix("0x") || text.hasPrefix("0X") else {
                return decoder.octets(node, count: size).map { $0.reversed() }
            }
            let digits = JSONNode(.string(String(text.dropFirst(2))), at: node.position, path: node.path)
            return decoder.octets(digits, count: size).map { $0.reversed() }
        }
    }
}

extension ConfigurationDecoder {
    fileprivate mutating func structure(_ node: JSONNode) -> ADStructure? {
        guard case .object = node.value else {
            wrongKind(node, expected: "an object")
            return nil
        }
        guard let type = required("type", in: node, "the kind of structure, or the number of its AD type") else {
            checkWithoutType(node, nil)
            return nil
        }
        if let name = type.string, !name.lowercased().hasPrefix("0x") {
            guard let kind = StructureKind.all.first(where: { $0.name == name }) else {
                let names = StructureKind.all.map(\.name)
                notAWord(name, names, at: type)
                checkWithoutType(node, StructureKind.all.first { $0.name == NearestWord.find(name, among: names) })
                return nil
            }
            guard let object = self.open(kind.section, node), let bytes = fields(object, kind.fields) else {
                return nil
            }
            return ADStructure(kind.type, bytes)
        }
        return numberedStructure(node)
    }

    /// Reports the other problems of a structure whose type is missing or wrong. If the type looks like a misspelled
    /// one, the structure is checked as that kind. Otherwise only keys that no kind has are reported.
    private mutating func checkWithoutType(_ node: JSONNode, _ probableKind: StructureKind?) {
        if let probableKind {
            if let object = self.open(probableKind.section, node) { _ = fields(object, probableKind.fields) }
        } else {
            let sections = StructureKind.all.map(\.section) + [StructureKeys.section]
            _ = object(node, keys: Set(sections.flatMap { $0.keys.map(\.name) }).sorted())
        }
    }

    private mutating func numberedStructure(_ node: JSONNode) -> ADStructure? {
        guard let object = self.open(StructureKeys.section, node) else { return nil }
        let number = read(StructureKeys.typeNumber, in: object)
        let bytes = read(StructureKeys.data, in: object)
        guard let number, let bytes else { return nil }
        return ADStructure(ADType(rawValue: UInt8(truncatingIfNeeded: number)), bytes)
    }

    /// The bytes of the fields of a structure with a named type.
    private mutating func fields(_ object: JSONNode, _ fields: StructureKind.Fields) -> [UInt8]? {
        switch fields {
        case .flags: return read(StructureKeys.flags, in: object).map { [UInt8(truncatingIfNeeded: $0)] }
        case .uuids(let bytes): return read(StructureKeys.uuids(bytes), in: object)?.flatMap { $0 }
        case .name: return read(StructureKeys.name, in: object).map { Array($0.utf8) }
        case .power: return read(StructureKeys.power, in: object).map { [UInt8(truncatingIfNeeded: $0)] }
        case .serviceData(let bytes):
            let (uuid, data) = (read(StructureKeys.uuid(bytes), in: object), read(StructureKeys.data, in: object))
            guard let uuid, let data else { return nil }
            return uuid + data
        case .manufacturerData:
            let (company, data) = (read(StructureKeys.companyID, in: object), read(StructureKeys.data, in: object))
            guard let company, let data else { return nil }
            return ADStructure.manufacturerData(company, data).data
        }
    }
}

extension ADStructure {
    /// The structure as JSON. If its fields contain all of its data, they are written one by one; otherwise the bytes
    /// are written.
    var json: JSONValue {
        if let kind = StructureKind.of(type), let fields = values(of: kind.fields) {
            return .record([("type", .string(kind.name))] + fields)
        }
        return ["type": .string(Hexadecimal.number(type.rawValue, width: 2)), "data": .string(Hexadecimal.text(data))]
    }

    private func values(of fields: StructureKind.Fields) -> [(String, JSONValue)]? {
        switch fields {
        case .flags:
            guard data.count == 1 else { return nil }
            return [("flags", .string(Hexadecimal.number(data[0], width: 2)))]
        case .uuids(let width):
            guard !data.isEmpty, data.count % width == 0 else { return nil }
            let starts = stride(from: 0, to: data.count, by: width)
            return [("uuids", .array(starts.map { Self.uuid(data[$0..<$0 + width]) }))]
        case .name:
            guard !data.isEmpty, let name = String(validating: data, as: UTF8.self) else { return nil }
            return [("name", .string(name))]
        case .power:
            guard data.count == 1, data[0] != 0x80 else { return nil }
            return [("powerDbm", .integer(Int8(bitPattern: data[0])))]
        case .serviceData(let width):
            guard data.count >= width else { return nil }
            return [("uuid", Self.uuid(data[..<width])), ("data", .string(Hexadecimal.text(data[width...])))]
        case .manufacturerData:
            guard data.count >= 2 else { return nil }
            let companyID = data.span.uint16LittleEndian(at: 0)
            return [
                ("companyId", .string(Hexadecimal.number(companyID, width: 4))),
                ("data", .string(Hexadecimal.text(data[2...]))),
            ]
        }
    }

    private static func uuid(_ littleEndian: ArraySlice<UInt8>) -> JSONValue {
        let octets = Array(littleEndian.reversed())
        return .string(BluetoothUUID(bigEndian: octets)?.description ?? Hexadecimal.text(octets))
    }
}
