import Testing

@testable import Sightings

/// The time that counts as listened.
@Suite struct ListeningClockTests {
    private var clock = ListeningClock()

    private mutating func receive(every step: Int, from start: Int, through end: Int) {
        for time in stride(from: start, through: end, by: step) { clock.receive(at: Air.at(milliseconds: time)) }
    }

    @Test mutating func onlyTimeBetweenReportsCounts() {
        #expect(clock.doubtfulAt == nil && !clock.isDoubtful(at: Air.at(milliseconds: 1_000_000)))
        receive(every: 100, from: 1000, through: 3000)
        #expect(clock.listened == 2_000_000 && clock.period == 1)
        #expect(clock.listened(at: Air.at(milliseconds: 2500)) == 1_500_000)
        #expect(clock.listened(at: Air.at(milliseconds: 9000)) == 2_000_000)
        #expect(clock.instant(of: 1_500_000) == Air.at(milliseconds: 2500))
        #expect(clock.doubtfulAt == Air.at(milliseconds: 8000))
        #expect(clock.silentSince(at: Air.at(milliseconds: 7999)) == nil)
        #expect(clock.silentSince(at: Air.at(milliseconds: 8000)) == Air.at(milliseconds: 3000))
        // The first report after an hour begins a new period.
        receive(every: 100, from: 3_603_000, through: 3_604_000)
        #expect(clock.listened == 3_000_000 && clock.period == 2)
        #expect(clock.doubtfulMicroseconds(at: Air.at(milliseconds: 3_604_000)) == 3_600_000_000)
        #expect(clock.instant(of: 2_500_000) == Air.at(milliseconds: 3_603_500))
        #expect(clock.doubtfulAt == Air.at(milliseconds: 3_609_000))
    }

    @Test mutating func aReceiverThatHasNeverReceivedAnythingIsDoubtfulAfterFiveSeconds() {
        clock.startListening(at: Air.at(milliseconds: 1000))
        #expect(clock.doubtfulAt == Air.at(milliseconds: 6000))
        #expect(clock.silentSince(at: Air.at(milliseconds: 5999)) == nil)
        #expect(clock.silentSince(at: Air.at(milliseconds: 6000)) == Air.at(milliseconds: 1000))
        #expect(clock.doubtfulMicroseconds(at: Air.at(milliseconds: 60_000)) == 0)
        clock.stopListening(at: Air.at(milliseconds: 7000))
        clock.startListening(at: Air.at(milliseconds: 8000))
        #expect(clock.silentSince(at: Air.at(milliseconds: 12_999)) == nil)
        #expect(clock.silentSince(at: Air.at(milliseconds: 13_000)) == Air.at(milliseconds: 8000))
        clock.receive(at: Air.at(milliseconds: 14_000))
        #expect(!clock.isDoubtful(at: Air.at(milliseconds: 14_000)))
    }

    /// The time without a report after which the receiver is doubtful, by the time between two reports.
    @Test(arguments: [(10, 5.0), (300, 5.0), (1000, 14.767), (20_000, 235.43)])
    func aSilenceIsDoubtfulLaterIfReportsAreRare(step: Int, seconds: Double) {
        var clock = ListeningClock()
        for time in stride(from: 0, through: step * 40, by: step) { clock.receive(at: Air.at(milliseconds: time)) }
        let due = clock.doubtfulAt.map { Double($0.microseconds(since: Air.at(milliseconds: step * 40))) / 1e6 } ?? 0
        #expect(abs(due - seconds) < 0.01 * seconds, "\(due)")
    }

    @Test mutating func adaptsToRareReports() {
        receive(every: 50, from: 0, through: 10_000)
        #expect(clock.listened == 10_000_000)
        receive(every: 12_000, from: 22_000, through: 1_000_000)
        #expect(clock.listened > 800_000_000)
    }

    @Test mutating func aPauseOfTheReceiverDoesNotCount() {
        clock.startListening(at: Air.at(milliseconds: 0))
        receive(every: 100, from: 1000, through: 3000)
        clock.stopListening(at: Air.at(milliseconds: 3050))
        #expect(clock.silentSince(at: Air.at(milliseconds: 3050)) == Air.at(milliseconds: 3050))
        #expect(clock.doubtfulAt == Air.at(milliseconds: 8000))
        // Reports of another program's scan do not count.
        receive(every: 100, from: 3100, through: 3500)
        #expect(clock.listened == 2_000_000 && clock.restarts == 0)
        clock.startListening(at: Air.at(milliseconds: 4000))
        receive(every: 100, from: 4100, through: 5100)
        #expect(clock.listened == 3_000_000 && clock.restarts == 1 && clock.period == 2)
        #expect(clock.proof(since: 0) == .restart && clock.proof(since: 1) == .report)
        #expect(clock.proof(since: nil) == .restart)
    }

    @Test mutating func toleratesTimesOutOfOrderAndTheLargestTime() {
        receive(every: 100, from: 5000, through: 6000)
        clock.receive(at: Air.at(milliseconds: 5500))
        #expect(clock.listened == 1_000_000)
        clock.receive(at: HeardInstant(nanoseconds: .max))
        #expect(clock.listened == 1_000_000 && clock.doubtfulAt != nil)
    }
}
