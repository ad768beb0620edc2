/// Names by number and numbers by name, for as many as a million: one buffer and one table.
struct NamePool: Sendable {
    private var octets: [UInt8] = []
    private var ends: [UInt32] = []
    /// Number of a name and 1, in the order of their hashes; 0 where nothing is.
    private var table: [UInt32] = [UInt32](repeating: 0, count: 16)

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
        let slot = slot(of: text, range)
        if table[slot] != 0 { return (Int(table[slot]) - 1, false) }
        octets.append(contentsOf: text[range])
        ends.append(UInt32(truncatingIfNeeded: octets.count))
        table[slot] = UInt32(truncatingIfNeeded: ends.count)
        return (ends.count - 1, true)
    }

    func find(_ text: [UInt8], _ range: Range<Int>) -> Int? {
        let slot = slot(of: text, range)
        return table[slot] == 0 ? nil : Int(table[slot]) - 1
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

    /// Where the name is in the table, or where it would be.
    private func slot(of text: [UInt8], _ range: Range<Int>) -> Int {
        let mask = table.count - 1
        var slot = Int(truncatingIfNeeded: StableHash.of(text, range)) & mask
        while table[slot] != 0, !isEqual(Int(table[slot]) - 1, text, range) { slot = (slot + 1) & mask }
        return slot
    }

    private func isEqual(_ index: Int, _ text: [UInt8], _ range: Range<Int>) -> Bool {
        let own = self.range(index)
        guard own.count == range.count else { return false }
        let (left, right) = (octets.span, text.span)
        for place in 0..<own.count where left[own.lowerBound + place] != right[range.lowerBound + place] {
            return false
        }
        return true
    }

    private mutating func rebuild(size: Int) {
        table = [UInt32](repeating: 0, count: size)
        for index in 0..<ends.count {
            let slot = slot(of: octets, range(index))
            table[slot] = UInt32(truncatingIfNeeded: index + 1)
        }
    }
}
