internal import Airtime
internal import BluetoothTypes
internal import Configuration
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
    var other: BeaconReader
    var shapes = ShapeTable()
    var otherShapes = ShapeTable()
    var identities: NumberTable
    var key: [UInt8] = []
    var otherKey: [UInt8] = []
    var air: SiteAir
    var homeAssistant = PairCount()
    /// The first beacon with each identity key.
    private var keyFiles: [[UInt8]: Int] = [:]
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
            if problems.isFull {
                problems.cut()
                break
            }
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
            if fleet.template.hasEpoch { checkSharedKeys(shape, number) }
            if let keys, keys.files != nil { checkKeys(shape, number, keys) }
            air.add(shape, shapeNumber, group: Int(fleet.beacons[number].group))
        }
        let traffic = air.traffic(shapes)
        let sites = traffic.sites.map { FleetReport.Site($0) }
        checkAir(sites)
        if fleet.listeners.contains(.homeAssistant) { checkHomeAssistant() }
        return FleetReport(
            problems: problems.sorted, beacons: fleet.beacons.count, sites: sites, traffic: traffic)
    }

    func add(_ message: String, at place: BeaconReader.Place, severity: FileProblem.Severity = .error)
        -> FileProblem
    {
        FileProblem(message, at: place.position, path: place.path, severity: severity, in: place.file)
    }

    private mutating func reportPlan(_ number: Int) {
        for fault in reader.plan.faults {
            if case .node = fault.origin, let plan = reader.planNumber, saidOfPlans.contains(plan) { continue }
            problems.add(add(fault.message + whose(fault.origin, number), at: reader.place(fault.origin, of: number)))
        }
        if let plan = reader.planNumber { saidOfPlans.insert(plan) }
    }

    /// Names the beacon, as the end of a message about a variable that is set for it or for its group.
    private func whose(_ origin: BeaconPlan.Origin, _ number: Int) -> String {
        guard case .node(let node) = origin, origin.closeness > 0, node.path.components.contains(.key("variables"))
        else { return "" }
        return " (the beacon \"\(fleet.names.string(number))\")"
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
            problems.add(add(problem.message + whose(origin, number), at: place, severity: problem.severity))
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
            guard let file = keyFile(advertisement) else { continue }
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

    /// The name of an advertisement's key file, without the directories before it.
    private mutating func keyFile(_ advertisement: ShapeAdvertisement) -> String? {
        guard let source = advertisement.keyFile else { return nil }
        key.removeAll(keepingCapacity: true)
        IdentityText.append(source, isUUID: false, reader, to: &key)
        let path = String(decoding: key, as: UTF8.self)
        return path.split(separator: "/").last.map(String.init) ?? path
    }

    /// Whether another beacon has the same key: then both would send the same ids, and nobody could tell them apart.
    private mutating func checkSharedKeys(_ shape: Shape, _ number: Int) {
        for (index, advertisement) in shape.advertisements.enumerated() {
            guard let file = keyFile(advertisement) else { continue }
            let octets = Array(file.utf8)
            guard let first = keyFiles[octets], first != number else {
                keyFiles[octets] = number
                continue
            }
            let path = JSONPath([.key("advertisements"), .index(index), .key("identityKeyFile")])
            let message =
                "\"\(fleet.names.string(first))\" and \"\(fleet.names.string(number))\" would share the identity key "
                + "\(file); let identityKeyFile contain ${name}, so that each has its own"
            problems.add(add(message, at: place(ofPath: path, number)))
            return
        }
    }

    private mutating func checkAir(_ sites: [FleetReport.Site]) {
        var nodes: [String: JSONNode] = [:]
        for group in fleet.groups where group.path.count == 1 { nodes[group.name] = group.node }
        for site in sites { checkAir(site, nodes[site.name]) }
    }

    private mutating func checkAir(_ site: FleetReport.Site, _ own: JSONNode?) {
        guard let probability = site.collisionFreeProbability, probability < 0.5 else { return }
        let percent = Int((probability * 100).rounded())
        let whose = site.name.isEmpty ? "the beacons without a site" : "the site \"\(site.name)\""
        let node = own ?? fleet.groups[0].node ?? fleet.template.node
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
