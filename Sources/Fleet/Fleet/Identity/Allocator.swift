internal import Configuration

/// Gives identities out. What is in the lock stays; what is new comes behind it, in the order of the fleet file.
struct Allocator {
    let fleet: Fleet
    let lockFile: String
    var allocation: FleetAllocation
    var problems = ProblemList()
    private let now: RFC3339Time
    /// Made when a beacon is not where the last time had it: most fleets stay as they are.
    private lazy var names = LockNames(allocation.lock, count: isTaken.count)
    /// Made when something new is given out.
    private(set) lazy var given = GivenNumbers(allocation.lock, count: isTaken.count, for: fleet)
    /// Of each entry that was there before, whether a beacon has it.
    private(set) var isTaken: [Bool] = []
    /// Former names that a beacon has claimed.
    private var claimed: Set<String> = []
    /// Whether identities were given out before.
    let isFirst: Bool
    /// The number of a group's scope in the lock, and of the group that the scope is.
    var groupScopes: [UInt32] = []
    var reader: BeaconReader
    /// Of the fleet's name, for its beacons' addresses.
    let seed: UInt64

    init(_ fleet: Fleet, lock: FleetLock?, now: RFC3339Time) {
        self.fleet = fleet
        self.now = now
        isFirst = lock.map { $0.entries.isEmpty && $0.majors.isEmpty } ?? true
        lockFile = FleetLock.file(beside: fleet.file)
        allocation = FleetAllocation(lock: lock ?? FleetLock(fleet: fleet.name), entries: [], groupMajors: [])
        reader = BeaconReader(fleet)
        seed = StableHash.of(Array(fleet.name.utf8), 0..<fleet.name.utf8.count)
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
        isTaken = [Bool](repeating: false, count: allocation.lock.entries.count)
        place()
        retire()
    }

    mutating func report(_ message: String, line: UInt32 = 1) {
        problems.add(FileProblem(message, at: .init(line: Int(line), column: 1), in: lockFile))
    }

    /// The entry of that name in that scope: a live one rather than a retired one.
    private mutating func entry(named name: Int, scope: UInt32) -> (inScope: Int?, elsewhere: Int?) {
        var (live, retired, elsewhere): (Int?, Int?, Int?) = (nil, nil, nil)
        for index in names.entries(of: name) where !isTaken[index] {
            let entry = allocation.lock.entries[index]
            let fits = isCounted(entry, in: scope)
            if fits, !entry.isRetired { live = index }
            if fits, entry.isRetired { retired = index }
            if !fits, !entry.isRetired { elsewhere = index }
        }
        return (live ?? retired, elsewhere)
    }

    /// Whether the entry's numbers are of that scope.
    private func isCounted(_ entry: FleetLock.Entry, in scope: UInt32) -> Bool {
        fleet.rules.minor == nil || entry.scope == scope
    }

    private mutating func place() {
        allocation.entries.reserveCapacity(fleet.beacons.count)
        if isTaken.isEmpty { allocation.lock.entries.reserveCapacity(fleet.beacons.count) }
        let hasFormerNames = fleet.sources.map(\.hasFormerNames)
        // Most beacons follow each other as in the lock: behind the entry of the last one.
        var upcoming = 0
        for number in fleet.beacons.indices {
            let beacon = fleet.beacons[number]
            let scope = groupScopes[Int(beacon.group)]
            let mayBeRenamed = hasFormerNames[Int(beacon.source)]
            let place =
                !mayBeRenamed && isEntry(upcoming, of: number, scope)
                ? upcoming : find(number, scope, mayBeRenamed: mayBeRenamed) ?? append(number, scope)
            if place < isTaken.count { isTaken[place] = true }
            fill(place, number)
            allocation.entries.append(UInt32(truncatingIfNeeded: place))
            upcoming = place + 1
        }
    }

    /// Whether the lock has the beacon here, live: there is no second one then.
    private func isEntry(_ index: Int, of number: Int, _ scope: UInt32) -> Bool {
        guard index < isTaken.count, !isTaken[index] else { return false }
        let entry = allocation.lock.entries[index]
        return !entry.isRetired && isCounted(entry, in: scope)
            && fleet.names.isEqual(number, allocation.lock.texts, entry.nameRange)
    }

    /// The beacon's entry, wherever it is; `nil` where it has none.
    private mutating func find(_ number: Int, _ scope: UInt32, mayBeRenamed: Bool) -> Int? {
        let name = isTaken.isEmpty ? nil : names.find(fleet.names.text, fleet.names.range(number))
        let found = name.map { entry(named: $0, scope: scope) }
        if mayBeRenamed, let was = reader.formerName(number) {
            return renamed(from: was, number, scope, isKnown: name != nil) ?? found?.inScope
        }
        if found?.inScope == nil, found?.elsewhere != nil {
            allocation.changes.moved.append(fleet.names.string(number))
        }
        return found?.inScope
    }

    /// The entry of the former name, which gets the new one; `nil` where the renaming is done already. What cannot be
    /// obeyed is a problem: an identity would go to another beacon than was meant.
    ///
    /// - Parameter isKnown: Whether the lock has the new name too.
    private mutating func renamed(from was: String, _ number: Int, _ scope: UInt32, isKnown: Bool) -> Int? {
        let own = fleet.names.string(number)
        guard fleet.names.find(was) == nil else {
            refuse(
                "the beacon \"\(was)\" is still there, so this is not its new name: take \"was\" out where the renaming is "
                    + "done; names that change places go by way of a third one, with `pharos fleet generate` after each step",
                number)
            return nil
        }
        guard claimed.insert(was).inserted else {
            refuse("another beacon was \"\(was)\" as well, and only one of them can have its identity", number)
            return nil
        }
        guard let former = names.find(was) else {
            if !isKnown, !isFirst {
                refuse("the lock knows no beacon \"\(was)\" that this could have been; take \"was\" out", number)
            }
            return nil
        }
        let found = entry(named: former, scope: scope)
        guard let index = found.inScope else {
            if !isKnown, found.elsewhere != nil {
                refuse(
                    "\"\(was)\" is counted in another group: give it its new name there, run `pharos fleet generate`, and "
                        + "move it then", number)
            }
            return nil
        }
        guard !isKnown else {
            refuse(
                "the lock has an identity for \"\(own)\" and one for \"\(was)\": take \"was\" out to keep the first; for "
                    + "the other, take \"\(own)\" out of the fleet and run `pharos fleet generate --release \(own)` first",
                number)
            return nil
        }
        let range = fleet.names.range(number)
        allocation.lock.entries[index].nameStart = allocation.lock.store(fleet.names.text[range])
        allocation.lock.entries[index].nameCount = UInt8(truncatingIfNeeded: range.count)
        allocation.changes.renamed.append(.init(name: own, other: was))
        return index
    }

    private mutating func refuse(_ message: String, _ number: Int) {
        let place = reader.place(of: number, column: "was")
        problems.add(FileProblem(message, at: place.position, path: place.path, in: place.file))
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
        // A lock in which nothing changes is not copied.
        if entry != allocation.lock.entries[index] { allocation.lock.entries[index] = entry }
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

    private mutating func retire() {
        for index in isTaken.indices where !isTaken[index] && !allocation.lock.entries[index].isRetired {
            allocation.lock.entries[index].isRetired = true
            allocation.changes.retired.append(allocation.lock.name(allocation.lock.entries[index]))
        }
        let moved = Set(allocation.changes.moved)
        if !moved.isEmpty { allocation.changes.retired.removeAll { moved.contains($0) } }
    }
}
