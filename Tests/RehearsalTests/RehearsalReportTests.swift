import Rehearsal
import Testing

@Suite("Rehearsal report")
struct RehearsalReportTests {
    @Test("a broken promise fails the report")
    func holds() {
        var report = RehearsalReport.sample
        #expect(!report.holds)
        report.promises.removeAll { $0.verdict == .broken }
        #expect(report.holds)
    }

    @Test("the columns of a play have equal lengths")
    func columns() throws {
        let sends = try #require(RehearsalReport.sample.play).sends
        #expect(sends.beacons.count == sends.count)
        #expect(sends.received.count == sends.count)
        #expect(sends.collided.count == sends.count)
    }
}
