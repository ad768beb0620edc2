import BluetoothTypes
import Testing

@testable import Airtime

/// Collisions of extended advertising, compared with values computed by hand and with a direct sum.
@Suite struct ExtendedTrafficTests {
    private static func group(_ phy: ExtendedPHY, _ octets: Int, _ milliseconds: Int, count: Int) throws
        -> AdvertiserGroup
    {
        try AdvertiserGroup(
            count: count, interval: try #require(AdvertisingInterval(microseconds: milliseconds * 1000)),
            extended: ExtendedTraffic(phy, payloadOctets: octets))
    }

    @Test func fastestIsTheShortestOfEquallyFrequentAdvertisements() throws {
        let long = try Self.group(.le1M, 200, 100, count: 1)
        let short = try Self.group(.le1M, 20, 100, count: 1)
        #expect(try AdvertisingMachines(count: 5, advertisements: [long, short]).fastest == 1)
        let legacy = try AdvertiserGroup(count: 1, intervalMicroseconds: 100_000, airtimeMicroseconds: 368)
        #expect(try AdvertisingMachines(count: 5, advertisements: [long, legacy]).fastest == 1)
    }

    /// Returns the window in µs as a sum over steps of 2 µs. All airtimes and offsets are even.
    private static func window(_ own: ExtendedTraffic, _ other: ExtendedTraffic) -> Double {
        let (reach, otherReach) = (Double(own.event.primaryMicroseconds), Double(other.event.primaryMicroseconds))
        var sum = 0.0
        for step in -65_000..<65_000 {
            let shift = Double(2 * step) + 1
            if shift > -otherReach, shift < reach {
                sum += 2
                continue
            }
            var miss = 1.0
            for (start, length) in zip(own.offsets, own.event.auxiliaryMicroseconds) {
                for (otherStart, otherLength) in zip(other.offsets, other.event.auxiliaryMicroseconds)
                where shift + otherStart < start + Double(length) && start < shift + otherStart + Double(otherLength) {
                    miss *= 36.0 / 37
                }
            }
            sum += 2 * (1 - miss)
        }
        return sum
    }

    /// Two events on LE 1M with 31 bytes collide on the primary channel within a window of 2·136 µs. In the next
    /// 2·(408 - 136) µs, their auxiliary packets overlap in time, and collide if both are on the same one of the 37
    /// channels.
    @Test func twoShortEventsHaveTheValuesComputedByHand() throws {
        let traffic = try ExtendedTraffic(.le1M, payloadOctets: 31)
        #expect(abs(traffic.meanWindowMicroseconds(against: traffic) - (272 + 544.0 / 37)) < 1e-9)
        let group = try Self.group(.le1M, 31, 100, count: 100)
        let model = try MachineCollisionModel(machines: [AdvertisingMachines(count: 100, advertisements: [group])])
        let expected = pow(1 - (272 + 544.0 / 37) / 105_000, 99)
        #expect(abs(model.collisionFreeProbability - expected) < 1e-12)
        #expect(abs(model.secondaryLoad - 100 * 408.0 / 105_000 / 37) < 1e-12)
    }

    @Test(arguments: [
        (ExtendedPHY.le1M, 31, ExtendedPHY.le1M, 1650), (.coded, 31, .coded, 31), (.coded, 600, .le2M, 1000),
        (.codedS2, 1650, .codedS2, 1650),
    ])
    func theWindowOfAnyTwoEvents(_ phy: ExtendedPHY, _ octets: Int, _ otherPHY: ExtendedPHY, _ otherOctets: Int) throws
    {
        let own = try ExtendedTraffic(phy, payloadOctets: octets)
        let other = try ExtendedTraffic(otherPHY, payloadOctets: otherOctets)
        let expected = Self.window(own, other)
        #expect(abs(own.meanWindowMicroseconds(against: other) - expected) < 0.001 * expected)
        #expect(abs(other.meanWindowMicroseconds(against: own) - expected) < 0.001 * expected)
    }

    /// The simulation draws the channel of each packet, and shares no formula with the model.
    @Test(
        arguments: [(.le1M, 31, 100, 60), (.coded, 200, 500, 30), (.le2M, 1000, 500, 40)]
            as [(ExtendedPHY, Int, Int, Int)])
    func simulationAndModelAgree(_ phy: ExtendedPHY, _ octets: Int, _ milliseconds: Int, _ count: Int) throws {
        let group = try Self.group(phy, octets, milliseconds, count: count)
        let model = try MachineCollisionModel(machines: [AdvertisingMachines(count: count, advertisements: [group])])
        var conditions = AirConditions()
        conditions.simulatesAllChannels = false
        conditions.durationMicroseconds = 10 * group.meanPeriodMicroseconds
        let simulation = try AirSimulation(
            advertisers: AirAdvertiser.fleet(group), conditions: conditions, seed: 3)
        let tally = (0..<60).reduce(into: AirTally()) { $0.merge(simulation.batch($1)) }
        let estimate = try #require(tally.clear.estimate)
        #expect(
            abs(estimate.value - model.collisionFreeProbability) < max(0.01, 4 * estimate.standardError),
            "\(estimate), \(model.collisionFreeProbability)")
        #expect(tally.clear.trials > 500 * count && simulation.batch(7) == simulation.batch(7))
    }

    /// At equal levels, capture saves no event. With 20 dB more than the interferers, full capture saves every event.
    @Test func captureSavesEventsOnlyAboveTheThreshold() throws {
        let group = try Self.group(.coded, 200, 500, count: 29)
        let model = try MachineCollisionModel(machines: [
            AdvertisingMachines(count: 30, advertisements: [try Self.group(.coded, 200, 500, count: 30)])
        ])
        func band(_ advantage: Double) throws -> CaptureModel.Band {
            try CaptureModel(
                airtimeMicroseconds: group.airtimeMicroseconds, extended: group.extended,
                interferers: [.init(group, advantageDecibels: advantage)], thresholdDecibels: 12
            ).band
        }
        let (none, all) = (try band(0), try band(20))
        #expect(abs(none.withoutCapture - model.collisionFreeProbability) < 1e-9)
        #expect(abs(none.fullCapture - none.withoutCapture) < 1e-9)
        #expect(abs(none.stayingWithFirst - none.withoutCapture) < 1e-9)
        #expect(all.fullCapture == 1)
        // An earlier packet of 1168 µs on the primary channel blocks a receiver that stays with the first packet.
        #expect(abs(all.stayingWithFirst - pow(1 - 1168 / 505_000.0, 29)) < 1e-9)
    }

    /// The auxiliary packets of 1650 bytes take about 120 ms. The interval must be so long that two events of one
    /// advertiser cannot hit the same event of another advertiser.
    @Test func advisesNoIntervalShorterThanAnEvent() throws {
        let traffic = try ExtendedTraffic(.coded, payloadOctets: 1650)
        func advice(_ goal: IntervalGoal, _ count: Int) throws -> IntervalAdvice {
            try IntervalAdvice(
                goal: goal, count: count, airtimeMicroseconds: Double(traffic.event.primaryMicroseconds),
                extended: traffic, scanners: ScannerMix(.continuous))
        }
        let few = try advice(.maximumThroughput, 2)
        #expect(few.outcome == .clampedToShortest)
        #expect(few.interval.microseconds >= 2 * traffic.event.auxiliarySpanMicroseconds)
        let one = try advice(.detect(withinSeconds: 0.2, probability: 0.9), 1)
        #expect(one.interval.microseconds >= traffic.event.shortestMicroseconds())
        let window = traffic.meanWindowMicroseconds(against: traffic)
        let many = try advice(.maximumThroughput, 200)
        #expect(abs(Double(many.interval.meanPeriodMicroseconds) - 200 * window) <= 313)
    }

    @Test func legacyPacketsCollideOnlyOnThePrimaryChannel() throws {
        let extended = try Self.group(.coded, 200, 1000, count: 1)
        let legacy = try AdvertiserGroup(
            count: 1, interval: try #require(AdvertisingInterval(microseconds: 100_000)), airtimeMicroseconds: 376)
        let model = try MachineCollisionModel(machines: [
            AdvertisingMachines(count: 1, advertisements: [extended]),
            AdvertisingMachines(count: 1, advertisements: [legacy]),
        ])
        #expect(abs(model.collisionFreeProbabilities[0][0] - (1 - (1168.0 + 376) / 105_000)) < 1e-12)
        #expect(abs(model.collisionFreeProbabilities[1][0] - (1 - (1168.0 + 376) / 1_005_000)) < 1e-12)
    }

    /// Two chains that overlap in time overlap again in the next events, although each packet has a new channel. The
    /// values are those of an independent simulation of 3.5 million events (Tests/Oracles/airtime_montecarlo.py), with
    /// standard errors of 0.0002, 0.0007 and 0.0015.
    @Test(arguments: [
        (ExtendedPHY.codedS2, 600, 1000, 40, [0.8965, 0.7627, 0.7265]), (.coded, 31, 400, 50, [0.742, 0.5974, 0.5605]),
        (.le1M, 245, 200, 60, [0.8970, 0.8693, 0.8519]),
    ])
    func lossesOfAuxiliaryPacketsComeInRuns(
        _ phy: ExtendedPHY, _ octets: Int, _ milliseconds: Int, _ count: Int, _ clear: [Double]
    ) throws {
        let model = try RunsModel(group: try Self.group(phy, octets, milliseconds, count: count))
        for (losses, expected) in clear.enumerated() {
            #expect(abs(model.clearAfterLosses(losses) - expected) < 0.008, "\(losses)")
        }
    }

    /// The expected values are the mean and the percentiles 50, 90, 95 and 99 of independent simulations. Their errors
    /// are about 0.2 %, and about 0.4 % for the higher percentiles.
    @Test(arguments: [
        (ExtendedPHY.coded, 31, 400, 50, 1024, 4096, [2.0093, 1.7701, 3.6408, 5.186, 7.856]),
        (.codedS2, 600, 1000, 40, 4096, 4096, [0.6428, 0.5609, 1.0617, 1.6932, 2.846]),
        (.le1M, 600, 1000, 60, 60, 600, [12.925, 11.503, 27.736, 30.473, 34.754]),
        (.codedS2, 100, 300, 100, 60, 600, [7.1377, 6.8091, 14.242, 15.462, 17.751]),
        (.le1M, 1650, 500, 30, 1024, 4096, [2.2262, 1.9232, 4.0017, 6.113, 9.800]),
    ])
    func latency(
        _ phy: ExtendedPHY, _ octets: Int, _ milliseconds: Int, _ count: Int, _ window: Int, _ interval: Int,
        _ expected: [Double]
    ) throws {
        let preset = try ScannerPreset(
            windowMicroseconds: window * 1000, intervalMicroseconds: interval * 1000)
        let model = try LatencyModel(group: try Self.group(phy, octets, milliseconds, count: count), preset: preset)
        let distribution = try model.distribution()
        #expect(abs(try #require(distribution.meanSeconds) - expected[0]) < 0.01 * expected[0])
        for (share, seconds) in zip([0.5, 0.9, 0.95, 0.99], expected.dropFirst()) {
            let found = try #require(distribution.percentile(share))
            #expect(abs(found - seconds) < 0.02 * seconds, "\(share): \(found), not \(seconds)")
        }
    }

    @Test func refusals() {
        #expect(throws: AirtimeError.self) { try ExtendedTraffic(.le1M, payloadOctets: 1651) }
        #expect(throws: AirtimeError.self) { try ExtendedTraffic(.le1M, payloadOctets: -1) }
        // With chains of 120 ms at an interval of 150 ms, an advertiser could hit an event twice.
        #expect(throws: AirtimeError.self) {
            let group = try Self.group(.coded, 1650, 150, count: 10)
            _ = try MachineCollisionModel(machines: [AdvertisingMachines(count: 10, advertisements: [group])])
        }
    }

    /// The nRF52832 needs 13.65 - 7.03 µC for 744 µs more on the air. The event has 3·136 + 408 = 816 µs on the air,
    /// which is 432 µs more than an empty legacy event.
    @Test func energyOfAnEventGrowsWithItsAirtime() throws {
        let chip = try #require(BeaconChip.named("nrf52832"))
        let traffic = try ExtendedTraffic(.le1M, payloadOctets: 31)
        #expect(abs(chip.eventMicrocoulombs(of: traffic) - (7.03 + 6.62 * 432 / 744)) < 1e-9)
        let coded = try ExtendedTraffic(.coded, payloadOctets: 31)
        #expect(abs(chip.eventMicrocoulombs(of: coded) - (7.03 + 6.62 * (3 * 1168 + 3344 - 384) / 744)) < 1e-9)
    }
}
