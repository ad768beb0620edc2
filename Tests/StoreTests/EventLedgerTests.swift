import LinuxHost
import TestSupport
import Testing

@testable import Store

/// Events that are written to the file and delivered to channels, also while another process locks the file.
@Suite struct EventLedgerTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.place("hall.db")
    }

    private func event(_ id: String) -> EventStore.Event {
        .init(id: id, time: 1, kind: "enter", zone: "desk", beacon: "key", json: #"{"id":"\#(id)"}"#)
    }

    private func opened() -> EventLedger {
        let ledger = EventLedger(path: path)
        ledger.open()
        return ledger
    }

    private func lock() throws -> Database {
        let other = try Database(
            path: path, application: EventStore.application, version: EventStore.version, setUp: "")
        try other.execute("BEGIN EXCLUSIVE")
        return other
    }

    private func stored(for channel: String) throws -> [String] {
        try EventStore(path: path, isReadOnly: true).waiting(for: channel, limit: 1000).map(\.event.id)
    }

    @Test func anEventAndItsChannelsAreWrittenTogether() throws {
        let ledger = opened()
        ledger.record([.init(event("a"), .none, for: ["lines", "postgresql"])], [])
        #expect(try stored(for: "lines") == ["a"])
        #expect(try stored(for: "postgresql") == ["a"])
        // The delivery of "a" is written together with the next event, which is not delivered yet.
        ledger.markAllDelivered(for: "lines")
        ledger.record([.init(event("b"), .none, for: ["lines", "postgresql"])], [])
        #expect(try stored(for: "lines") == ["b"])
        #expect(try stored(for: "postgresql") == ["a", "b"])
        ledger.markAllDelivered(for: "lines")
        ledger.finish()
        #expect(try stored(for: "lines").isEmpty)
    }

    @Test func recordsThePausesOfTheService() throws {
        let now = WallClock.microseconds()
        let first = opened()
        #expect(try EventStore(path: path, isReadOnly: true).pauses(until: now).isEmpty)
        first.markRunning(at: now - 400_000_000)
        // A clock jump or a sleep of the machine is recorded as a pause.
        #expect(try EventStore(path: path, isReadOnly: true).pauses(until: now - 399_000_000).isEmpty)
        let next = opened()
        next.markRunning(at: now)
        let pause = ServicePause(start: now - 400_000_000, end: now)
        #expect(try EventStore(path: path, isReadOnly: true).pauses(until: now + 1_000_000) == [pause])
        next.finish()
        let last = try #require(try EventStore(path: path, isReadOnly: true).pauses(until: .max).last)
        #expect((now...WallClock.microseconds()).contains(last.start) && last.end == .max)
    }

    @Test func theRunOfAServiceIsWrittenEveryTenSeconds() {
        var run = ServiceRunWriter()
        let second: Int64 = 1_000_000
        func takes(_ time: Int64, _ now: UInt64) -> Bool { run.extend(to: time * second, at: now * 1_000_000_000) }
        #expect(takes(1000, 1) && !takes(1001, 2) && takes(1010, 11) && !takes(1011, 12))
        #expect(run.start == 1000 * second && run.end == 1010 * second)
        #expect(takes(5000, 21) && run.start == 5000 * second)
    }

    @Test func aLockedFileDelaysNoCallAndLosesNoEvent() throws {
        let ledger = opened()
        let first = ledger.record(event("first"), .none, for: ["mqtt"])
        let lock = try lock()
        let begun = MonotonicClock.nanoseconds()
        for number in 0..<200 {
            #expect(ledger.record(event("\(number)"), .none, for: ["mqtt", "hooks"]) == nil)
            ledger.markDelivered(id: "\(number)", for: "hooks")
        }
        if let first { ledger.markDelivered(first, for: "mqtt") }
        // The ledger tries to write once per second, for at most 50 ms.
        #expect(MonotonicClock.nanoseconds() - begun < 1_500_000_000)
        #expect(ledger.backlogCount == 200)
        try lock.execute("COMMIT")
        #expect(ledger.finish().isEmpty)
        #expect(try stored(for: "mqtt") == (0..<200).map(String.init))
        #expect(try stored(for: "hooks").isEmpty)
        #expect(ledger.takeNotices().last?.text.contains("written to this file again") == true)
    }

    @Test func theCountOfLostEventsAndSightingsIsReportedAtTheEnd() throws {
        let ledger = opened()
        let lock = try lock()
        let row = SightingRow(
            receiver: "west", beacon: "key", milliseconds: 1, reports: 1, level: nil,
            batch: .init(boot: "8f", sequence: 1))
        ledger.record([.init(event("a"), .none, for: ["postgresql"]), .init(event("b"), .none)], [row])
        let begun = MonotonicClock.nanoseconds()
        #expect(ledger.finish().map(\.channels) == [["postgresql"], []])
        #expect(MonotonicClock.nanoseconds() - begun < 1_500_000_000)
        let notices = ledger.takeNotices().map(\.text)
        #expect(notices.contains { $0.hasSuffix("2 events were not written, and are missing from the history") })
        #expect(notices.contains { $0.hasSuffix("1 sighting was not written, and is missing from the history") })
        try lock.execute("COMMIT")
    }

    @Test func keepsBatchesInGapsAndAfterAForgedNumber() throws {
        func keep(_ sequences: [Int64]) throws -> Int {
            let store = try EventStore(path: path)
            try store.write(
                [],
                sequences.map {
                    SightingRow(
                        receiver: "west", beacon: "key", milliseconds: 1000, reports: 1, level: nil,
                        batch: .init(boot: "8f", sequence: $0))
                })
            var reports = 0
            try store.minutes(of: "key").forEach { reports += $0.reports }
            return reports
        }
        #expect(try keep([1, 2, 9, 4_000_000_000, .max, .min]) == 6)
        #expect(try keep([1, 2, 9, 4_000_000_000, .max, .min]) == 6)
        #expect(try keep(Array(1...9)) == 12)
        #expect(try keep(Array(1...20)) == 23)
        #expect(try keep([5000, 4095, 4096]) == 26)
    }

    @Test(arguments: [("", ""), ("3", "3"), ("1-4,6", "1-4,6"), ("6,1-3,4", "1-4,6"), ("9-3,x,-5,5000", "5")])
    func rangesOfNumbersAreReadAndWritten(text: String, written: String) {
        #expect(NumberRanges(text).text == written)
    }
}
