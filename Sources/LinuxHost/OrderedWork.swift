/// Numbered pieces of work that several threads do and one thread takes in their order, so that who does which piece
/// changes nothing. Threads that are ahead of the taker by more than the window sleep; so does the taker while its piece
/// is being made.
///
/// ```swift
/// let work = try OrderedWork(pieces: batches, window: 16) { batch in simulation.batch(batch) }
/// while let tally = work.next() { merge(tally) }
/// ```
///
/// A taker that has to look at something else as well, such as a signal, uses ``next(milliseconds:)``. The threads end
/// behind the last piece, after ``stop()``, and when nobody holds this any more.
public final class OrderedWork<Piece: Sendable>: Sendable {
    private struct State {
        var upcoming = 0
        var taken = 0
        var made: [Int: Piece] = [:]
        var isStopped = false
    }

    /// What a taker finds.
    public enum Outcome: Sendable {
        case piece(Piece)
        /// The next piece is not there yet.
        case late
        /// All pieces were taken, or the work was stopped.
        case over
    }

    private let state = Monitor(State())
    private let pieces: Int

    /// Starts the threads.
    ///
    /// - Parameters:
    ///   - pieces: How many there are; `Int.max` for as many as are taken until ``stop()``.
    ///   - window: How many may be made ahead of the one that is taken next, at least 1.
    ///   - threads: How many threads work; one for each processor where it is `nil`.
    ///   - make: Does the piece of this number, from 0; called on the threads.
    /// - Throws: EAGAIN where the system gives no more threads.
    public init(
        pieces: Int, window: Int, threads: Int? = nil, make: @escaping @Sendable (Int) -> Piece
    ) throws(SystemError) {
        self.pieces = pieces
        let state = state
        let ahead = max(1, window)
        for _ in 0..<max(1, min(threads ?? Processors.count, pieces)) {
            try BackgroundThread.start { Self.work(state, pieces, ahead, make) }
        }
    }

    deinit { stop() }

    private static func work(_ state: Monitor<State>, _ pieces: Int, _ window: Int, _ make: (Int) -> Piece) {
        while true {
            // Nothing inside: no piece is left for this thread.
            let turn: Int?? = state.wait { state in
                if state.isStopped || state.upcoming >= pieces { return .some(nil) }
                guard state.upcoming - state.taken < window else { return nil }
                state.upcoming += 1
                return state.upcoming - 1
            }
            guard let number = turn ?? nil else { return }
            let piece = make(number)
            state.change { $0.made[number] = piece }
        }
    }

    /// Waits for the next piece; `nil` behind the last one and after ``stop()``.
    public func next() -> Piece? {
        guard case .piece(let piece) = next(within: nil) else { return nil }
        return piece
    }

    /// Waits for the next piece, at most so long.
    public func next(milliseconds: Int) -> Outcome { next(within: milliseconds) }

    private func next(within milliseconds: Int?) -> Outcome {
        state.wait(milliseconds: milliseconds) { [pieces] state in
            if state.isStopped || state.taken >= pieces { return .over }
            guard let piece = state.made.removeValue(forKey: state.taken) else { return nil }
            state.taken += 1
            return .piece(piece)
        } ?? .late
    }

    /// Begins no further piece; whoever waits for one goes on. May be called from the threads.
    public func stop() { state.change { $0.isStopped = true } }
}

/// One value that a thread of its own makes while others work.
public final class BackgroundResult<Value: Sendable>: Sendable {
    private let state = Monitor<Value?>(nil)

    /// Starts the thread.
    ///
    /// - Throws: EAGAIN where the system gives no more threads.
    public init(_ make: @escaping @Sendable () -> Value) throws(SystemError) {
        let state = state
        try BackgroundThread.start {
            let value = make()
            state.change { $0 = value }
        }
    }

    /// The value, which this waits for.
    public var value: Value {
        while true {
            if let value = state.wait({ $0 }) { return value }
        }
    }
}
