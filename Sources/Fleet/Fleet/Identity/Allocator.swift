internal import BluetoothTypes
internal import Configuration
internal import EddystoneSecurity

/// Allocates identities. Identities in the lock do not change. New identities are added at the end, in the order of the
/// fleet file.
struct Allocator {
    let fleet: Fleet
    var allocation: FleetAllocation
    var problems = ProblemList()
    private let lockFile: String
    private let now: RFC3339Time
    /// `true` if the lock has no identities yet.
    let isFirst: Bool
    /// For each group, the path of the group in which the minor numbers of its beacons are counted.
    private(set) var groupScopes: [String] = []
    /// The positions of the groups that got a new major number.
    private var newlyNumberedGroups: Set<Int> = []
    /// The positions of the entries that were in the lock before this allocation, by name.
    private var entriesOfNames: [String: [Int]] = [:]
    /// For each entry that was in the lock before this allocation, `true` if a beacon now uses it.
    private var isTaken: [Bool] = []
    /// The addresses that are already allocated.
    private var addresses: Set<DeviceAddress> = []
    /// The position of the first entry with each instance.
    private var entriesOfInstances: [UInt64: Int] = [:]
    /// The next number to try as an instance; one above ``AllocationRules/instanceLimit`` when all are allocated.
    private var nextInstance: UInt64 = 1
    /// The allocated minor numbers, by the path of the group in which they are counted.
    private var minors: [String: NumberRange] = [:]

    init(_ fleet: Fleet, lock: FleetLock?, now: RFC3339Time) {
        self.fleet = fleet
        self.now = now
        isFirst = lock.map { $0.entries.isEmpty && $0.groups.isEmpty } ?? true
        lockFile = FleetLock.file(of: fleet.file)
        allocation = FleetAllocation(fleet: fleet, lock: lock ?? FleetLock(fleet: fleet.name))
    }

    /// - Parameter releasing: The names of retired beacons whose identities are removed from the lock.
    mutating func run(releasing: [String]) {
        guard allocation.lock.fleet == fleet.name else {
            report(
                "this lock belongs to the fleet \"\(allocation.lock.fleet)\", not to \"\(fleet.name)\"; "
                    + "if the fleet was renamed, change the name in the lock")
            return
        }
        release(releasing)
        let earlierIdentities = IdentitiesInUse(allocation.lock, fleet.rules)
        renameGroups()
        let renamedBeacons = renameBeacons()
        numberGroups()
        collectAllocatedIdentities()
        for index in fleet.beacons.indices { assignEntry(toBeaconAt: index) }
        retire()
        rememberGroups()
        guard !problems.hasErrors else { return }
        allocation.renumbered = earlierIdentities.renumbered(
            allocation, scopes: groupScopes, formerNames: renamedBeacons)
    }

    private mutating func report(_ message: String) {
        problems.add(FileProblem(message, at: .init(line: 1, column: 1), in: lockFile))
    }

    /// Collects the identities that the lock already contains.
    private mutating func collectAllocatedIdentities() {
        isTaken = [Bool](repeating: false, count: allocation.lock.entries.count)
        let firstNumber = firstMinor
        if case .counter(let start) = fleet.rules.instance { nextInstance = UInt64(max(0, start)) }
        for (index, entry) in allocation.lock.entries.enumerated() {
            entriesOfNames[entry.name, default: []].append(index)
            if let address = entry.address { addresses.insert(address) }
            if let instance = entry.instance {
                if entriesOfInstances[instance] == nil { entriesOfInstances[instance] = index }
                nextInstance = max(nextInstance, min(instance, AllocationRules.instanceLimit) + 1)
            }
            if let minor = entry.minor {
                minors[entry.scope, default: NumberRange(first: firstNumber)].use(minor)
            }
        }
    }

    private var firstMinor: Int { fleet.rules.minor?.first ?? 1 }

    /// Finds the entry of a beacon in the lock, or adds a new entry, and completes the entry.
    private mutating func assignEntry(toBeaconAt index: Int) {
        let beacon = fleet.beacons[index]
        let foundEntry = findEntry(of: beacon)
        if foundEntry == nil || newlyNumberedGroups.contains(beacon.group) { allocation.newIndices.insert(index) }
        let entry = foundEntry ?? appendEntry(for: beacon)
        if entry < isTaken.count { isTaken[entry] = true }
        complete(entry, beacon)
        allocation.entryIndices.append(entry)
    }

    /// The position of the beacon's entry in the lock; `nil` if the beacon has no entry. If there is only an entry that
    /// is counted in another group, the beacon is recorded as moved.
    private mutating func findEntry(of beacon: Fleet.Beacon) -> Int? {
        let (inScope, isElsewhere) = entry(named: beacon.name, scope: groupScopes[beacon.group])
        if inScope == nil, isElsewhere { allocation.changes.moved.append(beacon.name) }
        return inScope
    }

    /// The position of an entry with this name that no beacon uses yet, and whose minor number is counted in the group
    /// `scope`. An entry that is in use is preferred to a retired entry. `isElsewhere` is `true` if an entry with this
    /// name is in use in another group.
    private func entry(named name: String, scope: String) -> (inScope: Int?, isElsewhere: Bool) {
        var (live, retired, isElsewhere): (Int?, Int?, Bool) = (nil, nil, false)
        for index in entriesOfNames[name] ?? [] where !isTaken[index] {
            let entry = allocation.lock.entries[index]
            if fleet.rules.minor != nil, entry.minor != nil, entry.scope != scope {
                if !entry.isRetired { isElsewhere = true }
            } else if entry.isRetired {
                retired = retired ?? index
            } else {
                live = live ?? index
            }
        }
        return (live ?? retired, isElsewhere)
    }

    private mutating func appendEntry(for beacon: Fleet.Beacon) -> Int {
        allocation.lock.entries.append(
            .init(name: beacon.name, was: beacon.was.map { [$0] } ?? [], scope: groupScopes[beacon.group]))
        allocation.changes.added += 1
        return allocation.lock.entries.count - 1
    }

    /// Adds the values that the rules need and the entry does not have yet.
    private mutating func complete(_ index: Int, _ beacon: Fleet.Beacon) {
        var entry = allocation.lock.entries[index]
        if entry.isRetired {
            entry.isRetired = false
            allocation.changes.revived.append(beacon.name)
        }
        if fleet.rules.minor != nil, entry.minor == nil {
            entry.scope = groupScopes[beacon.group]
            entry.minor = nextMinor(scope: entry.scope)
        }
        if fleet.rules.major != nil, !fleet.rules.majorFollowsFromScope,
            let major = allocation.groupMajors[beacon.group]
        {
            entry.major = major
        }
        if entry.address == nil, fleet.template.hasAddress { entry.address = newAddress(beacon.name) }
        if entry.epoch == nil, fleet.template.hasEpoch { entry.epoch = fleet.rules.eidEpoch ?? now }
        if entry.instance == nil, let rule = fleet.rules.instance {
            entry.instance = newInstance(rule, beacon, index)
        }
        if let serial = beacon.serial, serial != entry.serial {
            if let oldSerial = entry.serial {
                allocation.changes.replacedMachines.append(.init(name: beacon.name, other: serial))
                entry.earlierSerials.append(oldSerial)
            }
            entry.serial = serial
        }
        (entry.host, entry.title) = (beacon.host, beacon.title)
        entry.group = beacon.title == nil ? "" : fleet.groups[beacon.group].pathText
        allocation.lock.entries[index] = entry
    }

    private mutating func retire() {
        for index in isTaken.indices where !isTaken[index] && !allocation.lock.entries[index].isRetired {
            allocation.lock.entries[index].isRetired = true
            // If a beacon has moved, its former identity is retired, but the beacon is not reported as retired.
            let name = allocation.lock.entries[index].name
            if fleet.beaconIndices[name] == nil { allocation.changes.retired.append(name) }
        }
    }
}

extension Allocator {
    private mutating func nextMinor(scope: String) -> Int? {
        let firstNumber = firstMinor
        if let minor = minors[scope, default: NumberRange(first: firstNumber)].next() { return minor }
        let part = scope.isEmpty ? "the fleet" : "\"\(scope)\""
        let node = fleet.rules.nodes["minor"] ?? fleet.template.node
        problems.add(
            "all 65536 minor numbers of \(part) are in use; count them within a smaller part "
                + "(\"within\"), or release retired beacons", at: node, in: fleet.file)
        return nil
    }

    private mutating func newInstance(
        _ rule: AllocationRules.Instance, _ beacon: Fleet.Beacon, _ index: Int
    ) -> UInt64? {
        switch rule {
        case .counter:
            while nextInstance <= AllocationRules.instanceLimit, entriesOfInstances[nextInstance] != nil {
                nextInstance += 1
            }
            guard nextInstance <= AllocationRules.instanceLimit else {
                problems.add(
                    "the lock has the last instance number, ffffffffffff; release the retired beacons with the highest "
                        + "instances, or use serial numbers (\"from\": \"serial\")",
                    at: fleet.rules.nodes["instance"] ?? fleet.template.node, in: fleet.file)
                return nil
            }
            entriesOfInstances[nextInstance] = index
            nextInstance += 1
            return nextInstance - 1
        case .serial:
            func refuse(_ message: String) -> UInt64? {
                problems.add(fleet.place(of: beacon, "serial").problem(message))
                return nil
            }
            guard let serial = beacon.serial else {
                return refuse(
                    "the instance comes from the serial number of the machine, and this beacon has none: add its "
                        + "\"serial\"")
            }
            let instance = Self.instance(fromSerial: serial)
            guard let first = entriesOfInstances[instance] else {
                entriesOfInstances[instance] = index
                return instance
            }
            let other = allocation.lock.entries[first].name
            if other == beacon.name, first >= isTaken.count || !isTaken[first] {
                // The machine and the name are the same, but the beacon is numbered in another group: the beacon keeps
                // the instance.
                allocation.lock.entries[first].instance = nil
                return instance
            }
            let isGone = fleet.beaconIndices[other] == nil
            return refuse(
                "the serial number \"\(serial)\" gives the same instance as the serial number of \"\(other)\""
                    + (isGone
                        ? ": if \"\(other)\" is now called \"\(beacon.name)\", run `pharos fleet rename \(fleet.file) "
                            + "\(other) \(beacon.name)`, which keeps the identity; `pharos fleet generate --release "
                            + "\(other)` releases the old identity" : ""))
        }
    }

    /// The instance for a serial number: its last 12 digits if it is hexadecimal, otherwise the first 12 digits of its
    /// fingerprint.
    static func instance(fromSerial serial: String) -> UInt64 {
        let digits = serial.filter { $0 != ":" && $0 != "-" }
        let isHexadecimal = !digits.isEmpty && digits.allSatisfy { $0.isASCII && $0.isHexDigit }
        let source =
            isHexadecimal ? String(digits.suffix(12)) : String(Fingerprint.text(of: Array(serial.utf8)).prefix(12))
        return UInt64(source, radix: 16) ?? 0
    }

    /// A static random address that depends on the names of the fleet and of the beacon, and that no other beacon has.
    private mutating func newAddress(_ name: String) -> DeviceAddress {
        let seed = StableHash.scattered(fleet.name)
        var attempt: UInt64 = 0
        while true {
            let bits = StableHash.scattered(name, seed: seed &+ attempt) >> 16 | 0xC000_0000_0000
            attempt += 1
            let address = DeviceAddress(
                FixedOctets<6>((0..<6).map { UInt8(truncatingIfNeeded: bits >> (40 - 8 * UInt64($0))) }) ?? .init())
            if address.isValidStaticRandom, addresses.insert(address).inserted { return address }
        }
    }
}

extension Allocator {
    /// Removes identities from the lock, if their beacons are retired or no longer in the fleet file.
    private mutating func release(_ releasing: [String]) {
        guard !releasing.isEmpty else { return }
        let groups = allocation.lock.groupPaths
        let names = Set(releasing)
        var releasedNames: Set<String> = []
        allocation.lock.entries.removeAll { entry in
            guard names.contains(entry.name), entry.isRetired || fleet.beaconIndices[entry.name] == nil else {
                return false
            }
            releasedNames.insert(entry.name)
            return true
        }
        for name in releasing where !releasedNames.contains(name) {
            let reason =
                fleet.beaconIndices[name] == nil
                ? "there is no retired beacon \"\(name)\"" : "\"\(name)\" is in use; remove it from the fleet first"
            report("cannot release: " + reason)
        }
        allocation.changes.released = releasedNames.sorted()
        // The lock keeps a group whose last identity was released, so that the group can still be renamed.
        for path in groups.subtracting(allocation.lock.groupPaths).sorted() {
            allocation.lock.groups.append(.init(path: path))
        }
    }

    /// Finds or allocates the major number of each group that has beacons. Also finds, for each group, the group in
    /// which the minor numbers of its beacons are counted.
    private mutating func numberGroups() {
        var majors: [String: Int] = [:]
        var range = NumberRange(first: fleet.rules.major?.first ?? 1)
        var indices: [String: Int] = [:]
        for (index, group) in allocation.lock.groups.enumerated() {
            indices[group.path] = index
            guard let major = group.major else { continue }
            majors[group.path] = major
            range.use(major)
        }
        let groupsWithBeacons = Set(fleet.beacons.map(\.group))
        var newPaths: Set<String> = []
        for (groupIndex, group) in fleet.groups.enumerated() {
            var major: Int?
            if let rule = fleet.rules.major, groupsWithBeacons.contains(groupIndex) {
                let path = group.path.prefix(rule.per.depth).joined(separator: "/")
                major = majors[path]
                if major == nil {
                    major = range.next()
                    if let major {
                        majors[path] = major
                        newPaths.insert(path)
                        if let index = indices[path] {
                            allocation.lock.groups[index].major = major
                        } else {
                            indices[path] = allocation.lock.groups.count
                            allocation.lock.groups.append(.init(path: path, major: major))
                        }
                    } else {
                        let node = fleet.rules.nodes["major"] ?? fleet.template.node
                        problems.add("all 65536 major numbers are in use", at: node, in: fleet.file)
                    }
                }
                if newPaths.contains(path) { newlyNumberedGroups.insert(groupIndex) }
            }
            allocation.groupMajors.append(major)
            let depth = fleet.rules.minor?.within.depth ?? 0
            groupScopes.append(group.path.prefix(depth).joined(separator: "/"))
        }
    }
}

/// Allocates the numbers 0...65535: upwards from the first number and, after 65535, the free numbers from 0 on.
private struct NumberRange {
    /// The number above the highest allocated number; at the start, the first number.
    private var nextNumber: Int
    /// All numbers below this number are allocated. Used when ``nextNumber`` is above 65535.
    private var lowestFree = 0
    private var allocated: Set<Int> = []

    init(first: Int) {
        nextNumber = first
    }

    /// Marks a number as allocated.
    mutating func use(_ number: Int) {
        allocated.insert(number)
        nextNumber = max(nextNumber, number + 1)
    }

    /// Allocates a number; `nil` if all numbers are allocated.
    mutating func next() -> Int? {
        let limit = AllocationRules.numberRange.upperBound
        while nextNumber > limit, lowestFree <= limit, allocated.contains(lowestFree) { lowestFree += 1 }
        let number = nextNumber <= limit ? nextNumber : lowestFree
        guard number <= limit else { return nil }
        use(number)
        return number
    }
}
