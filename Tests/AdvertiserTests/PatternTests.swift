import BeaconFrames
import BluetoothTypes
import HCI
import Testing
import VirtualController

@testable import Advertiser

/// Advertisements whose interval changes by a pattern.
@Suite struct PatternTests {
    /// 100 ms for 2 s, then 1000 ms for 8 s.
    private static func pattern(
        _ parts: [(milliseconds: Int, seconds: Int)] = [(100, 2), (1000, 8)]
    ) throws -> AdvertisingPattern {
        let parts = try parts.map { part in
            let interval = try #require(AdvertisingInterval(microseconds: part.milliseconds * 1000))
            return AdvertisingPattern.Part(
                interval: RequestedInterval(interval), durationMicroseconds: part.seconds * 1_000_000)
        }
        return try #require(AdvertisingPattern(parts))
    }

    private static func beacon(_ pattern: AdvertisingPattern, minor: UInt16 = 2) throws -> Advertisement {
        Advertisement(
            content: .iBeacon(uuid: Sample.uuid, major: 1, minor: minor, flags: .beacon),
            interval: .nonconnectableMinimumBefore5,
            pattern: pattern, measuredPower: .atOneMeter(try MeasuredPowerAtOneMeter(dBm: -59)),
            address: .staticRandom(Sample.address))
    }

    /// The times of the events on channel 37, in milliseconds after the first one.
    private static func times(_ bench: Bench) -> [Int] {
        let starts = bench.pdus.filter { $0.channel == 37 && !$0.isScanResponse }.map(\.start)
        guard let first = starts.first else { return [] }
        return starts.map { $0.microseconds(since: first) / 1000 }
    }

    @Test(arguments: VirtualControllerModel.tested) func theIntervalChangesWithEachPart(
        _ model: VirtualControllerModel
    ) throws {
        let bench = Bench(model)
        let pattern = try Self.pattern()
        let session = try bench.session(try Self.beacon(pattern))
        try session.start()
        try bench.run(session, seconds: 100)
        let times = Self.times(bench)
        let expected = pattern.eventsPerCycle * 10
        #expect(abs(Double(times.count) - expected) <= 4, "\(times.count) events, not \(expected)")
        #expect(abs(Int(session.computedEvents) - times.count) <= 6)
        for (earlier, later) in zip(times, times.dropFirst()) {
            let isFast = earlier % 10_000 < 1_990
            let gap = later - earlier
            // The gap before a new part is shorter.
            let startsPart = later % 10_000 <= 30 || (2_000...2_030).contains(later % 10_000)
            if !startsPart {
                #expect(isFast ? (99...111).contains(gap) : (999...1_011).contains(gap), "\(earlier) \(gap)")
            }
        }
        // Each part begins with an event.
        for cycle in 1..<10 {
            #expect(times.contains { (0...30).contains($0 - cycle * 10_000) })
            #expect(times.contains { (0...30).contains($0 - cycle * 10_000 - 2_000) })
        }
    }

    /// Only three commands, so that the gap is as short as possible; data, address and power stay.
    @Test func aChangeTakesThreeCommands() throws {
        for (model, steps) in [
            (VirtualControllerModel.raspberryPi, ["200a-", "2006", "200a+"]), (.intel, ["2039-", "2036", "2039+"]),
        ] {
            let bench = Bench(model)
            let session = try bench.session(try Self.beacon(Self.pattern()))
            try session.start()
            bench.forget()
            try bench.run(session, seconds: 2.5)
            #expect(bench.steps == steps, "\(model.name)")
        }
    }

    @Test func reportsThePatternAndTheCurrentPart() throws {
        let bench = Bench(.intel)
        let pattern = try Self.pattern()
        let session = try bench.session(try Self.beacon(pattern))
        try session.start()
        try bench.run(session, seconds: 1)
        #expect(session.first.pattern?.part == 0 && session.first.setInterval.lowerBound.microseconds == 100_000)
        try bench.run(session, seconds: 4)
        #expect(session.first.pattern?.part == 1 && session.first.setInterval.lowerBound.microseconds == 1_000_000)
        #expect(session.first.pattern?.pattern == pattern)
        #expect(session.first.grantedMicroseconds.lowerBound == pattern.meanInterval.microseconds)
        #expect(session.summary.contains("100 ms for 2 s, 1000 ms for 8 s"))
    }

    @Test(arguments: VirtualControllerModel.tested) func verificationAcceptsTheCurrentPart(
        _ model: VirtualControllerModel
    ) throws {
        let bench = Bench(model)
        let session = try bench.session(try Self.beacon(Self.pattern()))
        try session.start()
        for _ in 0..<8 {
            try bench.run(session, seconds: 1.5)
            #expect(try session.verify())
        }
    }

    /// After an outage, the advertisement continues with the part that would be on the air by then.
    @Test func anOutageDoesNotShiftTheCycle() throws {
        let bench = Bench(.raspberryPi)
        let session = try bench.session(try Self.beacon(Self.pattern()))
        try session.start()
        try bench.run(session, seconds: 1)
        _ = try bench.host.execute(HCIReset())
        session.silence(since: bench.host.now)
        #expect(session.nextWakeUp == nil)
        bench.channel.air.advance(to: bench.host.now.advanced(byMicroseconds: 4_000_000))
        bench.forget()
        try session.rearm()
        #expect(session.first.pattern?.part == 1)
        try bench.run(session, seconds: 4.5)
        let slow = Self.times(bench).count
        #expect((4...6).contains(slow), "\(slow)")
        try bench.run(session, seconds: 2)
        #expect(Self.times(bench).count > slow + 12)
    }

    @Test func aReloadWithTheSamePatternKeepsTheCycle() throws {
        let bench = Bench(.intel)
        let session = try bench.session(try Self.beacon(Self.pattern()))
        try session.start()
        try bench.run(session, seconds: 3)
        let same = try SetAllocation(
            [PayloadSource(try Self.beacon(Self.pattern()))], on: try bench.capabilities(isExclusive: false),
            isExclusive: true)
        bench.forget()
        try session.replace(with: same)
        #expect(bench.steps == [] && session.first.pattern?.part == 1)
        // Another frame starts its own cycle.
        let other = try SetAllocation(
            [PayloadSource(try Self.beacon(Self.pattern(), minor: 3))], on: same.capabilities, isExclusive: true)
        try session.replace(with: other)
        #expect(session.first.pattern?.part == 0)
        try bench.run(session, seconds: 5)
        #expect(session.first.pattern?.part == 1)
    }

    @Test func aSuspendedHostReturnsToTheRightPart() throws {
        let bench = Bench(.raspberryPi)
        let session = try bench.session(try Self.beacon(Self.pattern()))
        try session.start()
        try bench.run(session, seconds: 1)
        bench.channel.air.advance(to: bench.host.now.advanced(byMicroseconds: 61_000_000))
        try bench.run(session, seconds: 0.1)
        #expect(session.first.pattern?.part == 1)
        #expect(try #require(session.nextWakeUp) > bench.host.now)
    }

    /// A controller that is replaced continues with the part that would be on the air by then.
    @Test func anotherControllerContinuesTheCycle() throws {
        let air = VirtualAir()
        let old = Bench(.raspberryPi, on: air)
        let session = try old.session(try Self.beacon(Self.pattern()))
        try session.start()
        try old.run(session, seconds: 1)
        air.detach(old.controller)
        #expect(failure { try old.run(session, seconds: 3) } != nil)
        let new = Bench(.intel, on: air)
        air.advance(to: new.host.now.advanced(byMicroseconds: 3_000_000))
        let allocation = try SetAllocation(session.allocation.sources, on: try new.capabilities(), isExclusive: true)
        try session.rearm(on: new.host, allocation: allocation)
        #expect(session.isOnAir && session.first.pattern?.part == 1)
        #expect(session.first.setInterval.lowerBound.microseconds == 1_000_000)
    }

    @Test func patternsNeedASetOfTheirOwn() throws {
        let sources = [PayloadSource(try Self.beacon(Self.pattern())), PayloadSource(try Sample.iBeacon())]
        let bench = Bench(.raspberryPi)
        let capabilities = try bench.capabilities()
        let refused = failure { _ = try SetAllocation(sources, on: capabilities, isExclusive: true) }
        #expect(
            refused?.description.contains(
                "cannot share an advertising set: a pattern of intervals needs a set of its own") == true)
        let apart = try SetAllocation(sources, on: try Bench(.intel).capabilities(), isExclusive: true)
        #expect(apart.sets.map(\.members) == [[0], [1]])
    }

    @Test func partsOutsideTheControllersRangeAreRefused() throws {
        let pattern = try Self.pattern([(100, 2), (20_000, 30)])
        let bench = Bench(.raspberryPi)
        let capabilities = try bench.capabilities()
        let source = PayloadSource(try Self.beacon(pattern))
        let refused = failure { _ = try SetAllocation([source], on: capabilities, isExclusive: true) }
        #expect(
            refused?.description.contains("the pattern's interval 20000 ms is out of this controller's range") == true)
        _ = try SetAllocation([source], on: try Bench(.intel).capabilities(), isExclusive: true)
    }
}
