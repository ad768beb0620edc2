internal import BluetoothTypes
public import Configuration

/// The identity of every beacon of a fleet, and the lock that keeps them. It depends only on the fleet file, the lock
/// and, for new epochs, the time.
public struct FleetAllocation: Sendable {
    /// The lock after this allocation: the old entries, with the new ones at the end.
    public internal(set) var lock: FleetLock
    /// The number of each beacon's entry in the lock.
    var entries: [Int] = []
    /// The major number of each group.
    var groupMajors: [Int?] = []
    public internal(set) var changes = Changes()

    /// How an allocation changed a lock.
    public struct Changes: Hashable, Sendable {
        /// The number of beacons that were given an identity.
        public var added = 0
        /// Beacons that are gone and whose identities are kept.
        public var retired: [String] = []
        /// Beacons that are back and have the identity that they had.
        public var revived: [String] = []
        /// New name and old name.
        public var renamed: [Pair] = []
        /// Beacons that moved to another group; they have a new number.
        public var moved: [String] = []
        /// Name and new serial number of beacons whose machine was replaced.
        public var replacedBoxes: [Pair] = []
        /// Names whose retired identities were given up.
        public var released: [String] = []

        /// A beacon, and what has changed of it.
        public struct Pair: Hashable, Sendable {
            public var name: String
            public var other: String
        }
    }

    /// The identity of one beacon, as far as the fleet's rules allocate it.
    struct Identity {
        var major: Int?
        var minor: Int?
        var instance: UInt64?
        /// `nil` when the template sets the address.
        var address: DeviceAddress?
        /// `nil` when no key rotates.
        var epoch: RFC3339Time?
    }

    /// Whether this allocation belongs to a fleet of as many beacons.
    func fits(_ fleet: Fleet) -> Bool {
        entries.count == fleet.beacons.count && groupMajors.count == fleet.groups.count
    }

    /// The identity of a beacon of the fleet for which this was made.
    func identity(of number: Int, in fleet: Fleet) -> Identity {
        let entry = lock.entries[entries[number]]
        return Identity(
            major: groupMajors[fleet.beacons[number].group], minor: entry.minor, instance: entry.instance,
            address: fleet.template.hasAddress ? entry.address : nil,
            epoch: fleet.template.hasEpoch ? entry.epoch : nil)
    }

    /// Finds or makes an identity for every beacon of the fleet.
    ///
    /// - Parameters:
    ///   - lock: The lock as it was; `nil` when there is none yet.
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
