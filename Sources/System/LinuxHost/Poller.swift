internal import CLinux
internal import Glibc
internal import Synchronization

/// Waits for several descriptors at once: poll(2).
public enum Poller {
    /// A descriptor and what is awaited of it. Errors and hang-ups always count as ready.
    public struct Interest {
        let descriptor: Descriptor
        let events: Int16

        /// `descriptor` until it can be read from, written to, or either.
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

    /// What is awaited: POLLIN, POLLOUT or both.
    public enum Kind: Sendable {
        case read
        case write
        case readAndWrite
    }

    /// Waits until one of `interests` is ready or `milliseconds` are over (negative: without limit), and tells for
    /// each of them whether it is ready.
    public static func wait(_ interests: [Interest], milliseconds: Int) throws(SystemError) -> [Bool] {
        var list = interests.map { pollfd(fd: $0.descriptor.number, events: $0.events, revents: 0) }
        let timeout = Int32(clamping: milliseconds)
        _ = try retryingInterrupts("poll") { unsafe poll(&list, nfds_t(list.count), timeout) }
        return list.map { $0.revents != 0 }
    }

    /// The same until a moment of ``MonotonicClock``; rounds up, so that it never returns too early.
    public static func wait(_ interests: [Interest], until deadline: UInt64) throws(SystemError) -> [Bool] {
        try wait(interests, milliseconds: Int(milliseconds(until: deadline)))
    }

    /// What is left until a moment of ``MonotonicClock``, rounded up, for poll(2).
    fileprivate static func milliseconds(until deadline: UInt64) -> Int32 {
        let now = MonotonicClock.nanoseconds()
        let left = deadline > now ? deadline - now : 0
        return left > UInt64(Int32.max) * 1_000_000 ? Int32.max : Int32((left + 999_999) / 1_000_000)
    }
}

/// Descriptors that are waited for again and again, until they can be read from: what poll(2) takes is made once.
public struct PollList {
    private var list: [pollfd]

    /// A list of `descriptors` in their order. It does not keep them open: that is up to whoever waits.
    public init(reading descriptors: [Descriptor]) {
        list = descriptors.map { pollfd(fd: $0.number, events: Int16(POLLIN), revents: 0) }
    }

    /// How many descriptors there are.
    public var count: Int { list.count }

    /// Waits until one of them is ready, or until a moment of ``MonotonicClock``; never returns too early. Errors and
    /// hang-ups count as ready.
    public mutating func wait(until deadline: UInt64) throws(SystemError) {
        let timeout = Poller.milliseconds(until: deadline)
        _ = try retryingInterrupts("poll") { unsafe poll(&list, nfds_t(list.count), timeout) }
    }

    /// Whether the descriptor at `position` of the list was ready at the end of the last wait.
    public func isReady(_ position: Int) -> Bool { list[position].revents != 0 }
}

/// Signals as something to poll for, instead of something that interrupts.
public final class SignalDescriptor: Sendable {
    /// To poll for reading; then ask ``take()``.
    public let descriptor: Descriptor
    private let firstTaken = Mutex<UInt64?>(nil)
    /// Whether ``firstTaken`` holds something: asked at each wake-up.
    private let isTaken = Atomic(false)

    /// When the first signal was taken, in nanoseconds of ``MonotonicClock``; `nil` while none was. Whoever has taken it
    /// may have been in the middle of something: the wish stays, for everybody who asks later.
    public var takenAt: UInt64? { isTaken.load(ordering: .acquiring) ? firstTaken.withLock { $0 } : nil }

    /// Blocks `signals` in this thread, and in every thread that it starts from now on, and collects them here.
    public init(_ signals: [Int32] = SignalDescriptor.termination) throws(SystemError) {
        var set = sigset_t()
        unsafe sigemptyset(&set)
        for signal in signals { unsafe sigaddset(&set, signal) }
        guard unsafe pthread_sigmask(SIG_BLOCK, &set, nil) == 0 else {
            throw SystemError("pthread_sigmask", errno: EINVAL)
        }
        let number = try retryingInterrupts("signalfd") {
            unsafe signalfd(-1, &set, PHAROS_SFD_FLAGS)
        }
        descriptor = Descriptor(owning: number)
    }

    /// Somebody wants us to end: SIGINT, SIGTERM, SIGQUIT, and SIGHUP when the terminal goes, unless we were started
    /// to outlive it (nohup).
    public static var termination: [Int32] {
        ending + (isIgnored(SIGHUP) ? [] : [SIGHUP])
    }

    /// SIGINT, SIGTERM and SIGQUIT: what ends a service, for which SIGHUP means something else.
    public static let ending = [SIGINT, SIGTERM, SIGQUIT]
    /// SIGHUP.
    public static let hangUp = SIGHUP

    private static func isIgnored(_ signal: Int32) -> Bool {
        var action = sigaction()
        guard unsafe sigaction(signal, nil, &action) == 0 else { return false }
        // SIG_IGN is the address 1.
        return unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
    }

    /// The next signal that has come, or `nil`.
    public func take() -> Int32? {
        guard let octets = try? descriptor.read(upTo: MemoryLayout<signalfd_siginfo>.size), octets.count >= 4 else {
            return nil
        }
        let now = MonotonicClock.nanoseconds()
        firstTaken.withLock { $0 = $0 ?? now }
        isTaken.store(true, ordering: .releasing)
        // ssi_signo is the first field, in the machine's order; both our architectures are little-endian.
        return Int32(octets[0])
    }

    /// Writing to a peer that is gone is an error to handle, not a reason to die.
    public static func ignoreBrokenPipes() {
        _ = signal(SIGPIPE, SIG_IGN)
    }
}
