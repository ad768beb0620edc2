internal import BluetoothTypes
public import Configuration
public import LinuxHost

/// The status of a listener: the contents of its file in /run/pharos.
public struct ListenerStatus: Equatable, Sendable {
    /// The state of the listener.
    public enum State: String, CaseIterable, Sendable {
        case listening
        case deaf
        case recovering
        case off
    }

    /// The messages that wait for a broker or for a writable disk.
    public struct Spool: Equatable, Sendable {
        public var messages: Int
        public var octets: Int
        /// The time of the oldest message, as it is written in the message; `nil` if no message waits for a broker.
        public var oldest: String?

        public init(messages: Int = 0, octets: Int = 0, oldest: String? = nil) {
            self.messages = messages
            self.octets = octets
            self.oldest = oldest
        }
    }

    /// The instance's name from the listener file.
    public var name: String
    /// The adapter's name; `nil` before the listener uses an adapter.
    public var adapter: String?
    public var state: State
    /// The time at which the listener entered this state.
    public var since: RFC3339Time?
    /// The rate of received reports, in reports per 1000 s.
    public var reportsPerThousandSeconds: Int?
    /// The number of beacons in the listener file.
    public var known = 0
    /// The number of beacons in the listener file that were received in the last second.
    public var heardNow = 0
    /// The approximate number of other devices that were received in the last second.
    public var strangers = 0
    /// The number of reports that the kernel dropped; `nil` if unknown.
    public var lost: Int?
    /// The number of hooks that have not started yet.
    public var hooksWaiting = 0
    public var spool = Spool()
    /// `connected`, or `down since` and the time; `nil` if the listener has no broker.
    public var broker: String?
    /// The process that wrote the file.
    public var process: ProcessIdentity?

    /// Creates a status in which all other values are unknown or 0.
    public init(name: String, adapter: String?, state: State) {
        self.name = name
        self.adapter = adapter
        self.state = state
    }

    /// Returns the current status: off if the process that wrote the file has ended.
    public func verified() -> ListenerStatus {
        guard state != .off, process?.isRunning != true else { return self }
        var status = self
        status.state = .off
        status.since = nil
        return status
    }
}

extension ListenerStatus {
    /// An element of `listeners` of `status --json`; with the process, the contents of a status file.
    public func json(withProcess: Bool) -> JSONValue {
        var members: [(String, JSONValue)] = [
            ("name", .string(name)),
            ("adapter", .optional(adapter, JSONValue.string)),
            ("state", .string(state.rawValue)),
            ("since", .optional(since) { .string($0.description) }),
            ("reportsPerS", .thousandths(reportsPerThousandSeconds)),
            ("known", .integer(known)),
            ("heardNow", .integer(heardNow)),
            ("strangers", .integer(strangers)),
            ("lost", .optional(lost) { .integer($0) }),
            ("hooksWaiting", .integer(hooksWaiting)),
            (
                "spool",
                .record([
                    ("messages", .integer(spool.messages)), ("octets", .integer(spool.octets)),
                    ("oldest", .optional(spool.oldest, JSONValue.string)),
                ])
            ),
            ("broker", .optional(broker, JSONValue.string)),
        ]
        if withProcess { members += ProcessIdentity.members(process) }
        return .record(members)
    }

    /// Reads a status file. It must contain the name of the listener and its state. All other members are unknown, or
    /// 0, if they are missing or have another type, because a newer version may have written the file.
    ///
    /// - Throws: ``StatusFileError`` if the name or the state is missing.
    public init(_ node: JSONNode) throws(StatusFileError) {
        guard let name = node["name"]?.string, !name.isEmpty else {
            throw StatusFileError("it is not a status file: the listener's name is missing")
        }
        guard let state = node["state"]?.string.flatMap(State.init) else {
            throw StatusFileError(
                "the listener's state is not one of " + State.allCases.map(\.rawValue).joined(separator: ", "))
        }
        self.init(name: name, adapter: node["adapter"]?.string, state: state)
        since = node["since"]?.string.flatMap(RFC3339Time.init)
        reportsPerThousandSeconds = node["reportsPerS"]?.thousandths
        known = node["known"]?.integer ?? 0
        heardNow = node["heardNow"]?.integer ?? 0
        strangers = node["strangers"]?.integer ?? 0
        lost = node["lost"]?.integer
        hooksWaiting = node["hooksWaiting"]?.integer ?? 0
        spool = Spool(
            messages: node["spool"]?["messages"]?.integer ?? 0, octets: node["spool"]?["octets"]?.integer ?? 0,
            oldest: node["spool"]?["oldest"]?.string)
        broker = node["broker"]?.string
        process = ProcessIdentity(status: node)
    }
}

extension ProcessIdentity {
    /// The members of a status file about the process that wrote it.
    static func members(_ process: ProcessIdentity?) -> [(String, JSONValue)] {
        [
            ("pid", .optional(process) { .integer($0.id) }),
            ("startTicks", .optional(process?.startTicks) { .integer($0) }),
        ]
    }

    /// Reads the process that wrote a status file; `nil` if it is not in the file.
    init?(status node: JSONNode) {
        guard let id = node["pid"]?.integer.flatMap(Int32.init(exactly:)) else { return nil }
        self.init(id: id, startTicks: node["startTicks"]?.integer.flatMap(UInt64.init(exactly:)))
    }
}
