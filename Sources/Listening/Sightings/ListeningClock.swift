/// Counts the time in which the receiver certainly listened, in microseconds.
///
/// If nothing is received, either no device sends or the receiver does not work. So time counts only after a later
/// report, of any device, proves that the receiver worked meanwhile. A pause between two reports does not count if it
/// is unlikely at the usual rate of reports, or if the receiver was known not to work in it.
///
/// All timers of zones, regions and presences use this clock. This is the only place that decides which time counts.
public struct ListeningClock: Equatable, Sendable {
    /// The reason why it is certain that the receiver worked while a beacon was silent.
    public enum Proof: String, Hashable, Sendable {
        /// Other reports arrived during the silence.
        case report
        /// The scan was started again during the silence, and reports arrived after that.
        case restart
    }

    /// The shortest time without a report, or without a working receiver, after which the receiver counts as doubtful,
    /// in microseconds: 5 s.
    public static let graceMicroseconds = 5_000_000

    /// The time in which the receiver certainly listened until the last report, in microseconds.
    public private(set) var listened = 0
    /// The number of the current period of listening, counted from 1; 0 before the first report. Time between two
    /// periods does not count.
    public private(set) var period = 0
    /// The number of times that the receiver started to work after it had stopped.
    public private(set) var restarts = 0
    /// The time at which the receiver first worked; `nil` before that.
    public private(set) var begunAt: HeardInstant?
    /// The time at which the receiver stopped working; `nil` while it works.
    public private(set) var stoppedAt: HeardInstant?
    /// The time at which the last report of any device arrived while the receiver worked; `nil` before the first
    /// report.
    public private(set) var lastReport: HeardInstant?
    /// True if the receiver has stopped since the last report.
    private var wasStopped = false
    /// The time at which the receiver last started to work again after it had stopped; `nil` before that.
    public private(set) var restartedAt: HeardInstant?
    /// The sum of earlier durations in which the receiver may have failed although it seemed to work, in microseconds.
    private var doubtfulBefore = 0
    private var traffic = ReportTraffic()
    /// The time at which the current period began.
    private var start = HeardInstant(nanoseconds: 0)
    /// The value of ``listened`` at ``start``.
    private var startListened = 0

    /// Creates the clock of a receiver that has not received anything.
    public init() {}

    // MARK: Inputs

    /// Marks the receiver as working from now on, for the first time or again.
    public mutating func startListening(at now: HeardInstant) {
        begunAt = begunAt ?? now
        guard stoppedAt != nil else { return }
        stoppedAt = nil
        restartedAt = now
        restarts += 1
    }

    /// Marks the receiver as not working from now on.
    public mutating func stopListening(at now: HeardInstant) {
        guard stoppedAt == nil else { return }
        doubtfulBefore = doubtfulMicroseconds(at: now)
        stoppedAt = now
        wasStopped = true
    }

    /// Takes the time of a report of any device.
    public mutating func receive(at now: HeardInstant) {
        // While this receiver is stopped, reports may come from another program's scan, which may report each device
        // only once.
        guard stoppedAt == nil else { return }
        begunAt = begunAt ?? now
        guard let last = lastReport else { return beginPeriod(at: now) }
        let gap = now.microseconds(since: last)
        if gap > Self.graceMicroseconds { doubtfulBefore = doubtfulMicroseconds(at: now) }
        guard !wasStopped else { return beginPeriod(at: now) }
        if gap <= traffic.longestCounted {
            listened = max(listened, startListened + now.microseconds(since: start))
            lastReport = max(last, now)
        } else {
            beginPeriod(at: now)
        }
        traffic.add(gap)
    }

    private mutating func beginPeriod(at now: HeardInstant) {
        wasStopped = false
        period += 1
        start = now
        startListened = listened
        lastReport = now
    }

    // MARK: Times

    /// The moment at which the receiver becomes doubtful unless a report arrives before that moment; `nil` if the
    /// receiver has not worked so far. The first report may take 5 s. The first report after a restart may take as long
    /// as any later report.
    public var doubtfulAt: HeardInstant? {
        let silenceBegin = lastReport.map { max($0, restartedAt ?? $0) } ?? restartedAt ?? begunAt
        return [
            stoppedAt?.advanced(byMicroseconds: Self.graceMicroseconds),
            silenceBegin?.advanced(byMicroseconds: traffic.longestLikely),
        ].compactMap(\.self).min()
    }

    /// Returns whether the receiver may have failed: it has not worked for 5 s, or nothing was received for a time that
    /// is unlikely at the usual rate of reports.
    public func isDoubtful(at now: HeardInstant) -> Bool { doubtfulAt.map { $0 <= now } ?? false }

    /// Returns the total time until `now` in which the receiver may have failed although it seemed to work, in
    /// microseconds.
    public func doubtfulMicroseconds(at now: HeardInstant) -> Int {
        guard stoppedAt == nil, let lastReport else { return doubtfulBefore }
        let silence = now.microseconds(since: max(lastReport, restartedAt ?? lastReport))
        return doubtfulBefore + (silence >= traffic.longestLikely ? silence : 0)
    }

    /// Returns the time at which the receiver stopped working. If it is only possible that the receiver has failed,
    /// returns the time of the last report, or without any report the time at which the receiver started to work.
    /// Returns `nil` if the receiver works.
    public func silentSince(at now: HeardInstant) -> HeardInstant? {
        stoppedAt ?? (isDoubtful(at: now) ? lastReport ?? restartedAt ?? begunAt : nil)
    }

    /// Returns the value that ``listened`` will have if a report arrives at `now`. If the time since the last report is
    /// longer than usual, returns ``listened`` itself.
    public func presumedListened(at now: HeardInstant) -> Int {
        guard stoppedAt == nil, let lastReport else { return listened }
        let silence = now.microseconds(since: lastReport)
        return silence <= traffic.longestUsual ? listened + silence : listened
    }

    /// Returns the value that ``listened`` had at a moment of the current period.
    public func listened(at instant: HeardInstant) -> Int {
        min(listened, startListened + instant.microseconds(since: start))
    }

    /// Returns the moment of the current period at which ``listened`` reaches `time`.
    public func instant(of time: Int) -> HeardInstant {
        start.advanced(byMicroseconds: max(0, time - startListened))
    }

    /// Returns the reason why it is certain that the receiver worked since a moment.
    ///
    /// - Parameter restarts: The value of ``restarts`` at that moment; `nil` if it was before the start.
    public func proof(since restarts: Int?) -> Proof { restarts == self.restarts ? .report : .restart }
}

/// The recent mean time between two reports, and the pauses that are unlikely with this mean.
struct ReportTraffic: Equatable, Sendable {
    /// The number of pauses over which the mean is computed.
    static let memory = 16.0
    /// The longest mean that is assumed, in microseconds: 5 min.
    static let longestMean = 300e6
    /// A pause counts as listened up to 5 s, or up to this number of mean pauses if that is longer. In an even longer
    /// pause, reports are probably missing.
    static let missing = 3.0
    /// A pause is unlikely if it occurs less than once in this time while the receiver works, in microseconds: 30 days.
    static let unlikely = 30 * 86_400e6

    /// The mean pause between two reports, in microseconds; 0 before the first pause.
    private var mean = 0.0
    private var count = 0.0
    /// The sum of the pauses within the current advertising event, in microseconds. The reports of one event on several
    /// channels count as one report.
    private var sinceLastEvent = 0

    mutating func add(_ gap: Int) {
        let gap = gap + sinceLastEvent
        guard gap >= IntervalEstimate.sameEventMicroseconds else { return sinceLastEvent = gap }
        sinceLastEvent = 0
        count = min(count + 1, Self.memory)
        // A pause that is longer than the longest likely one may be a failure of the receiver.
        let likely = gap > ListeningClock.graceMicroseconds ? min(gap, longestLikely) : gap
        mean = min(mean + (Double(likely) - mean) / count, Self.longestMean)
    }

    /// The longest pause that is usual and no reason for doubt, in microseconds.
    var longestUsual: Int { min(ListeningClock.graceMicroseconds, Int(Self.missing * mean)) }

    /// The longest pause that counts as listened, in microseconds.
    var longestCounted: Int { max(ListeningClock.graceMicroseconds, Int(Self.missing * mean)) }

    /// The longest pause that is likely, in microseconds: if reports arrive independently of each other, a longer pause
    /// occurs once in 30 days.
    var longestLikely: Int {
        guard mean > 0 else { return ListeningClock.graceMicroseconds }
        return max(ListeningClock.graceMicroseconds, Int(mean * naturalLogarithm(Self.unlikely / mean)))
    }
}
