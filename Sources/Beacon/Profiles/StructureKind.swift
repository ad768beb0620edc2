internal import BeaconFrames
internal import BluetoothTypes
internal import Configuration

/// AD structures that a profile writes field by field; all others are a number with octets.
enum StructureKind: String, CaseIterable {
    case flags = "flags"
    case incomplete16BitUUIDs = "incomplete-16-bit-uuids"
    case complete16BitUUIDs = "complete-16-bit-uuids"
    case incomplete32BitUUIDs = "incomplete-32-bit-uuids"
    case complete32BitUUIDs = "complete-32-bit-uuids"
    case incomplete128BitUUIDs = "incomplete-128-bit-uuids"
    case complete128BitUUIDs = "complete-128-bit-uuids"
    case shortenedLocalName = "shortened-local-name"
    case completeLocalName = "complete-local-name"
    case txPowerLevel = "tx-power-level"
    case serviceData16 = "service-data-16"
    case serviceData32 = "service-data-32"
    case serviceData128 = "service-data-128"
    case manufacturerData = "manufacturer-data"

    enum Fields: Hashable {
        case flags
        /// UUIDs of so many octets each.
        case uuids(octets: Int)
        case name
        case power
        /// Data after a UUID of so many octets.
        case serviceData(octets: Int)
        case manufacturerData
    }

    var type: ADType {
        switch self {
        case .flags: .flags
        case .incomplete16BitUUIDs: .incomplete16BitUUIDs
        case .complete16BitUUIDs: .complete16BitUUIDs
        case .incomplete32BitUUIDs: .incomplete32BitUUIDs
        case .complete32BitUUIDs: .complete32BitUUIDs
        case .incomplete128BitUUIDs: .incomplete128BitUUIDs
        case .complete128BitUUIDs: .complete128BitUUIDs
        case .shortenedLocalName: .shortenedLocalName
        case .completeLocalName: .completeLocalName
        case .txPowerLevel: .txPowerLevel
        case .serviceData16: .serviceData16
        case .serviceData32: .serviceData32
        case .serviceData128: .serviceData128
        case .manufacturerData: .manufacturerData
        }
    }

    var fields: Fields {
        switch self {
        case .flags: .flags
        case .incomplete16BitUUIDs, .complete16BitUUIDs: .uuids(octets: 2)
        case .incomplete32BitUUIDs, .complete32BitUUIDs: .uuids(octets: 4)
        case .incomplete128BitUUIDs, .complete128BitUUIDs: .uuids(octets: 16)
        case .shortenedLocalName, .completeLocalName: .name
        case .txPowerLevel: .power
        case .serviceData16: .serviceData(octets: 2)
        case .serviceData32: .serviceData(octets: 4)
        case .serviceData128: .serviceData(octets: 16)
        case .manufacturerData: .manufacturerData
        }
    }

    init?(_ type: ADType) {
        guard let kind = Self.allCases.first(where: { $0.type == type }) else { return nil }
        self = kind
    }

    /// Every key of such a structure, in the order in which it is printed.
    var keys: [String] {
        switch fields {
        case .flags: ["type", "flags"]
        case .uuids: ["type", "uuids"]
        case .name: ["type", "name"]
        case .power: ["type", "powerDbm"]
        case .serviceData: ["type", "uuid", "data"]
        case .manufacturerData: ["type", "companyId", "data"]
        }
    }
}

extension ConfigurationDecoder {
    /// The structures of a raw advertisement, at most 31 octets.
    mutating func raw(_ node: JSONNode?) -> Advertisement.Content? {
        guard let node, let structures = structures(node) else { return nil }
        return fitted(structures) { node[$0] ?? node }.map { .raw($0) }
    }

    mutating func scanResponse(_ node: JSONNode?) -> BeaconProfile.ScanResponse? {
        guard let object = object(node, keys: ["localName", "structures"]) else { return nil }
        guard object["localName"] != nil || object["structures"] != nil else {
            error("the scan response is empty: give it a \"localName\" or \"structures\"", at: object)
            return nil
        }
        let localName = text(object["localName"])
        if let node = object["localName"], localName == "" { error("the name is empty", at: node) }
        let structures = structures(object["structures"])
        if let structures, let index = structures.firstIndex(where: { $0.type == .flags }) {
            let place = object["structures"]?[index] ?? object
            error("flags may not stand in a scan response, only in the advertisement", at: place)
        }
        guard object["localName"] == nil || localName != nil, object["structures"] == nil || structures != nil else {
            return nil
        }
        let response = BeaconProfile.ScanResponse(localName: localName, structures: structures ?? [])
        let all = (localName.map { [.completeLocalName($0)] } ?? []) + response.structures
        let first = localName == nil ? 0 : 1
        let data = fitted(all) { index in
            (index < first ? object["localName"] : object["structures"]?[index - first]) ?? object
        }
        return data.map { _ in response }
    }

    /// - Parameter place: Gives the node of a structure.
    private mutating func fitted(_ structures: [ADStructure], place: (Int) -> JSONNode) -> AdvertisingData? {
        do throws(AdvertisingDataError) {
            return try AdvertisingData(structures)
        } catch {
            self.error(error.description, at: place(error.structure))
            return nil
        }
    }

    /// `nil` when one of them is wrong.
    private mutating func structures(_ node: JSONNode?) -> [ADStructure]? {
        guard let nodes = list(node, of: "AD structures") else { return nil }
        let structures = nodes.map { structure($0) }
        return structures.contains(nil) ? nil : structures.compactMap { $0 }
    }

    private mutating func structure(_ node: JSONNode) -> ADStructure? {
        guard case .object = node.value else {
            wrongKind(node, expected: "an object")
            return nil
        }
        guard let type = required("type", in: node, "the kind of structure, or the number of its AD type") else {
            return nil
        }
        if let name = type.string, !name.lowercased().hasPrefix("0x") {
            guard let kind = StructureKind(rawValue: name) else {
                notAWord(name, StructureKind.allCases.map(\.rawValue), at: type)
                return nil
            }
            guard let object = object(node, keys: kind.keys) else { return nil }
            return data(object, kind).map { ADStructure(kind.type, $0) }
        }
        guard let object = object(node, keys: ["type", "data"]) else { return nil }
        let number = code(type, in: 0...255, digits: 2)
        let data = octets(required("data", in: object, "the bytes after the type"))
        guard let number, let data else { return nil }
        return ADStructure(ADType(rawValue: UInt8(truncatingIfNeeded: number)), data)
    }

    private mutating func data(_ object: JSONNode, _ kind: StructureKind) -> [UInt8]? {
        switch kind.fields {
        case .flags:
            return code(required("flags", in: object, "the byte of flags"), in: 0...255, digits: 2)
                .map { [UInt8(truncatingIfNeeded: $0)] }
        case .uuids(let width):
            guard let nodes = list(required("uuids", in: object, "the list"), of: "UUIDs") else { return nil }
            let uuids = nodes.map { uuid($0, octets: width) }
            return uuids.contains(nil) ? nil : uuids.flatMap { $0 ?? [] }
        case .name:
            guard let node = required("name", in: object, "the text"), let name = text(node) else { return nil }
            if name.isEmpty { error("the name is empty", at: node) }
            return Array(name.utf8)
        case .power:
            return integer(required("powerDbm", in: object, "dBm"), in: -127...127, unit: "dBm")
                .map { [UInt8(truncatingIfNeeded: $0)] }
        case .serviceData(let width):
            let uuid = uuid(required("uuid", in: object, "whose data it is"), octets: width)
            let data = octets(required("data", in: object, "the bytes after the UUID"))
            guard let uuid, let data else { return nil }
            return uuid + data
        case .manufacturerData:
            let companyID = code(required("companyId", in: object, "whose data it is"), in: 0...65_535, digits: 4)
            let data = octets(required("data", in: object, "the bytes after the company identifier"))
            guard let companyID, let data else { return nil }
            return [UInt8(truncatingIfNeeded: companyID), UInt8(truncatingIfNeeded: companyID >> 8)] + data
        }
    }

    /// Least significant octet first, as AD structures have them. `0x` may stand before 16 and 32 bits.
    private mutating func uuid(_ node: JSONNode?, octets count: Int) -> [UInt8]? {
        guard let node, let text = text(node) else { return nil }
        guard count < 16, text.hasPrefix("0x") || text.hasPrefix("0X") else {
            return octets(node, count: count).map { $0.reversed() }
        }
        let digits = JSONNode(.string(String(text.dropFirst(2))), at: node.position, path: node.path)
        return octets(digits, count: count).map { $0.reversed() }
    }
}
