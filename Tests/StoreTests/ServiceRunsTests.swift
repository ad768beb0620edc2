import Testing

@testable import Store

@Suite struct ServiceRunsTests {
    private static let second: Int64 = 1_000_000

    private func run(_ seconds: ClosedRange<Int64>, isOver: Bool = false) -> ServiceRun {
        ServiceRun(
            start: seconds.lowerBound * Self.second, end: seconds.upperBound * Self.second, isOver: isOver)
    }

    private func pauses(_ runs: [ServiceRun], until now: Int64) -> [ClosedRange<Int64>] {
        ServiceRun.pauses(between: runs, until: now * Self.second).map {
            $0.start / Self.second...($0.end == .max ? .max : $0.end / Self.second)
        }
    }

    @Test func timeBetweenRunsIsAPause() {
        #expect(pauses([], until: 100).isEmpty)
        let runs = [run(0...10, isOver: true), run(40...70)]
        #expect(pauses(runs, until: 75) == [10...40])
        // A run that is not over has ended if it was not written for more than 60 s.
        #expect(pauses(runs, until: 129) == [10...40])
        #expect(pauses(runs, until: 131) == [10...40, 70...Int64.max])
        #expect(pauses([run(0...10, isOver: true)], until: 11) == [10...Int64.max])
    }

    /// Another collector of the site takes over for a moment, while the first one still runs.
    @Test func aRunWithinAnotherRunCausesNoPause() {
        let runs = [run(0...100), run(20...30, isOver: true), run(110...120, isOver: true)]
        #expect(pauses(Array(runs.prefix(2)), until: 105).isEmpty)
        #expect(pauses(runs, until: 121) == [100...110, 120...Int64.max])
    }
}
