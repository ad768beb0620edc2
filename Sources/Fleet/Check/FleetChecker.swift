internal import Airtime
internal import BluetoothTypes
internal import Profiles

extension Fleet {
    /// Looks at every beacon of the fleet as it would be generated.
    ///
    /// - Parameter keys: What lies in the folder that the fleet file names for its keys; `nil` where it names none.
    public func check(_ allocation: FleetAllocation, keys: FleetKeyFolder? = nil) -> FleetReport {
        guard allocation.entries.count == beacons.count else {
            return FleetReport(problems: [], beacons: beacons.count, sites: [])
        }
        var checker = FleetChecker(self, allocation, keys)
        return checker.run()
    }
}

/// Walks over all beacons once.
struct FleetChecker {
    let fleet: Fleet
    let allocation: FleetAllocation
    let keys: FleetKeyFolder?
    var problems = ProblemList()
    var reader: BeaconReader
    private var other: BeaconReader
    var shapes = ShapeTable()
    private var otherShapes = ShapeTable()
    private var identities: NumberTable
    private var key: [UInt8] = []
    private var otherKey: [UInt8] = []
    var air: SiteAir
    private var homeAssistant = PairCount()
    /// What has been said for all beacons of a plan.
    private var saidOfPlans: Set<Int> = []
    private var saidOfShapes: Set<[Int]> = []
    private var controllers: [ControllerKey: [ControllerFault]] = [:]

    private struct ControllerKey: Hashable {
        var shape: Int
        var controller: ControllerKind
    }

    init(_ fleet: Fleet, _ allocation: FleetAllocation, _ keys: FleetKeyFolder?) {
        self.fleet = fleet
        self.allocation = allocation
        self.keys = keys
        reader = BeaconReader(fleet)
        other = BeaconReader(fleet)
        air = SiteAir(fleet)
        identities = NumberTable(capacity: fleet.beacons.count)
    }

    mutating func run() -> FleetReport {
        checkKeyFolder()
        for number in fleet.beacons.indices {
            reader.fill(number, allocation)
            if !reader.plan.faults.isEmpty {
                reportPlan(number)
                continue
            }
            let (shape, shapeNumber) = shapes.find(reader)
            if !shape.problems.isEmpty { report(shape, shapeNumber, number) }
            guard shape.profile != nil else { continue }
            checkIdentities(shape, number)
            checkController(shape, shapeNumber, number)
            if let keys, keys.files != nil { checkKeys(shape, number, keys) }
            air.add(shape, shapeNumber, group: Int(fleet.beacons[number].group))
        }
        let sites = air.sites(shapes)
        for site in sites { checkAir(site) }
        if fleet.listeners.contains(.homeAssistant) { checkHomeAssistant() }
        return FleetReport(problems: problems.sorted, beacons: fleet.beacons.count, sites: sites)
    }

    private func add(_ message: String, at place: BeaconReader.Place, severity: ProfileProblem.Severity = .error)
        -> FleetProblem
    {
        FleetProblem(.init(message, at: place.position, path: place.path, severity: severity), in: place.file)
    }

    // MARK: values

    private mutating func reportPlan(_ number: Int) {
        for fault in reader.plan.faults {
            if case .node = fault.origin, let plan = reader.planNumber, saidOfPlans.contains(plan) { continue }
            problems.add(add(fault.message, at: reader.place(fault.origin, of: number)))
        }
        if let plan = reader.planNumber { saidOfPlans.insert(plan) }
    }

    /// What the decoder of profiles says, said of the place where somebody would change it.
    private mutating func report(_ shape: Shape, _ shapeNumber: Int?, _ number: Int) {
        var said = [shapeNumber ?? -1, reader.planNumber ?? -1]
        var list = shape.problems
        if shape.profile == nil, problems.problems.count < ProblemList.limit {
            // Another beacon's values may stand in the shape's messages.
            var text: [UInt8] = []
            reader.appendProfile(to: &text)
            list = BeaconProfile.decode(text).problems
            said = []
        }
        let isKnown = shapeNumber != nil && reader.planNumber != nil && !said.isEmpty && saidOfShapes.contains(said)
        for problem in list {
            let slot = slot(at: problem.path)
            let origin = slot.map { reader.plan.slots[$0].origin } ?? .node(templateNode(problem.path))
            if isKnown, case .node = origin { continue }
            let place = reader.place(origin, of: number)
            problems.add(add(problem.message, at: place, severity: problem.severity))
        }
        if shapeNumber != nil, reader.planNumber != nil, !said.isEmpty { saidOfShapes.insert(said) }
    }

    /// The slot that is at a path or around it.
    func slot(at path: JSONPath) -> Int? {
        fleet.template.slots.firstIndex { path.components.starts(with: $0.path.components) }
    }

    /// The innermost value of the template around a path of the profile.
    func templateNode(_ path: JSONPath) -> JSONNode {
        var node = fleet.template.node
        for component in path.components {
            let next: JSONNode? =
                switch component {
                case .key(let key): node[key]
                case .index(let index): node[index]
                }
            guard let next else { break }
            node = next
        }
        return node
    }

    // MARK: identities

    private mutating func checkIdentities(_ shape: Shape, _ number: Int) {
        for (index, advertisement) in shape.advertisements.enumerated() where !advertisement.identity.isEmpty {
            IdentityText.key(advertisement, reader, into: &key)
            let hash = StableHash.of(key, 0..<key.count)
            if let first = identities.insert(hash, number), first != number {
                compare(first, number, index, advertisement)
            } else if advertisement.type == "ibeacon", fleet.listeners.contains(.homeAssistant) {
                homeAssistant.add(advertisement, reader)
            }
        }
        if case .explicit(let address) = shape.profile?.address, !fleet.template.hasAddress {
            let hash = StableHash.of(address.octets.octets, 0..<6)
            if let first = identities.insert(hash, number), first != number {
                let message = "\(address) is also the address of \"\(fleet.names.string(first))\""
                problems.add(add(message, at: place(ofKey: "address", number)))
            }
        }
    }

    /// Whether two beacons with the same hash have the same identity, too.
    private mutating func compare(_ first: Int, _ number: Int, _ index: Int, _ advertisement: ShapeAdvertisement) {
        other.fill(first, allocation)
        let (shape, _) = otherShapes.find(other)
        for candidate in shape.advertisements where !candidate.identity.isEmpty {
            IdentityText.key(candidate, other, into: &otherKey)
            guard otherKey == key else { continue }
            let text = String(decoding: key, as: UTF8.self).split(separator: "\0").dropFirst().joined(separator: " ")
            let place = other.place(of: first)
            let message =
                "\(advertisement.type) \(text) is also what \"\(fleet.names.string(first))\" sends "
                + "(\(place.file):\(place.position))"
            let keys = advertisement.identity.map(\.name)
            let slots = keys.compactMap { slot(at: JSONPath([.key("advertisements"), .index(index), .key($0)])) }
            let own =
                slots.first { if case .column = reader.plan.slots[$0].origin { true } else { false } } ?? slots.last
            let origin = own.map { reader.plan.slots[$0].origin }
            if let origin, case .column = origin {
                problems.add(add(message, at: reader.place(origin, of: number)))
            } else {
                problems.add(add(message, at: reader.place(of: number)))
            }
            return
        }
    }

    /// Where the value at a path of the profile comes from.
    mutating func place(ofPath path: JSONPath, _ number: Int) -> BeaconReader.Place {
        let origin = slot(at: path).map { reader.plan.slots[$0].origin } ?? .node(templateNode(path))
        return reader.place(origin, of: number)
    }

    private mutating func place(ofKey key: String, _ number: Int) -> BeaconReader.Place {
        place(ofPath: JSONPath([.key(key)]), number)
    }

    // MARK: controllers and keys

    private mutating func checkController(_ shape: Shape, _ shapeNumber: Int?, _ number: Int) {
        guard let controller = reader.controller(number) else { return }
        var faults: [ControllerFault]
        if let shapeNumber {
            let key = ControllerKey(shape: shapeNumber, controller: controller)
            faults = controllers[key] ?? ControllerFault.find(shape, controller)
            controllers[key] = faults
        } else {
            faults = ControllerFault.find(shape, controller)
        }
        for fault in faults { problems.add(add(fault.message, at: place(ofPath: fault.path, number))) }
    }

    private mutating func checkKeyFolder() {
        guard let keys, keys.files == nil, let node = fleet.keysNode else { return }
        problems.add(
            "there is no folder \(ProblemText.quoted(keys.path)); `pharos fleet keys` makes the keys", at: node,
            in: fleet.file)
    }

    private mutating func checkKeys(_ shape: Shape, _ number: Int, _ keys: FleetKeyFolder) {
        for (index, advertisement) in shape.advertisements.enumerated() {
            guard let source = advertisement.keyFile else { continue }
            key.removeAll(keepingCapacity: true)
            IdentityText.append(source, isUUID: false, reader, to: &key)
            let path = String(decoding: key, as: UTF8.self)
            let file = path.split(separator: "/").last.map(String.init) ?? path
            let reason: String
            if keys.files?.contains(file) != true {
                reason = "there is no key \(ProblemText.quoted(file)) in \(keys.path); `pharos fleet keys` makes it"
            } else if keys.exposed.contains(file) {
                reason = "others may read the key \(ProblemText.quoted(file)) in \(keys.path): chmod 0600"
            } else {
                continue
            }
            let path2 = JSONPath([.key("advertisements"), .index(index), .key("identityKeyFile")])
            let slot = slot(at: path2).map { reader.plan.slots[$0].origin }
            if case .column = slot {
                problems.add(add(reason, at: place(ofPath: path2, number)))
            } else {
                problems.add(add(reason, at: reader.place(of: number)))
            }
        }
    }

    // MARK: the whole

    private mutating func checkAir(_ site: FleetReport.Site) {
        guard let probability = site.collisionFreeProbability, probability < 0.5 else { return }
        let percent = Int((probability * 100).rounded())
        let whose = site.name.isEmpty ? "the beacons without a site" : "the site \"\(site.name)\""
        let group = fleet.groups.first { $0.path == [site.name] }
        let node = group?.node ?? fleet.groups[0].node ?? fleet.template.node
        problems.add(
            "where all \(site.beacons) beacons of \(whose) are heard, \(percent) % of packets are free of collisions: "
                + "lengthen the intervals (`pharos plan interval` says how far), or see with `pharos plan site` how many "
                + "are heard at once", at: node, in: fleet.file, severity: .warning)
    }

    private mutating func checkHomeAssistant() {
        for (uuid, count) in homeAssistant.tooMany {
            problems.add(
                "\(count) pairs of major and minor share the UUID \(uuid): Home Assistant ignores a UUID after "
                    + "\(PairCount.limit) of them; give each floor or room a UUID of its own (a variable of its group), "
                    + "or send Eddystone-UID and track the addresses (`pharos fleet export homeassistant`)",
                at: fleet.listenersNode ?? fleet.template.node, in: fleet.file, severity: .warning)
        }
    }
}

/// What a controller cannot do of what a shape asks for.
struct ControllerFault: Sendable {
    var message: String
    /// In the profile.
    var path: JSONPath

    static func find(_ shape: Shape, _ controller: ControllerKind) -> [ControllerFault] {
        var faults: [ControllerFault] = []
        for (index, advertisement) in shape.advertisements.enumerated() {
            let range = controller.intervalRange(for: advertisement.pdu)
            guard !range.contains(advertisement.interval) else { continue }
            faults.append(
                .init(
                    message: "\(advertisement.interval) is not among the intervals of \(controller.description), "
                        + "\(range.lowerBound)...\(range.upperBound)",
                    path: JSONPath([.key("advertisements"), .index(index), .key("intervalMs")])))
        }
        guard controller.hasOneSet, shape.advertisements.count > 1 else { return faults }
        let hasEID = shape.advertisements.contains { $0.type == "eddystone-eid" }
        let plain = shape.advertisements.firstIndex { $0.keyFile == nil }
        if hasEID, let plain {
            faults.append(
                .init(
                    message:
                        "\(controller.description) has one address at a time: the address of an EID turns over, and "
                        + "that of \(shape.advertisements[plain].type) would with it; take one of the two out, or use a "
                        + "controller with extended advertising",
                    path: JSONPath([.key("advertisements"), .index(plain)])))
        }
        return faults
    }
}

/// How many pairs of major and minor each iBeacon UUID has.
struct PairCount: Sendable {
    /// MAX_IDS_PER_UUID of Home Assistant's ibeacon integration.
    static let limit = 50

    private var counts: [[UInt8]: Int] = [:]
    private var uuid: [UInt8] = []

    mutating func add(_ advertisement: ShapeAdvertisement, _ reader: BeaconReader) {
        guard let first = advertisement.identity.first else { return }
        uuid.removeAll(keepingCapacity: true)
        IdentityText.append(first.value, isUUID: true, reader, to: &uuid)
        counts[uuid, default: 0] += 1
    }

    var tooMany: [(uuid: String, count: Int)] {
        counts.filter { $0.value > Self.limit }.map { (String(decoding: $0.key, as: UTF8.self), $0.value) }
            .sorted { $0.0 < $1.0 }
    }
}
