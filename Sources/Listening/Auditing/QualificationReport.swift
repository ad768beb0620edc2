public import Configuration

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

extension QualificationReport {
    /// For people, at most 80 columns wide where names are short: the radios, the phases, the grades and why.
    public var text: String {
        var lines = radios.map { radio in
            "\(radio.label) is \(TerminalText.line(radio.adapter)): \(radio.controller), "
                + (radio.claimsExtended ? "with" : "without") + " extended advertising\n"
        }
        var table = Table(
            ["phase", "path", "heard", "%", "silent s", "dBm", "sd dB", "all/s", "restarts"],
            alignment: [.left, .left] + [Table.Alignment](repeating: .right, count: 7))
        for delivery in deliveries { table.add(delivery.cells) }
        lines += ["\n", table.text, "\n"]
        for delivery in deliveries where !delivery.gaps.isEmpty && delivery.phase != .duplicatesFiltered {
            let classes = delivery.gaps.map { "\($0.missed) missed: \($0.count)" }.joined(separator: ", ")
            lines.append("gaps, \(delivery.phase.rawValue), \(delivery.path): \(classes)\n")
        }
        for radio in radios {
            if let filter = filter(of: radio) { lines.append("\(radio.label) \(Self.words(filter))\n") }
        }
        if radios.count > 1, Set(radios.map(\.claimsExtended)).count > 1 {
            lines.append("only one of them has extended advertising: it was not tried\n")
        }
        for radio in radios {
            lines.append("\n")
            for verdict in verdicts(of: radio) where !verdict.reasons.isEmpty {
                lines.append("\(radio.label) as \(verdict.role.words): \(verdict.grade?.rawValue ?? "not known")\n")
                lines += verdict.reasons.map { "  \($0)\n" }
            }
        }
        if radios.count > 1, !isFit {
            lines.append("\nTwo radios do not tell which of them loses; a third one does.\n")
        }
        if !isComplete { lines.append("\nIt was broken off: not all phases were tried to their end.\n") }
        return lines.joined()
    }

    private static func words(_ filter: DuplicateFilterKind) -> String {
        switch filter {
        case .none: "reports duplicates although the filter is on"
        case .address: "filters duplicates by address: new data of the same address is not reported"
        case .addressAndData: "filters duplicates by address and data"
        case .some: "filters duplicates"
        }
    }

    /// One object.
    public var json: JSONValue {
        .record([
            ("complete", .boolean(isComplete)), ("fit", .boolean(isFit)),
            ("phaseS", AuditNumber.seconds(phaseMicroseconds)),
            (
                "radios",
                .array(
                    radios.map { radio in
                        .record([
                            ("radio", .string(radio.label)), ("adapter", .string(radio.adapter)),
                            ("controller", .string(radio.controller)),
                            ("extendedClaimed", .boolean(radio.claimsExtended)),
                            ("extendedDelivered", AuditNumber.value(extendedShare(to: radio))),
                            ("filter", .optional(filter(of: radio)) { .string($0.rawValue) }),
                            ("roles", .array(verdicts(of: radio).map(\.json))),
                        ])
                    })
            ), ("phases", .array(deliveries.map(\.json))),
        ])
    }
}

extension RadioRole {
    fileprivate var words: String { self == .both ? "both at once" : rawValue }
}

extension RadioVerdict {
    fileprivate var json: JSONValue {
        .record([
            ("role", .string(role.rawValue)), ("grade", .optional(grade) { .string($0.rawValue) }),
            ("reasons", .array(reasons.map(JSONValue.string))),
        ])
    }
}

extension Delivery {
    fileprivate var path: String { "\(sender ?? "beacon") to \(receiver)" }

    fileprivate var cells: [String] {
        let isHeard = refusal == nil && listenedMicroseconds > 0
        return [
            phase.rawValue, path, isHeard ? "\(heard)/\(owed)" : "-",
            share.map { "\(Int(($0 * 100).rounded()))" } ?? "-",
            isHeard ? AuditNumber.tenths(Double(longestSilenceMicroseconds) / 1_000_000) : "-",
            meanLevel.map(AuditNumber.tenths) ?? "-", levelDeviation.map(AuditNumber.tenths) ?? "-",
            reportsPerSecond.map(AuditNumber.tenths) ?? "-", "\(restarts)",
        ]
    }

    fileprivate var json: JSONValue {
        .record([
            ("phase", .string(phase.rawValue)), ("sender", .optional(sender, JSONValue.string)),
            ("receiver", .string(receiver)), ("intervalMs", AuditNumber.milliseconds(intervalMicroseconds)),
            ("listenedS", AuditNumber.seconds(listenedMicroseconds)), ("heard", .integer(heard)),
            ("owed", .integer(owed)), ("share", AuditNumber.value(share)),
            ("longestSilenceS", AuditNumber.seconds(longestSilenceMicroseconds)),
            (
                "gaps",
                .array(gaps.map { .record([("missed", .integer($0.missed)), ("count", .integer($0.count))]) })
            ),
            ("rssiDbm", .record([("mean", AuditNumber.value(meanLevel)), ("sd", AuditNumber.value(levelDeviation))])),
            ("reportsPerS", AuditNumber.value(reportsPerSecond)), ("damaged", .integer(damaged)),
            ("lostInKernel", .optional(lostInKernel) { .integer($0) }), ("restarts", .integer(restarts)),
            ("filter", .optional(filter) { .string($0.rawValue) }),
            ("grade", phase == .duplicatesFiltered ? .null : .optional(grade) { .string($0.rawValue) }),
            ("refusal", .optional(refusal, JSONValue.string)),
        ])
    }
}
