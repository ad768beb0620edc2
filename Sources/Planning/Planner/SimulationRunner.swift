public import Airtime
public import LinuxHost

/// Runs a simulation on several threads until it is precise enough, or until the observer stops it.
///
/// The result does not depend on the threads: the counts are merged in the order of the batches.
public struct SimulationRunner<Question: SimulationQuestion>: Sendable {
    private let question: Question
    private let threads: Int

    /// A function that is called after each batch, and at least every 50 ms. It returns false to stop the simulation.
    /// The progress is computed only if the observer calls `progress`.
    public typealias Observer = (_ progress: () -> PlanProgress) -> Bool

    /// - Parameter threads: The number of threads, at least 1.
    public init(_ question: Question, threads: Int) {
        self.question = question
        self.threads = threads
    }

    /// The longest time between two calls of the observer, in ms.
    private static var pauseMilliseconds: Int { 50 }
    /// The largest number of batches that are started and not yet counted.
    private var window: Int { 4 * threads + 8 }

    /// Runs the whole simulation.
    ///
    /// - Throws: if the system refuses to start threads.
    public func run(_ observe: Observer = { _ in true }) throws(SystemError) -> SimulationOutcome {
        var sum = question.sum
        let scene = question.scene
        let work = try OrderedWork(pieces: question.goal.maximumBatches, window: window, threads: threads) {
            scene.batch($0)
        }
        defer { work.stop() }
        simulating: while !sum.isFinished {
            guard observe({ question.progress(sum.tally, batches: sum.batches) }) else { break }
            switch work.next(milliseconds: Self.pauseMilliseconds) {
            case .piece(let tally): sum.add(tally)
            case .late: break
            case .over: break simulating
            }
        }
        return SimulationOutcome(tally: sum.tally, batches: sum.batches, isInterrupted: !sum.isFinished)
    }

    /// Runs one part of the simulation, and writes a line for each batch, in the order of the batches.
    ///
    /// - Parameter least: The minimum number of batches.
    /// - Returns: true if the part is complete; false if the observer stopped it.
    /// - Throws: if the system refuses to start threads.
    public func runPart(
        _ shard: SimulationShard, atLeast least: Int = 0, _ observe: Observer = { _ in true },
        write: (_ line: String) -> Void
    ) throws(SystemError) -> Bool {
        var sum = question.sum(of: shard, atLeast: least)
        let scene = question.scene
        let work = try OrderedWork(pieces: .max, window: window, threads: threads) { scene.batch(shard.batch(at: $0)) }
        defer { work.stop() }
        while !sum.isFinished {
            guard observe({ question.progress(sum.tally, batches: sum.batches, of: shard) }) else { return false }
            guard case .piece(let tally) = work.next(milliseconds: Self.pauseMilliseconds) else { continue }
            write(tally.line(batch: shard.batch(at: sum.batches)))
            sum.add(tally)
        }
        return true
    }
}
