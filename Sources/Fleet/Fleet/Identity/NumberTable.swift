/// Numbers that were seen, each with the index of the first that had it: an open table of a fixed size that grows.
struct NumberTable: Sendable {
    /// A number beside its index: one look at the memory for both.
    private struct Entry {
        var key: UInt64 = 0
        /// Negative where nothing is.
        var value: Int32 = -1
    }

    private var entries: [Entry]
    private var count = 0

    init(capacity: Int) {
        var size = 16
        while size < capacity * 2 { size *= 2 }
        entries = [Entry](repeating: Entry(), count: size)
    }

    /// Remembers the number; gives the index of the first one that had it.
    mutating func insert(_ key: UInt64, _ index: Int) -> Int? {
        if (count + 1) * 2 > entries.count { grow() }
        let slot = slot(of: key)
        if entries[slot].value >= 0 { return Int(entries[slot].value) }
        entries[slot] = Entry(key: key, value: Int32(truncatingIfNeeded: index))
        count += 1
        return nil
    }

    func contains(_ key: UInt64) -> Bool { entries[slot(of: key)].value >= 0 }

    private func slot(of key: UInt64) -> Int {
        let entries = entries.span
        let mask = entries.count - 1
        var slot = Int(truncatingIfNeeded: StableHash.mixed(key)) & mask
        while entries[slot].value >= 0, entries[slot].key != key { slot = (slot + 1) & mask }
        return slot
    }

    private mutating func grow() {
        let old = entries
        entries = [Entry](repeating: Entry(), count: old.count * 2)
        for entry in old where entry.value >= 0 { entries[slot(of: entry.key)] = entry }
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
