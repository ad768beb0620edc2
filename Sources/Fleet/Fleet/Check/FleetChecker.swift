internal import BluetoothTypes
internal import Configuration

extension Fleet {
    /// Generates and checks every beacon of the fleet, on this thread.
    ///
    /// - Parameter keys: The contents of the directory that the fleet file names for its keys; `nil` when it names none.
    public func check(_ allocation: FleetAllocation, keys: FleetKeyFolder? = nil) -> FleetReport {
        let generator = FleetGenerator(self, allocation, keys: keys)
        var checker = FleetChecker(self, keys: keys)
        for number in 0..<generator.count where !checker.isFull { checker.add(generator.beacon(number)) }
        return checker.report()
    }
}

/// Collects the problems of all beacons, and finds what two beacons share that they may not share.
public struct FleetChecker {
    private let fleet: Fleet
    private var problems = ProblemList()
    /// Problems without the names of their beacons, each once.
    private var known: Set<FileProblem> = []
    /// The first beacon with each identity, address and key.
    private var owners: [GeneratedBeacon.Claim.Value: Int] = [:]
    /// The number of pairs of major and minor of each iBeacon UUID.
    private var pairs: [FixedOctets<16>: Int] = [:]
    private var traffic = FleetTraffic()

    /// MAX_IDS_PER_UUID of Home Assistant's ibeacon integration.
    private static let pairLimit = 50

    /// - Parameter keys: The contents of the directory that the fleet file names for its keys; `nil` when it names none.
    public init(_ fleet: Fleet, keys: FleetKeyFolder? = nil) {
        self.fleet = fleet
        // Sites have the order of the fleet file, wherever their beacons are.
        for group in fleet.groups { traffic.begin(site: group.path.first ?? "") }
        if let keys, keys.files == nil, let node = fleet.keysNode {
            problems.add(
                "there is no directory \(ProblemText.quoted(keys.path)); `pharos fleet keys` makes the keys", at: node,
                in: fleet.file)
        }
    }

    /// Whether an error was found so far.
    public var hasErrors: Bool { problems.hasErrors }
    /// Whether so many problems were found that no more are listed.
    public var isFull: Bool { problems.isFull }

    /// Adds the next beacon, in the order of the fleet.
    public mutating func add(_ generated: GeneratedBeacon) {
        for own in generated.problems {
            guard known.insert(own.problem).inserted else { continue }
            var problem = own.problem
            problem.message += own.suffix
            problems.add(problem)
        }
        for claim in generated.claims { add(claim, of: generated) }
        if let beacon = generated.beacon {
            traffic.add(generated.traffic, site: beacon.site ?? "")
        }
        if problems.isFull { problems.cut() }
    }

    private mutating func add(_ claim: GeneratedBeacon.Claim, of generated: GeneratedBeacon) {
        guard let first = owners[claim.value] else {
            owners[claim.value] = generated.number
            if case .identity(.iBeacon(let uuid, _, _)) = claim.value { pairs[uuid, default: 0] += 1 }
            return
        }
        // Advertisements of one beacon may share an address and a key.
        guard first != generated.number else { return }
        let (own, owner) = (fleet.beacons[generated.number], fleet.beacons[first])
        let place = claim.origin.map { fleet.place($0, of: own) } ?? fleet.place(of: own)
        switch claim.value {
        case .identity(let identity):
            let other = fleet.place(of: owner)
            problems.add(
                place.problem(
                    "\(identity.text) is also what \"\(owner.name)\" sends (\(other.file):\(other.position))"))
        case .address(let address):
            problems.add(place.problem("\(address) is also the address of \"\(owner.name)\""))
        case .keyFile(let file):
            problems.add(
                place.problem(
                    "\"\(owner.name)\" and \"\(generated.name)\" would share the identity key \(file); let "
                        + "identityKeyFile contain ${name}, so that each has its own"))
        }
    }

    /// The problems of all beacons that were added, and their traffic.
    public func report() -> FleetReport {
        var problems = problems
        checkHomeAssistant(&problems)
        return FleetReport(
            problems: problems.sorted, beacons: fleet.beacons.count, traffic: traffic.withoutEmptySites)
    }

    private func checkHomeAssistant(_ problems: inout ProblemList) {
        guard fleet.listeners.contains(.homeAssistant) else { return }
        let tooMany = pairs.filter { $0.value > Self.pairLimit }
            .map { (uuid: $0.key.uuidText, count: $0.value) }.sorted { $0.uuid < $1.uuid }
        for (uuid, count) in tooMany {
            problems.add(
                "\(count) pairs of major and minor share the UUID \(uuid): Home Assistant ignores a UUID after "
                    + "\(Self.pairLimit) of them; give each floor or room a UUID of its own (a variable of its group), "
                    + "or send Eddystone-UID and track the addresses (`pharos fleet export homeassistant`)",
                at: fleet.listenersNode ?? fleet.template.node, in: fleet.file, severity: .warning)
        }
    }
}
