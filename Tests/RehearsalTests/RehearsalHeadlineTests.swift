import Rehearsal
import Testing

@Suite struct RehearsalHeadlineTests {
    private func report(_ change: (inout RehearsalReport) -> Void) -> String {
        var report = RehearsalReport.sample
        change(&report)
        return report.headline
    }

    @Test func aPlantedFaultIsNamedWithItsTime() {
        #expect(
            report { _ in } == "1 of 3 promises does not hold: hall-desk stops at 00:00:12 (planted).")
        #expect(
            report { $0.faults[0].atS = 36_000 } == "1 of 3 promises does not hold: hall-desk stops at 10:00 (planted)."
        )
    }

    @Test func brokenPromisesWithoutAFaultAreNamed() {
        let text = report { report in
            report.promises[3].verdict = .broken
        }
        #expect(
            text == "2 of 3 promises do not hold: hall-desk stops at 00:00:12 (planted); hall-entrance: "
                + "detection in time (not planted).")
        #expect(
            report {
                $0.faults = []
                $0.promises[0].fault = nil
            } == "1 of 3 promises does not hold: hall-desk: longest silence.")
    }

    @Test func namesAtMostThreeCauses() {
        let text = report { report in
            report.promises += (0..<5).map { number in
                RehearsalPromise(
                    .battery, "box-\(number)", relation: .atLeast, expected: 300, measured: 200, unit: "days",
                    verdict: .broken)
            }
        }
        #expect(text.hasSuffix("; box-1: battery life (not planted); and 3 more."))
    }

    @Test func oneFaultIsOneCause() {
        let text = report { report in
            var other = report.promises[0]
            other.kind = .telemetry
            report.promises.append(other)
        }
        #expect(text == "2 of 4 promises do not hold: hall-desk stops at 00:00:12 (planted).")
    }

    @Test func countsPromisesIfNoneIsBroken() {
        #expect(report { $0.promises.removeFirst() } == "All 2 promises that can be judged hold; 1 cannot be judged.")
        #expect(report { $0.promises.removeAll { $0.verdict != .holds } } == "All 2 promises hold.")
        #expect(report { $0.promises.removeAll { $0.kind != .interval } } == "The only promise holds.")
        #expect(report { $0.promises.removeAll { $0.verdict != .unjudged } } == "None of 1 promise can be judged.")
    }
}
