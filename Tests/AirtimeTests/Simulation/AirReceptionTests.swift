import Airtime
import Testing

/// What receivers make of packets that no other disturbs.
@Suite struct AirReceptionTests {
    private func play(
        _ receiver: AirReceiver,
        hearing advertiser: AirAdvertiser = AirAdvertiser(intervalMicroseconds: 100_000, airtimeMicroseconds: 376),
        seconds: Double = 6, count: Int = 1,
        change: (inout AirConditions) -> Void = { _ in }
    ) throws -> ReceptionTally {
        var conditions = AirConditions()
        conditions.durationMicroseconds = seconds * 1e6
        change(&conditions)
        let simulation = try AirSimulation(
            advertisers: Array(repeating: advertiser, count: count), receivers: [receiver], conditions: conditions,
            seed: 1)
        return (0..<5).reduce(into: ReceptionTally()) { $0.merge(simulation.batch($1).all) }
    }

    @Test func aQuarterOfTheTimeHearsAQuarterOfTheEvents() throws {
        let scan = try ScanPattern(windowMicroseconds: 50_000, intervalMicroseconds: 200_000)
        let share = try #require(try play(AirReceiver(scan: scan)).received.share)
        #expect(abs(share - 0.25) < 0.06)
    }

    @Test func aGapAtEachChannelChangeIsLost() throws {
        var receiver = AirReceiver(scan: try ScanPattern(windowMicroseconds: 20_000, intervalMicroseconds: 20_000))
        let whole = try #require(try play(receiver).received.share)
        receiver.channelGapMicroseconds = 10_000
        let half = try #require(try play(receiver).received.share)
        #expect(whole > 0.95)
        #expect(abs(half - 0.5) < 0.1)
        receiver.channelGapMicroseconds = 20_000
        #expect(try play(receiver).received.hits == 0)
    }

    @Test func aReceiverIsDeafAfterWhatItDecodes() throws {
        var receiver = AirReceiver()
        receiver.deadTimeMicroseconds = 150_000
        let share = try #require(try play(receiver).received.share)
        // Of events 100...110 ms apart every second one falls into the deaf time of the one before.
        #expect(abs(share - 0.5) < 0.02)
    }

    @Test func whatIsBelowTheSensitivityIsNotHeard() throws {
        let tally = try play(AirReceiver()) { $0.meanLossDecibels = { _, _ in 96 } }
        #expect(tally.audible.trials > 0 && tally.audible.hits == 0)
        #expect(tally.clear.trials == 0 && tally.clear.estimate == nil)
        #expect(tally.received.hits == 0)
        #expect(tally.latency.undiscovered == tally.latency.samples)
    }

    @Test func lossesThatAreNoNumberAreOutOfReach() throws {
        #expect(try play(AirReceiver()) { $0.meanLossDecibels = { _, _ in .nan } }.audible.hits == 0)
        #expect(try play(AirReceiver()) { $0.meanLossDecibels = { _, _ in .infinity } }.audible.hits == 0)
    }

    @Test func shadowingLetsHalfOfTheLinksThroughAtTheEdge() throws {
        let tally = try play(AirReceiver(), seconds: 0.2, count: 200) {
            $0.meanLossDecibels = { _, _ in 95 }
            $0.shadowingDecibels = 6
        }
        let share = try #require(tally.audible.share)
        #expect(abs(share - 0.5) < 0.06)
    }

    @Test func walkersHearWhatTheyPass() throws {
        var beacon = AirAdvertiser(intervalMicroseconds: 100_000, airtimeMicroseconds: 376)
        beacon.position = FloorPosition(x: 50, y: 0)
        var receiver = AirReceiver()
        let path = [FloorPosition(x: 0, y: 0), FloorPosition(x: 100, y: 0)]
        receiver.path = try AirPath(walking: path, metersPerSecond: 10)
        let tally = try play(receiver, hearing: beacon, seconds: 10) {
            $0.meanLossDecibels = { $0.distance(to: $1) <= 10 ? 50 : 200 }
        }
        // 20 m of 100 m, so 2 s of 10 s; heard first after 4 s.
        let share = try #require(tally.received.share)
        #expect(abs(share - 0.2) < 0.02)
        let latency = try #require(tally.latency.percentile(0.5))
        #expect(latency > 3_990_000 && latency < 4_200_000)
    }

    @Test func aPathIsWalkedAtItsSpeedAndEndsAtItsLastPoint() throws {
        let path = try AirPath(
            walking: [
                FloorPosition(x: 0, y: 0), FloorPosition(x: 3, y: 4), FloorPosition(x: 3, y: 4),
                FloorPosition(x: 3, y: 0),
            ],
            metersPerSecond: 1)
        #expect(path.position(afterMicroseconds: -1) == FloorPosition(x: 0, y: 0))
        #expect(path.position(afterMicroseconds: 2.5e6) == FloorPosition(x: 1.5, y: 2))
        #expect(path.position(afterMicroseconds: 6e6) == FloorPosition(x: 3, y: 3))
        #expect(path.position(afterMicroseconds: 1e12) == FloorPosition(x: 3, y: 0))
        #expect(throws: AirtimeError.self) { try AirPath(walking: [], metersPerSecond: 1) }
        #expect(throws: AirtimeError.self) { try AirPath(walking: [FloorPosition(x: .nan, y: 0)], metersPerSecond: 1) }
        #expect(throws: AirtimeError.self) { try AirPath(walking: path.points, metersPerSecond: .infinity) }
    }

    @Test func aFasterClockAdvertisesMoreOften() throws {
        var advertiser = AirAdvertiser(intervalMicroseconds: 10_000, airtimeMicroseconds: 376)
        let even = try play(AirReceiver(), hearing: advertiser, seconds: 6).received.trials
        advertiser.clockDriftPPM = -10_000
        let fast = try play(AirReceiver(), hearing: advertiser, seconds: 6).received.trials
        #expect(abs(Double(fast) / Double(even) - 1.01) < 0.004)
    }
}
