public import BluetoothTypes
internal import Configuration

/// A fleet file with its tables, read and understood: which beacons there are, in which groups, and how their profiles
/// are made from the template.
///
/// Whether the profiles are good is asked by `FleetCheck`; which identities the beacons have says a ``FleetLock``.
public struct Fleet: Sendable {
    /// The only version of the format so far.
    public static let version = 1
    /// How deep groups go: site, floor, room.
    static let depthLimit = 3
    static let levelNames = ["site", "floor", "room"]

    /// Letters, digits, `.`, `_` and `-`, at most 64.
    public let name: String
    /// As it was named.
    public let file: String
    public let listeners: Set<FleetListener>
    /// Where identity keys lie, beside the fleet file; `nil` where the file does not say.
    public let keysFolder: String?
    let keysNode: JSONNode?
    let listenersNode: JSONNode?
    let template: FleetTemplate
    let rules: AllocationRules
    /// The first is the fleet itself.
    let groups: [Group]
    let sources: [Source]
    /// In the order of the file; the names have the same numbers.
    let beacons: [Beacon]
    let names: NamePool

    public var beaconCount: Int { beacons.count }

    /// A site, a floor or a room, or the fleet itself.
    struct Group: Sendable {
        var name = ""
        /// What it was called before.
        var was: String?
        /// Its parent's number; 0 for a site, and for the fleet itself.
        var parent = 0
        /// The names from the site on; empty for the fleet itself.
        var path: [String] = []
        var variables: [String: Variable] = [:]
        var controller: ControllerKind?
        /// Where it stands in the fleet file; `nil` for one that only a table names.
        var node: JSONNode?

        var pathText: String { path.joined(separator: "/") }
    }

    /// Where beacons stand.
    enum Source: Sendable {
        case list([ListedBeacon])
        case table(TableSource)

        /// Whether a beacon in it may say what it was called before.
        var hasFormerNames: Bool {
            switch self {
            case .list(let beacons): beacons.contains { $0.was != nil }
            case .table(let source): source.columns.was != nil
            }
        }
    }

    /// A beacon of a list in the fleet file.
    struct ListedBeacon: Sendable {
        var node: JSONNode
        var host: String?
        var serial: String?
        var was: String?
        var controller: ControllerKind?
        var position: FleetManifest.Position?
        var variables: [String: Variable]
    }

    /// Where a beacon stands.
    struct Beacon: Sendable {
        var group: UInt32
        /// Which of the sources.
        var source: UInt32
        /// The number in the list, or the octets before the row.
        var place: UInt32
        /// The row's line.
        var line: UInt32
        /// The serial number's place in the table; empty where the row has none.
        var serialStart: UInt32 = 0
        var serialCount: UInt8 = 0
    }
}

/// A table of beacons.
final class TableSource: Sendable {
    let table: CSVTable
    let columns: TableColumns

    init(_ table: CSVTable, _ columns: TableColumns) {
        self.table = table
        self.columns = columns
    }
}

/// What the columns of a table hold.
struct TableColumns: Sendable {
    var name = 0
    var levels: [Int?] = [nil, nil, nil]
    var group: Int?
    var host: Int?
    var serial: Int?
    var was: Int?
    var controller: Int?
    /// x, y, z, latitude, longitude.
    var coordinates: [Int?] = [nil, nil, nil, nil, nil]
    /// Columns that fill variables which something uses.
    var variables: [(name: String, column: Int)] = []

    static let coordinateNames = ["x", "y", "z", "latitude", "longitude"]
    /// Names that a fleet file may map to columns of other names.
    static let known =
        ["name", "site", "floor", "room", "group", "host", "serial", "was", "controller"] + coordinateNames
    /// More variables than this come from no table.
    static let variableLimit = 64
}

/// What kind of controller a box has, as far as it limits what a beacon may ask for.
public enum ControllerKind: String, CaseIterable, Hashable, Sendable {
    /// A Raspberry Pi's own: legacy advertising only, on some models that of Bluetooth 4, so 100 ms is what all do.
    case raspberryPi = "raspberry-pi"
    /// Before Core 5.0: 100 ms or more for whatever is not connectable.
    case bluetooth4 = "bluetooth-4"
    /// Core 5.0 or later without extended advertising.
    case bluetooth5 = "bluetooth-5"
    /// With extended advertising: several sets, each with its own interval, address and power.
    case extended
    /// The controller in software.
    case virtual

    /// The intervals that it takes for advertising of a kind (Core Specification 5.4, Vol 4 Part E 7.8.5, 7.8.53; the
    /// 100 ms stood in 7.8.5 before 5.0).
    public func intervalRange(for pdu: AdvertisingPDU) -> ClosedRange<AdvertisingInterval> {
        switch self {
        case .raspberryPi, .bluetooth4:
            let lowest =
                pdu == .connectable
                ? AdvertisingInterval.legacyRange.lowerBound : AdvertisingInterval.nonconnectableMinimumBefore5
            return lowest...AdvertisingInterval.legacyRange.upperBound
        case .bluetooth5: return AdvertisingInterval.legacyRange
        case .extended, .virtual: return AdvertisingInterval.extendedRange
        }
    }

    /// Whether one advertisement's data, address and power take turns with those of all others.
    public var hasOneSet: Bool { self != .extended && self != .virtual }

    var description: String {
        switch self {
        case .raspberryPi: "a Raspberry Pi's controller"
        case .bluetooth4: "a controller of Bluetooth 4"
        case .bluetooth5: "a controller of Bluetooth 5 without extended advertising"
        case .extended: "a controller with extended advertising"
        case .virtual: "the virtual controller"
        }
    }
}

/// Who listens to a fleet, as far as it changes what is good for it.
public enum FleetListener: String, CaseIterable, Hashable, Sendable {
    case homeAssistant = "home-assistant"
    case android
    case ios
    case gateway
}

/// What a controller cannot do of what a shape asks for.
struct ControllerFault: Sendable {
    var message: String
    /// In the profile.
    var path: JSONPath

    static func find(_ shape: Shape, _ controller: ControllerKind) -> [ControllerFault] {
        var faults: [ControllerFault] = []
        for (index, advertisement) in shape.advertisements.enumerated() {
            let range = controller.intervalRange(for: advertisement.pdu)
            guard !range.contains(advertisement.interval) else { continue }
            faults.append(
                .init(
                    message: "\(advertisement.interval) is not among the intervals of \(controller.description), "
                        + "\(range.lowerBound)...\(range.upperBound)",
                    path: JSONPath([.key("advertisements"), .index(index), .key("intervalMs")])))
        }
        guard controller.hasOneSet, shape.advertisements.count > 1 else { return faults }
        let hasEID = shape.advertisements.contains { $0.type == "eddystone-eid" }
        let plain = shape.advertisements.firstIndex { $0.text.keyFile == nil }
        if hasEID, let plain {
            faults.append(
                .init(
                    message:
                        "\(controller.description) has one address at a time: the address of an EID turns over, and "
                        + "that of \(shape.advertisements[plain].type) would with it; take one of the two out, or use a "
                        + "controller with extended advertising",
                    path: JSONPath([.key("advertisements"), .index(plain)])))
        }
        return faults
    }
}

/// A fleet file to start from, with the table that it may need: the files of `profiles/fleets`, embedded as they are.
public enum FleetSample: String, CaseIterable, Sendable {
    /// Rooms on floors, iBeacon with Eddystone-URL and telemetry, Home Assistant among the listeners.
    case museum
    /// Several sites, Eddystone-UID under a namespace made from a domain.
    case shop
    /// A table from the facilities, with its own names for the columns.
    case carPark = "car-park"

    /// The fleet file. Without `$schema`, whose path holds for the sample's own directory only.
    public var text: String {
        let octets =
            switch self {
            case .museum: PackageResources.museum_json
            case .shop: PackageResources.shop_json
            case .carPark: PackageResources.car_park_json
            }
        let lines = String(decoding: octets, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        return lines.filter { !$0.hasPrefix("  \"$schema\":") }.joined(separator: "\n")
    }

    /// The table that the fleet file names, and its name there.
    public var table: (name: String, text: String)? {
        self == .carPark
            ? ("car-park.csv", String(decoding: PackageResources.car_park_csv, as: UTF8.self)) : nil
    }
}
