internal import Configuration

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
    private(set) var isTaken: [Bool] = []
    /// Former names that a beacon has claimed.
    private var claimed: Set<String> = []
    /// Whether identities were given out before.
    let isFirst: Bool
    var addresses = NumberTable(capacity: 0)
    var instances = NumberTable(capacity: 0)
    /// One above ``AllocationRules/instanceLimit`` when all are given out.
    var nextInstance: UInt64 = 1
    var minors: [MinorSpace] = []
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
        index()
        place()
        retire()
    }

    mutating func report(_ message: String, line: UInt32 = 1) {
        problems.add(FileProblem(message, at: .init(line: Int(line), column: 1), in: lockFile))
    }

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
                nextInstance = max(nextInstance, min(entry.instance, AllocationRules.instanceLimit) + 1)
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

    private mutating func place() {
        allocation.entries.reserveCapacity(fleet.beacons.count)
        let text = fleet.names.text
        let hasFormerNames = fleet.sources.map(\.hasFormerNames)
        for number in fleet.beacons.indices {
            let beacon = fleet.beacons[number]
            let scope = groupScopes[Int(beacon.group)]
            let name = names.find(text, fleet.names.range(number))
            let found = name.map { entry(named: $0, scope: scope) }
            var index = found?.inScope
            if hasFormerNames[Int(beacon.source)], let was = reader.formerName(number) {
                let former = renamed(from: was, number, scope, isKnown: name != nil)
                index = former ?? index
            } else if index == nil, found?.elsewhere != nil {
                allocation.changes.moved.append(fleet.names.string(number))
            }
            let place = index ?? append(number, scope)
            if place < isTaken.count { isTaken[place] = true }
            fill(place, number)
            allocation.entries.append(UInt32(truncatingIfNeeded: place))
        }
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

    private mutating func retire() {
        for index in isTaken.indices where !isTaken[index] && !allocation.lock.entries[index].isRetired {
            allocation.lock.entries[index].isRetired = true
            allocation.changes.retired.append(allocation.lock.name(allocation.lock.entries[index]))
        }
        let moved = Set(allocation.changes.moved)
        if !moved.isEmpty { allocation.changes.retired.removeAll { moved.contains($0) } }
    }
}
