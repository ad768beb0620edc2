import Airtime
import Testing

@Suite struct RunsModelTests {
    private func model(
        _ count: Int, _ milliseconds: Double, airtime: Double = 376, clear: Double = 1
    ) throws -> RunsModel {
        let group = try AdvertiserGroup(
            count: count, intervalMicroseconds: milliseconds * 1000, airtimeMicroseconds: airtime)
        return try RunsModel(group: group, otherClearProbability: clear)
    }

    @Test(arguments: [
        (50, 100.0, 0.70314), (100, 100, 0.49087), (250, 100, 0.16701), (250, 183.125, 0.36886),
        (1000, 1000, 0.47341), (100, 20, 0.04862),
    ])
    func aRunOfOneLossHasTheCollisionProbability(count: Int, milliseconds: Double, clear: Double) throws {
        let model = try model(count, milliseconds)
        #expect(abs(model.collisionFreeProbability - clear) < 0.0001 * clear + 0.00001)
        #expect(model.collisionFreeProbability == 1 - model.lossRunProbability(length: 1))
    }

    @Test func tenLossesInARowAreMoreLikelyThanIfTheyWereIndependent() throws {
        let model = try model(250, 183)
        #expect(abs(model.lossRunProbability(length: 10) - 0.01701) < 0.0001)
        let alone = 1 - model.collisionFreeProbability
        #expect(model.lossRunProbability(length: 10) > 1.5 * (0..<10).reduce(1) { product, _ in product * alone })
    }

    /// The probability that two beacons whose packets collided collide again in their next events. It is
    /// (2·tau/J)·(1 - 2·tau/(3·J)) for every interval.
    private static func recollision(airtime: Double) -> Double {
        let reach = 2 * airtime / 10_000
        return reach * (1 - reach / 3)
    }

    @Test func aLossMakesAnotherLossMoreLikely() throws {
        let after = try #require(try model(10, 100).lossAfterLossProbability)
        #expect(abs(after - 0.123) < 0.0005)
        // With two beacons, only the same neighbor can cause both losses.
        let pair = try model(2, 100)
        let expected = Self.recollision(airtime: 376)
        #expect(abs(try #require(pair.lossAfterLossProbability) - expected) < 0.02 * expected)
    }

    @Test(arguments: [(2, 10_240.0, 128.0), (2, 100, 376), (3, 4_000, 376), (2, 20, 376)])
    func aRareLossIsRepeatedByTheSameNeighbor(count: Int, milliseconds: Double, airtime: Double) throws {
        // Losses are so rare that two in a row are almost always caused by the same neighbor.
        let model = try model(count, milliseconds, airtime: airtime)
        let (loss, again) = (model.lossRunProbability(length: 1), Self.recollision(airtime: airtime))
        #expect(abs(try #require(model.lossAfterLossProbability) - again) < loss + 0.01 * again)
        let fourth = model.lossRunProbability(length: 4) / model.lossRunProbability(length: 3)
        #expect(abs(fourth - again) < loss + 0.3 * again)
    }

    @Test func aSingleBeaconHasNoCollisions() throws {
        let model = try model(1, 100)
        #expect(model.lossAfterLossProbability == nil)
        #expect(model.collisionFreeProbability == 1)
        #expect(model.lossRunProbability(length: 1) == 0)
        #expect(model.clearAfterLosses(0) == 1)
    }

    @Test func otherDevicesCauseIndependentLosses() throws {
        let model = try model(1, 100, clear: 0.5625)
        #expect(abs(model.lossRunProbability(length: 3) - 0.4375 * 0.4375 * 0.4375) < 1e-12)
        #expect(try self.model(250, 100, clear: 0.5).collisionFreeProbability < 0.0836)
    }

    @Test(arguments: [2, 10, 100, 250, 1000, 10_000], [20.0, 100, 1000])
    func longerRunsAreRarer(count: Int, milliseconds: Double) throws {
        let model = try model(count, milliseconds)
        var last = 1.0
        for length in 1...200 {
            let probability = model.lossRunProbability(length: length)
            #expect(probability <= last && probability >= 0)
            last = probability
        }
        #expect((0...100).allSatisfy { (0...1).contains(model.clearAfterLosses($0)) })
        #expect(model.lossRunProbability(length: -5) == 1)
        #expect(model.clearAfterLosses(-5) == model.clearAfterLosses(0))
    }

    @Test func moreBeaconsHaveMoreLossRuns() throws {
        var last = 0.0
        for count in [1, 2, 3, 5, 10, 50, 250, 1000] {
            let lost = try model(count, 200).lossRunProbability(length: 4)
            #expect(lost >= last)
            last = lost
        }
    }

    @Test func whatMakesNoSenseIsRefused() throws {
        #expect(throws: AirtimeError.count(0)) { try model(0, 100) }
        #expect(throws: AirtimeError.airtime(6000)) { try model(2, 100, airtime: 6000) }
        #expect(throws: AirtimeError.interval(700)) { try model(2, 0.7, airtime: 376) }
        #expect(throws: AirtimeError.share(1.5)) { try model(2, 100, clear: 1.5) }
        #expect(throws: AirtimeError.self) { try model(2, 100, clear: .nan) }
    }
}
