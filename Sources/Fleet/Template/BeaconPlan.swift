internal import BluetoothTypes
internal import Configuration

/// How the slots of the template are filled for beacons of one group that set the same variables.
struct BeaconPlan: Sendable {
    /// A piece of a value.
    enum Atom: Hashable, Sendable {
        case literal([UInt8])
        /// A cell of the table.
        case column(Int)
        case name
        case major
        case minor
        case instance
        case address
        case epoch
        /// The beacon's own interval of a spread, in ms.
        case interval(ClosedRange<AdvertisingInterval>)
    }

    /// What a value is in JSON.
    enum ValueType: UInt8, Hashable, Sendable {
        case string
        case number
        /// `true`, `false`, `null`, a list or an object, as JSON text.
        case json
        /// A number where the cell's text is one, else a string.
        case numberCell
        /// A boolean where the cell's text is one, else a string.
        case booleanCell
    }

    /// Where a value comes from, for messages.
    enum Origin: Sendable {
        case node(JSONNode)
        case column(Int)

        /// How near to one beacon it stands: the template and "defaults" are for all, a group for some, a beacon's own
        /// variable or cell for itself.
        var closeness: Int {
            guard case .node(let node) = self else { return 3 }
            if node.path.components.contains(.key("beacons")) { return 2 }
            return node.path.components.first == .key("groups") ? 1 : 0
        }

        func isCloser(than other: Origin) -> Bool { closeness > other.closeness }
    }

    struct Slot: Sendable {
        var atoms: [Atom]
        var type: ValueType
        var origin: Origin
    }

    struct Fault: Sendable {
        var message: String
        var origin: Origin
    }

    var slots: [Slot]
    var faults: [Fault]
}

/// The plans that were made, so that beacons of one group share theirs.
struct PlanCache: Sendable {
    struct Key: Hashable, Sendable {
        var group: UInt32
        var source: UInt32
        /// Which columns of the table have something in them.
        var filled: UInt64
    }

    /// More are not kept: those of a fleet with a room for every beacon would fill the memory.
    private static let limit = 16_384

    private var plans: [Key: BeaconPlan] = [:]

    func find(_ key: Key) -> BeaconPlan? { plans[key] }

    mutating func insert(_ plan: BeaconPlan, _ key: Key) {
        if plans.count >= Self.limit { plans.removeAll() }
        plans[key] = plan
    }
}
