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
