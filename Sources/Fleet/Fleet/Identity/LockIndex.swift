/// The names in a lock, with the entries of each.
final class LockNames {
    private var names = NamePool()
    /// Of each name the last entry; of each entry the one before it that has the same name. Negative where there is none.
    private var last: [Int32] = []
    private var previous: [Int32] = []

    /// - Parameter count: How many entries are looked at, from the first one on.
    init(_ lock: FleetLock, count: Int) {
        names.reserve(count, octets: lock.texts.count)
        previous.reserveCapacity(count)
        for index in 0..<count {
            let (name, isNew) = names.insert(lock.texts, lock.entries[index].nameRange)
            if isNew { last.append(-1) }
            previous.append(last[name])
            last[name] = Int32(truncatingIfNeeded: index)
        }
    }

    func find(_ text: [UInt8], _ range: Range<Int>) -> Int? { names.find(text, range) }

    func find(_ name: String) -> Int? { names.find(name) }

    /// The entries that have the name, the last one first.
    func entries(of name: Int) -> some Sequence<Int> {
        sequence(first: Int(last[name])) { [previous] in previous[$0] < 0 ? nil : Int(previous[$0]) }
    }
}

/// What is given out by a lock, so that nothing is given out twice.
final class GivenNumbers {
    var addresses: NumberTable
    var instances: NumberTable
    /// One above ``AllocationRules/instanceLimit`` when all are given out.
    var nextInstance: UInt64 = 1
    /// By the numbers of the lock's scopes.
    var minors: [MinorSpace]

    /// - Parameter count: How many entries of the lock have their numbers, from the first one on.
    init(_ lock: FleetLock, count: Int, for fleet: Fleet) {
        let expected = count + fleet.beacons.count
        addresses = NumberTable(capacity: fleet.template.hasAddress ? expected : 0)
        instances = NumberTable(capacity: fleet.rules.instance == nil ? 0 : expected)
        minors = lock.scopes.map { _ in MinorSpace(first: fleet.rules.minor?.first ?? 1) }
        if case .counter(let first) = fleet.rules.instance { nextInstance = UInt64(max(0, first)) }
        for index in 0..<count {
            let entry = lock.entries[index]
            if entry.address != FleetLock.none { _ = addresses.insert(entry.address, index) }
            if entry.instance != FleetLock.none {
                _ = instances.insert(entry.instance, index)
                nextInstance = max(nextInstance, min(entry.instance, AllocationRules.instanceLimit) + 1)
            }
            if entry.minor >= 0 { minors[Int(entry.scope)].use(Int(entry.minor)) }
        }
    }
}
