import Testing

@testable import Collector

@Suite struct LineSeriesTests {
    private func series(_ pauses: [Int]) -> Int {
        var series = LineSeries()
        series.add(pause: nil)
        for pause in pauses { series.add(pause: pause) }
        return series.count
    }

    @Test func aLongPauseBeginsANewSeries() {
        #expect(LineSeries().count == 0)
        #expect(series([]) == 1)
        #expect(series([1000, 1000, 1000]) == 1)
        #expect(series([1000, 1000, 7001, 1000]) == 2)
        #expect(series([1000, 1000, 7000, 5000]) == 1)
    }

    @Test func theUsualPauseOfAReceiverIsNotLong() {
        #expect(series([10_000, 10_000, 14_000, 10_000]) == 1)
        #expect(series([10_000, 10_000, 40_000, 10_000]) == 2)
    }

    /// Lines may arrive in another order than they were written.
    @Test func anEarlierLineChangesNothing() {
        #expect(series([1000, -500, 0, 1000]) == 1)
    }
}
