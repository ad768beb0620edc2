/// What a radio is wanted for.
public enum RadioRole: String, Hashable, Sendable, CaseIterable {
    case scanner
    case sender
    /// Both at the same time.
    case both
}

/// How well a radio does that, the best first.
public enum RadioGrade: String, Hashable, Sendable, CaseIterable, Comparable {
    /// At least 90 % is delivered, and no silence is longer than 2 s.
    case good
    /// At least 50 % is delivered, and no silence is longer than 10 s.
    case usable
    /// Worse than that.
    case unfit

    /// What a grade asks for: the least share, and the longest silence in microseconds.
    var limits: (share: Double, silenceMicroseconds: Int) {
        switch self {
        case .good: (0.9, 2_000_000)
        case .usable: (0.5, 10_000_000)
        case .unfit: (0, .max)
        }
    }

    /// Whether `left` is the better one.
    public static func < (left: Self, right: Self) -> Bool { left.limits.share > right.limits.share }
}

/// A radio that was qualified.
public struct QualifiedRadio: Hashable, Sendable {
    /// How it is called in the report: `A` or `B`. Two may have the same name, such as `virtual`.
    public let label: String
    /// As `--adapter` takes it.
    public let adapter: String
    /// Its version and manufacturer, for people.
    public let controller: String
    /// Whether its controller says that it can send and hear extended advertising.
    public let claimsExtended: Bool

    /// A radio, by what its controller says.
    public init(label: String, adapter: String, controller: String, claimsExtended: Bool) {
        self.label = label
        self.adapter = adapter
        self.controller = controller
        self.claimsExtended = claimsExtended
    }
}

/// A radio's grade in one role, and why.
public struct RadioVerdict: Hashable, Sendable {
    public let role: RadioRole
    /// `nil` where nothing was tried, or nothing can be said.
    public let grade: RadioGrade?
    /// One sentence for each thing that counts.
    public let reasons: [String]
}

extension Delivery {
    /// The grade by itself; `nil` where nothing can be said: another program was in the way.
    public var grade: RadioGrade? {
        if refusal != nil { return .unfit }
        guard let share else { return nil }
        let silence = longestSilenceMicroseconds
        let grade =
            RadioGrade.allCases.first { share >= $0.limits.share && silence <= $0.limits.silenceMicroseconds } ?? .unfit
        // What was heard well was sent, whatever the sender says.
        return isSenderOff && grade != .good ? nil : grade
    }

    /// Who heard what of whom, and what is wanting, in one sentence.
    public var reason: String {
        let path = "\(receiver), hearing \(sender ?? "the beacon")\(Self.words(phase))"
        if let refusal { return "\(path): \(refusal)" }
        guard let share else { return "\(path): another program's scan was in the way all the time" }
        let percent = AuditNumber.tenths(share * 100)
        let silence = AuditNumber.tenths(Double(longestSilenceMicroseconds) / 1_000_000)
        if grade == nil {
            return "\(path): \(sender ?? "it") did not send any more at the end: another program has turned it off"
        }
        var text = "\(path): \(percent) % delivered, never silent for more than \(silence) s"
        let (least, longest) = RadioGrade.good.limits
        if share < least { text += "; good is \(Int(least * 100)) %" }
        if longestSilenceMicroseconds > longest { text += "; good is \(longest / 1_000_000) s" }
        if let lost = lostInKernel, lost > 0 { text += "; \(lost) reports were lost in the kernel, not by the radio" }
        if damaged > 0 { text += "; \(damaged) reports had wrong bytes" }
        return text
    }

    private static func words(_ phase: QualificationPhase) -> String {
        switch phase {
        case .legacy: ""
        case .extended: " in extended advertising"
        case .whileSending: " while it sends itself"
        case .duplicatesFiltered: " without duplicates"
        }
    }
}
