import HCI
import Testing

@Suite struct AdvertisingFragmentsTests {
    @Test(
        arguments: [
            (0, [(3, 0)]), (251, [(3, 251)]), (252, [(1, 251), (2, 1)]), (502, [(1, 251), (2, 251)]),
            (1650, [(1, 251), (0, 251), (0, 251), (0, 251), (0, 251), (0, 251), (2, 144)]),
        ] as [(Int, [(UInt8, Int)])])
    func dataIsSplitIntoFragments(_ count: Int, _ expected: [(UInt8, Int)]) throws {
        let data = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        let commands = try LESetExtendedAdvertisingData.all(handle: 3, data: data)
        #expect(commands.map(\.operation.rawValue) == expected.map(\.0))
        #expect(commands.map(\.data.count) == expected.map(\.1))
        #expect(commands.flatMap(\.data) == data)
        #expect(commands.allSatisfy { $0.handle == 3 })
    }
}
