public import Configuration

/// A decoded fleet file and its tables: the beacons, their groups, and the template of their profiles.
///
/// A ``FleetAllocation`` assigns identities to the beacons and generates their profiles. A ``FleetChecker`` reports the
/// problems of all beacons.
public struct Fleet: Sendable {
    /// The largest number of nested groups: site, floor and room.
    static let depthLimit = 3
    static let levelNames = ["site", "floor", "room"]

    /// The name of the fleet: at most 64 letters, digits, `.`, `_` and `-`.
    public let name: String
    /// The path of the fleet file, as given by the caller.
    public let file: String
    public let listeners: Set<FleetListener>
    /// The directory of the identity keys, relative to the fleet file; `nil` if the file names no directory.
    public let keysFolder: String?
    let keysNode: JSONNode?
    let listenersNode: JSONNode?
    let template: FleetTemplate
    /// The templates of the tags of all beacons, followed by the templates of the attachments.
    let notes: [NoteTemplate]
    let rules: AllocationRules
    /// The groups. The first group is the fleet itself.
    let groups: [Group]
    /// The beacons, in the order of the file.
    let beacons: [Beacon]
    /// The position of each beacon in ``beacons``, by its name.
    let beaconIndices: [String: Int]

    /// The number of beacons.
    public var beaconCount: Int { beacons.count }

    /// The names of the columns of the first table. The keys are the values that the columns contain, such as `name`
    /// and `host`. Empty if there is no table.
    public var columnNames: [String: String] {
        guard let source = beacons.lazy.compactMap(\.row).first?.table else { return [:] }
        let columns = source.columns
        let columnIndices =
            [
                ("name", columns.name), ("title", columns.title), ("host", columns.host), ("serial", columns.serial),
                ("controller", columns.controller),
            ]
            + zip(Self.levelNames, columns.levels) + zip(TableColumns.coordinateNames, columns.coordinates)
        var names: [String: String] = [:]
        for (name, index) in columnIndices { names[name] = index.map { source.table.header[$0] } }
        return names
    }

    /// A site, a floor or a room, or the fleet itself.
    struct Group: Sendable {
        var name = ""
        /// The name of the group before it was renamed; `nil` if it was not renamed.
        var was: String?
        /// The position in ``Fleet/groups`` of the group that contains this group; 0 for a site, and for the fleet
        /// itself.
        var parent = 0
        /// The names from the site to this group; empty for the fleet itself.
        var path: [String] = []
        var variables: [String: Variable] = [:]
        var controller: ControllerKind?
        /// The object in the fleet file; `nil` for a group that only a table names.
        var node: JSONNode?

        var pathText: String { path.joined(separator: "/") }
    }

    /// A beacon of a list or a row of a table.
    struct Beacon: Sendable {
        var name: String
        /// The name to display; if `nil`, ``name`` is displayed.
        var title: String?
        /// The position of the beacon's group in ``Fleet/groups``.
        var group: Int
        /// The object in the fleet file; `nil` for a row of a table.
        var node: JSONNode?
        /// The row of a table; `nil` for a beacon of a list.
        var row: Row?
        var host: String?
        var serial: String?
        var was: String?
        var controller: ControllerKind?
        var position: FleetManifest.Position?
        /// The variables that are set for this beacon. For a row of a table, also "host" and "serial" if strings of the
        /// file use them.
        var variables: [String: Variable] = [:]
    }

    /// A row of a table.
    struct Row: Sendable {
        var table: TableSource
        /// The number of bytes before the row in the file of the table.
        var start: Int
        var line: Int
    }

    /// Returns the group at position `index`, followed by the groups that contain it, from the innermost to the
    /// outermost. The last group is the fleet itself.
    func groups(around index: Int) -> [Group] {
        var result = [groups[index]]
        var index = index
        while index != 0 {
            index = groups[index].parent
            result.append(groups[index])
        }
        return result
    }

    /// Returns the kind of controller that the beacon states. If the beacon states none, returns the kind that the
    /// innermost of its groups states.
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

    /// Returns the place of a value of a beacon.
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

    /// Returns the place of one of the beacon's columns or keys, such as its name.
    func place(of beacon: Beacon, _ name: String = "name") -> Place {
        if let columns = beacon.row?.table.columns {
            let column: Int? =
                switch name {
                case "host": columns.host
                case "serial": columns.serial
                case "was": columns.was
                default: nil
                }
            return place(.column(column ?? columns.name), of: beacon)
        }
        let node = beacon.node ?? template.node
        return place(.node(node[name] ?? node), of: beacon)
    }

    /// Returns a warning that concerns all beacons of a site.
    ///
    /// - Parameter site: The site's name; empty for the beacons without a site.
    public func warning(_ message: String, site: String) -> FileProblem {
        let siteNode = groups.first { $0.path == [site] }?.node
        let node = siteNode ?? groups[0].node ?? template.node
        return FileProblem(message, at: node.position, path: node.path, severity: .warning, in: file)
    }
}

/// A kind of receiver that listens to the beacons. Some kinds have limits; `fleet check` warns if the fleet exceeds
/// them.
public enum FleetListener: String, CaseIterable, Hashable, Sendable {
    case homeAssistant = "home-assistant"
    case android
    case ios
    case gateway
}

/// A sample of a fleet file, with its table if it has one. The files are those of `profiles/fleets`, embedded without
/// changes.
public enum FleetSample: String, CaseIterable, Sendable {
    /// A fleet with floors and rooms. Its beacons send iBeacon, Eddystone-URL and telemetry, and Home Assistant is one
    /// of the listeners.
    case museum
    /// A fleet with several sites. Its beacons send Eddystone-UID with a namespace that is computed from a domain name.
    case shop
    /// A fleet with a table. The columns of the table have other names than Pharos uses.
    case carPark = "car-park"

    /// The fleet file without `$schema`, because the path in `$schema` is valid only in the directory of the sample.
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

    /// The table that the fleet file names, with its name in the fleet file; `nil` if it names no table.
    public var table: (name: String, text: String)? {
        self == .carPark
            ? ("car-park.csv", String(decoding: PackageResources.car_park_csv, as: UTF8.self)) : nil
    }
}
