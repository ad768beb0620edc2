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
