public import Airtime
public import LinuxHost

/// Plays a simulation on several threads until it is precise enough, or until somebody has seen enough.
///
/// Which thread plays which batch changes nothing in the result: the tallies are merged in the order of the batches.
public struct SimulationRunner<Question: SimulationQuestion>: Sendable {
    private let question: Question
    private let threads: Int

    /// Is told after each batch, and at least every 50 ms, how far the simulation has come; the text is made only where it
    /// is asked for. `false` ends it with what there is.
    public typealias Observer = (_ progress: () -> PlanProgress) -> Bool

    /// - Parameter threads: How many threads play, at least 1.
    public init(_ question: Question, threads: Int) {
        self.question = question
        self.threads = threads
    }

    private static var pause: Int { 50 }
    /// Batches that may be played ahead of the one that is counted next.
    private var window: Int { 4 * threads + 8 }

    /// Plays the whole simulation.
    ///
    /// - Throws: Where the system gives no more threads.
    public func run(_ observe: Observer = { _ in true }) throws(SystemError) -> SimulationOutcome {
        var sum = question.sum
        let scene = question.scene
        let work = try OrderedWork(pieces: question.goal.maximumBatches, window: window, threads: threads) {
            scene.batch($0)
        }
        defer { work.stop() }
        playing: while !sum.isFinished {
            guard observe({ question.progress(sum.tally, batches: sum.batches) }) else { break }
            switch work.next(milliseconds: Self.pause) {
            case .piece(let tally): sum.add(tally)
            case .late: break
            case .over: break playing
            }
        }
        return SimulationOutcome(tally: sum.tally, batches: sum.batches, isInterrupted: !sum.isFinished)
    }

    /// Plays one part of the simulation, and hands on the line of each batch in their order.
    ///
    /// - Parameter least: The fewest batches.
    /// - Returns: Whether the part is whole, and was not ended before.
    /// - Throws: Where the system gives no more threads.
    public func play(
        _ shard: SimulationShard, atLeast least: Int = 0, _ observe: Observer = { _ in true },
        write: (_ line: String) -> Void
    ) throws(SystemError) -> Bool {
        var sum = question.sum(of: shard, atLeast: least)
        let scene = question.scene
        let work = try OrderedWork(pieces: .max, window: window, threads: threads) { scene.batch(shard.batch(at: $0)) }
        defer { work.stop() }
        while !sum.isFinished {
            guard observe({ question.progress(sum.tally, batches: sum.batches, of: shard) }) else { return false }
            guard case .piece(let tally) = work.next(milliseconds: Self.pause) else { continue }
            write(BatchCounts(tally).line(batch: shard.batch(at: sum.batches)))
            sum.add(tally)
        }
        return true
    }
}
