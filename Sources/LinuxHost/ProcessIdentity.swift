internal import Glibc

/// A process, told from any later one that gets the same number.
public struct ProcessIdentity: Hashable, Sendable {
    public let id: Int32
    /// When it started, in the kernel's ticks since the machine started; `nil` where that cannot be seen.
    public let startTicks: UInt64?

    public init(id: Int32, startTicks: UInt64?) {
        self.id = id
        self.startTicks = startTicks
    }

    /// This process.
    public static var current: ProcessIdentity {
        let id = getpid()
        return ProcessIdentity(id: id, startTicks: startTicks(of: id))
    }

    /// Whether it still runs. A process that has ended and was not waited for yet does not.
    public var isRunning: Bool {
        guard id > 0 else { return false }
        guard let fields = Self.fields(of: id) else {
            // /proc may hide the processes of other users; a signal that is not sent asks as well.
            return kill(id, 0) == 0 || errno == EPERM
        }
        if fields.first == "Z" || fields.first == "X" { return false }
        guard let startTicks, fields.count > 19, let started = UInt64(fields[19]) else { return true }
        return started == startTicks
    }

    private static func startTicks(of id: Int32) -> UInt64? {
        fields(of: id).flatMap { $0.count > 19 ? UInt64($0[19]) : nil }
    }

    /// The fields of /proc/PID/stat from the third, the state, on (proc(5)). The second is a name in parentheses that
    /// may itself hold spaces and parentheses.
    private static func fields(of id: Int32) -> [Substring]? {
        guard let line = Files.firstLine("/proc/\(id)/stat"), let end = line.lastIndex(of: ")") else { return nil }
        return line[line.index(after: end)...].split(separator: " ")
    }
}
