internal import Airtime
internal import LinuxHost
internal import Planner

/// Plays a simulation on all cores until it is precise enough, or until somebody has seen enough.
///
/// Which core plays which batch changes nothing in the result: the tallies are merged in the order of the batches.
struct SimulationRunner<Question: SimulationQuestion> {
    private let question: Question

    init(_ question: Question) { self.question = question }

    /// - Parameter jobs: How many threads play.
    func run(jobs: Int) throws -> SimulationOutcome {
        let signals = try SignalDescriptor()
        let line = ProgressLine()
        defer { line.finish() }
        var sum = question.sum
        let scene = question.scene
        let work = try OrderedWork(pieces: question.goal.maximumBatches, window: 4 * jobs + 8, threads: jobs) {
            scene.batch($0)
        }
        defer { work.stop() }
        while !sum.isFinished {
            if signals.take() != nil { break }
            switch work.next(milliseconds: 50) {
            case .piece(let tally): sum.add(tally)
            case .late: break
            case .over: return outcome(sum)
            }
            line.report { question.progress(sum.tally, batches: sum.batches).text }
        }
        return outcome(sum)
    }

    /// Plays one part of the simulation, and hands on the line of each batch in their order.
    ///
    /// - Parameter least: The fewest batches.
    /// - Returns: Whether the part is whole, and was not ended before.
    func play(
        _ shard: SimulationShard, atLeast least: Int, jobs: Int, _ write: (String) -> Void
    ) throws -> Bool {
        let signals = try SignalDescriptor()
        let line = ProgressLine()
        defer { line.finish() }
        var sum = question.sum(of: shard, atLeast: least)
        let scene = question.scene
        let work = try OrderedWork(pieces: .max, window: 4 * jobs + 8, threads: jobs) {
            scene.batch(shard.batch(at: $0))
        }
        defer { work.stop() }
        while !sum.isFinished {
            if signals.take() != nil { return false }
            guard case .piece(let tally) = work.next(milliseconds: 50) else { continue }
            write(BatchCounts(tally).line(batch: shard.batch(at: sum.batches)))
            sum.add(tally)
            line.report { question.progress(sum.tally, batches: sum.batches, of: shard).text }
        }
        return true
    }

    private func outcome(_ sum: BatchSum<AirTally>) -> SimulationOutcome {
        SimulationOutcome(tally: sum.tally, batches: sum.batches, isInterrupted: !sum.isFinished)
    }
}
