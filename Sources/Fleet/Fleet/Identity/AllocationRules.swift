internal import BluetoothTypes
internal import Configuration

/// The rules by which identities are allocated.
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
    /// The epoch of new beacons; `nil` for the time at which they are first generated.
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
