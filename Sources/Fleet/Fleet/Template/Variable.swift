internal import BluetoothTypes
internal import Configuration

/// A variable that `defaults`, a group, a beacon or a cell of a table sets.
struct Variable: Sendable {
    enum Value: Sendable {
        /// A string that may contain other variables.
        case text(Expression)
        /// Any other JSON value.
        case json(JSONValue)
        /// The text of a cell of a table.
        case cell(String)
        /// A range of intervals. Each beacon gets its own interval from the range.
        case spread(ClosedRange<AdvertisingInterval>)
    }

    var value: Value
    /// The place where the variable is set.
    var origin: ValueOrigin

    /// The variable that `intervalSpread` sets.
    static let spreadName = "intervalMs"

    /// Variables that cannot be set, because their values come from the beacon itself.
    static let reserved = ["name", "group", "site", "floor", "room", "host", "serial", "address", "eidEpoch"]
    /// Variables that `identities` can allocate.
    static let allocated = ["major", "minor", "namespace", "instance"]
}

/// The origin of a value, for messages.
enum ValueOrigin: Sendable {
    case node(JSONNode)
    /// A column of the table that contains the beacon.
    case column(Int)

    /// The order of variables by how specific they are to one beacon: 0 for the template and "defaults", 1 for a group,
    /// 2 for a beacon of a list, 3 for a cell.
    var closeness: Int {
        guard case .node(let node) = self else { return 3 }
        if node.path.components.contains(.key("beacons")) { return 2 }
        return node.path.components.first == .key("groups") ? 1 : 0
    }

    func isCloser(than other: ValueOrigin) -> Bool { closeness > other.closeness }

    var isCell: Bool { if case .column = self { true } else { false } }
}
