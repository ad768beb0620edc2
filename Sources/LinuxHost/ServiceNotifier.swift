internal import BluetoothTypes
internal import Glibc

/// Tells the service manager how this service is: the protocol of sd_notify(3), without libsystemd.
public struct ServiceNotifier: Sendable {
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

    /// Sends all of `states` in one message. Waits at most a second for a service manager that is busy.
    public func send(_ states: State...) throws(SystemError) {
        try send(states)
    }

    public func send(_ states: [State]) throws(SystemError) {
        guard let socket, !states.isEmpty else { return }
        let message = Array(states.map(\.line).joined(separator: "\n").utf8)
        let deadline = MonotonicClock.nanoseconds() + 1_000_000_000
        while true {
            do throws(SystemError) {
                return try send(message, on: socket)
            } catch {
                guard error.errno == EAGAIN, MonotonicClock.nanoseconds() < deadline else { throw error }
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
