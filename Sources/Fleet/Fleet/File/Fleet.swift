public import BluetoothTypes
public import Configuration

/// A decoded fleet file with its tables: the beacons, their groups, and the template of their profiles.
///
/// The identities of the beacons are in a ``FleetAllocation``. A ``FleetGenerator`` makes the profiles, and a
/// ``FleetChecker`` reports what is wrong with them.
public struct Fleet: Sendable {
    /// The only version of the format so far.
    public static let version = 1
    /// Groups nest up to this depth: site, floor, room.
    static let depthLimit = 3
    static let levelNames = ["site", "floor", "room"]

    /// Letters, digits, `.`, `_` and `-`, at most 64.
    public let name: String
    /// The fleet file's path, as the caller gave it.
    public let file: String
    public let listeners: Set<FleetListener>
    /// The directory of the identity keys, relative to the fleet file; `nil` when the file names none.
    public let keysFolder: String?
    let keysNode: JSONNode?
    let listenersNode: JSONNode?
    let template: FleetTemplate
    let rules: AllocationRules
    /// The first is the fleet itself.
    let groups: [Group]
    /// In the order of the file.
    let beacons: [Beacon]
    /// The number of each beacon by its name.
    let numbers: [String: Int]

    /// The number of beacons.
    public var beaconCount: Int { beacons.count }

    /// A site, a floor or a room, or the fleet itself.
    struct Group: Sendable {
        var name = ""
        /// The name before it was renamed.
        var was: String?
        /// The number of the group that contains it; 0 for a site, and for the fleet itself.
        var parent = 0
        /// The names from the site to this group; empty for the fleet itself.
        var path: [String] = []
        var variables: [String: Variable] = [:]
        var controller: ControllerKind?
        /// Where it stands in the fleet file; `nil` for a group that only a table names.
        var node: JSONNode?

        var pathText: String { path.joined(separator: "/") }
    }

    /// A beacon of a list or a row of a table.
    struct Beacon: Sendable {
        var name: String
        /// The number of its group.
        var group: Int
        /// Where it stands in the fleet file; `nil` for a row of a table.
        var node: JSONNode?
        /// Where it stands in a table; `nil` for a beacon of a list.
        var row: Row?
        var host: String?
        var serial: String?
        var was: String?
        var controller: ControllerKind?
        var position: FleetManifest.Position?
        /// The variables that it sets itself; for a row also "host" and "serial", when something uses them.
        var variables: [String: Variable] = [:]
    }

    /// A row of a table.
    struct Row: Sendable {
        var table: TableSource
        /// The number of bytes before the row.
        var start: Int
        var line: Int
    }

    /// A group and the groups that contain it, from the inside out; the last is the fleet itself.
    func groups(around number: Int) -> [Group] {
        var found = [groups[number]]
        var number = number
        while number != 0 {
            number = groups[number].parent
            found.append(groups[number])
        }
        return found
    }

    /// The kind of controller that a beacon, or the innermost group around it, states.
    func controller(of beacon: Beacon) -> ControllerKind? {
        beacon.controller ?? groups(around: beacon.group).lazy.compactMap(\.controller).first
    }
}

extension Fleet {
    /// A place in the fleet file or in one of its tables.
    struct Place: Sendable {
        var file: String
        var position: JSONPosition
        var path: JSONPath

        func problem(_ message: String, severity: FileProblem.Severity = .error) -> FileProblem {
            FileProblem(message, at: position, path: path, severity: severity, in: file)
        }
    }

    /// Where a value of a beacon comes from.
    func place(_ origin: ValueOrigin, of beacon: Beacon) -> Place {
        switch origin {
        case .node(let node): return Place(file: file, position: node.position, path: node.path)
        case .column(let column):
            guard let row = beacon.row else {
                return Place(file: file, position: .init(line: 1, column: 1), path: .root)
            }
            return row.table.place(of: column, in: row)
        }
    }

    /// Where a beacon stands, or one of its own columns or keys.
    func place(of beacon: Beacon, _ name: String = "name") -> Place {
        if let columns = beacon.row?.table.columns {
            let column: Int? =
                switch name {
                case "serial": columns.serial
                case "was": columns.was
                default: nil
                }
            return place(.column(column ?? columns.name), of: beacon)
        }
        let node = beacon.node ?? template.node
        return place(.node(node[name] ?? node), of: beacon)
    }

    /// A warning that concerns all beacons of a site.
    ///
    /// - Parameter site: The site's name; empty for the beacons without a site.
    public func warning(_ message: String, site: String) -> FileProblem {
        let own = groups.first { $0.path == [site] }?.node
        let node = own ?? groups[0].node ?? template.node
        return FileProblem(message, at: node.position, path: node.path, severity: .warning, in: file)
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

    /// Where a cell of a row begins. Reads the row again, so that rows need not keep the places of their cells.
    func place(of column: Int, in row: Fleet.Row) -> Fleet.Place {
        var cells = CSVRow()
        table.row(at: row.start, line: row.line, &cells)
        guard column < cells.cells.count else {
            return .init(file: table.file, position: .init(line: row.line, column: 1), path: .root)
        }
        let position = table.position(of: Int(cells.cells[column].start), in: cells)
        return .init(file: table.file, position: position, path: JSONPath([.key(table.header[column])]))
    }
}

/// Which columns of a table hold what.
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
    /// The columns of the variables that something uses.
    var variables: [String: Int] = [:]

    static let coordinateNames = ["x", "y", "z", "latitude", "longitude"]
    /// Names that a fleet file may map to columns of other names.
    static let known =
        ["name", "site", "floor", "room", "group", "host", "serial", "was", "controller"] + coordinateNames
    /// The largest number of variables of one table.
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
