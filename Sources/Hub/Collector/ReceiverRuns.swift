/// The runs of one receiver: when their batches are from, and which of them have come before.
///
/// What a receiver has kept while its broker was away comes later than what it hears now, and in between.
struct ReceiverRuns: Sendable {
    /// What is to be thought of a batch.
    enum Verdict: Hashable, Sendable {
        /// In milliseconds since 1970, by our clock.
        case at(Int)
        /// It has come before.
        case again
        /// Of a run before the machine was started: nobody knows when.
        case timeless
    }

    private struct Run {
        let boot: String
        /// The highest sequence.
        var last: Int
        var lastBootMilliseconds: Int
        /// When something came last.
        var arrival: Int
        var clock: BootClock
        /// The sequences that came last, in no order; the next one takes the place of the oldest.
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

    /// Runs that are told from each other.
    static let limit = 4
    /// More than a broker redelivers.
    static let remembered = 512
    /// A run whose batches came within so many milliseconds goes on.
    static let handover = 3000
    /// A run that begins after another one on the same machine begins within so many milliseconds of its clock.
    static let restart = 10_000

    /// Takes the number of a batch.
    ///
    /// - Parameter arrival: When it came, in milliseconds since 1970.
    mutating func take(_ number: ReceiverLine.Number, arrival: Int) -> Verdict {
        if let place = runs.firstIndex(where: { $0.boot == number.boot }) {
            guard !runs[place].has(number.sequence) else { return .again }
            let isNewest = place == runs.count - 1 || !isOld(number, arrival)
            runs[place].note(number, arrival: arrival)
            if isNewest { return .at(runs[place].clock.unixMilliseconds(number.bootMilliseconds, arrival: arrival)) }
            return .at(runs[place].clock.believed(number.bootMilliseconds) ?? arrival)
        }
        if isOld(number, arrival), let current = runs.last {
            // Of one machine's start both have the same clock.
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

    /// Whether a batch is of a run before the one that goes on.
    private func isOld(_ number: ReceiverLine.Number, _ arrival: Int) -> Bool {
        guard let current = runs.last, current.boot != number.boot, arrival - current.arrival < Self.handover else {
            return false
        }
        let ahead = number.bootMilliseconds - current.lastBootMilliseconds
        return !(0...Self.restart).contains(ahead)
    }
}

/// What a receiver's clock since its start is by ours: the way of a line takes time, and the shortest way is the truth.
struct BootClock: Sendable {
    /// The smallest difference of each of the last minutes, newest last.
    private var differences: [(minute: Int, least: Int)] = []
    /// Minutes that count.
    static let minutes = 5
    /// What clocks differ by more than this in a few minutes, in milliseconds, is no drift.
    static let drift = 1000

    /// - Parameter arrival: When it came.
    mutating func unixMilliseconds(_ bootMilliseconds: Int, arrival: Int) -> Int {
        let (minute, difference) = (arrival / 60_000, arrival - bootMilliseconds)
        if let last = differences.last, last.minute == minute {
            differences[differences.count - 1].least = min(last.least, difference)
        } else {
            differences.append((minute, difference))
        }
        forget(before: minute - Self.minutes)
        return believed(bootMilliseconds) ?? arrival
    }

    /// The time by what is known already; `nil` where nothing is.
    func believed(_ bootMilliseconds: Int) -> Int? {
        differences.map(\.least).min().map { bootMilliseconds + $0 }
    }

    /// What was kept for hours arrives hours late: it says nothing of the clock. Where all that comes for minutes is as
    /// late as the rest of it, our own clock was set.
    private mutating func forget(before minute: Int) {
        let fresh = differences.filter { $0.minute > minute }
        guard let low = fresh.map(\.least).min(), let high = fresh.map(\.least).max(),
            let old = differences.filter({ $0.minute <= minute }).map(\.least).min()
        else { return }
        let isDrift = low <= old + Self.drift
        let wasSet = fresh.count >= Self.minutes && high - low <= Self.drift
        if isDrift || wasSet {
            differences = fresh
        } else {
            differences = [(minute, old)] + fresh
        }
    }
}
