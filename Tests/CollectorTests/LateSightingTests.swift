import Configuration
import Store
import Testing

@testable import Collector

/// Batches that a receiver kept while its broker was unreachable, and the state after a restart.
@Suite struct LateSightingTests {
    static let begin = PresenceTests.begin

    static func batch(_ boot: String, _ sequence: Int, _ bootMilliseconds: Int) -> ReceiverLine {
        var line = ReceiverLine(
            receiver: "hall", unixMilliseconds: nil, beacons: [.init(name: "key", reports: 5, level: -60)])
        line.number = .init(boot: boot, sequence: sequence, bootMilliseconds: bootMilliseconds)
        return line
    }

    /// Returns a collector after a minute of live batches and an hour in which the receiver kept its batches.
    static func returned() throws -> SightingCollector {
        var collector = try PresenceTests.collector(["hall"])
        collector.keepsSightings = true
        for second in 1...60 {
            _ = collector.process(batch("8f", second, second * 1000), from: nil, arrival: begin + second * 1000 + 20)
        }
        _ = collector.advance(to: begin + 3_660_000)
        _ = collector.takeSightings()
        return collector
    }

    @Test func keptBatchesChangeHistoryButNotPresence() throws {
        var collector = try Self.returned()
        // The newest batch arrives first. The batches of the hour follow, faster than they were recorded.
        var now = Self.begin + 3_661_000
        _ = collector.process(Self.batch("8f", 3661, 3_661_000), from: nil, arrival: now + 20)
        for second in stride(from: 61, through: 3600, by: 40) {
            now += 10
            _ = collector.process(Self.batch("8f", second, second * 1000), from: nil, arrival: now)
        }
        let sightings = collector.takeSightings()
        #expect(sightings.count { $0.isLate } == 89 && sightings.count { !$0.isLate } == 1)
        for sighting in sightings {
            #expect(abs(sighting.milliseconds - Int64(Self.begin) - sighting.batch.sequence * 1000) <= 100)
        }
        #expect(collector.counts.late == 89 && collector.counts.duplicateLines == 0)
        let count = collector.counts.reports
        _ = collector.process(Self.batch("8f", 3600 - 3600 % 40 - 19, 61_000), from: nil, arrival: now)
        #expect(collector.counts.reports == count)
    }

    @Test func keptBatchesThatArriveFirstDoNotSetTheClock() throws {
        var collector = try Self.returned()
        // The kept batches arrive an hour late, before any new one.
        let now = Self.begin + 3_661_000
        for second in 61...400 {
            _ = collector.process(Self.batch("8f", second, second * 1000), from: nil, arrival: now + second * 100)
        }
        #expect(collector.counts.late == 340)
        #expect(collector.takeSightings().allSatisfy { $0.isLate && $0.milliseconds < Self.begin + 401_000 })
    }

    @Test func batchesOfEarlierBootsAreLate() throws {
        var collector = try PresenceTests.collector(["hall"])
        collector.keepsSightings = true
        for second in 100...110 {
            _ = collector.process(
                Self.batch("90", second, second * 1000), from: nil, arrival: Self.begin + second * 1000)
            // Batches of two earlier starts of the machine.
            _ = collector.process(
                Self.batch("8f", second - 50, second * 1000 - 80_000), from: nil, arrival: Self.begin + second * 1000)
            _ = collector.process(
                Self.batch("07", second, 9_000_000 + second), from: nil, arrival: Self.begin + second * 1000)
        }
        let sightings = collector.takeSightings()
        #expect(sightings.filter { $0.batch.boot == "90" }.allSatisfy { !$0.isLate })
        let old = sightings.filter { $0.batch.boot == "8f" }
        #expect(old.count == 11 && old.allSatisfy { $0.isLate && $0.milliseconds < Self.begin + 31_000 })
        #expect(!sightings.contains { $0.batch.boot == "07" } && collector.counts.late == 22)
    }

    @Test func acceptsANewBootAtOnce() throws {
        var collector = try PresenceTests.collector(["hall"])
        _ = collector.process(Self.batch("8f", 9, 9000), from: nil, arrival: Self.begin)
        _ = collector.process(Self.batch("90", 1, 10_500), from: nil, arrival: Self.begin + 1500)
        #expect(collector.counts.late == 0 && collector.counts.reports == 10)
    }

    @Test(arguments: [
        #"{"v":1,"boot":"\#(String(repeating: "y", count: 3000))","seq":1,"bootMs":5000,"b":[{"id":"key","n":1}]}"#,
        #"{"v":1,"boot":"8\u0007f","seq":1,"bootMs":5000,"b":[{"id":"key","n":1}]}"#,
        #"{"v":1,"boot":"8f","seq":1,"bootMs":999999999999999999,"b":[{"id":"key","n":1}]}"#,
    ])
    func refusesImpossibleBatchNumbers(text: String) {
        let line = ReceiverLine(topic: "pharos/m/sightings/3/hall", payload: Array(text.utf8))
        #expect(line?.receiver == "hall" && line?.number == nil && line?.beacons.isEmpty == true)
    }

    @Test func acceptsAClockJumpAfterSomeMinutes() {
        var clock = UptimeConverter()
        for minute in 0..<3 { _ = clock.unixMilliseconds(minute * 60_000, arrival: Self.begin + minute * 60_000) }
        // This machine's clock jumps an hour forward.
        let step = 3_600_000
        for minute in 3..<12 {
            let time = clock.unixMilliseconds(minute * 60_000, arrival: Self.begin + step + minute * 60_000)
            #expect((time >= Self.begin + step) == (minute >= 7), "\(minute)")
        }
    }

    @Test func aBeaconThatWasPresentBeforeARestartDoesNotEnter() throws {
        var collector = try PresenceTests.collector()
        let stay = SightingCollector.Stay(beacon: "key", room: "hall", since: Self.begin - 5000, isKnown: true)
        collector.resume([stay], at: Self.begin)
        let events = PresenceTests.run(&collector, 0..<60, ["hall": -60, "desk": nil])
        #expect(PresenceTests.kinds(events).isEmpty)
        #expect(collector.stays == [stay])
        let moved = PresenceTests.run(&collector, 60..<70, ["hall": -80, "desk": -60])
        #expect(PresenceTests.kinds(moved) == [.room])
    }

    @Test func afterARestartAnExitNeedsAWorkingReceiver() throws {
        let stay = SightingCollector.Stay(beacon: "key", room: "hall", since: Self.begin - 5000, isKnown: true)
        var collector = try PresenceTests.collector()
        collector.resume([stay], at: Self.begin)
        let events = PresenceTests.run(&collector, 0..<100, ["hall": Double?.none, "desk": nil])
        #expect(PresenceTests.kinds(events).last == .exit)
        #expect(events.last { $0.kind == .exit }?.from == "hall")
        #expect(collector.stays.isEmpty)
        var deaf = try PresenceTests.collector()
        deaf.resume([stay], at: Self.begin)
        let none = PresenceTests.run(&deaf, 0..<100, ["desk": nil])
        #expect(PresenceTests.kinds(none) == [.unknown])
        // If a stay begins in the future, the lines are older than the stored state, and the stay is ignored.
        var early = try PresenceTests.collector()
        early.resume([stay], at: Self.begin - 6000)
        #expect(early.stays.isEmpty)
    }

    @Test func followsAClockThatIsSetBackWithoutExits() throws {
        var collector = try PresenceTests.collector()
        _ = PresenceTests.run(&collector, 0..<60, ["hall": -60, "desk": nil])
        collector.shift(by: -3_660_000)
        let events = PresenceTests.run(&collector, -3600 ..< -3540, ["hall": -60, "desk": nil])
        #expect(PresenceTests.kinds(events).isEmpty && collector.counts.late == 0)
        #expect(collector.stays.first?.room == "hall")
        let gone = PresenceTests.run(&collector, -3540 ..< -3440, ["hall": Double?.none, "desk": nil])
        #expect(PresenceTests.kinds(gone) == [.exit])
    }

    @Test func theSameLinesGiveTheSameEventIds() throws {
        var (one, other) = (try PresenceTests.collector(), try PresenceTests.collector())
        let first = PresenceTests.run(&one, 0..<60, ["hall": -60, "desk": nil])
        let second = PresenceTests.run(&other, 0..<60, ["hall": -60, "desk": nil])
        #expect(first.map(\.id) == second.map(\.id) && Set(first.map(\.id)).count == first.count)
    }
}
