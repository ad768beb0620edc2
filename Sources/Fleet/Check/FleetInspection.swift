internal import Configuration

/// What is asked of each beacon of a fleet, by as many threads as there are: each takes some of the beacons, here or
/// while a ``FleetGenerator`` makes them, and a ``FleetChecker`` puts together what they find.
public final class FleetInspection: Sendable {
    let fleet: Fleet
    let allocation: FleetAllocation
    let keys: FleetKeyFolder?
    /// For each group the number of its site.
    let siteNumbers: [Int]
    /// The sites' names, in the order of the fleet file; one is empty, for beacons without a site.
    let sites: [String]

    /// - Parameters:
    ///   - allocation: Of this fleet; with another one there is nothing to inspect.
    ///   - keys: What lies in the directory that the fleet file names for its keys; `nil` where it names none.
    public init(_ fleet: Fleet, _ allocation: FleetAllocation, keys: FleetKeyFolder? = nil) {
        self.fleet = fleet
        self.allocation = allocation
        self.keys = keys
        var numbers: [String: Int] = [:]
        var names: [String] = []
        siteNumbers = fleet.groups.map { group in
            let name = group.path.first ?? ""
            if let known = numbers[name] { return known }
            numbers[name] = names.count
            names.append(name)
            return names.count - 1
        }
        sites = names
    }

    /// All beacons; none with an allocation of another fleet.
    var range: Range<Int> { allocation.entries.count == fleet.beacons.count ? fleet.beacons.indices : 0..<0 }

    /// Looks at these of the fleet's beacons as they would be generated.
    public func findings(in range: Range<Int>) -> FleetFindings {
        let reader = BeaconReader(fleet)
        var shapes = ShapeTable()
        var inspector = FleetInspector(self)
        for number in range.clamped(to: self.range) where inspector.wantsMore {
            reader.fill(number, allocation)
            inspector.inspect(number, reader, reader.plan.faults.isEmpty ? shapes.find(reader) : nil)
        }
        return inspector.findings(shapes)
    }
}

/// What was found in some of a fleet's beacons, and what can only be told when all have been looked at.
public struct FleetFindings: Sendable {
    /// What is said once only, although many beacons have it.
    enum Once: Hashable, Sendable {
        case plan(PlanCache.Key)
        case shape(UInt64, PlanCache.Key)
    }

    struct Finding: Sendable {
        var problem: FileProblem
        var once: Once?
    }

    /// What no two beacons may share: an identity, or an address that stands in the file.
    struct Mark: Sendable {
        var hash: UInt64
        var beacon: Int32
        /// The advertisement's number; -1 for the profile's address.
        var advertisement: Int16
        var isAddress: Bool
        /// The number of the iBeacon's UUID in ``uuids``; -1 where nobody counts.
        var uuid: Int32 = -1
    }

    /// An identity key that a beacon needs.
    struct Key: Sendable {
        var file: String
        var beacon: Int
        var advertisement: Int
    }

    /// Boxes of one site that send the same.
    struct Boxes: Sendable {
        var site: Int
        var advertisements: [FleetTraffic.Advertisement]
        var count: Int
    }

    var findings: [Finding] = []
    var marks: [Mark] = []
    var uuids: [[UInt8]] = []
    var keys: [Key] = []
    var boxes: [Boxes] = []
    /// Whether the search ended early.
    var isCut = false

    /// Of no beacon.
    public init() {}
}
