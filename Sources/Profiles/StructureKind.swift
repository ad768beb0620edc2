internal import BluetoothTypes

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
