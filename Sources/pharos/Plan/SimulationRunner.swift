internal import Airtime
internal import LinuxHost
internal import Synchronization

/// Plays a simulation on all cores until it is precise enough, or until somebody has seen enough.
///
/// Which core plays which batch changes nothing in the result: the queue merges in the order of the batches.
final class SimulationRunner<Simulation: BatchedSimulation>: Sendable {
    private let simulation: Simulation
    private let queue: Mutex<BatchQueue<Simulation.Tally>>
    private let isStopped = Atomic<Bool>(false)

    init(
        _ simulation: Simulation, goal: PrecisionGoal,
        judged: @escaping @Sendable (Simulation.Tally) -> Estimate?
    ) {
        self.simulation = simulation
        queue = Mutex(BatchQueue(goal, judged: judged))
    }

    /// What was found, and whether it was ended by Ctrl-C before its time.
    struct Outcome {
        let tally: Simulation.Tally
        let batches: Int
        let isInterrupted: Bool
    }

    /// - Parameter jobs: How many threads play.
    func run(jobs: Int, progress: (Simulation.Tally, Int) -> String) throws -> Outcome {
        let signals = try SignalDescriptor()
        for _ in 0..<max(1, jobs) { try BackgroundThread.start { self.work() } }
        let start = BootClock.nanoseconds()
        var isInterrupted = false
        while !queue.withLock({ $0.isFinished }), !isInterrupted {
            let ready = try Poller.wait([.init(signals.descriptor, .read)], milliseconds: 20)
            isInterrupted = ready.contains(true) && signals.take() != nil
            if Terminal.errorIsTerminal, BootClock.nanoseconds() - start > 1_000_000_000 {
                let (tally, batches) = queue.withLock { ($0.result, $0.batches) }
                Terminal.writeError("\r\u{1B}[K" + progress(tally, batches))
            }
        }
        if Terminal.errorIsTerminal { Terminal.writeError("\r\u{1B}[K") }
        isStopped.store(true, ordering: .relaxed)
        return queue.withLock { Outcome(tally: $0.result, batches: $0.batches, isInterrupted: isInterrupted) }
    }

    private func work() {
        while !isStopped.load(ordering: .relaxed) {
            let (batch, isFinished) = queue.withLock { ($0.next(), $0.isFinished) }
            if isFinished { return }
            guard let batch else {
                // Older batches must come back first.
                _ = try? Poller.wait([], milliseconds: 1)
                continue
            }
            let tally = simulation.batch(batch)
            queue.withLock { $0.take(tally, of: batch) }
        }
    }
}
