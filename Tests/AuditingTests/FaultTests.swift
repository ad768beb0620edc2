import Auditing
import EnduranceAudits
import Testing

/// Audits of generated fleets with known faults find all of them, and nothing else. The endurance program runs
/// thousands of these audits.
struct FaultTests {
    /// Computes the slow tables once.
    private static let model = {
        var model = SilenceModel()
        _ = AuditTrial.clean(seed: 1, &model)
        return model
    }()

    private static func seed(_ fault: Fault) -> UInt64 {
        UInt64(Fault.allCases.firstIndex(of: fault) ?? 0)
    }

    @Test(arguments: Fault.allCases)
    func alone(_ fault: Fault) {
        var model = Self.model
        let trial = AuditTrial.alone(fault, seed: 1000 + Self.seed(fault), &model)
        #expect(trial.complaints + trial.excess == [], "seed \(trial.seed)")
    }

    @Test(arguments: Fault.allCases)
    func threeAtATime(_ fault: Fault) {
        var model = Self.model
        let seed = Self.seed(fault)
        // A beacon with an advertising set for each frame would not show this fault, so all its frames share one set
        // here.
        let trial = AuditTrial.threeAtATime(fault, step: Int(seed) % 8, seed: 2001 + seed, &model)
        #expect(trial.complaints + trial.excess == [], "\(trial.faults), seed \(trial.seed)")
    }

    @Test(arguments: UInt64(5000)..<5010)
    func cleanFleets(_ seed: UInt64) {
        var model = Self.model
        let trial = AuditTrial.clean(seed: seed, &model)
        #expect(trial.complaints + trial.excess == [], "seed \(seed)")
    }
}
