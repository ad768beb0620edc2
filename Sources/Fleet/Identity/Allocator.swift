internal import BluetoothTypes
internal import EddystoneSecurity
internal import Profiles

/// Gives identities out. What is in the lock stays; what is new comes behind it, in the order of the fleet file.
struct Allocator {
    let fleet: Fleet
    let lockFile: String
    var allocation: FleetAllocation
    var problems = ProblemList()
    private let now: RFC3339Time
    /// The names in the lock, with the first entry of each and the next one of the same name.
    private var names = NamePool()
    private var firstEntry: [Int32] = []
    private var nextEntry: [Int32] = []
    private var isTaken: [Bool] = []
    private var addresses = NumberTable(capacity: 0)
    private var instances = NumberTable(capacity: 0)
    private var nextInstance: UInt64 = 1
    private var minors: [MinorSpace] = []
    /// The number of a group's scope in the lock, and of the group that the scope is.
    private var groupScopes: [UInt32] = []
    private var reader: BeaconReader

    init(_ fleet: Fleet, lock: FleetLock?, now: RFC3339Time) {
        self.fleet = fleet
        self.now = now
        lockFile = FleetLock.file(beside: fleet.file)
        allocation = FleetAllocation(lock: lock ?? FleetLock(fleet: fleet.name), entries: [], groupMajors: [])
        reader = BeaconReader(fleet)
    }

    mutating func run(releasing: [String]) {
        guard allocation.lock.fleet == fleet.name else {
            report(
                "this lock belongs to the fleet \"\(allocation.lock.fleet)\", not to \"\(fleet.name)\"; "
                    + "a renamed fleet's lock gets the new name by hand")
            return
        }
        release(releasing)
        renameGroups()
        numberGroups()
        index()
        place()
        retire()
    }

    private mutating func report(_ message: String, line: UInt32 = 1) {
        let problem = ProfileProblem(message, at: .init(line: Int(line), column: 1), path: .root)
        problems.add(FleetProblem(problem, in: lockFile))
    }

    // MARK: names and groups

    private mutating func release(_ releasing: [String]) {
        guard !releasing.isEmpty else { return }
        let wanted = Set(releasing)
        var found: Set<String> = []
        let lock = allocation.lock
        allocation.lock.entries.removeAll { entry in
            guard entry.isRetired else { return false }
            let name = lock.name(entry)
            guard wanted.contains(name) else { return false }
            found.insert(name)
            return true
        }
        for name in releasing where !found.contains(name) {
            let reason =
                fleet.names.find(name) == nil
                ? "there is no retired beacon \"\(name)\"" : "\"\(name)\" is in use; take it out of the fleet first"
            report("cannot release: " + reason)
        }
        allocation.changes.released = found.sorted()
    }

    /// Groups that were called otherwise keep their number, and all that was counted in them.
    private mutating func renameGroups() {
        let current = Set(fleet.groups.map(\.pathText))
        for group in fleet.groups.dropFirst() {
            guard let was = group.was else { continue }
            let old = (group.path.dropLast() + [was]).joined(separator: "/")
            let new = group.pathText
            func isBelow(_ path: String, _ top: String) -> Bool { path == top || path.hasPrefix(top + "/") }
            let knowsNew =
                allocation.lock.scopes.contains { isBelow($0, new) }
                || allocation.lock.majors.contains { isBelow($0.group, new) }
            guard !knowsNew else { continue }
            guard !current.contains(old) else {
                if let node = group.node?["was"] {
                    problems.add(
                        "the group \"\(old)\" is still there, so this is not its new name", at: node, in: fleet.file)
                }
                continue
            }
            for index in allocation.lock.scopes.indices where isBelow(allocation.lock.scopes[index], old) {
                allocation.lock.scopes[index] = new + allocation.lock.scopes[index].dropFirst(old.count)
            }
            for index in allocation.lock.majors.indices where isBelow(allocation.lock.majors[index].group, old) {
                allocation.lock.majors[index].group = new + allocation.lock.majors[index].group.dropFirst(old.count)
            }
        }
    }

    /// Majors by group, and the scopes in which minors are counted.
    private mutating func numberGroups() {
        var majors: [String: Int] = [:]
        var space = MinorSpace(first: fleet.rules.major?.first ?? 1)
        for major in allocation.lock.majors {
            majors[major.group] = major.major
            space.use(major.major)
        }
        var scopes: [String: UInt32] = [:]
        for (index, scope) in allocation.lock.scopes.enumerated() {
            scopes[scope] = UInt32(truncatingIfNeeded: index)
        }
        var isUsed = [Bool](repeating: false, count: fleet.groups.count)
        for beacon in fleet.beacons { isUsed[Int(beacon.group)] = true }
        for (number, group) in fleet.groups.enumerated() {
            var own = Int32(-1)
            if let rule = fleet.rules.major, isUsed[number] {
                let path = group.path.prefix(rule.per.depth).joined(separator: "/")
                if let known = majors[path] {
                    own = Int32(truncatingIfNeeded: known)
                } else if let next = space.next(used: { allocation.lock.majors.map(\.major) }) {
                    majors[path] = next
                    allocation.lock.majors.append(.init(group: path, major: next, line: 0))
                    own = Int32(truncatingIfNeeded: next)
                } else {
                    let node = fleet.rules.nodes["major"] ?? fleet.template.node
                    problems.add("the 65536 major numbers are all given out", at: node, in: fleet.file)
                }
            }
            allocation.groupMajors.append(own)
            var scope = UInt32(0)
            if let rule = fleet.rules.minor, isUsed[number] {
                let path = group.path.prefix(rule.within.depth).joined(separator: "/")
                if let known = scopes[path] {
                    scope = known
                } else {
                    scope = UInt32(truncatingIfNeeded: allocation.lock.scopes.count)
                    allocation.lock.scopes.append(path)
                    scopes[path] = scope
                }
            }
            groupScopes.append(scope)
        }
    }

    // MARK: what is there

    private mutating func index() {
        let lock = allocation.lock
        names.reserve(lock.entries.count, octets: lock.texts.count)
        nextEntry = [Int32](repeating: -1, count: lock.entries.count)
        isTaken = [Bool](repeating: false, count: lock.entries.count)
        let expected = lock.entries.count + fleet.beacons.count
        addresses = NumberTable(capacity: fleet.template.hasAddress ? expected : 0)
        instances = NumberTable(capacity: fleet.rules.instance == nil ? 0 : expected)
        minors = lock.scopes.map { _ in MinorSpace(first: fleet.rules.minor?.first ?? 1) }
        if case .counter(let first) = fleet.rules.instance { nextInstance = UInt64(max(0, first)) }
        for (index, entry) in lock.entries.enumerated() {
            let (name, isNew) = names.insert(lock.texts, entry.nameRange)
            if isNew { firstEntry.append(-1) }
            nextEntry[index] = firstEntry[name]
            firstEntry[name] = Int32(truncatingIfNeeded: index)
            if entry.address != FleetLock.none { _ = addresses.insert(entry.address, index) }
            if entry.instance != FleetLock.none {
                _ = instances.insert(entry.instance, index)
                if entry.instance < AllocationRules.instanceLimit {
                    nextInstance = max(nextInstance, entry.instance + 1)
                }
            }
            if entry.minor >= 0 { minors[Int(entry.scope)].use(Int(entry.minor)) }
        }
    }

    /// The entry of that name in that scope: a live one rather than a retired one.
    private func entry(named name: Int, scope: UInt32) -> (inScope: Int?, elsewhere: Int?) {
        var (live, retired, elsewhere): (Int?, Int?, Int?) = (nil, nil, nil)
        var index = Int(firstEntry[name])
        while index >= 0 {
            let entry = allocation.lock.entries[index]
            let fits = fleet.rules.minor == nil || entry.scope == scope
            if !isTaken[index] {
                if fits, !entry.isRetired { live = index }
                if fits, entry.isRetired { retired = index }
                if !fits, !entry.isRetired { elsewhere = index }
            }
            index = Int(nextEntry[index])
        }
        return (live ?? retired, elsewhere)
    }

    // MARK: every beacon

    private mutating func place() {
        allocation.entries.reserveCapacity(fleet.beacons.count)
        let text = fleet.names.text
        for number in fleet.beacons.indices {
            let scope = groupScopes[Int(fleet.beacons[number].group)]
            let range = fleet.names.range(number)
            var index: Int?
            if let name = names.find(text, range) {
                let found = entry(named: name, scope: scope)
                index = found.inScope
                if index == nil, found.elsewhere != nil { allocation.changes.moved.append(fleet.names.string(number)) }
            } else if let was = reader.formerName(number) {
                index = renamed(from: was, number, scope)
            }
            let entry = index ?? append(number, scope)
            if entry < isTaken.count { isTaken[entry] = true }
            fill(entry, number)
            allocation.entries.append(UInt32(truncatingIfNeeded: entry))
        }
    }

    /// The entry of the former name, which gets the new one.
    private mutating func renamed(from was: String, _ number: Int, _ scope: UInt32) -> Int? {
        guard fleet.names.find(was) == nil else {
            let place = reader.place(of: number, column: "was")
            problems.add(
                FleetProblem(
                    .init(
                        "the beacon \"\(was)\" is still there, so this is not its new name", at: place.position,
                        path: place.path), in: place.file))
            return nil
        }
        guard let name = names.find(was), let index = entry(named: name, scope: scope).inScope else { return nil }
        let range = fleet.names.range(number)
        allocation.lock.entries[index].nameStart = allocation.lock.store(fleet.names.text[range])
        allocation.lock.entries[index].nameCount = UInt8(truncatingIfNeeded: range.count)
        allocation.changes.renamed.append(.init(name: fleet.names.string(number), other: was))
        return index
    }

    private mutating func append(_ number: Int, _ scope: UInt32) -> Int {
        let range = fleet.names.range(number)
        var entry = FleetLock.Entry(
            nameStart: allocation.lock.store(fleet.names.text[range]), nameCount: UInt8(truncatingIfNeeded: range.count)
        )
        entry.scope = scope
        allocation.lock.entries.append(entry)
        allocation.changes.added += 1
        return allocation.lock.entries.count - 1
    }

    /// What the rules ask for and the entry does not have yet.
    private mutating func fill(_ index: Int, _ number: Int) {
        var entry = allocation.lock.entries[index]
        if entry.isRetired {
            entry.isRetired = false
            allocation.changes.revived.append(fleet.names.string(number))
        }
        if fleet.rules.minor != nil {
            // An entry that never had a number comes into the scope that its group has now.
            if entry.minor < 0 { entry.scope = groupScopes[Int(fleet.beacons[number].group)] }
            if entry.minor < 0 { entry.minor = nextMinor(scope: entry.scope, number) }
        }
        if entry.address == FleetLock.none, fleet.template.hasAddress { entry.address = newAddress(number) }
        if entry.epoch == FleetLock.noEpoch, fleet.template.hasEpoch {
            entry.epoch = Int64((fleet.rules.eidEpoch ?? now).secondsSince1970)
        }
        let serial = reader.serial(number)
        if entry.instance == FleetLock.none, let rule = fleet.rules.instance {
            entry.instance = newInstance(rule, serial.map { String(decoding: $0, as: UTF8.self) }, number, index)
        }
        if let serial, !serial.elementsEqual(allocation.lock.texts[entry.boxRange]) {
            record(serial, in: &entry, number)
        }
        allocation.lock.entries[index] = entry
    }

    private mutating func record(_ serial: ArraySlice<UInt8>, in entry: inout FleetLock.Entry, _ number: Int) {
        let old = allocation.lock.box(entry)
        if !old.isEmpty {
            let new = String(decoding: serial, as: UTF8.self)
            allocation.changes.replacedBoxes.append(.init(name: fleet.names.string(number), other: new))
            if entry.earlier > 0 {
                allocation.lock.earlierBoxes[Int(entry.earlier) - 1].append(old)
            } else {
                allocation.lock.earlierBoxes.append([old])
                entry.earlier = UInt32(truncatingIfNeeded: allocation.lock.earlierBoxes.count)
            }
        }
        entry.boxStart = allocation.lock.store(serial)
        entry.boxCount = UInt8(truncatingIfNeeded: serial.count)
    }

    private mutating func nextMinor(scope: UInt32, _ number: Int) -> Int32 {
        let entries = allocation.lock.entries
        let next = minors[Int(scope)].next {
            entries.filter { $0.scope == scope && $0.minor >= 0 }.map { Int($0.minor) }
        }
        if let next { return Int32(truncatingIfNeeded: next) }
        let path = allocation.lock.scopes[Int(scope)]
        let whose = path.isEmpty ? "the fleet" : "\"\(path)\""
        let node = fleet.rules.nodes["minor"] ?? fleet.template.node
        problems.add(
            "the 65536 minor numbers of \(whose) are all given out; count them within a smaller part "
                + "(\"within\"), or release retired beacons", at: node, in: fleet.file)
        return -1
    }

    private mutating func newInstance(
        _ rule: AllocationRules.Instance, _ serial: String?, _ number: Int, _ index: Int
    ) -> UInt64 {
        switch rule {
        case .counter:
            while instances.contains(nextInstance), nextInstance < AllocationRules.instanceLimit { nextInstance += 1 }
            let given = nextInstance
            nextInstance = min(nextInstance + 1, AllocationRules.instanceLimit)
            _ = instances.insert(given, index)
            return given
        case .serial:
            let place = reader.place(of: number, column: "serial")
            guard let serial else {
                let message =
                    "the instance comes from the box's serial number, and this beacon has none: add its \"serial\""
                problems.add(
                    FleetProblem(.init(message, at: place.position, path: place.path), in: place.file))
                return FleetLock.none
            }
            let given = Self.instance(fromSerial: serial)
            if let first = instances.insert(given, index) {
                let other = allocation.lock.name(allocation.lock.entries[first])
                let message = "the serial number \"\(serial)\" gives the same instance as that of \"\(other)\""
                problems.add(
                    FleetProblem(.init(message, at: place.position, path: place.path), in: place.file))
                return FleetLock.none
            }
            return given
        }
    }

    /// The last 12 digits of a hexadecimal serial number; of another one the first 12 of its fingerprint.
    static func instance(fromSerial serial: String) -> UInt64 {
        let digits = serial.filter { $0 != ":" && $0 != "-" }
        let isHexadecimal = !digits.isEmpty && digits.allSatisfy { $0.isASCII && $0.isHexDigit }
        let source =
            isHexadecimal ? String(digits.suffix(12)) : String(Fingerprint.text(of: Array(serial.utf8)).prefix(12))
        return UInt64(source, radix: 16) ?? 0
    }

    /// 46 bits that follow from the fleet's and the beacon's names; others where somebody has these already.
    private mutating func newAddress(_ number: Int) -> UInt64 {
        let range = fleet.names.range(number)
        let text = fleet.names.text
        let fleetSeed = StableHash.of(Array(fleet.name.utf8), 0..<fleet.name.utf8.count)
        var attempt: UInt64 = 0
        while true {
            let bits = StableHash.of(text, range, seed: fleetSeed &+ attempt) >> 16
            let address = bits | 0xC000_0000_0000
            attempt += 1
            guard DeviceAddress(number: address).isValidStaticRandom else { continue }
            if addresses.insert(address, number) == nil { return address }
        }
    }

    // MARK: what is gone

    private mutating func retire() {
        for index in isTaken.indices where !isTaken[index] && !allocation.lock.entries[index].isRetired {
            allocation.lock.entries[index].isRetired = true
            allocation.changes.retired.append(allocation.lock.name(allocation.lock.entries[index]))
        }
        let moved = Set(allocation.changes.moved)
        if !moved.isEmpty { allocation.changes.retired.removeAll { moved.contains($0) } }
    }
}

/// Numbers 0...65535 that are given out upwards; below the first one only when there are none above.
struct MinorSpace: Sendable {
    private var upcoming: Int
    /// What is taken, once the end was reached.
    private var isUsed: [Bool] = []
    private var lowest = 0

    init(first: Int) {
        upcoming = first
    }

    mutating func use(_ number: Int) { upcoming = max(upcoming, number + 1) }

    /// - Parameter used: All numbers that are taken; asked for when they run short.
    mutating func next(used: () -> [Int]) -> Int? {
        if upcoming <= AllocationRules.numberRange.upperBound {
            upcoming += 1
            return upcoming - 1
        }
        if isUsed.isEmpty {
            isUsed = [Bool](repeating: false, count: AllocationRules.numberRange.count)
            for number in used() where isUsed.indices.contains(number) { isUsed[number] = true }
        }
        while lowest < isUsed.count, isUsed[lowest] { lowest += 1 }
        guard lowest < isUsed.count else { return nil }
        isUsed[lowest] = true
        return lowest
    }
}
