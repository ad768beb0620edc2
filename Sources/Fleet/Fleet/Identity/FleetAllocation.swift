internal import BluetoothTypes
public import Configuration

/// A fleet whose beacons have identities, and the lock that keeps the identities.
///
/// The identities depend only on the fleet file, the lock and, for new epochs, the time.
public struct FleetAllocation: Sendable {
    public let fleet: Fleet
    /// The lock after this allocation: the old entries, followed by the new entries.
    public internal(set) var lock: FleetLock
    public internal(set) var changes = Changes()
    /// The beacons that have other identities than in the lock before this allocation.
    public internal(set) var renumbered: [Renumbered] = []
    /// For each beacon, the position of its entry in the lock.
    var entryIndices: [Int] = []
    /// The positions of the beacons that got a new entry in the lock, or whose group got a new major number.
    var newIndices: Set<Int> = []
    /// The major number of each group; `nil` for a group without a major number.
    var groupMajors: [Int?] = []

    init(fleet: Fleet, lock: FleetLock) {
        self.fleet = fleet
        self.lock = lock
    }

    /// Gives every beacon of a fleet its identity.
    ///
    /// - Parameters:
    ///   - lock: The lock before this allocation; `nil` when there is none yet.
    ///   - releasing: The names of retired beacons whose identities are removed from the lock.
    ///   - now: The current time. It is the epoch of beacons that get a new epoch, if the fleet file states no epoch.
    /// - Returns: The allocation, and every problem. After an error some beacons may have no identity.
    public static func make(
        _ fleet: Fleet, lock: FleetLock?, releasing: [String] = [], now: RFC3339Time
    ) -> (allocation: FleetAllocation, problems: [FileProblem]) {
        var allocator = Allocator(fleet, lock: lock, now: now)
        allocator.run(releasing: releasing)
        return (allocator.allocation, allocator.problems.sorted)
    }

    /// The number of beacons that have identities: all beacons of the fleet, or none after an error in the lock.
    public var count: Int { entryIndices.count }

    /// Returns the parts of a beacon's identity that the rules of the fleet allocate.
    ///
    /// - Parameter index: The position of the beacon, 0..<``count``, in the order of the fleet file.
    func identity(of index: Int) -> Identity {
        let entry = lock.entries[entryIndices[index]]
        return Identity(
            major: groupMajors[fleet.beacons[index].group], minor: entry.minor, instance: entry.instance,
            address: fleet.template.hasAddress ? entry.address : nil,
            epoch: fleet.template.hasEpoch ? entry.epoch : nil)
    }

    /// The parts of one beacon's identity that the rules of the fleet allocate.
    struct Identity {
        var major: Int?
        var minor: Int?
        var instance: UInt64?
        /// The allocated address; `nil` when the template sets the address.
        var address: DeviceAddress?
        /// The epoch of the counter for ephemeral ids; `nil` when no key rotates.
        var epoch: RFC3339Time?
    }

    /// The changes that an allocation made to a lock.
    public struct Changes: Equatable, Sendable {
        /// The number of beacons that received a new identity.
        public var added = 0
        /// Beacons that were removed from the fleet. Their identities are kept.
        public var retired: [String] = []
        /// Beacons that were retired and are in the fleet again, with their former identities.
        public var revived: [String] = []
        /// Renamed beacons: the new name, and the old name.
        public var renamed: [Pair] = []
        /// Beacons that moved to another group and have a new minor number.
        public var moved: [String] = []
        /// Beacons whose machine was replaced: the name, and the new serial number.
        public var replacedMachines: [Pair] = []
        /// The names of retired beacons whose identities were removed from the lock.
        public var released: [String] = []

        /// A beacon, and the value that has changed.
        public struct Pair: Hashable, Sendable {
            public var name: String
            public var other: String
        }
    }
}

/// The rules by which identities are allocated.
struct AllocationRules: Sendable {
    /// A part of the fleet in which numbers are counted.
    enum Level: String, CaseIterable, Sendable {
        case fleet
        case site
        case floor
        case room

        /// The number of names at the start of a group's path that identify the part.
        var depth: Int {
            switch self {
            case .fleet: 0
            case .site: 1
            case .floor: 2
            case .room: 3
            }
        }
    }

    /// The rule for major numbers: each part of the fleet at the level `per` has its own major number.
    struct Major: Sendable {
        var per: Level
        var first: Int
    }

    /// The rule for minor numbers, which are counted separately in each group of the level `within`.
    struct Minor: Sendable {
        var within: Level
        var first: Int
    }

    enum Instance: Sendable {
        case counter(first: Int)
        /// The last 12 digits of the machine's serial number in hexadecimal.
        case serial
    }

    var major: Major?
    var minor: Minor?
    var namespace: FixedOctets<10>?
    var instance: Instance?
    /// The epoch of new beacons. If `nil`, the epoch is the time at which the beacon is first generated.
    var eidEpoch: RFC3339Time?
    /// The places of the rules in the fleet file, by their keys.
    var nodes: [String: JSONNode] = [:]

    /// `true` if all beacons whose minor numbers are counted together have the same major number.
    var majorFollowsFromScope: Bool { minor != nil && major?.per.depth == minor?.within.depth }

    func isAllocated(_ variable: String) -> Bool {
        switch variable {
        case "major": major != nil
        case "minor": minor != nil
        case "namespace": namespace != nil
        case "instance": instance != nil
        default: false
        }
    }

    /// The largest Eddystone instance, which has 6 bytes.
    static let instanceLimit = UInt64(1) << 48 &- 1
    static let numberRange = 0...65_535
}
