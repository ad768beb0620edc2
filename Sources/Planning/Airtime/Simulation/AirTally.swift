/// The counts of one or several batches of an ``AirSimulation``.
public struct AirTally: SimulationTally, Equatable {
    /// Trials are the copies on all channels; hits are the copies without a collision.
    public internal(set) var clear = ShareTally()
    /// Trials are the advertising events; hits are the events with at least one copy that has no collision.
    public internal(set) var anyClear = ShareTally()
    /// Trials are the advertising events; hits are the events of which the scanner received a copy.
    public internal(set) var received = ShareTally()
    /// Trials are the copies whose predecessor on the same channel was lost; hits are the copies among them that are
    /// lost too.
    public internal(set) var lossAfterLoss = ShareTally()
    /// At index K-1: trials are the runs of K copies on one channel; hits are the runs in which all K copies are lost.
    public internal(set) var runs: [ShareTally] = []
    /// The time from a random instant to the first event that is received.
    public internal(set) var latency = LatencyTally()

    public init() {}

    init(_ counts: AirCounts, latency: LatencyTally) {
        clear = ShareTally(hits: counts.clear, trials: counts.copies)
        anyClear = ShareTally(hits: counts.clearEvents, trials: counts.events)
        received = ShareTally(hits: counts.receivedEvents, trials: counts.events)
        lossAfterLoss = ShareTally(hits: counts.lossesAfterLoss, trials: counts.copiesAfterLoss)
        runs = (1...AirSimulation.longestRun).map { length in
            ShareTally(
                hits: counts.lossRuns[length...].reduce(0, +), trials: counts.copyRuns[length...].reduce(0, +))
        }
        self.latency = latency
    }

    public mutating func merge(_ next: AirTally) {
        clear.merge(next.clear)
        anyClear.merge(next.anyClear)
        received.merge(next.received)
        lossAfterLoss.merge(next.lossAfterLoss)
        if runs.isEmpty { runs = next.runs.map { _ in ShareTally() } }
        for (index, run) in next.runs.enumerated() where index < runs.count { runs[index].merge(run) }
        latency.merge(next.latency)
    }

    /// The counts of one batch as whole numbers, which another program can merge.
    public var numbers: [Int] {
        let shares = [clear, anyClear, received, lossAfterLoss] + runs
        return [shares.count] + shares.flatMap { [$0.hits, $0.trials] } + latency.numbers
    }

    /// Creates the counts of batch number `batch` from their ``numbers``; nil if the numbers are not valid counts.
    public init?(numbers: [Int], batch: Int) {
        var rest = numbers[...]
        guard let count = rest.popFirst(), (4...4 + AirSimulation.longestRun).contains(count), rest.count >= 2 * count
        else { return nil }
        var shares: [ShareTally] = []
        for _ in 0..<count {
            guard let hits = rest.popFirst(), let trials = rest.popFirst(), (0...1 << 48).contains(trials),
                (0...trials).contains(hits)
            else { return nil }
            shares.append(ShareTally(hits: hits, trials: trials))
        }
        guard let latency = LatencyTally(numbers: rest, batch: batch) else { return nil }
        (clear, anyClear, received, lossAfterLoss) = (shares[0], shares[1], shares[2], shares[3])
        runs = Array(shares[4...])
        self.latency = latency
    }
}

/// The counts of a batch.
struct AirCounts {
    var copies = 0
    var clear = 0
    var events = 0
    var clearEvents = 0
    var receivedEvents = 0
    var copiesAfterLoss = 0
    var lossesAfterLoss = 0
    /// At index K: the number of copies that are the K-th counted copy of their advertiser on their channel. The last
    /// entry counts all later copies too.
    var copyRuns = [Int](repeating: 0, count: AirSimulation.longestRun + 1)
    /// At index K: the number of copies that end a run of K losses on their channel; at index 0, of clear copies. The
    /// last entry counts longer runs too.
    var lossRuns = [Int](repeating: 0, count: AirSimulation.longestRun + 1)
}
