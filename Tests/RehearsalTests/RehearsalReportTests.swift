import Testing

@testable import Rehearsal

@Suite("Rehearsal report")
struct RehearsalReportTests {
    @Test func aBeaconThatIsNeverFoundCountsAsTheLongestTime() {
        var ratios = RehearsalTallies.Ratios()
        ratios.add(.greatestFiniteMagnitude / 0.25)
        ratios.add(.greatestFiniteMagnitude)
        ratios.add(0.5)
        #expect(ratios.counts.last == 2 && ratios.counts[50] == 1)
    }

    @Test("a broken promise fails the report")
    func holds() {
        var report = RehearsalReport.sample
        #expect(!report.holds)
        report.promises.removeAll { $0.verdict == .broken }
        #expect(report.holds)
    }

    @Test("the columns of a playback have equal lengths")
    func columns() throws {
        let events = try #require(RehearsalReport.sample.playback).events
        #expect(events.beacons.count == events.count)
        #expect(events.received.count == events.count)
        #expect(events.collided.count == events.count)
    }
}
