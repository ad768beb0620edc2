import Auditing
import EnduranceAudits
import Testing

/// What an audit finds in generated fleets with known faults: all of them, and no other. The endurance program makes
/// thousands of these audits.
struct FaultTests {
    /// With the tables that take long.
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
        // So that one that has a set of its own for each alone has one for all here.
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
