internal import BluetoothTypes
internal import Glibc
internal import SystemPackage

/// Reports the state of this service to the service manager with the protocol of sd_notify(3), without libsystemd.
///
/// Sending never waits for a busy service manager. Messages that cannot be sent at once are kept, and sent later in the
/// same order.
public final class ServiceNotifier {
    /// A part of a message: one or two lines.
    public enum State: Hashable, Sendable {
        /// The service has started, or has loaded its new configuration.
        case ready
        /// A text that `systemctl status` shows.
        case status(String)
        /// A keep-alive message. The time between two such messages must be shorter than
        /// ``ServiceNotifier/watchdogMicroseconds``.
        case watchdog
        /// The service has been loading a new configuration since this moment of ``MonotonicClock``, in nanoseconds.
        case reloading(since: UInt64)
        case stopping

        var line: String {
            switch self {
            case .ready: "READY=1"
            case .status(let text): "STATUS=" + text.map { $0.isNewline ? " " : String($0) }.joined()
            case .watchdog: "WATCHDOG=1"
            case .reloading(let since): "RELOADING=1\nMONOTONIC_USEC=\(since / 1000)"
            case .stopping: "STOPPING=1"
            }
        }
    }

    private let socket: Descriptor?
    /// The bytes of the socket address of the service manager.
    private let address: [UInt8]
    /// The value of NOTIFY_SOCKET, for errors.
    private let name: String
    /// Messages that could not be sent yet, the oldest first.
    private var backlog: [[State]] = []
    /// The largest number of waiting messages. If there are more, the oldest message is dropped.
    private static let backlogLimit = 64
    /// The longest time that a program should wait at its end to send the waiting messages, in milliseconds.
    public static let finalFlushMilliseconds = 100
    /// The time without a keep-alive message after which the service manager ends this process, in microseconds; `nil`
    /// if the service manager does not watch the process. Send a keep-alive message after half of this time.
    public let watchdogMicroseconds: UInt64?

    /// Reads NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID. Without NOTIFY_SOCKET nothing is sent.
    ///
    /// - Throws: EAFNOSUPPORT if NOTIFY_SOCKET is neither an absolute path nor an abstract name after `@`.
    public init(environment: (String) -> String? = Terminal.environment) throws(SystemError) {
        name = environment("NOTIFY_SOCKET") ?? ""
        let isForThisProcess = environment("WATCHDOG_PID").map { Int32($0) == getpid() } ?? true
        let period = environment("WATCHDOG_USEC").flatMap { UInt64($0) }
        watchdogMicroseconds =
            isForThisProcess && !name.isEmpty ? period.flatMap { $0 > 0 && $0 < .max ? $0 : nil } : nil
        guard !name.isEmpty else {
            socket = nil
            address = []
            return
        }
        address = try Self.address(name)
        let type = Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let subject = name
        socket = Descriptor(
            owning: try retryingInterrupts("socket", subject) { Glibc.socket(AF_UNIX, type, 0) })
    }

    /// True if there is a service manager.
    public var isActive: Bool { socket != nil }

    /// True if messages could not be sent yet. If so, call ``flush(waitingMilliseconds:)`` again soon.
    public var hasBacklog: Bool { !backlog.isEmpty }

    /// Sends `states` in one message after the waiting messages, or keeps the message if the service manager is busy.
    ///
    /// - Throws: ECONNREFUSED or ENOENT if there is no receiver. All waiting messages are dropped then.
    public func send(_ states: State...) throws(SystemError) {
        try send(states)
    }

    /// Sends the array `states` in one message after the waiting messages. An empty array is not sent.
    public func send(_ states: [State]) throws(SystemError) {
        guard socket != nil, !states.isEmpty else { return }
        // Of the waiting keep-alive messages and status lines, only the last of each kind is needed.
        if states == [.watchdog] || states.isStatus {
            backlog.removeAll { $0 == states || states.isStatus && $0.isStatus }
        }
        backlog.append(states)
        if backlog.count > Self.backlogLimit { backlog.removeFirst() }
        try flush()
    }

    /// Sends the waiting messages, and waits at most `waitingMilliseconds` for a busy service manager.
    public func flush(waitingMilliseconds: Int = 0) throws(SystemError) {
        guard let socket else { return }
        let deadline = MonotonicClock.nanoseconds() + UInt64(max(0, waitingMilliseconds)) * 1_000_000
        while let states = backlog.first {
            do throws(SystemError) {
                try send(Array(states.map(\.line).joined(separator: "\n").utf8), on: socket)
                backlog.removeFirst()
            } catch {
                guard error.errno == .wouldBlock else {
                    backlog = []
                    throw error
                }
                guard MonotonicClock.nanoseconds() < deadline else { return }
                usleep(5000)
            }
        }
    }

    private func send(_ message: [UInt8], on socket: Descriptor) throws(SystemError) {
        try retryingInterrupts("sendto", name) {
            unsafe address.withUnsafeBytes { raw -> Int in
                guard let base = raw.baseAddress else { return -1 }
                return unsafe sendto(
                    socket.number, message, message.count, Int32(MSG_NOSIGNAL),
                    base.assumingMemoryBound(to: sockaddr.self), socklen_t(raw.count))
            }
        }
    }

    /// Returns the bytes of a sockaddr_un with this name. A path ends with a zero byte; an abstract name begins with a
    /// zero byte.
    private static func address(_ name: String) throws(SystemError) -> [UInt8] {
        let octets = Array(name.utf8)
        guard octets.first == UInt8(ascii: "/") || octets.first == UInt8(ascii: "@") && octets.count > 1 else {
            throw SystemError("connect", name, errno: .addressFamilyNotSupported)
        }
        guard octets.count < 108 else { throw SystemError("connect", name, errno: .fileNameTooLong) }
        var result: [UInt8] = []
        result.append(littleEndian: UInt16(AF_UNIX))
        return octets.first == UInt8(ascii: "/") ? result + octets + [0] : result + [0] + octets.dropFirst()
    }
}

extension [ServiceNotifier.State] {
    /// True if the message is a single status line.
    fileprivate var isStatus: Bool {
        guard count == 1, case .status = self[0] else { return false }
        return true
    }
}
