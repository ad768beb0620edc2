internal import Glibc

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
