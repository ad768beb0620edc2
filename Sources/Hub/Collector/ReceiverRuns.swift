/// The runs of one receiver program, one run for each start: determines the time of each batch, and finds batches that
/// arrive twice.
///
/// Batches that a receiver kept while its broker was unreachable arrive after newer batches, or between them.
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
        let boot: String
        /// The highest sequence number so far.
        var last: Int
        /// The highest uptime of the machine in a batch so far, in milliseconds.
        var lastBootMilliseconds: Int
        /// The time of arrival of the last batch, in milliseconds since 1970.
        var arrival: Int
        var clock: BootClock
        /// The last sequence numbers, as a ring buffer.
        var recent: [Int]
        /// The index of the oldest element of ``recent``.
        var oldest = 0

        func has(_ sequence: Int) -> Bool { sequence <= last && recent.contains(sequence) }

        mutating func note(_ number: ReceiverLine.Number, arrival: Int) {
            last = max(last, number.sequence)
            lastBootMilliseconds = max(lastBootMilliseconds, number.bootMilliseconds)
            self.arrival = arrival
            if recent.count < ReceiverRuns.remembered {
                recent.append(number.sequence)
            } else {
                recent[oldest] = number.sequence
                oldest = (oldest + 1) % ReceiverRuns.remembered
            }
        }
    }

    /// The runs, the newest last.
    private var runs: [Run] = []

    /// The largest number of runs that are kept.
    static let limit = 4
    /// The number of sequence numbers that are kept in each run: more than the number of batches that a broker delivers
    /// twice.
    static let remembered = 512
    /// The time in milliseconds since the last batch of the current run after which a batch of another run begins a new
    /// run. Before, it may be a late batch of an earlier run.
    static let handover = 3000
    /// The largest uptime difference in milliseconds by which a batch may be older than the current run: 8 days.
    /// Receivers keep batches for at most 7 days, so a larger difference means that the machine has restarted.
    static let keeping = 8 * 86_400_000
    /// The longest uptime from the last batch of a run to the first batch of the next run on the same machine, in
    /// milliseconds.
    static let restart = 10_000

    /// Processes the number of a batch, and returns the time of the batch or why it is not used.
    ///
    /// - Parameter arrival: The time of arrival, in milliseconds since 1970.
    mutating func process(_ number: ReceiverLine.Number, arrival: Int) -> Verdict {
        if let place = runs.firstIndex(where: { $0.boot == number.boot }) {
            guard !runs[place].has(number.sequence) else { return .again }
            let time =
                place == runs.count - 1 || !isOld(number, arrival)
                ? runs[place].clock.unixMilliseconds(number.bootMilliseconds, arrival: arrival)
                : runs[place].clock.believed(number.bootMilliseconds)
            guard let time, time <= arrival + BootClock.step else { return .ahead }
            runs[place].note(number, arrival: arrival)
            return .at(time)
        }
        if isOld(number, arrival), let current = runs.last,
            current.lastBootMilliseconds - number.bootMilliseconds <= Self.keeping
        {
            // Two runs since the same start of the machine have the same uptime clock.
            guard number.bootMilliseconds <= current.lastBootMilliseconds,
                let time = current.clock.believed(number.bootMilliseconds)
            else { return .timeless }
            var run = Run(
                boot: number.boot, last: number.sequence, lastBootMilliseconds: number.bootMilliseconds,
                arrival: arrival, clock: current.clock, recent: [])
            run.note(number, arrival: arrival)
            runs.insert(run, at: runs.count - 1)
            if runs.count > Self.limit { runs.removeFirst() }
            return .at(time)
        }
        var run = Run(
            boot: number.boot, last: number.sequence, lastBootMilliseconds: number.bootMilliseconds, arrival: arrival,
            clock: BootClock(), recent: [])
        run.note(number, arrival: arrival)
        let time = run.clock.unixMilliseconds(number.bootMilliseconds, arrival: arrival)
        runs.append(run)
        if runs.count > Self.limit { runs.removeFirst() }
        return .at(time)
    }

    /// Adds `milliseconds` to all times, because this machine's clock was set.
    mutating func shift(by milliseconds: Int) {
        for place in runs.indices {
            runs[place].arrival += milliseconds
            runs[place].clock.shift(by: milliseconds)
        }
    }

    /// Returns true if a batch is from an earlier run than the current one.
    private func isOld(_ number: ReceiverLine.Number, _ arrival: Int) -> Bool {
        guard let current = runs.last, current.boot != number.boot, arrival - current.arrival < Self.handover else {
            return false
        }
        let ahead = number.bootMilliseconds - current.lastBootMilliseconds
        return !(0...Self.restart).contains(ahead)
    }
}

/// Converts the uptime of a receiver's machine into the time of this machine. Lines need time to arrive, so the
/// smallest difference between arrival and uptime is the best estimate.
///
/// Batches that the receiver kept for hours arrive hours late, so their difference shows nothing about the clock.
/// Another difference is accepted when five batches in a row, over 3 s, agree on it.
struct BootClock: Sendable {
    /// The smallest difference of each of the last minutes in milliseconds, the newest last.
    private var differences: [(minute: Int, least: Int)] = []
    /// The last batches in a row that agree on another difference: the first and the smallest difference, the number of
    /// batches, and the arrival of the first batch.
    private var other: (first: Int, least: Int, batches: Int, since: Int)?
    /// The number of minutes whose differences are kept.
    static let minutes = 5
    /// The largest drift of a clock in a few minutes, in milliseconds. Two differences agree if they differ by at most
    /// this.
    static let drift = 1000
    /// The amount in milliseconds by which a single batch may make the difference smaller.
    static let step = 12_000
    /// Another difference is accepted after this number of batches in a row that span at least this time.
    static let agreement = (batches: 5, milliseconds: 3000)

    /// Adds the uptime of a batch in milliseconds, and returns the batch's time in milliseconds since 1970. The time
    /// may be after `arrival`: the batch is then from the future.
    ///
    /// - Parameter arrival: The time of arrival, in milliseconds since 1970.
    mutating func unixMilliseconds(_ bootMilliseconds: Int, arrival: Int) -> Int {
        let (minute, difference) = (arrival / 60_000, arrival - bootMilliseconds)
        let least = differences.map(\.least).min() ?? difference
        if (-Self.step...Self.drift).contains(difference - least) {
            other = nil
            note(difference, minute)
        } else if let found = other, abs(difference - found.first) <= Self.drift {
            let (least, batches) = (min(found.least, difference), found.batches + 1)
            other = (found.first, least, batches, found.since)
            if batches >= Self.agreement.batches, arrival - found.since >= Self.agreement.milliseconds {
                (differences, other) = ([], nil)
                note(least, minute)
            }
        } else {
            other = (difference, difference, 1, arrival)
        }
        return believed(bootMilliseconds) ?? arrival
    }

    private mutating func note(_ difference: Int, _ minute: Int) {
        if let last = differences.last, last.minute == minute {
            differences[differences.count - 1].least = min(last.least, difference)
        } else {
            differences.append((minute, difference))
        }
        differences.removeAll { $0.minute <= minute - Self.minutes }
    }

    /// Returns the time for an uptime by the differences so far, in milliseconds since 1970; `nil` before the first
    /// difference.
    func believed(_ bootMilliseconds: Int) -> Int? {
        differences.map(\.least).min().map { bootMilliseconds + $0 }
    }

    /// Adds `milliseconds` to all times, because this machine's clock was set.
    mutating func shift(by milliseconds: Int) {
        differences = differences.map { ($0.minute + milliseconds / 60_000, $0.least + milliseconds) }
        other = nil
    }
}
