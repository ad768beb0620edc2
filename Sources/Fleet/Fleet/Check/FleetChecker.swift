internal import BluetoothTypes
internal import Configuration

extension Fleet {
    /// Looks at every beacon of the fleet as it would be generated, on this thread.
    ///
    /// - Parameter keys: What lies in the directory that the fleet file names for its keys; `nil` where it names none.
    public func check(_ allocation: FleetAllocation, keys: FleetKeyFolder? = nil) -> FleetReport {
        let inspection = FleetInspection(self, allocation, keys: keys)
        var checker = FleetChecker(inspection)
        checker.add(inspection.findings(in: beacons.indices))
        return checker.report()
    }
}

/// Puts together what was found in the parts of a fleet, and looks for what no two beacons may share.
///
/// ```swift
/// let inspection = FleetInspection(fleet, allocation)
/// var checker = FleetChecker(inspection)
/// for part in parts { checker.add(inspection.findings(in: part)) }
/// let report = checker.report()
/// ```
public struct FleetChecker {
    private let inspection: FleetInspection
    private let fleet: Fleet
    private var problems = ProblemList()
    private var said: Set<FleetFindings.Once> = []
    private var marks: NumberTable
    /// How many pairs of major and minor each iBeacon UUID has.
    private var pairs: [[UInt8]: Int] = [:]
    /// The first beacon with each identity key.
    private var keyFiles: [String: Int] = [:]
    private var traffic = FleetTraffic()
    private var one: Bench
    private var other: Bench

    /// MAX_IDS_PER_UUID of Home Assistant's ibeacon integration.
    private static let pairLimit = 50

    /// A beacon that is looked at again.
    private struct Bench {
        let reader: BeaconReader
        var shapes = ShapeTable()
    }

    /// - Parameter inspection: Whose findings will be added.
    public init(_ inspection: FleetInspection) {
        self.inspection = inspection
        fleet = inspection.fleet
        one = Bench(reader: BeaconReader(fleet))
        other = Bench(reader: BeaconReader(fleet))
        marks = NumberTable(capacity: inspection.range.count)
        for name in inspection.sites { traffic.begin(site: name) }
        checkKeyFolder()
    }

    /// Whether an error was found so far.
    public var hasErrors: Bool { problems.hasErrors }
    /// Whether so many problems were found that nobody needs to look for more.
    public var isFull: Bool { problems.isFull }

    /// Adds what was found in a part of the fleet. The parts come in the order of the beacons.
    public mutating func add(_ findings: FleetFindings) {
        guard !problems.isFull else { return problems.cut() }
        var new: Set<FleetFindings.Once> = []
        for finding in findings.findings {
            if let once = finding.once {
                if said.contains(once) { continue }
                new.insert(once)
            }
            problems.add(finding.problem)
        }
        said.formUnion(new)
        for mark in findings.marks {
            let number = Int(mark.beacon)
            if let first = marks.insert(mark.hash, number), first != number {
                if problems.isFull {
                    problems.cut()
                    break
                }
                compare(first, number, mark)
            } else if mark.uuid >= 0 {
                pairs[findings.uuids[Int(mark.uuid)], default: 0] += 1
            }
        }
        for key in findings.keys { check(key) }
        for boxes in findings.boxes {
            traffic.add(boxes.advertisements, count: boxes.count, site: inspection.sites[boxes.site])
        }
        if findings.isCut { problems.cut() }
    }

    /// What was found in all parts.
    public mutating func report() -> FleetReport {
        let traffic = self.traffic.withoutEmptySites
        let sites = traffic.sites.map { FleetReport.Site($0) }
        checkAir(sites)
        checkHomeAssistant()
        return FleetReport(
            problems: problems.sorted, beacons: fleet.beacons.count, sites: sites, traffic: traffic)
    }

    private static func look(
        at number: Int, _ bench: inout Bench, _ allocation: FleetAllocation
    ) -> (BeaconReader, Shape) {
        bench.reader.fill(number, allocation)
        return (bench.reader, bench.shapes.find(bench.reader).shape)
    }

    /// Whether two beacons with the same hash have the same identity or address, too.
    private mutating func compare(_ first: Int, _ number: Int, _ mark: FleetFindings.Mark) {
        let (reader, shape) = Self.look(at: number, &one, inspection.allocation)
        let (otherReader, otherShape) = Self.look(at: first, &other, inspection.allocation)
        let index = Int(mark.advertisement)
        let owner = fleet.names.string(first)
        if mark.isAddress {
            let address = index < 0 ? shape.explicitAddress : shape.advertisements[index].address
            let path = index < 0 ? JSONPath([.key("address")]) : FleetTemplate.path(index, "address")
            guard let address, otherShape.hasAddress(address) else { return }
            add("\(address) is also the address of \"\(owner)\"", at: reader.place(ofPath: path, number))
            return
        }
        let advertisement = shape.advertisements[index]
        var (key, otherKey): ([UInt8], [UInt8]) = ([], [])
        IdentityText.key(advertisement, reader, into: &key)
        for candidate in otherShape.advertisements where !candidate.text.identity.isEmpty {
            IdentityText.key(candidate, otherReader, into: &otherKey)
            guard otherKey == key else { continue }
            let text = String(decoding: key, as: UTF8.self).split(separator: "\0").dropFirst().joined(separator: " ")
            let place = otherReader.place(of: first)
            let message =
                "\(advertisement.type) \(text) is also what \"\(owner)\" sends (\(place.file):\(place.position))"
            let slots = advertisement.text.identity.compactMap {
                fleet.template.slot(at: FleetTemplate.path(index, $0.name))
            }
            let origins = slots.map { reader.plan.slots[$0].origin }
            let own = origins.first { if case .column = $0 { true } else { false } }
            add(message, at: own.map { reader.place($0, of: number) } ?? reader.place(of: number))
            return
        }
    }

    /// Whether another beacon has the same key: then both would send the same ids, and nobody could tell them apart.
    private mutating func check(_ key: FleetFindings.Key) {
        guard let first = keyFiles[key.file], first != key.beacon else {
            keyFiles[key.file] = key.beacon
            return
        }
        guard !problems.isFull else { return problems.cut() }
        one.reader.fill(key.beacon, inspection.allocation)
        add(
            "\"\(fleet.names.string(first))\" and \"\(fleet.names.string(key.beacon))\" would share the identity key "
                + "\(key.file); let identityKeyFile contain ${name}, so that each has its own",
            at: one.reader.place(ofPath: FleetTemplate.path(key.advertisement, "identityKeyFile"), key.beacon))
    }

    private mutating func add(_ message: String, at place: BeaconReader.Place) {
        problems.add(FileProblem(message, at: place.position, path: place.path, in: place.file))
    }

    private mutating func checkKeyFolder() {
        guard let keys = inspection.keys, keys.files == nil, let node = fleet.keysNode else { return }
        problems.add(
            "there is no directory \(ProblemText.quoted(keys.path)); `pharos fleet keys` makes the keys", at: node,
            in: fleet.file)
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
        let tooMany = pairs.filter { $0.value > Self.pairLimit }
            .map { (uuid: String(decoding: $0.key, as: UTF8.self), count: $0.value) }.sorted { $0.uuid < $1.uuid }
        for (uuid, count) in tooMany {
            problems.add(
                "\(count) pairs of major and minor share the UUID \(uuid): Home Assistant ignores a UUID after "
                    + "\(Self.pairLimit) of them; give each floor or room a UUID of its own (a variable of its group), "
                    + "or send Eddystone-UID and track the addresses (`pharos fleet export homeassistant`)",
                at: fleet.listenersNode ?? fleet.template.node, in: fleet.file, severity: .warning)
        }
    }
}
