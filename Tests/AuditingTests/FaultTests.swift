import Auditing
import EnduranceAudits
import Testing

/// An audit of a generated fleet with known faults finds all of them, and no other. The endurance program makes
/// thousands of these audits, with every fault.
struct FaultTests {
    /// Shared by all tests, because its tables take long to compute.
    private static let model = {
        var model = SilenceModel()
        _ = AuditTrial.clean(seed: 1, &model)
        return model
    }()

    private static func seed(_ fault: Fault) -> UInt64 {
        UInt64(Fault.allCases.firstIndex(of: fault) ?? 0)
    }

    /// Every fourth fault.
    @Test(arguments: stride(from: 0, to: Fault.allCases.count, by: 4).map { Fault.allCases[$0] })
    func alone(_ fault: Fault) {
        var model = Self.model
        let trial = AuditTrial.alone(fault, seed: 1000 + Self.seed(fault), &model)
        #expect(trial.complaints + trial.excess == [], "seed \(trial.seed)")
    }

    /// Every tenth fault, together with two others.
    @Test(arguments: stride(from: 2, to: Fault.allCases.count, by: 10).map { Fault.allCases[$0] })
    func threeAtATime(_ fault: Fault) {
        var model = Self.model
        let seed = Self.seed(fault)
        // The parity of the seed decides whether machines have one advertising set or several. `alone` uses the other
        // parity for this fault.
        let trial = AuditTrial.threeAtATime(fault, step: Int(seed) % 8, seed: 2001 + seed, &model)
        #expect(trial.complaints + trial.excess == [], "\(trial.faults), seed \(trial.seed)")
    }

    @Test(arguments: UInt64(5000)..<5002)
    func findsNoFaultInCleanFleets(_ seed: UInt64) {
        var model = Self.model
        let trial = AuditTrial.clean(seed: seed, &model)
        #expect(trial.complaints + trial.excess == [], "seed \(seed)")
    }
}
