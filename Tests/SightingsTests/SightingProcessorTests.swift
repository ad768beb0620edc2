import BluetoothTypes
import Testing

@testable import Sightings

@Suite struct SightingProcessorTests {
    private static let region = RegionMonitor.Region(
        name: "all", pattern: .iBeacon(uuid: Air.uuid, major: 1, minor: nil))

    @Test func roundsFollowEachOtherWithoutGaps() {
        var processor = SightingProcessor(table: SightingTable(), roundMicroseconds: 1_000_000)
        #expect(processor.take(Air.iBeacon(1, 1), from: Air.sender(1), atMilliseconds: 500).isEmpty)
        #expect(processor.take(Air.iBeacon(1, 1), from: Air.sender(1), atMilliseconds: 1400).isEmpty)
        #expect(processor.table.tracks[0].round.count == 2)
        let events = processor.take(Air.iBeacon(1, 1), from: Air.sender(1), atMilliseconds: 3600)
        #expect(
            events
                == [500, 1500, 2500].map {
                    .round(from: Air.at(milliseconds: $0), to: Air.at(milliseconds: $0 + 1000))
                })
        #expect(processor.table.tracks[0].round.count == 1)
        #expect(
            processor.finish(at: Air.at(milliseconds: 3700))
                == .round(from: Air.at(milliseconds: 3500), to: Air.at(milliseconds: 3700)))
    }

    @Test func keepsARoundUntilTheNextEventIsRequested() {
        var processor = SightingProcessor(table: SightingTable(), roundMicroseconds: 1_000_000)
        _ = processor.take(Air.iBeacon(1, 1), from: Air.sender(1), atMilliseconds: 0, rssi: -50)
        #expect(processor.nextEvent(until: Air.at(milliseconds: 1000)) != nil)
        #expect(processor.table.tracks[0].round.mean == -50)
        #expect(processor.nextEvent(until: Air.at(milliseconds: 1000)) == nil)
        #expect(processor.table.tracks[0].round.count == 0)
    }

    @Test func aRegionIsEnteredOnceAndLeftAfterItsSilence() {
        var processor = SightingProcessor(table: SightingTable(), regions: [Self.region])
        var events: [SightingProcessor.Event] = []
        for event in 0..<500 {
            let beacon = UInt16(event % 2)
            events += processor.take(
                Air.iBeacon(1, beacon), from: Air.sender(UInt32(beacon)), atMilliseconds: event * 105)
        }
        events += processor.events(untilMilliseconds: 53_000)
        #expect(
            events == [
                .region(
                    .init(
                        region: 0, kind: .enter, instant: Air.at(milliseconds: 0), lastHeard: Air.at(milliseconds: 0)))
            ])
        // Both intervals are known by now, so the exit follows 10 s after the last report: the shortest silence.
        #expect(
            processor.others(from: 53_000, to: 120_000) == [
                .region(
                    .init(
                        region: 0, kind: .exit, instant: Air.at(milliseconds: 499 * 105 + 10_000),
                        lastHeard: Air.at(milliseconds: 499 * 105), proof: .report))
            ])
    }

    @Test func aBeaconOfUnknownIntervalStaysForThirtySeconds() {
        var processor = SightingProcessor(table: SightingTable(), regions: [Self.region])
        _ = processor.take(Air.iBeacon(1, 1), from: Air.sender(1), atMilliseconds: 0)
        #expect(processor.others(from: 500, to: 29_500).count == 1)
        #expect(processor.others(from: 30_000, to: 30_000).count == 1)
    }

    /// If nothing is received, the receiver may have failed. The region is then unknown, and is left only after other
    /// reports prove that the receiver works.
    @Test func aRegionIsUnknownWhileNothingIsReceived() {
        var processor = SightingProcessor(table: SightingTable(), regions: [Self.region])
        var events: [SightingProcessor.Event] = []
        for event in 0..<500 {
            events += processor.take(Air.iBeacon(1, 1), from: Air.sender(1), atMilliseconds: event * 105)
        }
        let last = 499 * 105
        #expect(processor.nextWakeUp == Air.at(milliseconds: last + 5000))
        events += processor.events(untilMilliseconds: 3_600_000)
        events += processor.others(from: 3_600_000, to: 3_630_000)
        let kinds = events.compactMap { if case .region(let event) = $0 { event } else { nil } }
        #expect(kinds.map(\.kind) == [.enter, .unknown, .known, .exit])
        #expect(
            kinds.map(\.instant)
                == [0, last + 5000, 3_600_000, 3_610_000].map { Air.at(milliseconds: $0) })
    }

    @Test func aRegionWithoutAPatternMatchesTheBeaconOfItsName() {
        let known = KnownBeacon(name: "desk", identity: Air.identity(3, 3), intervalMicroseconds: 1_000_000)
        var processor = SightingProcessor(
            table: SightingTable(known: [known]), regions: [.init(name: "desk", pattern: nil)])
        _ = processor.take(Air.iBeacon(3, 4), from: Air.sender(1), atMilliseconds: 0)
        #expect(processor.events(untilMilliseconds: 10).isEmpty)
        _ = processor.take(Air.iBeacon(3, 3), from: Air.sender(1), atMilliseconds: 20)
        #expect(processor.events(untilMilliseconds: 20).count == 1)
        #expect(processor.monitor.isInside(0))
    }

    @Test func aRegionIsUnknownWhileListeningIsStopped() {
        var processor = SightingProcessor(table: SightingTable(), regions: [Self.region])
        _ = processor.take(Air.iBeacon(1, 1), from: Air.sender(1), atMilliseconds: 0)
        processor.stopListening(at: Air.at(milliseconds: 1000))
        #expect(processor.events(untilMilliseconds: 4999).map(Self.kind) == [.enter])
        #expect(processor.events(untilMilliseconds: 4_000_000).map(Self.kind) == [.unknown])
        processor.startListening(at: Air.at(milliseconds: 4_000_000))
        #expect(processor.others(from: 4_000_000, to: 4_029_500).map(Self.kind) == [.known])
        #expect(processor.others(from: 4_030_000, to: 4_030_000).map(Self.kind) == [.exit])
    }

    private static func kind(_ event: SightingProcessor.Event) -> RegionMonitor.Event.Kind? {
        if case .region(let event) = event { event.kind } else { nil }
    }

    /// Additional calls between the reports do not change the events.
    @Test func theSameSightingsGiveTheSameEvents() {
        func run(asking: [Int]) -> [SightingProcessor.Event] {
            var random = SplitMix64(seed: 11)
            var processor = SightingProcessor(
                table: SightingTable(strangers: .kept(8)), regions: [Self.region], roundMicroseconds: 700_000)
            var events: [SightingProcessor.Event] = []
            var time = 0
            for report in 0..<2000 {
                time += random.next(upTo: 400) * (report % 500 == 499 ? 200 : 1)
                let beacon = UInt16(random.next(upTo: 30))
                for question in asking { events += processor.events(untilMilliseconds: max(0, time - question)) }
                events += processor.take(
                    Air.iBeacon(beacon % 3, beacon), from: Air.sender(UInt32(beacon)), atMilliseconds: time)
            }
            return events + processor.events(untilMilliseconds: time + 100_000)
        }
        let events = run(asking: [])
        #expect(events.count > 500)
        #expect(events == run(asking: [0]))
        #expect(events == run(asking: [300, 250, 77, 1, 0]))
    }

    @Test func aRecordingsClockNeverGoesBack() {
        var clock = RecordingClock()
        #expect(clock.unixMicroseconds(at: clock.now) == nil)
        #expect(clock.instant(unixMicroseconds: nil) == Air.at(milliseconds: 0))
        #expect(clock.instant(unixMicroseconds: 1_000_000_000) == Air.at(milliseconds: 0))
        #expect(clock.instant(unixMicroseconds: 1_000_500_000) == Air.at(milliseconds: 500))
        // Packets of several receivers are out of order by a little.
        #expect(clock.instant(unixMicroseconds: 1_000_499_990) == Air.at(milliseconds: 500))
        #expect(clock.instant(unixMicroseconds: 1_000_500_000) == Air.at(milliseconds: 500))
        #expect(clock.steps == 0)
        // The clock was set back by a year, so no time has passed.
        #expect(clock.instant(unixMicroseconds: -31_536_000_000_000) == Air.at(milliseconds: 500))
        #expect(clock.steps == 1)
        #expect(clock.unixMicroseconds(at: Air.at(milliseconds: 700)) == -31_536_000_000_000 + 200_000)
        #expect(clock.instant(unixMicroseconds: Int64.max) == Air.at(milliseconds: 3_600_500))
        #expect(clock.instant(unixMicroseconds: Int64.min) == Air.at(milliseconds: 3_600_500))
        #expect(clock.steps == 3)
    }

    @Test func instantsDoNotOverflow() {
        let end = HeardInstant(nanoseconds: UInt64(Int64.max))
        #expect(end.advanced(byMicroseconds: .max) == end)
        #expect(Air.at(milliseconds: 1).advanced(byMicroseconds: -5) == Air.at(milliseconds: 1))
        #expect(Air.at(milliseconds: 1).microseconds(since: Air.at(milliseconds: 2)) == 0)
    }
}
