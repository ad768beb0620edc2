import Airtime
import BluetoothTypes
import Testing

@Suite struct SimulationTallyTests {
    @Test func mergedTalliesDoNotDependOnTheSplit() throws {
        var conditions = AirConditions()
        conditions.durationMicroseconds = 300_000
        conditions.shadowingDecibels = 4
        conditions.capture = .powerSum(thresholdDecibels: 9)
        let scan = try ScanPattern(windowMicroseconds: 30_000, intervalMicroseconds: 60_000)
        let simulation = try AirSimulation(.of(8), scan: scan, conditions: conditions, seed: 1)
        let batches = (0..<6).map { simulation.batch($0) }
        let inOrder = batches.reduce(into: AirTally()) { $0.merge($1) }
        for split in 0...6 {
            var left = batches[..<split].reduce(into: AirTally()) { $0.merge($1) }
            let right = batches[split...].reduce(into: AirTally()) { $0.merge($1) }
            left.merge(right)
            #expect(left == inOrder)
        }
        #expect(simulation.batch(4) == batches[4])
        #expect(batches[3] != batches[4])
    }

    @Test func standardErrorIsThatOfIndependentTrials() throws {
        var random = SplitMix64(seed: 2)
        var tally = ShareTally()
        for _ in 0..<400 {
            let hits = (0..<100).reduce(0) { sum, _ in sum + (random.next(upTo: 3) == 0 ? 1 : 0) }
            tally.merge(ShareTally(hits: hits, trials: 100))
        }
        let estimate = try #require(tally.estimate)
        #expect(abs(estimate.value - 0.25) < 3 * estimate.standardError)
        // sqrt(0.25 · 0.75 / 40000) = 0.00217
        #expect(abs(estimate.standardError - 0.00217) < 0.0003)
        #expect(abs(estimate.halfWidth95 / estimate.standardError - 1.966) < 0.001)
    }

    @Test func standardErrorIsNotZeroIfBatchesAgree() throws {
        var tally = ShareTally()
        #expect(tally.estimate == nil && tally.share == nil)
        tally.merge(ShareTally(hits: 0, trials: 50))
        #expect(tally.share == 0 && tally.estimate == nil)
        tally.merge(ShareTally(hits: 0, trials: 50))
        #expect(try #require(tally.estimate).standardError == 0.01)
    }

    @Test(arguments: [(2, 12.706), (3, 4.303), (10, 2.262), (11, 2.228), (31, 2.042), (1_000_001, 1.960)])
    func fewBatchesWidenTheInterval(batches: Int, student: Double) {
        let estimate = Estimate(value: 0, standardError: 1, batches: batches)
        #expect(abs(estimate.halfWidth95 - student) < 0.001)
    }

    private typealias Change = @Sendable (inout AirAdvertiser, inout AirReceiver, inout AirConditions) -> Void

    private static let refused: [Change] = [
        { advertiser, _, _ in advertiser.intervalMicroseconds = .nan },
        { advertiser, _, _ in advertiser.intervalMicroseconds = 2376 },
        { advertiser, _, _ in advertiser.airtimeMicroseconds = 0 },
        { advertiser, _, _ in advertiser.airtimeMicroseconds = .infinity },
        { advertiser, _, _ in advertiser.secondCopyMicroseconds = 375 },
        { advertiser, _, _ in advertiser.thirdCopyMicroseconds = .nan },
        { advertiser, _, _ in advertiser.receivedLevelDBm = .nan },
        { _, receiver, _ in receiver.deadTimeMicroseconds = -1 },
        { _, receiver, _ in receiver.channelGapMicroseconds = .nan },
        { _, _, conditions in conditions.durationMicroseconds = .nan },
        { _, _, conditions in conditions.durationMicroseconds = 1e300 },
        { _, _, conditions in conditions.durationMicroseconds = -5 },
        { _, _, conditions in conditions.shadowingDecibels = .nan },
        { _, _, conditions in conditions.capture = .powerSum(thresholdDecibels: .nan) },
        { _, _, conditions in conditions.otherDevices = .init(busyShare: 1, airtimeMicroseconds: 376) },
        { _, _, conditions in conditions.otherDevices = .init(busyShare: 0.5, airtimeMicroseconds: .nan) },
    ]

    @Test(arguments: refused.indices)
    func refusesScenesWithInvalidValues(index: Int) {
        var advertiser = AirAdvertiser(intervalMicroseconds: 100_000, airtimeMicroseconds: 376)
        var receiver = AirReceiver()
        var conditions = AirConditions()
        Self.refused[index](&advertiser, &receiver, &conditions)
        #expect(throws: AirtimeError.self) {
            try AirSimulation(advertisers: [advertiser], receiver: receiver, conditions: conditions, seed: 1)
        }
    }

    @Test func scenesTooLargeForABatchAreRefused() throws {
        let advertiser = AirAdvertiser(intervalMicroseconds: 20_000, airtimeMicroseconds: 376)
        for count in [0, 20_001, 20_000] {
            #expect(throws: AirtimeError.self) {
                try AirSimulation(advertisers: Array(repeating: advertiser, count: count), seed: 1)
            }
        }
        #expect(throws: AirtimeError.count(.max)) {
            let group = try AdvertiserGroup(count: .max, intervalMicroseconds: 20_000, airtimeMicroseconds: 376)
            _ = try AirSimulation(group, scan: .continuous, seed: 1)
        }
    }
}
