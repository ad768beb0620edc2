internal import BluetoothTypes
internal import Glibc

/// Tells the service manager how this service is: the protocol of sd_notify(3), without libsystemd.
///
/// It never waits for a service manager that is busy: what that has no room for is kept, and sent later in its order.
public final class ServiceNotifier {
    /// One line of a message.
    public enum State: Hashable, Sendable {
        /// The service does its work, or has taken up its new configuration.
        case ready
        /// One line for `systemctl status`.
        case status(String)
        /// Alive; to be sent more often than every ``ServiceNotifier/watchdogMicroseconds``.
        case watchdog
        /// It takes up a new configuration, since this moment of ``MonotonicClock``, in nanoseconds.
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
    private let address: [UInt8]
    private let name: String
    /// Messages for which there was no room yet, the oldest first.
    private var backlog: [[State]] = []
    /// Of more messages that wait the oldest ones are dropped.
    private static let backlogLimit = 64
    /// What a program that ends may wait for room, in milliseconds.
    public static let lastPatienceMilliseconds = 100
    /// After so much silence, in microseconds, the service manager takes this process for hung and ends it; `nil`
    /// when it does not watch. Half of it is a good time between two signs of life.
    public let watchdogMicroseconds: UInt64?

    /// What NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID ask for; without a service manager nothing is ever sent.
    ///
    /// - Throws: for a NOTIFY_SOCKET that is neither an absolute path nor an abstract name after `@`.
    public init(environment: (String) -> String? = Terminal.environment) throws(SystemError) {
        name = environment("NOTIFY_SOCKET") ?? ""
        let isOurs = environment("WATCHDOG_PID").map { Int32($0) == getpid() } ?? true
        let period = environment("WATCHDOG_USEC").flatMap { UInt64($0) }
        watchdogMicroseconds = isOurs && !name.isEmpty ? period.flatMap { $0 > 0 && $0 < .max ? $0 : nil } : nil
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

    /// Whether there is a service manager that listens.
    public var isActive: Bool { socket != nil }

    /// Whether messages wait for room: ``flush(waitingMilliseconds:)`` is to be called again soon.
    public var hasBacklog: Bool { !backlog.isEmpty }

    /// Sends all of `states` in one message, behind those that wait, or keeps it where there is no room.
    ///
    /// - Throws: where nobody listens; what waited is forgotten then.
    public func send(_ states: State...) throws(SystemError) {
        try send(states)
    }

    /// Sends a list of states as the form with single ones does; nothing for an empty list.
    public func send(_ states: [State]) throws(SystemError) {
        guard socket != nil, !states.isEmpty else { return }
        // Of signs of life, and of lines for people, the last one is enough.
        if states == [.watchdog] || states.isStatus {
            backlog.removeAll { $0 == states || states.isStatus && $0.isStatus }
        }
        backlog.append(states)
        if backlog.count > Self.backlogLimit { backlog.removeFirst() }
        try flush()
    }

    /// Sends what waits, as far as there is room, or comes to be in `waitingMilliseconds`.
    public func flush(waitingMilliseconds: Int = 0) throws(SystemError) {
        guard let socket else { return }
        let deadline = MonotonicClock.nanoseconds() + UInt64(max(0, waitingMilliseconds)) * 1_000_000
        while let states = backlog.first {
            do throws(SystemError) {
                try send(Array(states.map(\.line).joined(separator: "\n").utf8), on: socket)
                backlog.removeFirst()
            } catch {
                guard error.errno == EAGAIN else {
                    backlog = []
                    throw error
                }
                guard MonotonicClock.nanoseconds() < deadline else { return }
                usleep(5000)
            }
        }
    }

    private func send(_ message: [UInt8], on socket: Descriptor) throws(SystemError) {
        _ = try retryingInterrupts("sendto", name) {
            unsafe address.withUnsafeBytes { raw -> Int in
                guard let base = raw.baseAddress else { return -1 }
                return unsafe sendto(
                    socket.number, message, message.count, Int32(MSG_NOSIGNAL),
                    base.assumingMemoryBound(to: sockaddr.self), socklen_t(raw.count))
            }
        }
    }

    /// sockaddr_un: a path ends with a zero, an abstract name begins with one and ends where the address does.
    private static func address(_ name: String) throws(SystemError) -> [UInt8] {
        let octets = Array(name.utf8)
        guard octets.first == UInt8(ascii: "/") || octets.first == UInt8(ascii: "@") && octets.count > 1 else {
            throw SystemError("connect", name, errno: EAFNOSUPPORT)
        }
        guard octets.count < 108 else { throw SystemError("connect", name, errno: ENAMETOOLONG) }
        var result: [UInt8] = []
        result.append(littleEndian: UInt16(AF_UNIX))
        return octets.first == UInt8(ascii: "/") ? result + octets + [0] : result + [0] + octets.dropFirst()
    }
}

extension [ServiceNotifier.State] {
    /// Whether it is one line for people, and nothing else.
    fileprivate var isStatus: Bool {
        guard count == 1, case .status = self[0] else { return false }
        return true
    }
}
