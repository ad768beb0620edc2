import Airtime
import Testing

@Suite struct LargestFleetTests {
    private func fleet(
        _ seconds: Double, _ probability: Double, _ milliseconds: Double = 417.5, scanner: String
    ) throws -> LargestFleet {
        try LargestFleet(
            within: seconds, probability: probability, intervalMicroseconds: milliseconds * 1000,
            airtimeMicroseconds: 376, scanners: ScannerMix(try #require(ScannerPreset(named: scanner))))
    }

    private func share(_ count: Int, within seconds: Double, scanner: String) throws -> Double {
        let group = try AdvertiserGroup(count: count, intervalMicroseconds: 417_500, airtimeMicroseconds: 376)
        let model = try LatencyModel(group: group, preset: try #require(ScannerPreset(named: scanner)))
        return try #require(
            try model.distribution(untilSeconds: seconds, horizonSeconds: 60).received(within: seconds))
    }

    @Test(arguments: [(10.0, 0.9, "android-low-power"), (2, 0.95, "continuous"), (5, 0.8, "android-balanced")])
    func largestFleetMeetsTheTargetAndNoLargerDoes(seconds: Double, probability: Double, scanner: String) throws {
        let fleet = try fleet(seconds, probability, scanner: scanner)
        #expect(fleet.beacons > 1)
        #expect(try share(fleet.beacons, within: seconds, scanner: scanner) >= probability)
        #expect(try share(fleet.beacons + 1, within: seconds, scanner: scanner) < probability)
        #expect(try #require(fleet.latency.whole.received(within: seconds)) >= probability)
    }

    @Test func reportsNoBeaconsIfScannerPausesAreTooLong() throws {
        let fleet = try fleet(1, 0.9, scanner: "android-low-power")
        #expect(fleet.beacons == 0)
        #expect(try #require(fleet.latency.whole.received(within: 1)) < 0.9)
    }

    @Test func moreTimeAllowsMoreBeacons() throws {
        let few = try fleet(2, 0.9, scanner: "continuous").beacons
        #expect(try fleet(4, 0.9, scanner: "continuous").beacons > few)
    }

    @Test func whatMakesNoSenseIsRefused() throws {
        for (seconds, probability) in [(0.0, 0.9), (-1, 0.9), (.nan, 0.9), (4000, 0.9), (1, 0), (1, 1), (1, .nan)] {
            #expect(throws: AirtimeError.self) { try fleet(seconds, probability, scanner: "harmony") }
        }
        #expect(throws: AirtimeError.self) { try fleet(1, 0.9, .nan, scanner: "harmony") }
    }
}
