import Airtime
import BluetoothTypes
import Testing

@Suite struct CollisionModelTests {
    @Test(arguments: [
        (50, 100_000.0, 0.70314), (100, 100_000, 0.49087), (250, 100_000, 0.16701), (250, 183_125, 0.36886),
        (1000, 1_000_000, 0.47341), (100, 20_000, 0.04862), (1, 20_000, 1),
    ])
    func equalFleetsMeetTheirExactValues(beacons: Int, interval: Double, expected: Double) throws {
        let model = try CollisionModel(beacons: beacons, intervalMicroseconds: interval, airtimeMicroseconds: 376)
        #expect(isWithin(0.0001, model.collisionFreeProbability, of: expected))
        let arrivals = expected * 1_000_000 / (interval + 5000)
        #expect(isWithin(0.0001, model.arrivalsPerSecondPerBeacon, of: arrivals))
        #expect(isWithin(1e-9, model.channelLoad, of: Double(beacons) * 376 / (interval + 5000)))
    }

    @Test func mixedFleetsWeighEachGroupByItsPackets() throws {
        let fast = try AdvertiserGroup(count: 100, intervalMicroseconds: 100_000, airtimeMicroseconds: 368)
        let slow = try AdvertiserGroup(count: 100, intervalMicroseconds: 1_000_000, airtimeMicroseconds: 200)
        let model = try CollisionModel(groups: [fast, slow])
        let probabilities = model.collisionFreeProbabilities
        #expect(isWithin(0.0001, probabilities[0], of: 0.47099))
        #expect(isWithin(0.0001, probabilities[1], of: 0.55887))
        let weights = [100 / 105.0, 100 / 1005.0]
        let share = (weights[0] * 0.47099 + weights[1] * 0.55887) / (weights[0] + weights[1])
        #expect(isWithin(0.0001, model.collisionFreeProbability, of: share))
    }

    @Test func backgroundLoadOfAQuarterLeavesNineSixteenths() throws {
        let model = try CollisionModel(
            beacons: 1, intervalMicroseconds: 100_000, airtimeMicroseconds: 376,
            background: BackgroundLoad(share: 0.25, airtimeMicroseconds: 376))
        #expect(isWithin(1e-12, model.collisionFreeProbability, of: 0.5625))
        #expect(isWithin(1e-12, model.channelLoad, of: 0.25 + 376 / 105_000))
        let ownLength = try CollisionModel(
            beacons: 1, intervalMicroseconds: 100_000, airtimeMicroseconds: 128, background: BackgroundLoad(share: 0.25)
        )
        #expect(isWithin(1e-12, ownLength.collisionFreeProbability, of: 0.5625))
    }

    @Test func splittingAGroupChangesNothing() throws {
        var random = SplitMix64(seed: 61)
        for _ in 0..<50 {
            var groups: [AdvertiserGroup] = []
            for _ in 0..<(1 + random.next(upTo: 5)) {
                groups.append(try Self.group(count: 2 + random.next(upTo: 200), &random))
            }
            let whole = try CollisionModel(groups: groups)
            let halves = try CollisionModel(
                groups: groups.flatMap { group throws in
                    let part = group.count / 2
                    return try [part, group.count - part].map {
                        try AdvertiserGroup(
                            count: $0, intervalMicroseconds: group.intervalMicroseconds,
                            airtimeMicroseconds: group.airtimeMicroseconds)
                    }
                })
            #expect(isWithin(1e-9, halves.collisionFreeProbability, of: whole.collisionFreeProbability))
            #expect(isWithin(1e-9, halves.arrivalsPerSecondPerBeacon, of: whole.arrivalsPerSecondPerBeacon))
            #expect(whole.collisionFreeProbabilities.allSatisfy { $0 > 0 && $0 < 1 })
        }
    }

    @Test func eachFurtherBeaconLowersTheProbability() throws {
        var last = 2.0
        for beacons in 1...400 {
            let model = try CollisionModel(beacons: beacons, intervalMicroseconds: 100_000, airtimeMicroseconds: 376)
            #expect(model.collisionFreeProbability < last)
            // Poisson's approximation is slightly too high.
            #expect(model.collisionFreeProbability <= exp(-2 * Double(beacons - 1) * 376 / 105_000))
            last = model.collisionFreeProbability
        }
    }

    @Test func givesALogarithmIfTheProbabilityUnderflows() throws {
        let model = try CollisionModel(beacons: 1_000_000, intervalMicroseconds: 20_000, airtimeMicroseconds: 376)
        #expect(model.collisionFreeProbability == 0)
        #expect(isWithin(0.001, model.logCollisionFreeProbability, of: -13_263 * log(10)))
    }

    @Test func whatNoModelCanAnswerIsRefused() throws {
        #expect(throws: AirtimeError.count(0)) {
            try CollisionModel(beacons: 0, intervalMicroseconds: 100_000, airtimeMicroseconds: 376)
        }
        #expect(throws: AirtimeError.saturated(intervalMicroseconds: 700, windowMicroseconds: 752)) {
            try CollisionModel(beacons: 2, intervalMicroseconds: 700, airtimeMicroseconds: 376)
        }
        let alone = try CollisionModel(beacons: 1, intervalMicroseconds: 700, airtimeMicroseconds: 376)
        #expect(alone.collisionFreeProbability == 1)
        for share in [-0.1, 1, 1.5, Double.nan, .infinity] {
            #expect(throws: AirtimeError.self) { try BackgroundLoad(share: share) }
        }
        for airtime in [0, -1, Double.nan, .infinity] {
            #expect(throws: AirtimeError.self) { try BackgroundLoad(share: 0.1, airtimeMicroseconds: airtime) }
        }
        let huge = try AdvertiserGroup(count: Int.max, intervalMicroseconds: 100_000, airtimeMicroseconds: 376)
        #expect(throws: AirtimeError.count(Int.max)) { try CollisionModel(groups: [huge, huge]) }
    }

    static func group(count: Int, _ random: inout SplitMix64) throws -> AdvertiserGroup {
        try AdvertiserGroup(
            count: count, intervalMicroseconds: Double(32 + random.next(upTo: 1600)) * 625,
            airtimeMicroseconds: PacketTiming.airtimeMicroseconds(payloadOctets: random.next(upTo: 31)))
    }
}
