/// The plans that were made, so that beacons of one group share theirs.
struct PlanCache: Sendable {
    struct Key: Hashable, Sendable {
        var group: UInt32
        var source: UInt32
        /// Which columns of the table have something in them.
        var filled: UInt64
    }

    /// More are not kept: those of a fleet with a room for every beacon would fill the memory.
    private static let limit = 16_384

    private var plans: [BeaconPlan] = []
    private var numbers: [Key: Int] = [:]
    /// Plans that were given up, so that no number is used twice.
    private var forgotten = 0
    /// Whose plan was found or made last.
    var lastKey: Key?

    mutating func find(_ key: Key) -> (plan: BeaconPlan, number: Int?)? {
        guard let known = numbers[key] else { return nil }
        lastKey = key
        return (plans[known], forgotten + known)
    }

    mutating func insert(_ plan: BeaconPlan, _ key: Key) -> Int {
        if plans.count >= Self.limit {
            forgotten += plans.count
            plans.removeAll()
            numbers.removeAll()
        }
        plans.append(plan)
        numbers[key] = plans.count - 1
        lastKey = key
        return forgotten + plans.count - 1
    }
}
