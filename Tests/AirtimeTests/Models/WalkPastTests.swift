import Airtime
import Testing

@Suite struct WalkPastTests {
    @Test func dwellTimeFollowsFromSpeedDistanceAndRange() throws {
        let walk = try WalkPast(speedMetersPerSecond: 1.4, closestDistanceMeters: 0, rangeMeters: 10)
        #expect(isWithin(0.03, walk.dwellSeconds, of: 14))
        #expect(isWithin(1e-12, walk.dwellSeconds, of: 20 / 1.4))
        let aside = try WalkPast(speedMetersPerSecond: 2, closestDistanceMeters: 6, rangeMeters: 10)
        #expect(isWithin(1e-12, aside.dwellSeconds, of: 8))
        #expect(try aside.seenProbability { $0 / 16 } == 0.5)
    }

    @Test func aWalkOutOfRangeSeesNoBeacon() throws {
        for distance in [10.0, 11] {
            let walk = try WalkPast(speedMetersPerSecond: 1.4, closestDistanceMeters: distance, rangeMeters: 10)
            #expect(walk.dwellSeconds == 0)
            #expect(try walk.seenProbability { _ in 1 } == 0)
        }
    }

    @Test func refusesImpossibleWalks() throws {
        for bad in [-1, Double.nan, .infinity] {
            #expect(throws: AirtimeError.self) {
                try WalkPast(speedMetersPerSecond: bad, closestDistanceMeters: 1, rangeMeters: 10)
            }
            #expect(throws: AirtimeError.self) {
                try WalkPast(speedMetersPerSecond: 1, closestDistanceMeters: bad, rangeMeters: 10)
            }
            #expect(throws: AirtimeError.self) {
                try WalkPast(speedMetersPerSecond: 1, closestDistanceMeters: 1, rangeMeters: bad)
            }
        }
        let walk = try WalkPast(speedMetersPerSecond: 1, closestDistanceMeters: 1, rangeMeters: 10)
        for share in [-0.1, 1.1, Double.nan] {
            #expect(throws: AirtimeError.self) { try walk.seenProbability { _ in share } }
        }
    }
}
