public import HCI

/// Detects that a radio does not receive any more, as far as this is possible: a radio cannot receive itself, and
/// silence is normal if nothing is sent.
///
/// If a radio has received reports, and then receives none for much longer than the mean gap, the caller probes the
/// scan: it checks whether the scan is on. If three probes find that the scan is on and still no report arrives, the
/// radio is deaf.
public struct DeafnessWatch: Sendable {
    /// The shortest silence that is probed, in microseconds: 10 s.
    public static let shortestSilence = 10_000_000
    /// The silence that is probed, in mean gaps between reports.
    static let gaps = 30
    /// The time between two probes, in microseconds: 5 s.
    public static let probeSpacing = 5_000_000
    /// The number of probes after which the radio is deaf.
    public static let probes = 3
    /// The longest silence before the first probe, in microseconds: 1 hour.
    static let memory = 3_600_000_000

    /// The next step for the caller.
    public enum Step: Hashable, Sendable {
        case nothing
        /// Check whether the scan is on.
        case probe
        /// The radio has been deaf since the last report.
        case deaf(since: HCIInstant)
    }

    /// The time of the last report; `nil` before the first one.
    public private(set) var lastReport: HCIInstant?
    /// True if the radio was found deaf and no report has arrived since.
    public var isDeaf: Bool { deafCount > 0 }
    /// The mean time between two reports, in microseconds.
    private var meanGap = 0
    /// The number of probes in the current silence.
    private var probeCount = 0
    /// The number of times that the radio was found deaf since the last report.
    private var deafCount = 0

    /// Creates a watch without reports. Until the first report, it is not known whether any device sends.
    public init() {}

    /// Takes a report.
    public mutating func receive(at now: HCIInstant) {
        if let lastReport {
            // The mean of about the last 64 gaps.
            meanGap += (max(0, now.microseconds(since: lastReport)) - meanGap) / 64
        }
        lastReport = now
        probeCount = 0
        deafCount = 0
    }

    /// Restarts the measurement of the silence at `now`, because the receiver did not listen before.
    public mutating func breakOff(at now: HCIInstant) {
        if lastReport != nil { lastReport = now }
        probeCount = 0
    }

    /// The time at which ``check(at:)`` must be called; `nil` for never.
    public var nextCheck: HCIInstant? {
        // For a radio that stays deaf, the waiting time doubles each time, because each restart disturbs other
        // programs.
        let silence = max(Self.shortestSilence, Self.gaps * min(meanGap, Self.memory / Self.gaps)) << min(deafCount, 6)
        return lastReport?.advanced(byMicroseconds: silence + probeCount * Self.probeSpacing)
    }

    /// Returns the next step for the silence so far.
    public mutating func check(at now: HCIInstant) -> Step {
        guard let lastReport, let due = nextCheck, due <= now else { return .nothing }
        guard probeCount < Self.probes else {
            probeCount = 0
            deafCount += 1
            return .deaf(since: lastReport)
        }
        probeCount += 1
        return .probe
    }
}
