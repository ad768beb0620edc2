import Auditing
import Testing

/// What an audit finds in generated fleets with known faults: all of them, and no other.
struct FaultTests {
    /// With its tables computed.
    private static let model = {
        var model = SilenceModel()
        _ = FaultyFleet(boxes: 2, faults: [], isInTurn: false, seed: 1).report(&model)
        return model
    }()
    private static let clean: [Set<AuditVerdict>] = [[.ok], [.ok], [.ok]]

    private func check(_ faults: [Fault], boxes: Int, isInTurn: Bool, seed: UInt64, _ model: inout SilenceModel) {
        let fleet = FaultyFleet(boxes: boxes, faults: faults, isInTurn: isInTurn, seed: seed)
        let report = fleet.report(&model)
        for box in 0..<boxes {
            let wanted = box < faults.count ? faults[box].verdicts : Self.clean
            for index in 0..<3 {
                let audit = report.advertisements[3 * box + index]
                #expect(
                    Set(audit.verdicts) == wanted[index],
                    "\(faults), \(audit.beacon) \(audit.expected.type), seed \(seed), in turn \(isInTurn): \(audit.reasons)"
                )
                guard box >= faults.count, let interval = audit.intervalMicroseconds else { continue }
                let expected = Double(audit.expected.intervalMicroseconds)
                #expect(
                    abs(Double(interval) - expected) <= 0.01 * expected + 1_000, "\(audit.expected.type) \(interval)")
            }
        }
        #expect(report.isGood == faults.isEmpty)
    }

    @Test(arguments: Fault.allCases)
    func alone(_ fault: Fault) {
        var model = Self.model
        for seed in UInt64(0)..<6 {
            check([fault], boxes: 4, isInTurn: seed % 2 == 1, seed: 1000 + seed, &model)
        }
    }

    @Test(arguments: 0..<8)
    func threeAtATime(_ part: Int) {
        var model = SilenceModel()
        let all = Fault.allCases
        for index in all.indices {
            let faults = [all[index], all[(index + 1 + part) % all.count], all[(index + 11 + 2 * part) % all.count]]
            check(
                faults, boxes: 5, isInTurn: (index + part) % 2 == 1, seed: UInt64(part * 100 + index), &model)
        }
    }

    @Test(arguments: 0..<4)
    func cleanFleets(_ part: Int) {
        var model = Self.model
        for index in 0..<25 {
            check([], boxes: 6, isInTurn: index % 2 == 1, seed: UInt64(5000 + part * 100 + index), &model)
        }
    }
}
