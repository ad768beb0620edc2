internal import BluetoothTypes
public import Configuration

extension FleetAllocation {
    /// Generates and checks every beacon of the fleet on the calling thread. Ends early if the list of problems is
    /// full.
    ///
    /// - Parameter keys: The contents of the directory that the fleet file names for its keys; `nil` if it names no
    ///   directory.
    public func check(keys: FleetKeyFolder? = nil) -> FleetChecker {
        var checker = FleetChecker(fleet, keys: keys)
        for index in 0..<count where !checker.isFull { checker.add(beacon(index, keys: keys)) }
        return checker
    }
}

/// The checks of a whole fleet. It collects the problems and the traffic of the beacons, and finds identities,
/// addresses and keys that two beacons share.
public struct FleetChecker {
    private let fleet: Fleet
    private var list = ProblemList()
    /// The problems that were already reported. Their messages do not include the suffix that names the beacon.
    private var reportedProblems: Set<FileProblem> = []
    /// The position in the fleet of the first beacon with each identity, address and key.
    private var ownerIndices: [GeneratedBeacon.Claim.Value: Int] = [:]
    /// The position in the fleet of the first beacon on each adapter of each machine.
    private var indicesByAdapter: [[String]: Int] = [:]
    /// For each iBeacon UUID, the number of different pairs of major and minor.
    private var pairCounts: [FixedOctets<16>: Int] = [:]
    /// The advertisements of all beacons added so far, by site. Sites without beacons are included.
    private var collectedTraffic = FleetTraffic()

    /// The number of pairs of major and minor above which Home Assistant ignores a UUID (MAX_IDS_PER_UUID of its
    /// ibeacon integration).
    private static let pairLimit = 50

    /// - Parameter keys: The contents of the directory that the fleet file names for its keys; `nil` if it names no
    ///   directory.
    public init(_ fleet: Fleet, keys: FleetKeyFolder? = nil) {
        self.fleet = fleet
        // The sites are added here, so that they are in the order of the fleet file and not of their beacons.
        for group in fleet.groups { collectedTraffic.begin(site: group.path.first ?? "") }
        if let keys, keys.files == nil, let node = fleet.keysNode {
            list.add(
                "there is no directory \(ProblemText.quoted(keys.path)); `pharos fleet keys` makes the keys", at: node,
                in: fleet.file)
        }
        checkTables()
    }

    /// Warns of names that a spreadsheet may have changed, of rows that look like totals, and of groups whose names
    /// differ only in capital letters.
    private mutating func checkTables() {
        func warn(_ beacon: Fleet.Beacon, _ message: String) {
            list.add(fleet.place(of: beacon).problem(message, severity: .warning))
        }
        for beacons in Dictionary(grouping: fleet.beacons.filter { $0.row != nil }, by: { $0.row?.table.table.file })
            .values
        {
            let numericBeacons = beacons.filter { $0.name.utf8.allSatisfy { (0x30...0x39).contains($0) } }
            let digits = numericBeacons.map(\.name.utf8.count).max() ?? 0
            let shorterBeacons = numericBeacons.filter { $0.name.utf8.count < digits && $0.name.first != "0" }
            if let padded = numericBeacons.first(where: { $0.name.first == "0" && $0.name.utf8.count == digits }),
                let shorter = shorterBeacons.first
            {
                let subject =
                    shorterBeacons.count == 1
                    ? "\"\(shorter.name)\" has"
                    : "\(shorterBeacons.count) names, such as \"\(shorter.name)\", have"
                warn(
                    shorter,
                    "\(subject) fewer digits than \"\(padded.name)\": if a spreadsheet removed leading zeros, "
                        + "restore them, and format the column as text")
            }
            guard beacons.count > 1, let last = beacons.last else { continue }
            let isTotal = Self.totals.contains(last.name.lowercased())
            let lacksGroup =
                beacons.dropLast().allSatisfy { $0.group != last.group && $0.group != 0 } && last.group == 0
            if isTotal || lacksGroup {
                warn(
                    last,
                    "\"\(last.name)\" is a beacon of the fleet, and its row looks like a total of the table: if it is not a beacon, "
                        + "remove the row")
            }
        }
        var indices: [[String]: Int] = [:]
        for (index, group) in fleet.groups.enumerated().dropFirst() {
            let key = group.path.dropLast() + [(group.path.last ?? "").lowercased()]
            guard let first = indices[Array(key)] else {
                indices[Array(key)] = index
                continue
            }
            let message =
                "the groups \"\(fleet.groups[first].pathText)\" and \"\(group.pathText)\" differ only in capital letters: if "
                + "they are one group, use one spelling"
            guard let beacon = fleet.beacons.first(where: { fleet.groups[$0.group].path.starts(with: group.path) })
            else {
                continue
            }
            warn(beacon, message)
        }
    }

    /// Words that a row with totals may have in the place of a name.
    private static let totals: Set<String> = [
        "sum", "summe", "total", "totals", "gesamt", "insgesamt", "count", "anzahl",
    ]

    /// `true` if an error was found so far.
    public var hasErrors: Bool { list.hasErrors }
    /// `true` if the list of problems is full.
    public var isFull: Bool { list.isFull }

    /// Adds the next beacon, in the order of the fleet.
    public mutating func add(_ generated: GeneratedBeacon) {
        for entry in generated.problems {
            guard reportedProblems.insert(entry.problem).inserted else { continue }
            var problem = entry.problem
            problem.message += entry.suffix
            if entry.isAboutCell { list.addCell(problem) } else { list.add(problem) }
        }
        for claim in generated.claims { add(claim, of: generated) }
        if let beacon = generated.beacon {
            checkMachine(beacon, generated.index)
            collectedTraffic.addMachine(generated.machineAdvertisements, site: beacon.site ?? "")
        }
        if list.isFull { list.cut() }
    }

    /// Warns if another beacon uses the same adapter of the same machine.
    private mutating func checkMachine(_ beacon: FleetManifest.Beacon, _ index: Int) {
        var isReported = false
        for (key, machine) in [("host", beacon.host), ("serial", beacon.serial)] {
            guard let machine else { continue }
            let adapter = [key, machine, beacon.adapter ?? ""]
            guard let first = indicesByAdapter[adapter] else {
                indicesByAdapter[adapter] = index
                continue
            }
            guard !isReported else { continue }
            isReported = true
            let owner = fleet.beacons[first]
            let other = fleet.place(of: owner)
            let machineText = key == "host" ? "the host \(machine)" : "the machine with the serial number \(machine)"
            list.add(
                fleet.place(of: fleet.beacons[index], key).problem(
                    "\"\(beacon.name)\" and \"\(owner.name)\" (\(other.file):\(other.position)) use the same adapter "
                        + "of \(machineText): correct the machine, or give each beacon its own adapter "
                        + "(\"adapter\": \"${adapter}\")",
                    severity: .warning))
        }
    }

    private mutating func add(_ claim: GeneratedBeacon.Claim, of generated: GeneratedBeacon) {
        guard let first = ownerIndices[claim.value] else {
            ownerIndices[claim.value] = generated.index
            if case .identity(.iBeacon(let uuid, _, _)) = claim.value { pairCounts[uuid, default: 0] += 1 }
            return
        }
        // Advertisements of one beacon may share an address and a key.
        guard first != generated.index else { return }
        let (beacon, owner) = (fleet.beacons[generated.index], fleet.beacons[first])
        let place = claim.origin.map { fleet.place($0, of: beacon) } ?? fleet.place(of: beacon)
        switch claim.value {
        case .identity(let identity):
            let other = fleet.place(of: owner)
            list.add(
                place.problem(
                    "\"\(owner.name)\" (\(other.file):\(other.position)) sends \(identity.text) too"))
        case .address(let address):
            list.add(place.problem("\(address) is also the address of \"\(owner.name)\""))
        case .keyFile(let file):
            list.add(
                place.problem(
                    "\"\(owner.name)\" and \"\(generated.name)\" would share the identity key \(file); let "
                        + "identityKeyFile contain ${name}, so that each beacon has its own key"))
        }
    }

    /// The problems of the beacons that were added, in the order of the files.
    public var problems: [FileProblem] {
        var problems = list
        checkHomeAssistant(&problems)
        return problems.sorted
    }

    /// The advertisements of each site that has beacons.
    public var traffic: FleetTraffic { collectedTraffic.withoutEmptySites }

    private func checkHomeAssistant(_ problems: inout ProblemList) {
        guard fleet.listeners.contains(.homeAssistant) else { return }
        let ignoredUUIDs = pairCounts.filter { $0.value > Self.pairLimit }
            .map { (uuid: $0.key.uuidText, count: $0.value) }.sorted { $0.uuid < $1.uuid }
        for (uuid, count) in ignoredUUIDs {
            problems.add(
                "\(count) pairs of major and minor share the UUID \(uuid): Home Assistant ignores a UUID after "
                    + "\(Self.pairLimit) pairs; give each floor or room a UUID of its own (a variable of its group), "
                    + "or send Eddystone-UID and let Home Assistant track the addresses (`pharos fleet export homeassistant`)",
                at: fleet.listenersNode ?? fleet.template.node, in: fleet.file, severity: .warning)
        }
    }
}

/// The contents of a fleet's directory of identity keys.
public struct FleetKeyFolder: Sendable {
    /// The path of the directory as written in the fleet file.
    public var path: String
    /// The names of all files in the directory; `nil` if there is no such directory.
    public var files: Set<String>?
    /// The files that other users may read.
    public var exposed: Set<String>

    /// - Parameters:
    ///   - path: The path of the directory as written in the fleet file.
    ///   - files: The names of all files in the directory; `nil` if there is no such directory.
    ///   - exposed: The files that other users may read.
    public init(path: String, files: Set<String>?, exposed: Set<String> = []) {
        self.path = path
        self.files = files
        self.exposed = exposed
    }

    /// The reason why a key cannot be used; `nil` if the key is valid, or if there is no directory at all.
    func fault(_ file: String) -> String? {
        guard let files else { return nil }
        if !files.contains(file) {
            return "there is no key \(ProblemText.quoted(file)) in \(path); `pharos fleet keys` makes it"
        }
        return exposed.contains(file)
            ? "other users may read the key \(ProblemText.quoted(file)) in \(path): chmod 0600" : nil
    }
}
