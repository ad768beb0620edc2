import BluetoothTypes
import Testing

@Suite struct StableHashTests {
    @Test func hashIsFNV1a() {
        // The published test vectors.
        #expect(StableHash.of("") == 0xCBF2_9CE4_8422_2325)
        #expect(StableHash.of("a") == 0xAF63_DC4C_8601_EC8C)
        #expect(StableHash.of("foobar") == 0x8594_4171_F739_67E8)
        #expect(StableHash.of("foobar") == StableHash.of(Array("foobar".utf8)))
        #expect(StableHash.of("foobar", seed: 1) != StableHash.of("foobar"))
    }

    @Test func spreadIntervalsOfNamesNeverChange() throws {
        // Beacons that are in use have these intervals.
        let range = AdvertisingInterval(rawValue: 1461)...AdvertisingInterval(rawValue: 1634)
        let own = (1...6).map { AdvertisingInterval.spread("hall-\($0)", over: range).rawValue }
        #expect(own == [1545, 1634, 1470, 1592, 1562, 1601])
    }
}
