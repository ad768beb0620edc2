internal import Auditing
internal import BluetoothTypes
internal import EnduranceAudits
internal import EnduranceWorld
internal import LinuxHost

/// Ten thousand sequences of faults (or the number in its argument), one year of operation, and a few thousand audits
/// of fleets with known faults, in virtual time. Prints `N passed, N failed` as its last line.
@main
struct Endurance {
    static func main() {
        let sequences = CommandLine.arguments.dropFirst().first.flatMap(Int.init) ?? 10_000
        let audits = runAudits()
        let failed = runSequences(sequences) + runYear() + audits.failed
        Terminal.write("\(sequences + 1 + audits.count - failed) passed, \(failed) failed\n")
    }

    /// Returns the number of failed sequences.
    private static func runSequences(_ count: Int) -> Int {
        let begin = MonotonicClock.nanoseconds()
        var failed = 0
        var longest: [Incident: Int] = [:]
        for number in 0..<count {
            let sequence = FaultSequence(seed: UInt64(number), overlapping: number % 2 == 1)
            longest.merge(sequence.longestReturn) { max($0, $1) }
            guard !sequence.complaints.isEmpty else { continue }
            failed += 1
            let story = sequence.incidents.map { "\($0)" }.joined(separator: ", ")
            Terminal.write("seed \(number): \(story): \(sequence.complaints.joined(separator: "; "))\n")
        }
        for incident in Incident.allCases {
            guard let time = longest[incident] else { continue }
            Terminal.write("back at most \(DecimalText.thousandths(time / 1000)) s after \(incident)\n")
        }
        Terminal.write("\(count) sequences of faults in \(seconds(since: begin)) s\n")
        return failed
    }

    private static func runYear() -> Int {
        let begin = MonotonicClock.nanoseconds()
        let year = LongLife(days: 365, seed: 1)
        for complaint in year.complaints { Terminal.write("the year: \(complaint)\n") }
        Terminal.write(
            "a year with \(year.incidents) incidents and \(year.returns) returns in \(seconds(since: begin)) s\n")
        return year.complaints.isEmpty ? 0 : 1
    }

    /// Audits each kind of fault alone and together with others, and fleets without faults. No fault may be missed, and
    /// none may be reported for a machine without one. Machines with a fault may get a further verdict in one audit of
    /// a hundred.
    private static func runAudits() -> (count: Int, failed: Int) {
        let begin = MonotonicClock.nanoseconds()
        var model = SilenceModel()
        var (count, failed, excessive) = (0, 0, 0)
        func settle(_ trial: AuditTrial) {
            count += 1
            if !trial.complaints.isEmpty { failed += 1 }
            if !trial.excess.isEmpty { excessive += 1 }
            let kinds = trial.faults.map(\.rawValue).joined(separator: ", ")
            for text in trial.complaints { Terminal.write("audit \(trial.seed): \(kinds): \(text)\n") }
            for text in trial.excess { Terminal.write("audit \(trial.seed): \(kinds): too much: \(text)\n") }
        }
        for (index, fault) in Fault.allCases.enumerated() {
            for number in 0..<40 { settle(.alone(fault, seed: UInt64(10_000 + 100 * index + number), &model)) }
            for step in 0..<16 {
                for number in 0..<2 {
                    let seed = UInt64(20_000 + 1000 * index + 10 * step + number)
                    settle(.threeAtATime(fault, step: step, seed: seed, &model))
                }
            }
        }
        for number in 0..<1000 { settle(.clean(seed: UInt64(100_000 + number), &model)) }
        Terminal.write("\(count) audits, \(excessive) of them said too much, in \(seconds(since: begin)) s\n")
        if 100 * excessive > count { failed += 1 }
        return (count, failed)
    }

    private static func seconds(since begin: UInt64) -> UInt64 {
        (MonotonicClock.nanoseconds() - begin) / 1_000_000_000
    }
}
