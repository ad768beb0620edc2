internal import BluetoothTypes
public import Configuration

/// The result of qualifying one or two radios.
///
/// With two radios it is not known which of them loses packets. So a good grade shows that both radios are good, but a
/// bad grade of one radio may be caused by the other radio. A test with a third radio can show which one loses packets.
public struct QualificationReport: Sendable {
    public let radios: [QualifiedRadio]
    /// The deliveries in the order of the phases.
    public let deliveries: [Delivery]
    /// The planned duration of each phase, in microseconds.
    public let phaseMicroseconds: Int
    /// True if all phases were completed.
    public let isComplete: Bool

    /// - Parameter deliveries: The deliveries of all phases that were begun. The last phase may be incomplete.
    public init(_ radios: [QualifiedRadio], _ deliveries: [Delivery], phaseMicroseconds: Int, isComplete: Bool) {
        self.radios = radios
        self.deliveries = deliveries
        self.phaseMicroseconds = phaseMicroseconds
        self.isComplete = isComplete
    }

    /// True if no radio is unfit in any role.
    public var isFit: Bool {
        radios.allSatisfy { radio in verdicts(of: radio).allSatisfy { $0.grade != .unfit } }
    }

    /// Returns the verdict for each role.
    public func verdicts(of radio: QualifiedRadio) -> [RadioVerdict] {
        RadioRole.allCases.map { role in
            let relevant = deliveries.filter { Self.counts($0, for: role, of: radio.label) }
            let grades = relevant.compactMap { delivery in
                // Failing at extended advertising only prevents the best grade, because beacons use legacy
                // advertising.
                delivery.phase == .extended ? delivery.grade.map { min($0, .usable) } : delivery.grade
            }
            return RadioVerdict(
                role: role, grade: relevant.contains { $0.grade == nil } ? nil : grades.max(),
                reasons: relevant.map(\.reason))
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

    /// Returns the share of extended advertisements that the radio received, 0...1; `nil` if none were sent to it.
    public func extendedShare(to radio: QualifiedRadio) -> Double? {
        deliveries.first { $0.phase == .extended && $0.receiver == radio.label }.flatMap {
            $0.refusal == nil ? $0.share : 0
        }
    }

    /// Returns the behaviour of the radio's duplicate filter; `nil` if it was not tested.
    public func filter(of radio: QualifiedRadio) -> DuplicateFilterKind? {
        deliveries.first { $0.phase == .duplicatesFiltered && $0.receiver == radio.label }?.filter
    }
}

extension QualificationReport {
    /// The report as text: the radios, the phases, and the grades with their reasons. It is at most 80 columns wide if
    /// names are short.
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
            let classes = delivery.gaps.map { "\($0.missed) in a row: \($0.count)" }.joined(separator: ", ")
            lines.append("missed events, \(delivery.phase.rawValue), \(delivery.path): \(classes)\n")
        }
        for radio in radios {
            if let filter = filter(of: radio) { lines.append("\(radio.label) \(Self.words(filter))\n") }
        }
        if radios.count > 1, Set(radios.map(\.claimsExtended)).count > 1 {
            lines.append("extended advertising was not tested: only one radio supports it\n")
        }
        for radio in radios {
            lines.append("\n")
            for verdict in verdicts(of: radio) where !verdict.reasons.isEmpty {
                lines.append("\(radio.label) as \(verdict.role.words): \(verdict.grade?.rawValue ?? "not known")\n")
                lines += verdict.reasons.map { "  \($0)\n" }
            }
        }
        if radios.count > 1, !isFit {
            lines.append("\nA test with two radios cannot show which of them loses packets; test with a third radio.\n")
        }
        if !isComplete { lines.append("\nThe run was interrupted: not all phases were completed.\n") }
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

    /// The report as one JSON object.
    public var json: JSONValue {
        .record([
            ("complete", .boolean(isComplete)), ("fit", .boolean(isFit)),
            ("phaseS", .seconds(phaseMicroseconds)),
            (
                "radios",
                .array(
                    radios.map { radio in
                        .record([
                            ("radio", .string(radio.label)), ("adapter", .string(radio.adapter)),
                            ("controller", .string(radio.controller)),
                            ("extendedClaimed", .boolean(radio.claimsExtended)),
                            ("extendedDelivered", .rounded(extendedShare(to: radio))),
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
            phase.rawValue, path, isHeard ? "\(heard)/\(dueEvents)" : "-",
            share.map { "\(Int(($0 * 100).rounded()))" } ?? "-",
            isHeard ? NumberFormat.rounded(Double(longestSilenceMicroseconds) / 1_000_000, 1) : "-",
            meanLevel.map { NumberFormat.rounded($0, 1) } ?? "-",
            levelDeviation.map { NumberFormat.rounded($0, 1) } ?? "-",
            reportsPerSecond.map { NumberFormat.rounded($0, 1) } ?? "-", "\(restarts)",
        ]
    }

    fileprivate var json: JSONValue {
        .record([
            ("phase", .string(phase.rawValue)), ("sender", .optional(sender, JSONValue.string)),
            ("receiver", .string(receiver)), ("intervalMs", .thousandths(intervalMicroseconds)),
            ("listenedS", .seconds(listenedMicroseconds)), ("heard", .integer(heard)),
            ("owed", .integer(dueEvents)), ("share", .rounded(share)),
            ("longestSilenceS", .seconds(longestSilenceMicroseconds)),
            (
                "gaps",
                .array(gaps.map { .record([("missed", .integer($0.missed)), ("count", .integer($0.count))]) })
            ),
            ("rssiDbm", .record([("mean", .rounded(meanLevel)), ("sd", .rounded(levelDeviation))])),
            ("reportsPerS", .rounded(reportsPerSecond)), ("damaged", .integer(damaged)),
            ("lostInKernel", .optional(lostInKernel) { .integer($0) }), ("restarts", .integer(restarts)),
            ("filter", .optional(filter) { .string($0.rawValue) }),
            ("grade", phase == .duplicatesFiltered ? .null : .optional(grade) { .string($0.rawValue) }),
            ("refusal", .optional(refusal, JSONValue.string)),
        ])
    }
}
