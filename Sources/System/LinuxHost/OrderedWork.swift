internal import CLinux
internal import Glibc

/// Computes numbered pieces of work on several threads, and returns them in order to one thread.
///
/// The result does not depend on the number of threads. The threads compute only a limited number of pieces in advance,
/// the window; then they wait until the caller takes a piece. The caller of ``next()`` waits until the next piece is
/// ready.
///
/// ```swift
/// let work = try OrderedWork(pieces: batches, window: 16) { batch in simulation.batch(batch) }
/// while let tally = work.next() { merge(tally) }
/// ```
///
/// Use ``next(milliseconds:)`` to check something else while waiting, such as a signal. The threads end after the last
/// piece, after ``stop()``, and when the last reference to this object is released.
public final class OrderedWork<Piece: Sendable>: Sendable {
    private struct State {
        /// The number of the next piece that a thread computes.
        var nextToCompute = 0
        /// The number of the next piece to be returned.
        var nextToReturn = 0
        /// The pieces that were computed and not returned yet, by their numbers.
        var finishedPieces: [Int: Piece] = [:]
        var isStopped = false
    }

    /// The result of ``next(milliseconds:)``.
    public enum Outcome: Sendable {
        case piece(Piece)
        /// The next piece is not ready yet.
        case late
        /// All pieces were returned, or the work was stopped.
        case over
    }

    private let state = Monitor(State())
    private let pieceCount: Int

    /// Starts the threads.
    ///
    /// - Parameters:
    ///   - pieces: The number of pieces; `Int.max` for no limit until ``stop()``.
    ///   - window: The largest number of pieces that are started and not yet returned, at least 1.
    ///   - threads: The number of threads; `nil` for one per processor.
    ///   - make: Computes the piece with the given number, counted from 0. It runs on the threads.
    /// - Throws: EAGAIN if the system allows no more threads.
    public init(
        pieces: Int, window: Int, threads: Int? = nil, make: @escaping @Sendable (Int) -> Piece
    ) throws(SystemError) {
        pieceCount = pieces
        let state = state
        let windowSize = max(1, window)
        for _ in 0..<max(1, min(threads ?? Processors.count, pieces)) {
            try BackgroundThread.start { Self.work(state, pieces, windowSize, make) }
        }
    }

    deinit { stop() }

    private static func work(_ state: Monitor<State>, _ pieces: Int, _ window: Int, _ make: (Int) -> Piece) {
        while true {
            // The outer nil lets the thread wait. The inner nil means that there is no piece left to compute.
            let nextNumber: Int?? = state.wait { state in
                if state.isStopped || state.nextToCompute >= pieces { return .some(nil) }
                guard state.nextToCompute - state.nextToReturn < window else { return nil }
                state.nextToCompute += 1
                return state.nextToCompute - 1
            }
            guard let number = nextNumber ?? nil else { return }
            let piece = make(number)
            state.change { $0.finishedPieces[number] = piece }
        }
    }

    /// Waits for the next piece; returns `nil` after the last one and after ``stop()``.
    public func next() -> Piece? {
        guard case .piece(let piece) = next(within: nil) else { return nil }
        return piece
    }

    /// Waits at most `milliseconds` for the next piece.
    public func next(milliseconds: Int) -> Outcome { next(within: milliseconds) }

    private func next(within milliseconds: Int?) -> Outcome {
        state.wait(milliseconds: milliseconds) { [pieceCount] state in
            if state.isStopped || state.nextToReturn >= pieceCount { return .over }
            guard let piece = state.finishedPieces.removeValue(forKey: state.nextToReturn) else { return nil }
            state.nextToReturn += 1
            return .piece(piece)
        } ?? .late
    }

    /// Starts no further pieces, and ends all waiting. The threads may call this, too.
    public func stop() { state.change { $0.isStopped = true } }
}

/// A value that several threads share. A thread can wait until another thread changes the value. It is a mutex with a
/// condition variable (pthread_cond_wait(3)).
///
/// Use it only on the main thread and on threads of ``BackgroundThread``: waiting blocks the thread, which must not
/// happen in Swift's cooperative pool.
@safe public final class Monitor<State>: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    /// Accessed only while the mutex is held.
    private var state: State

    /// Creates a shared value.
    ///
    /// - Parameter state: The initial value.
    public init(_ state: sending State) {
        self.state = state
        unsafe mutex.initialize(to: pthread_mutex_t())
        unsafe condition.initialize(to: pthread_cond_t())
        unsafe pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        unsafe pthread_condattr_init(&attributes)
        // Waiting uses the monotonic clock, because the wall clock may be set while a thread waits.
        unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        unsafe pthread_cond_init(condition, &attributes)
        unsafe pthread_condattr_destroy(&attributes)
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe pthread_mutex_destroy(mutex)
        unsafe condition.deallocate()
        unsafe mutex.deallocate()
    }

    /// Reads or changes the value, and wakes all threads that wait for a change.
    public func change<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer {
            unsafe pthread_cond_broadcast(condition)
            unsafe pthread_mutex_unlock(mutex)
        }
        return body(&state)
    }

    /// Waits until `find` returns a result for the value. `find` may change the value.
    ///
    /// - Parameter milliseconds: The longest time to wait; `nil` for no limit.
    /// - Returns: The result of `find`; `nil` if there was none within this time.
    public func wait<Result: Sendable>(milliseconds: Int? = nil, _ find: (inout State) -> Result?) -> Result? {
        let deadline = milliseconds.map { MonotonicClock.nanoseconds() + UInt64(max(0, $0)) * 1_000_000 }
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while true {
            if let result = find(&state) {
                // Other threads may wait for a change that `find` has made.
                unsafe pthread_cond_broadcast(condition)
                return result
            }
            guard let deadline else {
                unsafe pthread_cond_wait(condition, mutex)
                continue
            }
            var time = timespec(tv_sec: Int(deadline / 1_000_000_000), tv_nsec: Int(deadline % 1_000_000_000))
            guard unsafe pthread_cond_timedwait(condition, mutex, &time) == 0 else { return find(&state) }
        }
    }
}

/// Runs work that waits in system calls. Such work must not run in Swift's cooperative thread pool.
public enum BackgroundThread {
    private final class Job {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Runs `body` on a new detached thread.
    public static func start(_ body: @escaping @Sendable () -> Void) throws(SystemError) {
        let job = unsafe Unmanaged.passRetained(Job(body))
        var thread = pthread_t()
        let result = unsafe pthread_create(
            &thread, nil,
            { argument in
                guard let argument = unsafe argument else { return nil }
                unsafe Unmanaged<Job>.fromOpaque(argument).takeRetainedValue().body()
                return nil
            }, job.toOpaque())
        guard result == 0 else {
            unsafe job.release()
            throw SystemError("pthread_create", errno: result)
        }
        pthread_detach(thread)
    }
}

/// The processors of this machine.
public enum Processors {
    /// The number of processors that this process may use, at least 1. A container or `taskset` may allow fewer than
    /// the machine has.
    public static var count: Int {
        let usable = Int(pharos_usable_processors())
        return usable > 0 ? usable : max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    }
}
