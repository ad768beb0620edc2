import Fleet
import Testing

@Suite struct LabelOrderTests {
    private func names(_ order: LabelOrder, _ beacons: [(String, [String])]) -> [String] {
        order.sorted(beacons.map { SampleFleet.beacon($0.0, group: $0.1) }).map(\.name)
    }

    @Test func sortsGroupsInTheOrderOfTheFleet() {
        let beacons = [
            ("a", ["z", "2"]), ("b", ["m"]), ("c", ["z"]), ("d", ["z", "1"]), ("e", []), ("f", ["z", "2", "r"]),
            ("g", ["z", "2"]), ("h", ["m", "2"]),
        ]
        // Beacons of a whole group come before those of its floors and rooms.
        #expect(names(.group, beacons) == ["e", "c", "a", "g", "f", "d", "b", "h"])
        #expect(names(.file, beacons) == ["a", "b", "c", "d", "e", "f", "g", "h"])
    }

    @Test func sortsNumbersInNamesByValue() {
        let sorted = [
            "1", "2", "10", "hall", "hall-1", "hall-2", "hall-10", "hall-10-2", "hall-10-10", "hall-x", "hold",
        ]
        #expect(names(.name, sorted.reversed().map { ($0, []) }) == sorted)
        // Equal numbers stay in order: leading zeros do not count.
        #expect(names(.name, [("b-01", []), ("b-1", []), ("a-001", [])]) == ["a-001", "b-01", "b-1"])
    }
}
