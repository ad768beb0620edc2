/// Names by number and numbers by name, for as many as a million: one buffer and one table.
struct NamePool: Sendable {
    private var octets: [UInt8] = []
    private var ends: [UInt32] = []
    /// Number of a name and 1, below the upper half of its hash, in the order of the lower halves; 0 where nothing is.
    private var table: [UInt64] = [UInt64](repeating: 0, count: 16)

    var count: Int { ends.count }

    mutating func reserve(_ count: Int, octets: Int) {
        ends.reserveCapacity(count)
        self.octets.reserveCapacity(octets)
        var size = table.count
        while size < count * 2 { size *= 2 }
        if size > table.count { rebuild(size: size) }
    }

    /// The number of the name, which is a new one or one that is there.
    mutating func insert(_ text: [UInt8], _ range: Range<Int>) -> (index: Int, isNew: Bool) {
        if (ends.count + 1) * 2 > table.count { rebuild(size: table.count * 2) }
        let hash = StableHash.of(text, range)
        let slot = slot(of: text, range, hash)
        if table[slot] != 0 { return (Self.index(table[slot]), false) }
        octets.append(contentsOf: text[range])
        ends.append(UInt32(truncatingIfNeeded: octets.count))
        table[slot] = hash & Self.hashHalf | UInt64(ends.count)
        return (ends.count - 1, true)
    }

    func find(_ text: [UInt8], _ range: Range<Int>) -> Int? {
        let slot = slot(of: text, range, StableHash.of(text, range))
        return table[slot] == 0 ? nil : Self.index(table[slot])
    }

    func find(_ name: String) -> Int? {
        let octets = Array(name.utf8)
        return find(octets, 0..<octets.count)
    }

    func range(_ index: Int) -> Range<Int> {
        (index == 0 ? 0 : Int(ends[index - 1]))..<Int(ends[index])
    }

    func string(_ index: Int) -> String { String(decoding: octets[range(index)], as: UTF8.self) }

    /// All names behind each other; ``range(_:)`` says where each is.
    var text: [UInt8] { octets }

    func append(_ index: Int, to result: inout [UInt8]) { result.append(contentsOf: octets[range(index)]) }

    /// The part of the table's elements that is of the hash. Nearly every other name is told by it, without a look at the
    /// name's octets, which would have to come from the memory.
    private static let hashHalf: UInt64 = 0xFFFF_FFFF_0000_0000

    private static func index(_ element: UInt64) -> Int { Int(element & ~hashHalf) - 1 }

    /// Where the name is in the table, or where it would be.
    private func slot(of text: [UInt8], _ range: Range<Int>, _ hash: UInt64) -> Int {
        let table = table.span
        let mask = table.count - 1
        var slot = Int(truncatingIfNeeded: hash) & mask
        while table[slot] != 0,
            table[slot] & Self.hashHalf != hash & Self.hashHalf || !isEqual(Self.index(table[slot]), text, range)
        {
            slot = (slot + 1) & mask
        }
        return slot
    }

    /// Whether the name of that number is this one.
    func isEqual(_ index: Int, _ text: [UInt8], _ range: Range<Int>) -> Bool {
        let own = self.range(index)
        guard own.count == range.count else { return false }
        let (left, right) = (octets.span, text.span)
        for place in 0..<own.count where left[own.lowerBound + place] != right[range.lowerBound + place] {
            return false
        }
        return true
    }

    private mutating func rebuild(size: Int) {
        table = [UInt64](repeating: 0, count: size)
        for index in 0..<ends.count {
            let hash = StableHash.of(octets, range(index))
            table[slot(of: octets, range(index), hash)] = hash & Self.hashHalf | UInt64(index + 1)
        }
    }
}
