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
        /// A range of intervals from which each beacon gets its own.
        case spread(ClosedRange<AdvertisingInterval>)
    }

    var value: Value
    /// The place where it is set.
    var origin: ValueOrigin

    /// The variable that `intervalSpread` sets.
    static let spreadName = "intervalMs"

    /// Variables that cannot be set, because their values come from the beacon itself.
    static let reserved = ["name", "group", "site", "floor", "room", "host", "serial", "address", "eidEpoch"]
    /// Variables that `identities` can allocate.
    static let allocated = ["major", "minor", "namespace", "instance"]

    /// The interval of a beacon in a range, in steps of 0.625 ms. The planner computes the same interval for this name.
    static func interval(of name: String, in intervals: ClosedRange<AdvertisingInterval>) -> AdvertisingInterval {
        let count = UInt64(intervals.upperBound.rawValue - intervals.lowerBound.rawValue) + 1
        let step = NameHash.of(name).multipliedFullWidth(by: count).high
        return AdvertisingInterval(rawValue: intervals.lowerBound.rawValue + UInt32(truncatingIfNeeded: step))
    }
}

/// A hash of 64 bits that depends only on a name. It is the same on every machine and in every version of Pharos.
///
/// FNV-1a, followed by one step of SplitMix64. It is not a cryptographic hash.
enum NameHash {
    /// The hash of a name. Another seed gives an independent hash.
    static func of(_ name: String, seed: UInt64 = 0) -> UInt64 {
        let state = name.utf8.reduce(seed ^ 0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
        var generator = SplitMix64(seed: state)
        return generator.next()
    }
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
