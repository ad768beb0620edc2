import Airtime
import BluetoothTypes
import Testing

@Suite struct NeighborhoodTests {
    @Test(arguments: [
        (10.0, Neighborhood.GridPlace.beacon, 317), (15, .beacon, 137), (10, .cellCenter, 316), (15, .cellCenter, 140),
        (100, .beacon, 5), (100.001, .beacon, 1), (1000, .cellCenter, 0),
    ])
    func gridCountIncludesBeaconsOnTheRim(spacing: Double, place: Neighborhood.GridPlace, expected: Int) throws {
        #expect(try Neighborhood.gridCount(radiusMeters: 100, spacingMeters: spacing, from: place) == expected)
    }

    @Test func gridSpacingIsTheSmallestForTheBeaconCount() throws {
        var random = SplitMix64(seed: 68)
        for _ in 0..<50 {
            let beacons = 1 + random.next(upTo: 5000)
            let radius = Double(1 + random.next(upTo: 200))
            for place in [Neighborhood.GridPlace.beacon, .cellCenter] {
                let spacing = try Neighborhood.gridSpacing(holding: beacons, radiusMeters: radius, from: place)
                let held = try Neighborhood.gridCount(radiusMeters: radius, spacingMeters: spacing, from: place)
                let denser = try Neighborhood.gridCount(
                    radiusMeters: radius, spacingMeters: spacing * 0.999999, from: place)
                #expect(held <= beacons)
                #expect(denser > beacons)
            }
        }
        #expect(isWithin(1e-6, try Neighborhood.gridSpacing(holding: 317, radiusMeters: 100), of: 9.9503719))
    }

    @Test func refusesImpossibleGrids() throws {
        for bad in [0, -1, Double.nan, .infinity] {
            #expect(throws: AirtimeError.self) { try Neighborhood.gridCount(radiusMeters: bad, spacingMeters: 1) }
            #expect(throws: AirtimeError.self) { try Neighborhood.gridCount(radiusMeters: 1, spacingMeters: bad) }
            #expect(throws: AirtimeError.self) { try Neighborhood.gridSpacing(holding: 1, radiusMeters: bad) }
        }
        #expect(throws: AirtimeError.self) { try Neighborhood.gridCount(radiusMeters: 1e12, spacingMeters: 1e-12) }
        #expect(throws: AirtimeError.count(0)) { try Neighborhood.gridSpacing(holding: 0, radiusMeters: 1) }
    }
}
