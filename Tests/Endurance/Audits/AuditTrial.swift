public import Auditing

/// One audit of a generated fleet with known faults, all from one seed, and the errors in the audit's report.
public struct AuditTrial: Sendable {
    /// The kinds of faults. The first machine has the first fault, and so on.
    public let faults: [Fault]
    public let seed: UInt64
    /// True if each machine has one advertising set for all its advertisements, which is the case for every other seed.
    public var isInTurn: Bool { seed % 2 == 1 }
    /// Missed faults, faults that were reported for machines without one, and wrong intervals. Empty if the report is
    /// right.
    public private(set) var complaints: [String] = []
    /// Further verdicts about machines with a fault.
    public private(set) var excess: [String] = []

    private static let clean: [Set<AuditVerdict>] = [[.ok], [.ok], [.ok]]

    /// Audits a fleet in which one machine has a fault.
    public static func alone(_ fault: Fault, seed: UInt64, _ model: inout SilenceModel) -> AuditTrial {
        AuditTrial([fault], machines: 4, seed: seed, &model)
    }

    /// Audits a fleet in which three machines have different faults: `fault`, and two that depend on `step`.
    public static func threeAtATime(
        _ fault: Fault, step: Int, seed: UInt64, _ model: inout SilenceModel
    ) -> AuditTrial {
        let all = Fault.allCases
        let first = all.firstIndex(of: fault) ?? 0
        let others = [first + 1 + step, first + 11 + 2 * step].map { all[$0 % all.count] }
        return AuditTrial([fault] + others, machines: 5, seed: seed, &model)
    }

    /// Audits a fleet without faults.
    public static func clean(seed: UInt64, _ model: inout SilenceModel) -> AuditTrial {
        AuditTrial([], machines: 6, seed: seed, &model)
    }

    private init(_ faults: [Fault], machines: Int, seed: UInt64, _ model: inout SilenceModel) {
        self.faults = faults
        self.seed = seed
        let fleet = FaultyFleet(machines: machines, faults: faults, isInTurn: seed % 2 == 1, seed: seed)
        let report = fleet.report(&model)
        for machine in 0..<machines {
            let fault = machine < faults.count ? faults[machine] : nil
            for index in 0..<3 { check(report.advertisements[3 * machine + index], index, fault) }
        }
        if report.isGood != faults.isEmpty { complaints.append("is good: \(report.isGood)") }
    }

    /// - Parameter fault: The fault of the machine. Intervals are checked only in machines without a fault.
    private mutating func check(_ audit: AdvertisementAudit, _ index: Int, _ fault: Fault?) {
        let name = "\(audit.beacon) \(audit.expected.type)"
        let wanted = (fault?.verdicts ?? Self.clean)[index]
        if Set(audit.verdicts) != wanted {
            let words = audit.verdicts.map(\.rawValue).joined(separator: ", ")
            let text = "\(name): \(words): \(audit.reasons.joined(separator: ", "))"
            let isFound = fault != nil && wanted.subtracting([.ok]).isSubset(of: audit.verdicts)
            if isFound { excess.append(text) } else { complaints.append(text) }
        }
        guard fault == nil, let interval = audit.intervalMicroseconds else { return }
        let expected = Double(audit.expected.intervalMicroseconds)
        if abs(Double(interval) - expected) > 0.01 * expected + 1_000 {
            complaints.append("\(name): an interval of \(interval) µs, not \(expected)")
        }
    }
}
