internal import Glibc

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
    /// - Throws: EAGAIN if the system gives no more threads.
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
    /// - Throws: EAGAIN if the system gives no more threads.
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

/// A value that several threads share and wait for: a mutex with a condition (pthread_cond_wait(3)), so that nobody
/// looks again and again whether something has changed.
///
/// For threads of their own only (``BackgroundThread``, the main thread): waiting blocks, which must not happen in
/// Swift's cooperative pool.
@safe public final class Monitor<State>: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    /// Only touched while the mutex is held.
    private var state: State

    /// - Parameter state: The value at the start; handed over, so nobody else may keep a reference into it.
    public init(_ state: sending State) {
        self.state = state
        unsafe mutex.initialize(to: pthread_mutex_t())
        unsafe condition.initialize(to: pthread_cond_t())
        unsafe pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        unsafe pthread_condattr_init(&attributes)
        // The wall clock may be set while somebody waits.
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

    /// Looks at the value or changes it, and wakes everybody who waits for a change.
    public func change<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer {
            unsafe pthread_cond_broadcast(condition)
            unsafe pthread_mutex_unlock(mutex)
        }
        return body(&state)
    }

    /// Waits until `find` gives something of the value, which it may take out.
    ///
    /// - Parameter milliseconds: How long at most; without limit where it is `nil`.
    /// - Returns: What was found; `nil` if the time was over first.
    public func wait<Result: Sendable>(milliseconds: Int? = nil, _ find: (inout State) -> Result?) -> Result? {
        let deadline = milliseconds.map { MonotonicClock.nanoseconds() + UInt64(max(0, $0)) * 1_000_000 }
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while true {
            if let result = find(&state) {
                // What was taken out may be what another one waits for.
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

/// A thread for work that waits in the kernel, which must not happen in Swift's cooperative pool.
public enum BackgroundThread {
    private final class Job {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Runs `body` on a thread of its own, which ends with it. Nobody joins it.
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

/// The processors that this process may use.
public enum Processors {
    /// At least 1.
    public static var count: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }
}
