/// What came of qualifying one radio or two.
///
/// Of two radios nobody can tell which one loses: a grade counts what both did together, so a good one holds, and a bad
/// one may be the other's fault. A third radio tells.
public struct QualificationReport: Sendable {
    public let radios: [QualifiedRadio]
    /// In the order in which they were tried.
    public let deliveries: [Delivery]
    /// How long each phase was to take, in microseconds.
    public let phaseMicroseconds: Int
    /// Whether all phases were tried to their end.
    public let isComplete: Bool

    /// - Parameter deliveries: Those that were begun; the last one may have been broken off.
    public init(_ radios: [QualifiedRadio], _ deliveries: [Delivery], phaseMicroseconds: Int, isComplete: Bool) {
        self.radios = radios
        self.deliveries = deliveries
        self.phaseMicroseconds = phaseMicroseconds
        self.isComplete = isComplete
    }

    /// Whether no radio is unfit for anything.
    public var isFit: Bool {
        radios.allSatisfy { radio in verdicts(of: radio).allSatisfy { $0.grade != .unfit } }
    }

    /// For each role, in their order.
    public func verdicts(of radio: QualifiedRadio) -> [RadioVerdict] {
        RadioRole.allCases.map { role in
            let counting = deliveries.filter { Self.counts($0, for: role, of: radio.label) }
            let grades = counting.compactMap { delivery in
                // Beacons are heard all the same: an extended advertisement that is not costs the best grade alone.
                delivery.phase == .extended ? delivery.grade.map { min($0, .usable) } : delivery.grade
            }
            return RadioVerdict(
                role: role, grade: counting.contains { $0.grade == nil } ? nil : grades.max(),
                reasons: counting.map(\.reason))
        }
    }

    private static func counts(_ delivery: Delivery, for role: RadioRole, of label: String) -> Bool {
        switch (role, delivery.phase) {
        case (.scanner, .legacy), (.scanner, .extended): delivery.receiver == label
        case (.sender, .legacy), (.sender, .extended): delivery.sender == label
        case (.both, .whileSending): delivery.receiver == label || delivery.sender == label
        default: false
        }
    }

    /// The share of extended advertisements that reached a radio, 0...1; `nil` where none were sent to it.
    public func extendedShare(to radio: QualifiedRadio) -> Double? {
        deliveries.first { $0.phase == .extended && $0.receiver == radio.label }.flatMap {
            $0.refusal == nil ? $0.share : 0
        }
    }

    /// What the filter of duplicates of a radio does; `nil` where it was not tried.
    public func filter(of radio: QualifiedRadio) -> DuplicateFilterKind? {
        deliveries.first { $0.phase == .duplicatesFiltered && $0.receiver == radio.label }?.filter
    }
}
