import Testing

@testable import Rehearsal

@Suite("A rehearsed fleet")
struct RehearsedFleetTests {
    private static let hour = 3_600_000_000

    @Test("a cycle at a constant interval is the mean time between two events")
    func constantCycle() throws {
        let beacon = try RehearsedWorld(beacons: 1, interval: 10_240).fleet().beacons[0]
        #expect(beacon.sent[0].cycleMicroseconds == 10_245_000)
        #expect(beacon.spreadMicroseconds(end: Self.hour) == 10_245_000)
        #expect(!beacon.hasDependentCycle(end: 20_000_000))
    }

    @Test("a cycle with a pattern has all its parts, and depends on those of other machines in a short rehearsal")
    func patternCycle() throws {
        let schedule = #""pattern": [{"intervalMs": 100, "forS": 2}, {"intervalMs": 1000, "forS": 28}]"#
        let beacon = try RehearsedWorld(beacons: 1, schedule: schedule).fleet().beacons[0]
        #expect(beacon.sent[0].cycleMicroseconds == 30_000_000)
        #expect(beacon.spreadMicroseconds(end: Self.hour) == 30_000_000)
        #expect(!beacon.hasDependentCycle(end: Self.hour))
        #expect(beacon.spreadMicroseconds(end: 60_000_000) == 6_000_000)
        #expect(beacon.hasDependentCycle(end: 60_000_000))
    }
}
