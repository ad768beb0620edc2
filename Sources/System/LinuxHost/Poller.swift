internal import CLinux
internal import Glibc
internal import Synchronization
internal import SystemPackage

/// Waits for several descriptors at once: poll(2).
public enum Poller {
    /// A descriptor and the event to wait for. A descriptor with an error or a hang-up counts as ready.
    public struct Interest {
        let descriptor: Descriptor
        let events: Int16

        /// Waits until `descriptor` can be read from, written to, or either.
        public init(_ descriptor: Descriptor, _ kind: Kind) {
            self.descriptor = descriptor
            events =
                switch kind {
                case .read: Int16(POLLIN)
                case .write: Int16(POLLOUT)
                case .readAndWrite: Int16(POLLIN) | Int16(POLLOUT)
                }
        }
    }

    /// The event to wait for: POLLIN, POLLOUT or both.
    public enum Kind: Sendable {
        case read
        case write
        case readAndWrite
    }

    /// Waits until one of `interests` is ready, but at most `milliseconds`; a negative time means no limit.
    ///
    /// - Returns: For each interest, whether it is ready.
    public static func wait(_ interests: [Interest], milliseconds: Int) throws(SystemError) -> [Bool] {
        var list = PollList(interests)
        try list.wait(milliseconds: Int32(clamping: milliseconds))
        return (0..<list.count).map { list.isReady($0) }
    }

    /// Waits until one of `interests` is ready, or until ``MonotonicClock`` reaches `deadline` in nanoseconds. Without
    /// a ready interest, it never returns before the deadline.
    ///
    /// - Returns: For each interest, whether it is ready.
    public static func wait(_ interests: [Interest], until deadline: UInt64) throws(SystemError) -> [Bool] {
        var list = PollList(interests)
        try list.wait(until: deadline)
        return (0..<list.count).map { list.isReady($0) }
    }
}

/// A fixed list of descriptors to wait for again and again. Waiting allocates no memory.
public struct PollList {
    private var list: [pollfd]

    /// Creates a list of `descriptors` to read from. The caller must keep them open.
    public init(reading descriptors: [Descriptor]) {
        self.init(descriptors.map { Poller.Interest($0, .read) })
    }

    init(_ interests: [Poller.Interest]) {
        list = interests.map { pollfd(fd: $0.descriptor.number, events: $0.events, revents: 0) }
    }

    /// The number of descriptors.
    public var count: Int { list.count }

    /// Waits until one of the descriptors is ready, or until ``MonotonicClock`` reaches `deadline` in nanoseconds.
    /// Without a ready descriptor, it never returns before the deadline. A descriptor with an error or a hang-up counts
    /// as ready.
    public mutating func wait(until deadline: UInt64) throws(SystemError) {
        let now = MonotonicClock.nanoseconds()
        let remaining = deadline > now ? deadline - now : 0
        let isLong = remaining > UInt64(Int32.max) * 1_000_000
        try wait(milliseconds: isLong ? Int32.max : Int32((remaining + 999_999) / 1_000_000))
    }

    mutating func wait(milliseconds: Int32) throws(SystemError) {
        try retryingInterrupts("poll") { unsafe poll(&list, nfds_t(list.count), milliseconds) }
    }

    /// Returns whether the descriptor at `index` in the list was ready at the end of the last wait.
    public func isReady(_ index: Int) -> Bool { list[index].revents != 0 }
}

/// Receives signals through a descriptor that can be polled (signalfd(2)), instead of a signal handler.
public final class SignalDescriptor: Sendable {
    /// The descriptor to poll for reading. When it is readable, call ``take()``.
    public let descriptor: Descriptor
    private let firstTakenAt = Mutex<UInt64?>(nil)
    /// True if ``firstTakenAt`` has a value.
    private let isTaken = Atomic(false)

    /// The time of the first signal that ``take()`` returned, in nanoseconds of ``MonotonicClock``; `nil` if there was
    /// none. It does not change afterwards, so every part of the program can check it and end.
    public var takenAt: UInt64? { isTaken.load(ordering: .acquiring) ? firstTakenAt.withLock { $0 } : nil }

    /// Blocks `signals` in this thread and in the threads that it starts afterwards, and receives the signals through
    /// this object.
    public init(_ signals: [Int32] = SignalDescriptor.termination) throws(SystemError) {
        var set = sigset_t()
        unsafe sigemptyset(&set)
        for signal in signals { unsafe sigaddset(&set, signal) }
        guard unsafe pthread_sigmask(SIG_BLOCK, &set, nil) == 0 else {
            throw SystemError("pthread_sigmask", errno: .invalidArgument)
        }
        let number = try retryingInterrupts("signalfd") {
            unsafe signalfd(-1, &set, PHAROS_SFD_FLAGS)
        }
        descriptor = Descriptor(owning: number)
    }

    /// The signals that end a command: SIGINT, SIGTERM and SIGQUIT, and also SIGHUP, except if the program was started
    /// with SIGHUP ignored (nohup).
    public static var termination: [Int32] {
        ending + (isIgnored(SIGHUP) ? [] : [SIGHUP])
    }

    /// The signals that end a service: SIGINT, SIGTERM and SIGQUIT. SIGHUP makes a service reload its configuration.
    public static let ending = [SIGINT, SIGTERM, SIGQUIT]
    /// SIGHUP, which ends a command and makes a service reload its configuration.
    public static let hangUp = SIGHUP

    private static func isIgnored(_ signal: Int32) -> Bool {
        var action = sigaction()
        guard unsafe sigaction(signal, nil, &action) == 0 else { return false }
        // The handler SIG_IGN is the pointer with the value 1.
        return unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
    }

    /// Returns the next received signal; `nil` if there is none.
    public func take() -> Int32? {
        guard let octets = try? descriptor.read(upTo: MemoryLayout<signalfd_siginfo>.size), octets.count >= 4 else {
            return nil
        }
        let now = MonotonicClock.nanoseconds()
        firstTakenAt.withLock { $0 = $0 ?? now }
        isTaken.store(true, ordering: .releasing)
        // The first field is ssi_signo, little-endian on both supported architectures.
        return Int32(octets[0])
    }

    /// Runs `body` while the signals that end a command have their default actions. Ctrl-C then ends the program
    /// although it waits for the user's answer.
    public static func withDefaultActions<Result>(_ body: () -> Result) -> Result {
        var (set, previousMask) = (sigset_t(), sigset_t())
        unsafe sigemptyset(&set)
        for signal in termination { unsafe sigaddset(&set, signal) }
        _ = unsafe pthread_sigmask(SIG_UNBLOCK, &set, &previousMask)
        defer { _ = unsafe pthread_sigmask(SIG_SETMASK, &previousMask, nil) }
        return body()
    }

    /// Ignores SIGPIPE, so that writing to a closed pipe or connection gives an error instead of ending the process.
    public static func ignoreBrokenPipes() {
        _ = signal(SIGPIPE, SIG_IGN)
    }
}
