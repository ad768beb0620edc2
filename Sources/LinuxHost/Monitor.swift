internal import Glibc

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
    /// - Returns: What was found; `nil` where the time was over first.
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
