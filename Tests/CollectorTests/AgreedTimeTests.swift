import LinuxHost
import Sites
import Store
import TestSupport
import Testing

@testable import Collector

/// The collector's time needs agreement: no single line, batch or clock change moves it.
@Suite struct AgreedTimeTests {
    private static let begin = PresenceTests.begin
    private static let day = 86_400

    private func line(_ second: Int, _ receiver: String = "hall") -> ReceiverLine {
        ReceiverLine(
            receiver: receiver, unixMilliseconds: Self.begin + second * 1000 + 500,
            beacons: [.init(name: "key", level: -60)])
    }

    private func kinds(_ events: [SightingCollector.Event]) -> [SightingCollector.Event.Kind] {
        PresenceTests.kinds(events)
    }

    @Test(arguments: [-1_700_000_000, 1_000_000_000])
    func aFirstLineWithAWrongClockChangesNothing(second: Int) throws {
        var collector = try PresenceTests.collector()
        _ = collector.process(line(second), from: nil, arrival: 0)
        let events = PresenceTests.run(&collector, 0..<60, ["hall": -60, "desk": nil])
        #expect(kinds(events) == [.enter, .room, .known])
        #expect(collector.counts.wrongClocks == 1 && collector.counts.late == 0)
    }

    @Test func ignoresLinesOfTwoWrongClocks() throws {
        var collector = try PresenceTests.collector(["hall"])
        var events: [SightingCollector.Event] = []
        for second in 0..<30 {
            for time in [second, -1_000_000_000, 1_000_000_000] {
                events += collector.process(line(time), from: nil, arrival: 0)
            }
        }
        events += collector.finish()
        #expect(kinds(events) == [.enter, .room, .known])
        #expect(collector.counts.wrongClocks + collector.counts.late == 60)
    }

    @Test func followsTheTimeAfterAWeekendWithoutLines() throws {
        var collector = try PresenceTests.collector()
        _ = PresenceTests.run(&collector, 0..<60, ["hall": -60, "desk": nil])
        let monday = 2 * Self.day
        let events = PresenceTests.run(&collector, monday..<monday + 60, ["hall": -60, "desk": nil])
        #expect(kinds(events) == [.unknown, .known])
        #expect(collector.counts.wrongClocks == 0 && collector.counts.reports == 120)
        #expect(collector.newestLineUnixMilliseconds == Self.begin + (monday + 59) * 1000 + 500)
    }

    @Test(arguments: [["hall"], ["hall", "desk"]])
    func twoLinesADayAheadChangeNothing(names: [String]) throws {
        var collector = try PresenceTests.collector(names)
        let levels = Dictionary(uniqueKeysWithValues: names.map { ($0, Double?.some($0 == "hall" ? -60 : -70)) })
        _ = PresenceTests.run(&collector, 0..<60, levels)
        for number in 0..<2 {
            let none = collector.process(line(79_200 + number * 20, names.last ?? ""), from: nil, arrival: 0)
            #expect(none.isEmpty)
        }
        let events = PresenceTests.run(&collector, 60..<120, levels)
        #expect(kinds(events).isEmpty && collector.counts.wrongClocks == 2 && collector.counts.late == 0)
        // At the end, lines of a day ahead are not used either.
        for number in 0..<2 { _ = collector.process(line(79_300 + number), from: nil, arrival: 0) }
        let last = collector.finish()
        #expect(kinds(last).isEmpty && collector.counts.wrongClocks == 4)
        #expect(collector.stays.first?.isKnown == true)
    }

    @Test func acceptsLinesThatAreFarApart() throws {
        var collector = try PresenceTests.collector(["hall"])
        for number in 0..<40 { _ = collector.process(line(number * 300), from: nil, arrival: 0) }
        _ = collector.finish()
        #expect(collector.counts.wrongClocks == 0 && collector.counts.late == 0 && collector.counts.reports == 40)
    }

    @Test func acceptsLiveLinesOfAFastClock() throws {
        var collector = try PresenceTests.collector()
        for second in 0..<60 {
            let now = Self.begin + second * 1000 + 500
            _ = collector.process(line(second + 50, "desk"), from: nil, arrival: now, isLive: true)
            _ = collector.process(line(second), from: nil, arrival: now, isLive: true)
        }
        #expect(collector.counts.late == 0 && collector.counts.wrongClocks == 0 && collector.counts.reports == 120)
        // After a weekend without a line, this machine's clock confirms the time of the first line at once.
        _ = collector.process(
            line(2 * Self.day), from: nil, arrival: Self.begin + 2 * Self.day * 1000 + 700, isLive: true)
        #expect(collector.newestLineUnixMilliseconds == Self.begin + 2 * Self.day * 1000 + 500)
    }

    private func batch(_ sequence: Int, uptime: Int, boot: String = "8f") -> ReceiverLine {
        LateSightingTests.batch(boot, sequence, uptime)
    }

    /// Sends one batch per second, after the batch in `forged` for that second, and returns the events.
    private func run(
        _ collector: inout SightingCollector, _ seconds: Range<Int>, step: Int = 0, forged: [Int: ReceiverLine] = [:]
    ) -> [SightingCollector.Event] {
        var events: [SightingCollector.Event] = []
        for second in seconds {
            let now = Self.begin + second * 1000 + step
            if let line = forged[second] { events += collector.process(line, from: nil, arrival: now, isLive: true) }
            events += collector.process(
                batch(second + 1, uptime: 5000 + second * 1000), from: nil, arrival: now + 20, isLive: true)
            events += collector.advance(to: now + 500)
        }
        return events
    }

    @Test(arguments: ["8f", "90"], [0, 20])
    func aBatchWithAnUptimeOf31YearsChangesNothing(boot: String, second: Int) throws {
        var collector = try PresenceTests.collector(["hall"])
        let forged = batch(1_000_000_000, uptime: 31 * 365 * Self.day * 1000, boot: boot)
        let events = run(&collector, 0..<90, forged: [second: forged])
        #expect(kinds(events) == [.enter, .room, .known])
        #expect(events.map(\.kind).filter { $0 == .receiverDead }.isEmpty)
        // A clock that only one batch has stated is dropped after a few other batches.
        #expect(collector.counts.late <= 5 && collector.counts.wrongClocks <= 1)
    }

    @Test func twoBatchesADayAheadChangeNothing() throws {
        var collector = try PresenceTests.collector(["hall"])
        let forged = [40, 41].map { ($0, batch(900 + $0, uptime: 79_200_000 + $0)) }
        let events = run(&collector, 0..<90, forged: Dictionary(uniqueKeysWithValues: forged))
        #expect(kinds(events) == [.enter, .room, .known])
        #expect(collector.counts.wrongClocks == 2 && collector.counts.late == 0)
    }

    @Test(arguments: [60_000, -60_000, 3_600_000_000, -500_300])
    func aWallClockChangeCausesNoEvents(step: Int) throws {
        let folder = try TemporaryFolder()
        let file = try PresenceTests.collector(["hall"]).file
        func reading(_ second: Int, _ step: Int) -> WallClockSteps.Reading {
            .init(wall: Int64(Self.begin + second * 1000 + step) * 1000, boot: UInt64(second + 9) * 1_000_000_000)
        }
        let service = CollectorService(
            file, RoomPlan(file, sites: []), state: folder.place("state.json"), at: reading(0, 0))
        var events: [SightingCollector.Event] = []
        for second in 0..<120 {
            let step = second < 60 ? 0 : step
            #expect(service.follow(reading(second, step)) == (second == 60))
            let now = Self.begin + second * 1000 + step
            events += service.process(
                batch(second + 1, uptime: 5000 + second * 1000), from: nil, arrival: now + 20, isLive: true)
            events += service.advance(to: now + 500)
        }
        #expect(events.map(\.kind) == [.receiverAlive, .enter, .room, .known])
        let counts = service.collector.counts
        #expect(counts.late == 0 && counts.wrongClocks == 0 && counts.reports == 600)
        #expect(abs((service.collector.stays.first?.since ?? 0) - Self.begin - step) < 3000)
        #expect(service.takeNotices().map(\.text.first) == ["t"])
    }
}
