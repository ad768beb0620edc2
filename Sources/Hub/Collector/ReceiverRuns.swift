/// The runs of one receiver: finds the time of each batch, and batches that come twice.
///
/// Batches that a receiver has kept while its broker was away come after newer ones, and between them.
struct ReceiverRuns: Sendable {
    /// The result for a batch.
    enum Verdict: Hashable, Sendable {
        /// The time of the batch by this machine's clock, in milliseconds since 1970.
        case at(Int)
        /// The batch has come before.
        case again
        /// The batch is from before the receiver's machine started, so its time is not known.
        case timeless
        /// The batch is from a time that has not come yet.
        case ahead
    }

    private struct Run {
        let boot: String
        /// The highest sequence.
        var last: Int
        var lastBootMilliseconds: Int
        /// The arrival of the last batch.
        var arrival: Int
        var clock: BootClock
        /// The last sequences as a ring.
        var recent: [Int]
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

    /// The newest last.
    private var runs: [Run] = []

    /// The largest number of runs that are kept.
    static let limit = 4
    /// The number of sequences that are kept, which is more than a broker delivers twice.
    static let remembered = 512
    /// The longest time since the last batch of a run, in milliseconds, with which the run continues.
    static let handover = 3000
    /// Receivers keep batches for at most seven days. A run that is further ahead has a wrong clock. In milliseconds.
    static let keeping = 8 * 86_400_000
    /// The longest time from the last batch of a run to the first one of the next run on the machine, in milliseconds.
    static let restart = 10_000

    /// Takes the number of a batch.
    ///
    /// - Parameter arrival: The time of arrival, in milliseconds since 1970.
    mutating func take(_ number: ReceiverLine.Number, arrival: Int) -> Verdict {
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
            // Two runs after one start of the machine have the same clock.
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

/// Converts the uptime of a receiver's machine into this machine's time. Lines need time to arrive, so the smallest
/// difference is the best estimate.
///
/// Batches that were kept for hours arrive hours late, and say nothing about the clock. Another difference is accepted when
/// five batches in a row, over 3 s, agree on it.
struct BootClock: Sendable {
    /// The smallest difference of each of the last minutes, the newest last.
    private var differences: [(minute: Int, least: Int)] = []
    /// Batches in a row that agree on another difference.
    private var other: (first: Int, least: Int, batches: Int, since: Int)?
    /// The number of minutes that are used.
    static let minutes = 5
    /// The largest drift of a clock in a few minutes, in milliseconds. Differences agree if they are at most this far
    /// apart.
    static let drift = 1000
    /// The amount in milliseconds by which a single batch may make the difference smaller.
    static let step = 12_000
    /// Another difference is believed after this number of batches over this time.
    static let agreement = (batches: 5, milliseconds: 3000)

    /// Takes the uptime of a batch, and returns its time. A batch is from the future if its time is after `arrival`.
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

    /// The time by the differences so far; `nil` before the first one.
    func believed(_ bootMilliseconds: Int) -> Int? {
        differences.map(\.least).min().map { bootMilliseconds + $0 }
    }

    /// Adds `milliseconds` to all times, because this machine's clock was set.
    mutating func shift(by milliseconds: Int) {
        differences = differences.map { ($0.minute + milliseconds / 60_000, $0.least + milliseconds) }
        other = nil
    }
}
