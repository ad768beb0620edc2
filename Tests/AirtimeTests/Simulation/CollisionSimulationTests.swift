import Airtime
import Testing

@Suite struct CollisionSimulationTests {
    /// Without optimization a simulation is a hundred times as slow: a small batch must do.
    private let work = 40_000

    /// Values of an independent simulation, and of the exact product.
    @Test(arguments: [
        (50, 100.0, 376.0, 0.70314), (100, 100, 376, 0.49087), (250, 100, 376, 0.16701), (250, 183.125, 376, 0.36886),
        (1000, 1000, 376, 0.47341), (100, 20, 376, 0.04862), (2, 100, 128, 0.99756),
    ])
    func clearShareIsThatOfTheExactProduct(count: Int, interval: Double, airtime: Double, expected: Double) throws {
        let group = try AdvertiserGroup(
            count: count, intervalMicroseconds: interval * 1000, airtimeMicroseconds: airtime)
        let simulation = try CollisionSimulation(group, seed: 1, batchWork: work)
        let estimate = try #require((0..<8).reduce(into: ShareTally()) { $0.merge(simulation.batch($1)) }.estimate)
        #expect(abs(estimate.value - expected) < max(0.01 * expected, 3 * estimate.standardError))
    }

    @Test func oneAdvertiserNeverCollides() throws {
        let simulation = try CollisionSimulation(.of(1), seed: 3, batchWork: work)
        let tally = simulation.batch(0)
        #expect(tally.trials > 100)
        #expect(tally.hits == tally.trials)
    }

    @Test func packetsLongerThanHalfTheIntervalNeverStandBesideEachOther() throws {
        let group = try AdvertiserGroup(count: 2, intervalMicroseconds: 1000, airtimeMicroseconds: 999)
        let simulation = try CollisionSimulation(group, seed: 4, batchWork: work)
        let share = try #require(simulation.batch(0).share)
        // Both packets and the gaps left and right of them must fit into a period of 1...11 ms.
        #expect(share > 0.5 && share < 0.9)
    }

    @Test func theSameSeedGivesTheSameResult() throws {
        let group = try AdvertiserGroup(count: 40, intervalMicroseconds: 100_000, airtimeMicroseconds: 376)
        let first = try CollisionSimulation(group, seed: 5, batchWork: work)
        let again = try CollisionSimulation(group, seed: 5, batchWork: work)
        let other = try CollisionSimulation(group, seed: 6, batchWork: work)
        #expect(first.batch(1) == again.batch(1))
        #expect(first.batch(1) != first.batch(2))
        #expect(first.batch(1) != other.batch(1))
    }

    @Test(arguments: [0, 10_000_001, Int.max])
    func fleetsThatCannotBeSimulatedAreRefused(count: Int) throws {
        #expect(throws: AirtimeError.count(count)) { try CollisionSimulation(.of(count), seed: 1) }
    }

    @Test(arguments: [Int.min, 0, (1 << 30) + 1])
    func batchesWithoutEndAreRefused(work: Int) {
        #expect(throws: AirtimeError.quantity(name: "a batch's work", value: Double(work))) {
            try CollisionSimulation(.of(2), seed: 1, batchWork: work)
        }
    }

    @Test(arguments: [1e8, 1e300, Double.greatestFiniteMagnitude])
    func intervalsBeyondTheUnitOfTimeAreRefused(interval: Double) throws {
        let group = try AdvertiserGroup(count: 2, intervalMicroseconds: interval, airtimeMicroseconds: 376)
        #expect(throws: AirtimeError.interval(interval)) { try CollisionSimulation(group, seed: 1) }
    }

    @Test(arguments: [
        (1e-9, 1e-8), (0.001, 1), (1e12, 1e13), (1e300, 1.5e300), (.leastNonzeroMagnitude, .leastNormalMagnitude),
    ])
    func absurdAirtimesAreRefusedOrPlayed(airtime: Double, interval: Double) throws {
        let group = try AdvertiserGroup(count: 2, intervalMicroseconds: interval, airtimeMicroseconds: airtime)
        guard let simulation = try? CollisionSimulation(group, seed: 1, batchWork: work) else { return }
        let tally = simulation.batch(0)
        #expect(tally.hits <= tally.trials)
    }
}

extension AdvertiserGroup {
    static func of(_ count: Int) throws -> AdvertiserGroup {
        try AdvertiserGroup(count: count, intervalMicroseconds: 100_000, airtimeMicroseconds: 376)
    }
}
