import Testing

@testable import Fleet

/// The two tables that a fleet of a million is looked up in.
@Suite("Names and numbers that were seen")
struct LookupTests {
    /// Short names of few letters, so that many come again.
    private static func names(_ count: Int, seed: UInt64) -> [String] {
        var random = SplitMix64(seed: seed)
        return (0..<count).map { _ in
            (0..<Int.random(in: 0...4, using: &random)).map { _ in "abcdefgh".randomElement(using: &random) ?? "a" }
                .reduce(into: "") { $0.append($1) }
        }
    }

    @Test("names are found by their contents, while the table grows", arguments: [0, 100, 5000])
    func findsNames(reserved: Int) {
        var pool = NamePool()
        if reserved > 0 { pool.reserve(reserved, octets: reserved * 4) }
        var numbers: [String: Int] = [:]
        for name in Self.names(5000, seed: 1) {
            let octets = Array("<\(name)>".utf8)
            let (index, isNew) = pool.insert(octets, 1..<octets.count - 1)
            #expect(isNew == (numbers[name] == nil))
            #expect(index == numbers[name] ?? numbers.count)
            numbers[name] = index
        }
        #expect(pool.count == numbers.count)
        for (name, number) in numbers { #expect(pool.find(name) == number) }
        for name in ["i", "aaaaa", "abc ", "A"] { #expect(pool.find(name) == nil) }
    }

    @Test("a number has the index of the first that had it, while the table grows", arguments: [0, 100, 5000])
    func findsNumbers(capacity: Int) {
        var table = NumberTable(capacity: capacity)
        var firsts: [UInt64: Int] = [:]
        var random = SplitMix64(seed: 2)
        for index in 0..<5000 {
            // Small ones come again; 0 and the greatest are numbers like others.
            let number: UInt64 =
                switch index % 3 {
                case 0: UInt64.random(in: 0...999, using: &random)
                case 1: UInt64.random(in: 0...UInt64.max, using: &random)
                default: UInt64.max - UInt64(index % 7)
                }
            #expect(table.insert(number, index) == firsts[number])
            firsts[number] = firsts[number] ?? index
        }
        for number in firsts.keys { #expect(table.contains(number)) }
        for _ in 0..<1000 {
            let number = UInt64.random(in: 1000...UInt64.max / 2, using: &random)
            #expect(table.contains(number) == (firsts[number] != nil))
        }
    }
}
