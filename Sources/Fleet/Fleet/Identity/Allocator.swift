internal import BluetoothTypes
internal import Configuration
internal import EddystoneSecurity

/// Allocates identities. Identities in the lock stay; new ones are added at the end, in the order of the fleet file.
struct Allocator {
    private let fleet: Fleet
    private(set) var allocation: FleetAllocation
    private(set) var problems = ProblemList()
    private let lockFile: String
    private let now: RFC3339Time
    /// `true` if the lock has no identities yet.
    private let isFirst: Bool
    /// The path of the group in which the beacons of each group are counted.
    private var groupScopes: [String] = []
    /// The entries that were in the lock before, by name.
    private var known: [String: [Int]] = [:]
    /// `true` if a beacon has the entry, for each entry that was in the lock before.
    private var isTaken: [Bool] = []
    /// Former names that a beacon has claimed.
    private var claimed: Set<String> = []
    private var addresses: Set<DeviceAddress> = []
    /// The first entry that has each instance.
    private var instances: [UInt64: Int] = [:]
    /// One above ``AllocationRules/instanceLimit`` when all are given out.
    private var nextInstance: UInt64 = 1
    /// The minor numbers by the group in which they are counted.
    private var minors: [String: NumberRange] = [:]

    init(_ fleet: Fleet, lock: FleetLock?, now: RFC3339Time) {
        self.fleet = fleet
        self.now = now
        isFirst = lock.map { $0.entries.isEmpty && $0.majors.isEmpty } ?? true
        lockFile = FleetLock.file(beside: fleet.file)
        allocation = FleetAllocation(fleet: fleet, lock: lock ?? FleetLock(fleet: fleet.name))
    }

    mutating func run(releasing: [String]) {
        guard allocation.lock.fleet == fleet.name else {
            report(
                "this lock belongs to the fleet \"\(allocation.lock.fleet)\", not to \"\(fleet.name)\"; "
                    + "if the fleet was renamed, change the name in the lock")
            return
        }
        release(releasing)
        renameGroups()
        numberGroups()
        collectGivenNumbers()
        for number in fleet.beacons.indices { place(number) }
        retire()
    }

    private mutating func report(_ message: String) {
        problems.add(FileProblem(message, at: .init(line: 1, column: 1), in: lockFile))
    }

    /// Collects the identities that the lock has given out.
    private mutating func collectGivenNumbers() {
        isTaken = [Bool](repeating: false, count: allocation.lock.entries.count)
        let first = firstMinor
        if case .counter(let start) = fleet.rules.instance { nextInstance = UInt64(max(0, start)) }
        for (index, entry) in allocation.lock.entries.enumerated() {
            known[entry.name, default: []].append(index)
            if let address = entry.address { addresses.insert(address) }
            if let instance = entry.instance {
                if instances[instance] == nil { instances[instance] = index }
                nextInstance = max(nextInstance, min(instance, AllocationRules.instanceLimit) + 1)
            }
            if let minor = entry.minor {
                minors[entry.scope, default: NumberRange(first: first)].use(minor)
            }
        }
    }

    private var firstMinor: Int { fleet.rules.minor?.first ?? 1 }

    /// Gives a beacon its entry in the lock, a new one if it has none.
    private mutating func place(_ number: Int) {
        let beacon = fleet.beacons[number]
        let index = find(beacon) ?? append(beacon)
        if index < isTaken.count { isTaken[index] = true }
        complete(index, beacon)
        allocation.entries.append(index)
    }

    /// The beacon's entry in the lock; `nil` when it has none.
    private mutating func find(_ beacon: Fleet.Beacon) -> Int? {
        let found = entry(named: beacon.name, scope: groupScopes[beacon.group])
        if let was = beacon.was { return renamed(from: was, beacon) ?? found.inScope }
        if found.inScope == nil, found.isElsewhere { allocation.changes.moved.append(beacon.name) }
        return found.inScope
    }

    /// The free entry of that name whose minor number is counted in that group. Entries in use come before retired
    /// ones.
    private func entry(named name: String, scope: String) -> (inScope: Int?, isElsewhere: Bool) {
        var (live, retired, isElsewhere): (Int?, Int?, Bool) = (nil, nil, false)
        for index in known[name] ?? [] where !isTaken[index] {
            let entry = allocation.lock.entries[index]
            if fleet.rules.minor != nil, entry.scope != scope {
                if !entry.isRetired { isElsewhere = true }
            } else if entry.isRetired {
                retired = retired ?? index
            } else {
                live = live ?? index
            }
        }
        return (live ?? retired, isElsewhere)
    }

    /// Renames the entry of the former name. Returns `nil` when the beacon was renamed before.
    ///
    /// An ambiguous renaming is an error, because another beacon might get the identity.
    private mutating func renamed(from was: String, _ beacon: Fleet.Beacon) -> Int? {
        let own = beacon.name
        let isKnown = known[own] != nil
        guard fleet.numbers[was] == nil else {
            refuse(
                "the beacon \"\(was)\" is still in the fleet, so this cannot be its new name: remove \"was\" if the "
                    + "renaming "
                    + "is done; to swap two names, use a third name and run `pharos fleet generate` after each step",
                beacon)
            return nil
        }
        guard claimed.insert(was).inserted else {
            refuse("two beacons have the former name \"\(was)\", and only one of them can keep its identity", beacon)
            return nil
        }
        guard known[was] != nil else {
            if !isKnown, !isFirst {
                refuse("the lock has no beacon \"\(was)\" that could have been renamed; remove \"was\"", beacon)
            }
            return nil
        }
        let found = entry(named: was, scope: groupScopes[beacon.group])
        guard let index = found.inScope else {
            if !isKnown, found.isElsewhere {
                refuse(
                    "\"\(was)\" is counted in another group: rename it there, run `pharos fleet generate`, and then "
                        + "move "
                        + "it", beacon)
            }
            return nil
        }
        guard !isKnown else {
            refuse(
                "the lock has an identity for \"\(own)\" and one for \"\(was)\": remove \"was\" to keep the first; "
                    + "for the "
                    + "second, remove \"\(own)\" from the fleet and run `pharos fleet generate --release \(own)` first",
                beacon)
            return nil
        }
        allocation.lock.entries[index].name = own
        allocation.changes.renamed.append(.init(name: own, other: was))
        return index
    }

    private mutating func refuse(_ message: String, _ beacon: Fleet.Beacon) {
        problems.add(fleet.place(of: beacon, "was").problem(message))
    }

    private mutating func append(_ beacon: Fleet.Beacon) -> Int {
        allocation.lock.entries.append(.init(name: beacon.name, scope: groupScopes[beacon.group]))
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
        if entry.address == nil, fleet.template.hasAddress { entry.address = newAddress(beacon.name) }
        if entry.epoch == nil, fleet.template.hasEpoch { entry.epoch = fleet.rules.eidEpoch ?? now }
        if entry.instance == nil, let rule = fleet.rules.instance {
            entry.instance = newInstance(rule, beacon, index)
        }
        if let serial = beacon.serial, serial != entry.box {
            if let old = entry.box {
                allocation.changes.replacedBoxes.append(.init(name: beacon.name, other: serial))
                entry.earlierBoxes.append(old)
            }
            entry.box = serial
        }
        allocation.lock.entries[index] = entry
    }

    private mutating func retire() {
        for index in isTaken.indices where !isTaken[index] && !allocation.lock.entries[index].isRetired {
            allocation.lock.entries[index].isRetired = true
            allocation.changes.retired.append(allocation.lock.entries[index].name)
        }
        let moved = Set(allocation.changes.moved)
        if !moved.isEmpty { allocation.changes.retired.removeAll { moved.contains($0) } }
    }
}

extension Allocator {
    private mutating func nextMinor(scope: String) -> Int? {
        let first = firstMinor
        if let next = minors[scope, default: NumberRange(first: first)].next() { return next }
        let whose = scope.isEmpty ? "the fleet" : "\"\(scope)\""
        let node = fleet.rules.nodes["minor"] ?? fleet.template.node
        problems.add(
            "all 65536 minor numbers of \(whose) are in use; count them within a smaller part "
                + "(\"within\"), or release retired beacons", at: node, in: fleet.file)
        return nil
    }

    private mutating func newInstance(
        _ rule: AllocationRules.Instance, _ beacon: Fleet.Beacon, _ index: Int
    ) -> UInt64? {
        switch rule {
        case .counter:
            while nextInstance <= AllocationRules.instanceLimit, instances[nextInstance] != nil { nextInstance += 1 }
            guard nextInstance <= AllocationRules.instanceLimit else {
                problems.add(
                    "the lock has the last instance number, ffffffffffff; release the retired beacons with the highest "
                        + "instances, or use serial numbers (\"from\": \"serial\")",
                    at: fleet.rules.nodes["instance"] ?? fleet.template.node, in: fleet.file)
                return nil
            }
            instances[nextInstance] = index
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
            guard let first = instances[instance] else {
                instances[instance] = index
                return instance
            }
            let other = allocation.lock.entries[first].name
            if other == beacon.name, first >= isTaken.count || !isTaken[first] {
                // The machine and the name are the same, but they count in another group: the instance moves with them.
                allocation.lock.entries[first].instance = nil
                return instance
            }
            let isGone = fleet.numbers[other] == nil
            return refuse(
                "the serial number \"\(serial)\" gives the same instance as the one of \"\(other)\""
                    + (isGone ? "; `pharos fleet generate --release \(other)` gives that instance up" : ""))
        }
    }

    /// The last 12 digits of a hexadecimal serial number, or the first 12 digits of the fingerprint of another one.
    static func instance(fromSerial serial: String) -> UInt64 {
        let digits = serial.filter { $0 != ":" && $0 != "-" }
        let isHexadecimal = !digits.isEmpty && digits.allSatisfy { $0.isASCII && $0.isHexDigit }
        let source =
            isHexadecimal ? String(digits.suffix(12)) : String(Fingerprint.text(of: Array(serial.utf8)).prefix(12))
        return UInt64(source, radix: 16) ?? 0
    }

    /// A static random address that depends on the names of the fleet and of the beacon, and that no other beacon has.
    private mutating func newAddress(_ name: String) -> DeviceAddress {
        let seed = NameHash.of(fleet.name)
        var attempt: UInt64 = 0
        while true {
            let bits = NameHash.of(name, seed: seed &+ attempt) >> 16 | 0xC000_0000_0000
            attempt += 1
            let address = DeviceAddress(
                FixedOctets<6>((0..<6).map { UInt8(truncatingIfNeeded: bits >> (40 - 8 * UInt64($0))) }) ?? .init())
            if address.isValidStaticRandom, addresses.insert(address).inserted { return address }
        }
    }
}

extension Allocator {
    /// Gives up identities of beacons that are retired or that the fleet file no longer has.
    private mutating func release(_ releasing: [String]) {
        guard !releasing.isEmpty else { return }
        let wanted = Set(releasing)
        var found: Set<String> = []
        allocation.lock.entries.removeAll { entry in
            guard wanted.contains(entry.name), entry.isRetired || fleet.numbers[entry.name] == nil else { return false }
            found.insert(entry.name)
            return true
        }
        for name in releasing where !found.contains(name) {
            let reason =
                fleet.numbers[name] == nil
                ? "there is no retired beacon \"\(name)\"" : "\"\(name)\" is in use; remove it from the fleet first"
            report("cannot release: " + reason)
        }
        allocation.changes.released = found.sorted()
    }

    /// Renames groups in the lock, so that they keep their numbers. An ambiguous renaming is an error.
    private mutating func renameGroups() {
        let current = Set(fleet.groups.map(\.pathText))
        var claimed: Set<String> = []
        for group in fleet.groups.dropFirst() {
            guard let was = group.was else { continue }
            let old = (group.path.dropLast() + [was]).joined(separator: "/")
            let new = group.pathText
            func refuse(_ message: String) {
                problems.add(message, at: group.node?["was"] ?? fleet.template.node, in: fleet.file)
            }
            guard !current.contains(old) else {
                refuse(
                    "the group \"\(old)\" is still in the fleet, so this cannot be its new name: remove \"was\" if the "
                        + "renaming is done; to swap two names, use a third name and run `pharos fleet generate` after "
                        + "each step")
                continue
            }
            guard claimed.insert(old).inserted else {
                refuse("two groups have the former name \"\(old)\", and only one of them can keep its numbers")
                continue
            }
            switch (knows(new), knows(old)) {
            case (_, false):
                if !knows(new), isNumbered(group), !isFirst {
                    refuse("the lock has no group \"\(old)\" that could have been renamed; remove \"was\"")
                }
            case (true, true):
                refuse(
                    "the lock has numbers for the group \"\(new)\" and for \"\(old)\": remove \"was\" to keep the "
                        + "first, "
                        + "or give the group a name that is not in the lock")
            case (false, true): rename(old, to: new)
            }
        }
    }

    private static func isBelow(_ path: String, _ top: String) -> Bool { path == top || path.hasPrefix(top + "/") }

    private func knows(_ path: String) -> Bool {
        allocation.lock.entries.contains { Self.isBelow($0.scope, path) }
            || allocation.lock.majors.contains { Self.isBelow($0.group, path) }
    }

    /// Returns whether numbers are counted in the group or in groups in it.
    private func isNumbered(_ group: Fleet.Group) -> Bool {
        let depth = max(fleet.rules.major?.per.depth ?? 0, fleet.rules.minor?.within.depth ?? 0)
        guard group.path.count <= depth else { return false }
        return fleet.beacons.contains { fleet.groups[$0.group].path.starts(with: group.path) }
    }

    private mutating func rename(_ old: String, to new: String) {
        for index in allocation.lock.entries.indices where Self.isBelow(allocation.lock.entries[index].scope, old) {
            allocation.lock.entries[index].scope = new + allocation.lock.entries[index].scope.dropFirst(old.count)
        }
        for index in allocation.lock.majors.indices where Self.isBelow(allocation.lock.majors[index].group, old) {
            allocation.lock.majors[index].group = new + allocation.lock.majors[index].group.dropFirst(old.count)
        }
    }

    /// Gives each group that has beacons its major number, and finds the part of the fleet in which its beacons are
    /// counted.
    private mutating func numberGroups() {
        var majors: [String: Int] = [:]
        var range = NumberRange(first: fleet.rules.major?.first ?? 1)
        for major in allocation.lock.majors {
            majors[major.group] = major.major
            range.use(major.major)
        }
        let used = Set(fleet.beacons.map(\.group))
        for (number, group) in fleet.groups.enumerated() {
            var own: Int?
            if let rule = fleet.rules.major, used.contains(number) {
                let path = group.path.prefix(rule.per.depth).joined(separator: "/")
                own = majors[path]
                if own == nil {
                    own = range.next()
                    if let own {
                        majors[path] = own
                        allocation.lock.majors.append(.init(group: path, major: own))
                    } else {
                        let node = fleet.rules.nodes["major"] ?? fleet.template.node
                        problems.add("all 65536 major numbers are in use", at: node, in: fleet.file)
                    }
                }
            }
            allocation.groupMajors.append(own)
            let depth = fleet.rules.minor?.within.depth ?? 0
            groupScopes.append(group.path.prefix(depth).joined(separator: "/"))
        }
    }
}

/// Numbers 0...65535 that are given out upwards from the first one, and then from 0 where numbers are free.
private struct NumberRange {
    private var upcoming: Int
    /// All numbers below this one are given out.
    private var lowest = 0
    private var taken: Set<Int> = []

    init(first: Int) {
        upcoming = first
    }

    /// Marks a number as given out.
    mutating func use(_ number: Int) {
        taken.insert(number)
        upcoming = max(upcoming, number + 1)
    }

    /// Gives out a number; `nil` when there are no more.
    mutating func next() -> Int? {
        let limit = AllocationRules.numberRange.upperBound
        while upcoming > limit, lowest <= limit, taken.contains(lowest) { lowest += 1 }
        let number = upcoming <= limit ? upcoming : lowest
        guard number <= limit else { return nil }
        use(number)
        return number
    }
}
