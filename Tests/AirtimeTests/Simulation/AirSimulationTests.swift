import Airtime
import BluetoothTypes
import Testing

@Suite struct AirSimulationTests {
    private func conditions(seconds: Double, instants: Int = 1, horizon: Double? = nil) -> AirConditions {
        var conditions = AirConditions()
        conditions.durationMicroseconds = seconds * 1e6
        conditions.horizonMicroseconds = horizon.map { $0 * 1e6 }
        conditions.latencyInstants = instants
        conditions.playsAllChannels = false
        return conditions
    }

    private func run(_ simulation: AirSimulation, batches: Int) -> AirTally {
        (0..<batches).reduce(into: AirTally()) { $0.merge(simulation.batch($1)) }
    }

    /// Within three standard errors of a value or 1 % of it.
    private func expect(
        _ estimate: Estimate?, is expected: Double, location: SourceLocation = #_sourceLocation
    ) throws {
        let estimate = try #require(estimate, sourceLocation: location)
        let allowed = max(3 * estimate.standardError, 0.01 * expected)
        #expect(abs(estimate.value - expected) <= allowed, "\(estimate)", sourceLocation: location)
        #expect(estimate.standardError < 0.1 * expected, "\(estimate)", sourceLocation: location)
    }

    @Test(arguments: [(50, 0.70314), (100, 0.49087)])
    func clearShareIsThatOfTheExactProduct(count: Int, expected: Double) throws {
        let simulation = try AirSimulation(
            .of(count), scan: .continuous, conditions: conditions(seconds: 1), seed: 1)
        let tally = run(simulation, batches: 10)
        try expect(tally.all.clear.estimate, is: expected)
        try expect(tally.all.received.estimate, is: expected)
        #expect(tally.beacons.count == count)
        #expect(tally.beacons.reduce(0) { $0 + $1.clear.hits } == tally.all.clear.hits)
    }

    @Test func mixedFleetsHaveTheirOwnShares() throws {
        let fast = AirAdvertiser(intervalMicroseconds: 100_000, airtimeMicroseconds: 368)
        let slow = AirAdvertiser(intervalMicroseconds: 1_000_000, airtimeMicroseconds: 200)
        let fleet = [AirAdvertiser](repeating: fast, count: 100) + [AirAdvertiser](repeating: slow, count: 100)
        let simulation = try AirSimulation(
            advertisers: fleet, receivers: [AirReceiver()], conditions: conditions(seconds: 1), seed: 2)
        let tally = run(simulation, batches: 20)
        for (beacons, expected) in [(0..<100, 0.47099), (100..<200, 0.55887)] {
            var shares = ShareTally()
            for beacon in tally.beacons[beacons] { shares.merge(beacon.clear) }
            try expect(shares.estimate, is: expected)
        }
    }

    @Test func oneBeaconAloneLosesNothing() throws {
        let simulation = try AirSimulation(.of(1), scan: .continuous, conditions: conditions(seconds: 5), seed: 3)
        let tally = run(simulation, batches: 4)
        #expect(tally.all.clear.trials > 150)
        #expect(tally.all.clear.share == 1)
        #expect(tally.all.received.share == 1)
        #expect(tally.all.lossAfterLoss.trials == 0)
        #expect(tally.all.lossAfterLoss.estimate == nil)
    }

    @Test func strangersWhoKeepAQuarterOfTheChannelBusyLeaveNineSixteenths() throws {
        var conditions = conditions(seconds: 4)
        conditions.strangers = .init(busyShare: 0.25, airtimeMicroseconds: 376)
        let simulation = try AirSimulation(.of(20), scan: .continuous, conditions: conditions, seed: 4)
        let alone = 1 - 752 / 105_000.0
        try expect(
            run(simulation, batches: 4).all.clear.estimate,
            is: (0..<19).reduce(0.5625) { share, _ in share * alone })
    }

    /// A hundred that are 13 dB weaker and twenty as loud: two weak ones at an instant are too much together.
    @Test func weakInterferersAddUp() throws {
        let near = AirAdvertiser(intervalMicroseconds: 100_000, airtimeMicroseconds: 376)
        var far = near
        far.radioPowerDBm = -13
        far.isCounted = false
        var conditions = conditions(seconds: 2)
        conditions.capture = .powerSum(thresholdDecibels: 12)
        let simulation = try AirSimulation(
            advertisers: Array(repeating: near, count: 21) + Array(repeating: far, count: 100),
            receivers: [AirReceiver()], conditions: conditions, seed: 5)
        try expect(run(simulation, batches: 12).all.clear.estimate, is: 0.754)
    }

    @Test func lossesComeInRuns() throws {
        let simulation = try AirSimulation(.of(10), scan: .continuous, conditions: conditions(seconds: 40), seed: 6)
        let tally = run(simulation, batches: 5)
        let estimate = try #require(tally.all.lossAfterLoss.estimate)
        // Independent losses would give 0.063.
        #expect(estimate.value > 0.09 && estimate.value < 0.16)
        let two = try #require(tally.all.runs[1].share)
        let one = try #require(tally.all.runs[0].share)
        #expect(abs(two / one - estimate.value) < 0.02)
    }

    /// Each device has its own spacing, so the windows of its copies do not coincide.
    @Test func copiesOfDifferentSpacingHelpEachOther() throws {
        var random = SplitMix64(seed: 7)
        let fleet = (0..<100).map { _ in
            var advertiser = AirAdvertiser(intervalMicroseconds: 100_000, airtimeMicroseconds: 376)
            advertiser.secondCopyMicroseconds = Double.random(in: 450...6000, using: &random)
            advertiser.thirdCopyMicroseconds = 2 * advertiser.secondCopyMicroseconds
            return advertiser
        }
        var conditions = conditions(seconds: 1)
        conditions.playsAllChannels = true
        let simulation = try AirSimulation(
            advertisers: fleet, receivers: [AirReceiver()], conditions: conditions, seed: 7)
        let tally = run(simulation, batches: 6)
        try expect(tally.all.anyClear.estimate, is: 0.8355)
        try expect(tally.all.clear.estimate, is: 0.49087)
    }

    @Test func latencyIsThatOfTheScannersWindows() throws {
        let scan = try ScanPattern(windowMicroseconds: 512_000, intervalMicroseconds: 5_120_000)
        let simulation = try AirSimulation(
            .of(1), scan: scan, conditions: conditions(seconds: 25, instants: 40, horizon: 5), seed: 8)
        let latency = run(simulation, batches: 40).all.latency
        #expect(latency.samples == 1600)
        #expect(latency.undiscovered <= 2)
        for (share, milliseconds) in [(0.5, 2153.0), (0.9, 4201), (0.99, 4666)] {
            let found = try #require(latency.percentile(share)) / 1000
            #expect(abs(found - milliseconds) < 0.1 * milliseconds)
        }
        let interval = try #require(latency.percentileConfidence95(0.5))
        #expect(interval.contains(2_153_000))
        let late = try #require(latency.undiscoveredShare(afterMicroseconds: 4_201_000))
        #expect(abs(late.value - 0.1) < max(0.03, 3 * late.standardError))
    }

    @Test func fleetsPoweredOnTogetherMeetAgainAndAgain() throws {
        var fleet = try AirAdvertiser.fleet(.of(20))
        for index in fleet.indices { fleet[index].start = .at(microseconds: 0) }
        let simulation = try AirSimulation(
            advertisers: fleet, receivers: [AirReceiver()], conditions: conditions(seconds: 0.5), seed: 9)
        let shares = run(simulation, batches: 80).clearByEvent
        #expect(shares[0].share == 0)
        // One delay each: no other of 19 within ±376 µs, less at the ends of the 10 ms.
        // 0.9248²⁰ + (0.9624²⁰ - 0.9248²⁰) / 10
        try expect(shares[1].estimate, is: 0.2348)
        let later = try #require(shares[4].estimate)
        #expect(later.value > 0.3 && later.value < 0.6)
    }
}
