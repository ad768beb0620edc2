import Sightings
import Testing

@Suite struct LevelWindowTests {
    /// Ten levels, one of them shadowed.
    static let levels: [Int8] = [-60, -62, -65, -61, -90, -59, -63, -64, -62, -61]

    private func tally(_ levels: [Int8]) -> LevelTally {
        var tally = LevelTally()
        for level in levels { tally.add(level) }
        return tally
    }

    @Test func computesStatisticsOfLevels() throws {
        let tally = tally(Self.levels)
        #expect(tally.count == 10)
        #expect(tally.minimum == -90)
        #expect(tally.maximum == -59)
        #expect(tally.mean == -64.7)
        // Without -90 and -59.
        #expect(tally.trimmedMean == -62.25)
        #expect(abs(try #require(tally.standardDeviation) - 9.0683) < 0.0001)
    }

    @Test func theTrimmedMeanDropsATenthAtEachEnd() {
        #expect(tally([-60, -70]).trimmedMean == -65)
        #expect(tally([-60, -70, -90]).trimmedMean == -70)
        #expect(tally(Array(repeating: -50, count: 27) + [-10, -9, -8]).trimmedMean == -50)
        #expect(tally([]).trimmedMean == nil)
        #expect(tally([-60]).standardDeviation == nil)
    }

    @Test func ignoresImpossibleLevels() {
        let tally = tally([-128, 127, 21, 20, -127, 0])
        #expect(tally.count == 3)
        #expect(tally.minimum == -127)
        #expect(tally.maximum == 20)
    }

    @Test func theWindowSlides() {
        var window = LevelWindow()
        for second in 0..<10 { window.add(Int8(-50 - second), at: Air.at(milliseconds: second * 1000)) }
        #expect(window.tally(over: 3_000_000, until: Air.at(milliseconds: 9000)).mean == -57.5)
        #expect(window.tally(over: 3_000_000, until: Air.at(milliseconds: 20_000)).count == 0)
        for _ in 0..<1000 { window.add(-40, at: Air.at(milliseconds: 9500)) }
        let full = window.tally(over: 60_000_000, until: Air.at(milliseconds: 9500))
        #expect(full.count == LevelWindow.capacity)
        #expect(full.minimum == -40)
    }

    @Test func theTraceKeepsTheStrongestLevelOfEachSecond() {
        var trace = LevelTrace()
        trace.add(-70, at: Air.at(milliseconds: 500))
        trace.add(-60, at: Air.at(milliseconds: 900))
        trace.add(-80, at: Air.at(milliseconds: 2100))
        #expect(trace.levels(until: Air.at(milliseconds: 2500)).suffix(3) == [-60, nil, -80])
        #expect(trace.levels(until: Air.at(milliseconds: 31_000)).compactMap { $0 } == [-80])
        #expect(trace.levels(until: Air.at(milliseconds: 60_000)).allSatisfy { $0 == nil })
        trace.add(-50, at: Air.at(milliseconds: 3_600_000))
        #expect(trace.levels(until: Air.at(milliseconds: 3_600_000)).compactMap { $0 } == [-50])
    }

    /// A single level does not show the deviation of the levels, so its interval is wider.
    @Test func aSingleLevelIsLessCertainThanForty() throws {
        func distance(_ count: Int) throws -> DistanceEstimate {
            var table = SightingTable()
            for number in 0..<count {
                table.receive(Air.iBeacon(1, 7), from: Air.sender(1), atMilliseconds: 200 * number, rssi: -65)
            }
            let estimate = table.tracks[0].distance(table.tracks[0].round, .init())
            return try #require(estimate)
        }
        let (one, forty) = (try distance(1), try distance(40))
        #expect(one.meters == forty.meters)
        #expect(one.highMeters / one.lowMeters > 1.7 * forty.highMeters / forty.lowMeters)
        #expect(abs(forty.highMeters / forty.meters - 2) < 0.05)
    }
}
