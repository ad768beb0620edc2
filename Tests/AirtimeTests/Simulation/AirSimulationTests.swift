import Airtime
import BluetoothTypes
import Testing

/// Compares the simulation with known values of collisions and receivers.
@Suite struct AirSimulationTests {
    private static let one = AirAdvertiser(intervalMicroseconds: 100_000, airtimeMicroseconds: 376)

    private func conditions(seconds: Double) -> AirConditions {
        var conditions = AirConditions()
        conditions.durationMicroseconds = seconds * 1e6
        conditions.simulatesAllChannels = false
        return conditions
    }

    private func run(_ simulation: AirSimulation, batches: Int) -> AirTally {
        (0..<batches).reduce(into: AirTally()) { $0.merge(simulation.batch($1)) }
    }

    private func run(_ receiver: AirReceiver, seconds: Double = 6) throws -> AirTally {
        run(
            try AirSimulation(
                advertisers: [Self.one], receiver: receiver, conditions: conditions(seconds: seconds), seed: 1),
            batches: 5)
    }

    /// Checks that an estimate is within three standard errors or 1 % of a value, and that it is precise.
    private func expect(
        _ estimate: Estimate?, is expected: Double, location: SourceLocation = #_sourceLocation
    ) throws {
        let estimate = try #require(estimate, sourceLocation: location)
        let allowed = max(3 * estimate.standardError, 0.01 * expected)
        #expect(abs(estimate.value - expected) <= allowed, "\(estimate)", sourceLocation: location)
        #expect(estimate.standardError < 0.1 * expected, "\(estimate)", sourceLocation: location)
    }

    // Collisions.

    @Test(arguments: [(50, 0.70314), (100, 0.49087)])
    func clearShareMatchesTheExactModel(count: Int, expected: Double) throws {
        let simulation = try AirSimulation(.of(count), scan: .continuous, conditions: conditions(seconds: 1), seed: 1)
        let tally = run(simulation, batches: 10)
        try expect(tally.clear.estimate, is: expected)
        try expect(tally.received.estimate, is: expected)
    }

    @Test(arguments: [(true, 0.47099), (false, 0.55887)])
    func eachGroupOfAMixedFleetHasItsOwnShare(countsFast: Bool, expected: Double) throws {
        var fast = AirAdvertiser(intervalMicroseconds: 100_000, airtimeMicroseconds: 368)
        var slow = AirAdvertiser(intervalMicroseconds: 1_000_000, airtimeMicroseconds: 200)
        (fast.isCounted, slow.isCounted) = (countsFast, !countsFast)
        let fleet = [AirAdvertiser](repeating: fast, count: 100) + [AirAdvertiser](repeating: slow, count: 100)
        let simulation = try AirSimulation(advertisers: fleet, conditions: conditions(seconds: 1), seed: 2)
        try expect(run(simulation, batches: 20).clear.estimate, is: expected)
    }

    @Test func oneBeaconAloneLosesNothing() throws {
        let tally = try run(AirReceiver())
        #expect(tally.clear.trials > 200)
        #expect(tally.clear.share == 1 && tally.received.share == 1)
        #expect(tally.lossAfterLoss.trials == 0 && tally.lossAfterLoss.estimate == nil)
    }

    @Test func otherDevicesOnAQuarterOfTheChannelLeaveNineSixteenths() throws {
        var conditions = conditions(seconds: 4)
        conditions.otherDevices = .init(busyShare: 0.25, airtimeMicroseconds: 376)
        let simulation = try AirSimulation(.of(20), scan: .continuous, conditions: conditions, seed: 4)
        let alone = 1 - 752 / 105_000.0
        try expect(
            run(simulation, batches: 4).clear.estimate,
            is: (0..<19).reduce(0.5625) { share, _ in share * alone })
    }

    /// A hundred beacons are 13 dB weaker than the 21 others. One weak packet destroys no stronger packet, but two weak
    /// packets together do.
    @Test func weakInterferersAddUp() throws {
        var far = Self.one
        far.receivedLevelDBm = -13
        far.isCounted = false
        var conditions = conditions(seconds: 2)
        conditions.capture = .powerSum(thresholdDecibels: 12)
        let simulation = try AirSimulation(
            advertisers: Array(repeating: Self.one, count: 21) + Array(repeating: far, count: 100),
            conditions: conditions, seed: 5)
        try expect(run(simulation, batches: 12).clear.estimate, is: 0.754)
    }

    @Test func lossesComeInRuns() throws {
        let simulation = try AirSimulation(.of(10), scan: .continuous, conditions: conditions(seconds: 40), seed: 6)
        let tally = run(simulation, batches: 5)
        let estimate = try #require(tally.lossAfterLoss.estimate)
        // Independent losses would give 0.063.
        #expect(estimate.value > 0.09 && estimate.value < 0.16)
        let two = try #require(tally.runs[1].share)
        let one = try #require(tally.runs[0].share)
        #expect(abs(two / one - estimate.value) < 0.02)
    }

    /// Each device has its own spacing, so the windows of its copies do not coincide.
    @Test func differentCopySpacingsRaiseTheAnyClearShare() throws {
        var random = SplitMix64(seed: 7)
        let fleet = (0..<100).map { _ in
            var advertiser = Self.one
            advertiser.secondCopyMicroseconds = Double.random(in: 450...6000, using: &random)
            advertiser.thirdCopyMicroseconds = 2 * advertiser.secondCopyMicroseconds
            return advertiser
        }
        var conditions = conditions(seconds: 1)
        conditions.simulatesAllChannels = true
        let tally = run(try AirSimulation(advertisers: fleet, conditions: conditions, seed: 7), batches: 6)
        try expect(tally.anyClear.estimate, is: 0.8355)
        try expect(tally.clear.estimate, is: 0.49087)
    }

    // Receivers.

    @Test func latencyMatchesTheScannersWindows() throws {
        let scan = try ScanPattern(windowMicroseconds: 512_000, intervalMicroseconds: 5_120_000)
        let simulation = try AirSimulation(.of(1), scan: scan, conditions: conditions(seconds: 5), seed: 8)
        let latency = run(simulation, batches: 800).latency
        #expect(latency.samples == 800)
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

    @Test func scanningAQuarterOfTheTimeReceivesAQuarterOfTheEvents() throws {
        let scan = try ScanPattern(windowMicroseconds: 50_000, intervalMicroseconds: 200_000)
        let share = try #require(try run(AirReceiver(scan: scan)).received.share)
        #expect(abs(share - 0.25) < 0.06)
    }

    @Test func eventsInTheGapOfAChannelChangeAreLost() throws {
        var receiver = AirReceiver(scan: try ScanPattern(windowMicroseconds: 20_000, intervalMicroseconds: 20_000))
        let whole = try #require(try run(receiver).received.share)
        receiver.channelGapMicroseconds = 10_000
        let half = try #require(try run(receiver).received.share)
        #expect(whole > 0.95)
        #expect(abs(half - 0.5) < 0.1)
        receiver.channelGapMicroseconds = 20_000
        #expect(try run(receiver).received.hits == 0)
    }

    @Test func nothingIsReceivedInTheDeadTime() throws {
        var receiver = AirReceiver()
        receiver.deadTimeMicroseconds = 150_000
        let share = try #require(try run(receiver).received.share)
        // Every second event falls into a dead time, because events are 100...110 ms apart.
        #expect(abs(share - 0.5) < 0.02)
    }
}
