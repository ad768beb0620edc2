internal import BluetoothTypes
public import Configuration

/// Which beacon of a fleet has which identity, and the lock that keeps it so.
public struct FleetAllocation: Sendable {
    /// The lock after this allocation: what was there, and what is new behind it.
    public internal(set) var lock: FleetLock
    /// For each beacon the number of its entry in the lock.
    var entries: [UInt32]
    /// For each group its major number; -1 where it has none.
    var groupMajors: [Int32]
    public internal(set) var changes = Changes()

    /// What an allocation did to a lock.
    public struct Changes: Hashable, Sendable {
        /// Beacons that were given an identity.
        public var added = 0
        /// Beacons that are gone and whose identities are kept.
        public var retired: [String] = []
        /// Beacons that are back and have the identity that they had.
        public var revived: [String] = []
        /// New name and old name.
        public var renamed: [Pair] = []
        /// Beacons that were counted in another group; they have a new number.
        public var moved: [String] = []
        /// Name and new serial number of beacons with another box than before.
        public var replacedBoxes: [Pair] = []
        /// Names whose retired identities were given up.
        public var released: [String] = []

        /// A beacon, and what has changed of it.
        public struct Pair: Hashable, Sendable {
            public var name: String
            public var other: String
        }
    }

    /// Finds or makes an identity for every beacon of the fleet.
    ///
    /// - Parameters:
    ///   - lock: The lock as it was; `nil` where there is none yet.
    ///   - releasing: Names whose retired identities may be given out again.
    ///   - now: The epoch of beacons that get one now, unless the fleet file has one.
    public static func make(
        _ fleet: Fleet, lock: FleetLock?, releasing: [String] = [], now: RFC3339Time
    ) -> (allocation: FleetAllocation, problems: [FileProblem]) {
        var allocator = Allocator(fleet, lock: lock, now: now)
        allocator.run(releasing: releasing)
        return (allocator.allocation, allocator.problems.sorted)
    }
}

/// By which rules identities are given out.
struct AllocationRules: Sendable {
    /// A part of the fleet in which something is counted.
    enum Level: String, CaseIterable, Sendable {
        case fleet
        case site
        case floor
        case room

        /// How many names of a group's path belong to it.
        var depth: Int {
            switch self {
            case .fleet: 0
            case .site: 1
            case .floor: 2
            case .room: 3
            }
        }
    }

    /// Each part has its own major number.
    struct Major: Sendable {
        var per: Level
        var first: Int
    }

    /// Minor numbers are counted within each part.
    struct Minor: Sendable {
        var within: Level
        var first: Int
    }

    enum Instance: Sendable {
        case counter(first: Int)
        /// The box's serial number in hexadecimal, its last 12 digits.
        case serial
    }

    var major: Major?
    var minor: Minor?
    var namespace: FixedOctets<10>?
    var instance: Instance?
    /// For beacons that get their epoch from now on; without it, the time at which they are first generated.
    var eidEpoch: RFC3339Time?
    /// Where each rule stands.
    var nodes: [String: JSONNode] = [:]

    func isAllocated(_ variable: String) -> Bool {
        switch variable {
        case "major": major != nil
        case "minor": minor != nil
        case "namespace": namespace != nil
        case "instance": instance != nil
        default: false
        }
    }

    /// The last number of an instance counter: 6 octets.
    static let instanceLimit = UInt64(1) << 48 &- 1
    static let numberRange = 0...65_535
}
