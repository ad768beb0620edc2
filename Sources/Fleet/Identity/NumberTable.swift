/// Numbers that were seen, each with the index of the first that had it: an open table of a fixed size that grows.
struct NumberTable: Sendable {
    private var keys: [UInt64]
    private var values: [Int32]
    private var count = 0

    init(capacity: Int) {
        var size = 16
        while size < capacity * 2 { size *= 2 }
        keys = [UInt64](repeating: 0, count: size)
        values = [Int32](repeating: -1, count: size)
    }

    /// Remembers the number; gives the index of the first one that had it.
    mutating func insert(_ key: UInt64, _ index: Int) -> Int? {
        if (count + 1) * 2 > keys.count { grow() }
        let slot = slot(of: key)
        if values[slot] >= 0 { return Int(values[slot]) }
        keys[slot] = key
        values[slot] = Int32(truncatingIfNeeded: index)
        count += 1
        return nil
    }

    func contains(_ key: UInt64) -> Bool { values[slot(of: key)] >= 0 }

    private func slot(of key: UInt64) -> Int {
        let mask = keys.count - 1
        var slot = Int(truncatingIfNeeded: StableHash.mixed(key)) & mask
        while values[slot] >= 0, keys[slot] != key { slot = (slot + 1) & mask }
        return slot
    }

    private mutating func grow() {
        let old = (keys, values)
        keys = [UInt64](repeating: 0, count: old.0.count * 2)
        values = [Int32](repeating: -1, count: old.1.count * 2)
        for (key, value) in zip(old.0, old.1) where value >= 0 {
            let slot = slot(of: key)
            keys[slot] = key
            values[slot] = value
        }
    }
}

/// 64 well-mixed bits of some octets, the same on every machine and in every version: FNV-1a, finished as SplitMix64
/// is. Against accidents, not against attackers.
enum StableHash {
    static func of(_ text: [UInt8], _ range: Range<Int>, seed: UInt64 = 0) -> UInt64 {
        var state = seed ^ 0xCBF2_9CE4_8422_2325
        let span = text.span
        for index in range { state = (state ^ UInt64(span[index])) &* 0x0000_0100_0000_01B3 }
        return mixed(state)
    }

    static func mixed(_ value: UInt64) -> UInt64 {
        var value = value &+ 0x9E37_79B9_7F4A_7C15
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
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
