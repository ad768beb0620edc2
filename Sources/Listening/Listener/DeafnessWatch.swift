public import HCI

/// Finds out that a radio hears nothing any more, as far as that can be known: nobody hears itself, and where nobody
/// sends there is nothing to hear.
///
/// A radio that has heard something, and then nothing for much longer than the mean gap, is asked whether it scans; when it
/// says so three times and still nothing comes, it is deaf.
public struct DeafnessWatch: Sendable {
    /// The shortest silence that is noticed, in microseconds: 10 s.
    public static let shortestSilence = 10_000_000
    /// As many mean gaps between reports are no silence.
    static let gaps = 30
    /// Between two probes, in microseconds: 5 s.
    public static let probeSpacing = 5_000_000
    /// Probes in silence after which the radio is deaf.
    public static let probes = 3
    /// No silence is waited for longer than this at first, in microseconds: 1 hour.
    static let memory = 3_600_000_000

    /// What is to be done.
    public enum Step: Hashable, Sendable {
        case nothing
        /// Ask whether the scan is on.
        case probe
        /// The radio is deaf, since the last report.
        case deaf(since: HCIInstant)
    }

    /// When a report came last; `nil` before the first one.
    public private(set) var lastReport: HCIInstant?
    /// Whether the radio was found deaf, and nothing was heard since.
    public var isDeaf: Bool { found > 0 }
    private var meanGap = 0
    private var probed = 0
    /// How often it was found deaf since the last report.
    private var found = 0

    /// Nothing heard yet: nobody knows whether there is anything to hear.
    public init() {}

    /// A report came.
    public mutating func heard(at now: HCIInstant) {
        if let lastReport {
            // The mean of about the last 64 gaps.
            meanGap += (max(0, now.microseconds(since: lastReport)) - meanGap) / 64
        }
        lastReport = now
        probed = 0
        found = 0
    }

    /// It was not listened until now: the silence begins anew.
    public mutating func breakOff(at now: HCIInstant) {
        if lastReport != nil { lastReport = now }
        probed = 0
    }

    /// When ``check(at:)`` wants to be called; `nil` for never.
    public var nextCheck: HCIInstant? {
        // A radio that stays deaf is given ever more time: each start of it costs others something.
        let silence = max(Self.shortestSilence, Self.gaps * min(meanGap, Self.memory / Self.gaps)) << min(found, 6)
        return lastReport?.advanced(byMicroseconds: silence + probed * Self.probeSpacing)
    }

    /// What the silence so far asks for.
    public mutating func check(at now: HCIInstant) -> Step {
        guard let lastReport, let due = nextCheck, due <= now else { return .nothing }
        guard probed < Self.probes else {
            probed = 0
            found += 1
            return .deaf(since: lastReport)
        }
        probed += 1
        return .probe
    }
}
