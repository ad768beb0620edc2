internal import BluetoothTypes

/// A role of a radio.
public enum RadioRole: String, Hashable, Sendable, CaseIterable {
    case scanner
    case sender
    /// Scanning and sending at the same time.
    case both
}

/// A grade, the best first.
public enum RadioGrade: String, Hashable, Sendable, CaseIterable, Comparable {
    /// At least 90 % of the due events are received, and no silence is longer than 2 s.
    case good
    /// At least 50 % of the due events are received, and no silence is longer than 10 s.
    case usable
    /// The conditions of ``usable`` are not met.
    case unfit

    /// The conditions of the grade: the smallest share of received events, and the longest silence in microseconds.
    var limits: (share: Double, silenceMicroseconds: Int) {
        switch self {
        case .good: (0.9, 2_000_000)
        case .usable: (0.5, 10_000_000)
        case .unfit: (0, .max)
        }
    }

    /// Returns whether `left` is the better grade.
    public static func < (left: Self, right: Self) -> Bool { left.limits.share > right.limits.share }
}

/// A radio that was qualified.
public struct QualifiedRadio: Equatable, Sendable {
    /// The label in the report: `A` or `B`. Two radios may have the same adapter name, such as `virtual`.
    public let label: String
    /// The name for `--adapter`.
    public let adapter: String
    /// The version and the manufacturer of the controller.
    public let controller: String
    /// True if the controller claims to support extended advertising.
    public let claimsExtended: Bool

    /// Creates a radio with the claims of its controller.
    public init(label: String, adapter: String, controller: String, claimsExtended: Bool) {
        self.label = label
        self.adapter = adapter
        self.controller = controller
        self.claimsExtended = claimsExtended
    }
}

/// The grade of a radio in one role.
public struct RadioVerdict: Equatable, Sendable {
    public let role: RadioRole
    /// The grade; `nil` if the role was not tested, or if the result is not clear.
    public let grade: RadioGrade?
    /// The reasons, one sentence for each delivery.
    public let reasons: [String]
}

extension Delivery {
    /// The grade of this delivery alone; `nil` if another program interfered.
    public var grade: RadioGrade? {
        if refusal != nil { return .unfit }
        guard let share else { return nil }
        let silence = longestSilenceMicroseconds
        let grade =
            RadioGrade.allCases.first { share >= $0.limits.share && silence <= $0.limits.silenceMicroseconds } ?? .unfit
        // If reception was good, the beacon was certainly sent nearly all the time.
        return isSenderOff && grade != .good ? nil : grade
    }

    /// The result of this delivery in one sentence.
    public var reason: String {
        let path = "\(receiver), receiving from \(sender ?? "the beacon")\(Self.words(phase))"
        if let refusal { return "\(path): \(refusal)" }
        guard let share else { return "\(path): the scan of another program interfered during the whole phase" }
        let percent = NumberFormat.rounded(share * 100, 1)
        let silence = NumberFormat.rounded(Double(longestSilenceMicroseconds) / 1_000_000, 1)
        if grade == nil {
            return "\(path): \(sender ?? "the beacon") no longer sent at the end: another program turned it off"
        }
        var text = "\(path): \(percent) % delivered, never silent for more than \(silence) s"
        let (least, longest) = RadioGrade.good.limits
        if share < least { text += "; the grade good needs \(Int(least * 100)) %" }
        if longestSilenceMicroseconds > longest { text += "; the grade good allows \(longest / 1_000_000) s" }
        if let lost = lostInKernel, lost > 0 { text += "; \(lost) reports were lost in the kernel, not by the radio" }
        if damaged > 0 { text += "; \(damaged) reports had wrong bytes" }
        return text
    }

    private static func words(_ phase: QualificationPhase) -> String {
        switch phase {
        case .legacy: ""
        case .extended: " in extended advertising"
        case .whileSending: " while both send"
        case .duplicatesFiltered: " with the filter for duplicates"
        }
    }
}
