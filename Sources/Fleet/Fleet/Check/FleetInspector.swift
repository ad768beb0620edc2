internal import BluetoothTypes
internal import Configuration
internal import Profiles

/// Looks at one beacon after the other.
struct FleetInspector {
    private let inspection: FleetInspection
    private let fleet: Fleet
    private var result = FleetFindings()
    private var said: Set<FleetFindings.Once> = []
    private var known: Set<FileProblem> = []
    private var uuidNumbers: [[UInt8]: Int32] = [:]
    private var key: [UInt8] = []
    private var controllers: [ControllerKey: [ControllerFault]] = [:]
    private let countsPairs: Bool
    /// How many boxes there are of each shape on each site; the site's number stands in the upper half of the key.
    private var boxes: [Int: Int] = [:]
    private var last: (key: Int, count: Int) = (-1, 0)

    private struct ControllerKey: Hashable {
        var shape: Int
        var controller: ControllerKind
    }

    init(_ inspection: FleetInspection) {
        self.inspection = inspection
        fleet = inspection.fleet
        countsPairs = fleet.listeners.contains(.homeAssistant)
    }

    /// Nobody reads more problems than these.
    var wantsMore: Bool { !result.isCut }

    /// - Parameters:
    ///   - reader: Filled for this beacon.
    ///   - found: The beacon's shape; `nil` where its slots could not be filled.
    mutating func inspect(_ number: Int, _ reader: BeaconReader, _ found: (shape: Shape, number: Int?)?) {
        guard result.findings.count < ProblemList.limit else {
            result.isCut = true
            return
        }
        guard let (shape, shapeNumber) = found else { return report(reader, number) }
        if !shape.problems.isEmpty { report(shape, shapeNumber, reader, number) }
        guard shape.profile != nil else { return }
        collectMarks(shape, reader, number)
        checkController(shape, shapeNumber, reader, number)
        if fleet.template.hasEpoch { checkKeys(shape, reader, number) }
        count(shape, shapeNumber, site: inspection.siteNumbers[Int(fleet.beacons[number].group)])
    }

    func findings(_ shapes: ShapeTable) -> FleetFindings {
        var (result, boxes) = (self.result, self.boxes)
        if last.count > 0 { boxes[last.key, default: 0] += last.count }
        result.boxes += boxes.sorted { $0.key < $1.key }.map { key, count in
            .init(
                site: key >> 32, advertisements: shapes.shapes[key & 0xFFFF_FFFF].advertisements.map(\.traffic),
                count: count)
        }
        return result
    }

    private mutating func add(
        _ message: String, at place: BeaconReader.Place, severity: FileProblem.Severity = .error,
        once: FleetFindings.Once? = nil
    ) {
        let problem = FileProblem(
            message, at: place.position, path: place.path, severity: severity, in: place.file)
        if known.insert(problem).inserted { result.findings.append(.init(problem: problem, once: once)) }
    }

    /// What is wrong with the values of the slots.
    private mutating func report(_ reader: BeaconReader, _ number: Int) {
        let once = reader.planKey.map { FleetFindings.Once.plan($0) }
        let isKnown = once.map(said.contains) ?? false
        for fault in reader.plan.faults {
            let isOwn = if case .column = fault.origin { true } else { false }
            if isKnown, !isOwn { continue }
            add(
                fault.message + whose(fault.origin, number), at: reader.place(fault.origin, of: number),
                once: isOwn ? nil : once)
        }
        if let once { said.insert(once) }
    }

    /// Names the beacon, as the end of a message about a variable that is set for it or for its group.
    private func whose(_ origin: BeaconPlan.Origin, _ number: Int) -> String {
        guard case .node(let node) = origin, origin.closeness > 0, node.path.components.contains(.key("variables"))
        else { return "" }
        return " (the beacon \"\(fleet.names.string(number))\")"
    }

    /// What the decoder of profiles says, said of the place where somebody would change it.
    private mutating func report(_ shape: Shape, _ shapeNumber: Int?, _ reader: BeaconReader, _ number: Int) {
        var list = shape.problems
        var once = reader.planKey.map { FleetFindings.Once.shape(shape.hash, $0) }
        if shapeNumber == nil { once = nil }
        if shape.profile == nil {
            // Another beacon's values may stand in the shape's messages.
            var text: [UInt8] = []
            reader.appendProfile(to: &text)
            list = BeaconProfile.decode(text).problems
            once = nil
        }
        let isKnown = once.map(said.contains) ?? false
        for problem in list {
            let origin = reader.origin(of: problem.path)
            let isOwn = if case .column = origin { true } else { false }
            if isKnown, !isOwn { continue }
            add(
                problem.message + whose(origin, number), at: reader.place(origin, of: number),
                severity: problem.severity, once: isOwn ? nil : once)
        }
        if let once { said.insert(once) }
    }

    private mutating func collectMarks(_ shape: Shape, _ reader: BeaconReader, _ number: Int) {
        let beacon = Int32(truncatingIfNeeded: number)
        for (index, advertisement) in shape.advertisements.enumerated() where !advertisement.text.identity.isEmpty {
            IdentityText.key(advertisement, reader, into: &key)
            let hash = StableHash.of(key, 0..<key.count)
            var uuid = Int32(-1)
            if countsPairs, advertisement.type == "ibeacon" { uuid = uuidNumber(advertisement, reader) }
            result.marks.append(
                .init(
                    hash: hash, beacon: beacon, advertisement: Int16(truncatingIfNeeded: index), isAddress: false,
                    uuid: uuid))
        }
        if case .explicit(let address) = shape.profile?.address, !fleet.template.hasAddress {
            collect(address, beacon, -1)
        }
        for (index, advertisement) in shape.advertisements.enumerated() {
            if let address = advertisement.address { collect(address, beacon, Int16(truncatingIfNeeded: index)) }
        }
    }

    private mutating func collect(_ address: DeviceAddress, _ beacon: Int32, _ advertisement: Int16) {
        let hash = StableHash.of(address.octets.octets, 0..<6)
        result.marks.append(.init(hash: hash, beacon: beacon, advertisement: advertisement, isAddress: true))
    }

    private mutating func uuidNumber(_ advertisement: ShapeAdvertisement, _ reader: BeaconReader) -> Int32 {
        guard let first = advertisement.text.identity.first else { return -1 }
        key.removeAll(keepingCapacity: true)
        IdentityText.append(first.value, reader, to: &key)
        if let known = uuidNumbers[key] { return known }
        let number = Int32(truncatingIfNeeded: result.uuids.count)
        uuidNumbers[key] = number
        result.uuids.append(key)
        return number
    }

    private mutating func checkController(
        _ shape: Shape, _ shapeNumber: Int?, _ reader: BeaconReader, _ number: Int
    ) {
        guard let controller = reader.controller(number) else { return }
        var faults: [ControllerFault]
        if let shapeNumber {
            let key = ControllerKey(shape: shapeNumber, controller: controller)
            faults = controllers[key] ?? ControllerFault.find(shape, controller)
            controllers[key] = faults
        } else {
            faults = ControllerFault.find(shape, controller)
        }
        for fault in faults { add(fault.message, at: reader.place(ofPath: fault.path, number)) }
    }

    private mutating func checkKeys(_ shape: Shape, _ reader: BeaconReader, _ number: Int) {
        for (index, advertisement) in shape.advertisements.enumerated() {
            guard let file = keyFile(advertisement, reader) else { continue }
            result.keys.append(.init(file: file, beacon: number, advertisement: index))
            guard let keys = inspection.keys, let files = keys.files else { continue }
            let reason: String
            if !files.contains(file) {
                reason = "there is no key \(ProblemText.quoted(file)) in \(keys.path); `pharos fleet keys` makes it"
            } else if keys.exposed.contains(file) {
                reason = "others may read the key \(ProblemText.quoted(file)) in \(keys.path): chmod 0600"
            } else {
                continue
            }
            let origin = reader.origin(of: FleetTemplate.path(index, "identityKeyFile"))
            let isOwn = if case .column = origin { true } else { false }
            add(reason, at: isOwn ? reader.place(origin, of: number) : reader.place(of: number))
        }
    }

    /// The name of an advertisement's key file, without the directories before it.
    private mutating func keyFile(_ advertisement: ShapeAdvertisement, _ reader: BeaconReader) -> String? {
        guard let source = advertisement.text.keyFile else { return nil }
        key.removeAll(keepingCapacity: true)
        IdentityText.append(source, reader, to: &key)
        let path = String(decoding: key, as: UTF8.self)
        return path.split(separator: "/").last.map(String.init) ?? path
    }

    private mutating func count(_ shape: Shape, _ shapeNumber: Int?, site: Int) {
        guard let shapeNumber else {
            result.boxes.append(.init(site: site, advertisements: shape.advertisements.map(\.traffic), count: 1))
            return
        }
        let key = site << 32 | shapeNumber
        if key == last.key {
            last.count += 1
        } else {
            if last.count > 0 { boxes[last.key, default: 0] += last.count }
            last = (key, 1)
        }
    }
}

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
