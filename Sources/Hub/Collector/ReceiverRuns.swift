/// The runs of one receiver's program. Each start of the program begins a new run. This type computes the time of each
/// batch, and detects batches that arrive twice.
///
/// A receiver keeps batches while its broker cannot be reached. Such batches arrive after newer batches, or between
/// newer batches.
struct ReceiverRuns: Sendable {
    /// The result for a batch.
    enum Verdict: Hashable, Sendable {
        /// The time of the batch by this machine's clock, in milliseconds since 1970.
        case at(Int)
        /// The batch has arrived before.
        case again
        /// The batch was sent before the receiver's machine last started, so its time is not known.
        case timeless
        /// The time of the batch is in the future.
        case ahead
    }

    private struct Run {
        /// The id of the run, as in ``ReceiverLine/Number``.
        let boot: String
        /// The highest sequence number so far.
        var lastSequence: Int
        /// The highest uptime of the machine in a batch so far, in milliseconds.
        var lastBootMilliseconds: Int
        /// The time of arrival of the last batch, in milliseconds since 1970.
        var arrival: Int
        var clock: UptimeConverter
        /// The sequence numbers of the last batches, as a ring buffer.
        var recent: [Int]
        /// The index of the oldest element of ``recent``.
        var oldest = 0

        func hasReceived(_ sequence: Int) -> Bool { sequence <= lastSequence && recent.contains(sequence) }

        mutating func note(_ number: ReceiverLine.Number, arrival: Int) {
            lastSequence = max(lastSequence, number.sequence)
            lastBootMilliseconds = max(lastBootMilliseconds, number.bootMilliseconds)
            self.arrival = arrival
            if recent.count < ReceiverRuns.recentLimit {
                recent.append(number.sequence)
            } else {
                recent[oldest] = number.sequence
                oldest = (oldest + 1) % ReceiverRuns.recentLimit
            }
        }
    }

    /// The runs, the newest last.
    private var runs: [Run] = []

    /// The largest number of runs that are kept.
    static let limit = 4
    /// The number of sequence numbers that are kept for each run. It is larger than the number of batches that a broker
    /// delivers twice.
    static let recentLimit = 512
    /// A batch of another run begins a new run if it arrives at least this time after the last batch of the current
    /// run, in milliseconds. If it arrives earlier, it may be a late batch of an earlier run.
    static let newRunPause = 3000
    /// The largest uptime difference between a batch and the current run, in milliseconds: 8 days. Receivers keep
    /// batches for at most 7 days, so a larger difference means that the machine has restarted.
    static let oldestBatch = 8 * 86_400_000
    /// The largest uptime difference between the last batch of a run and the first batch of the next run without a
    /// restart of the machine, in milliseconds.
    static let longestRestart = 10_000

    /// Processes the number of a batch. Returns the time of the batch, or the reason why the batch is not used.
    ///
    /// - Parameter arrival: The time of arrival, in milliseconds since 1970.
    mutating func process(_ number: ReceiverLine.Number, arrival: Int) -> Verdict {
        if let index = runs.firstIndex(where: { $0.boot == number.boot }) {
            guard !runs[index].hasReceived(number.sequence) else { return .again }
            let time =
                index == runs.count - 1 || !isOld(number, arrival)
                ? runs[index].clock.unixMilliseconds(number.bootMilliseconds, arrival: arrival)
                : runs[index].clock.estimatedUnixMilliseconds(number.bootMilliseconds)
            guard let time, time <= arrival + UptimeConverter.maximumDecrease else { return .ahead }
            runs[index].note(number, arrival: arrival)
            return .at(time)
        }
        if isOld(number, arrival), let current = runs.last,
            current.lastBootMilliseconds - number.bootMilliseconds <= Self.oldestBatch
        {
            // Two runs since the same start of the machine have the same uptime clock.
            guard number.bootMilliseconds <= current.lastBootMilliseconds,
                let time = current.clock.estimatedUnixMilliseconds(number.bootMilliseconds)
            else { return .timeless }
            var run = Run(
                boot: number.boot, lastSequence: number.sequence, lastBootMilliseconds: number.bootMilliseconds,
                arrival: arrival, clock: current.clock, recent: [])
            run.note(number, arrival: arrival)
            runs.insert(run, at: runs.count - 1)
            if runs.count > Self.limit { runs.removeFirst() }
            return .at(time)
        }
        var run = Run(
            boot: number.boot, lastSequence: number.sequence, lastBootMilliseconds: number.bootMilliseconds,
            arrival: arrival,
            clock: UptimeConverter(), recent: [])
        run.note(number, arrival: arrival)
        let time = run.clock.unixMilliseconds(number.bootMilliseconds, arrival: arrival)
        runs.append(run)
        if runs.count > Self.limit { runs.removeFirst() }
        return .at(time)
    }

    /// Adds `milliseconds` to all times, because this machine's clock was set.
    mutating func shift(by milliseconds: Int) {
        for index in runs.indices {
            runs[index].arrival += milliseconds
            runs[index].clock.shift(by: milliseconds)
        }
    }

    /// Returns true if a batch is likely from an earlier run than the current run.
    private func isOld(_ number: ReceiverLine.Number, _ arrival: Int) -> Bool {
        guard let current = runs.last, current.boot != number.boot, arrival - current.arrival < Self.newRunPause else {
            return false
        }
        let uptimeDifference = number.bootMilliseconds - current.lastBootMilliseconds
        return !(0...Self.longestRestart).contains(uptimeDifference)
    }
}

/// Converts the uptime of a receiver's machine into the time of this machine. The offset between them is estimated from
/// the batches. For each batch, the time of arrival minus the uptime is the offset plus the delay of the batch. So the
/// smallest of these differences is the best estimate.
///
/// A batch that the receiver kept for hours arrives hours late, so it says nothing about the offset. A very different
/// value is accepted only if five batches in a row, over at least 3 s, agree on it.
struct UptimeConverter: Sendable {
    /// For each of the last minutes, the smallest difference in milliseconds, the newest last.
    private var differences: [(minute: Int, least: Int)] = []
    /// The difference that may replace ``differences``, because the last batches agree on it: the difference in the
    /// first of these batches, the smallest difference, the number of batches, and the time of arrival of the first
    /// batch.
    private var candidate: (first: Int, least: Int, batches: Int, since: Int)?
    /// The number of minutes whose differences are kept.
    static let minutes = 5
    /// The largest drift of a clock in a few minutes, in milliseconds. Two differences agree if they differ by at most
    /// this time.
    static let maximumDrift = 1000
    /// The largest decrease of the difference that a single batch may cause, in milliseconds.
    static let maximumDecrease = 12_000
    /// The number of batches in a row, and the shortest time that they must span, to accept a very different value.
    static let agreement = (batches: 5, milliseconds: 3000)

    /// Adds the uptime of a batch in milliseconds. Returns the batch's time in milliseconds since 1970. If this time is
    /// after `arrival`, the batch is from the future.
    ///
    /// - Parameter arrival: The time of arrival, in milliseconds since 1970.
    mutating func unixMilliseconds(_ bootMilliseconds: Int, arrival: Int) -> Int {
        let (minute, difference) = (arrival / 60_000, arrival - bootMilliseconds)
        let least = differences.map(\.least).min() ?? difference
        if (-Self.maximumDecrease...Self.maximumDrift).contains(difference - least) {
            candidate = nil
            note(difference, minute)
        } else if let former = candidate, abs(difference - former.first) <= Self.maximumDrift {
            let (least, batches) = (min(former.least, difference), former.batches + 1)
            candidate = (former.first, least, batches, former.since)
            if batches >= Self.agreement.batches, arrival - former.since >= Self.agreement.milliseconds {
                (differences, candidate) = ([], nil)
                note(least, minute)
            }
        } else {
            candidate = (difference, difference, 1, arrival)
        }
        return estimatedUnixMilliseconds(bootMilliseconds) ?? arrival
    }

    private mutating func note(_ difference: Int, _ minute: Int) {
        if let last = differences.last, last.minute == minute {
            differences[differences.count - 1].least = min(last.least, difference)
        } else {
            differences.append((minute, difference))
        }
        differences.removeAll { $0.minute <= minute - Self.minutes }
    }

    /// Returns the estimated time at an uptime, in milliseconds since 1970; `nil` before the first batch.
    func estimatedUnixMilliseconds(_ bootMilliseconds: Int) -> Int? {
        differences.map(\.least).min().map { bootMilliseconds + $0 }
    }

    /// Adds `milliseconds` to all times, because this machine's clock was set.
    mutating func shift(by milliseconds: Int) {
        differences = differences.map { ($0.minute + milliseconds / 60_000, $0.least + milliseconds) }
        candidate = nil
    }
}
