internal import BluetoothTypes
public import Configuration
public import LinuxHost

/// How one instance of `listen` is: what it leaves in /run/pharos for others to read.
public struct ListenerStatus: Hashable, Sendable {
    /// What the listener does.
    public enum State: String, CaseIterable, Sendable {
        case listening
        case deaf
        case recovering
        case off
    }

    /// What waits for a broker, or for a disk that takes it.
    public struct Spool: Hashable, Sendable {
        public var messages: Int
        public var octets: Int
        /// When the oldest was to be told, as its time is written; `nil` where nothing waits for a broker.
        public var oldest: String?

        /// - Parameters are as the properties of the same names.
        public init(messages: Int = 0, octets: Int = 0, oldest: String? = nil) {
            self.messages = messages
            self.octets = octets
            self.oldest = oldest
        }
    }

    /// The instance's name, as its listener file has it.
    public var name: String
    /// The adapter as it was named; `nil` before there is one.
    public var adapter: String?
    public var state: State
    /// Since when it is in this state.
    public var since: RFC3339Time?
    /// Reports heard, in thousandths a second.
    public var reportsPerSecond: Int?
    /// How many beacons the listener file names.
    public var known = 0
    /// How many of them were heard in the last second.
    public var heardNow = 0
    /// About how many other senders were heard in the last second.
    public var strangers = 0
    /// Reports that the kernel dropped; `nil` where it does not tell.
    public var lost: Int?
    /// Hooks that were not started yet.
    public var hooksWaiting = 0
    public var spool = Spool()
    /// `connected`, or since when it is down; `nil` without a broker.
    public var broker: String?
    /// Who wrote this.
    public var process: ProcessIdentity?

    /// A listener of which no more is known than this.
    public init(name: String, adapter: String?, state: State) {
        self.name = name
        self.adapter = adapter
        self.state = state
    }

    /// What is true now of what was written: a process that was killed has left its last words, and hears nothing.
    public func verified() -> ListenerStatus {
        guard state != .off, process?.isRunning != true else { return self }
        var status = self
        status.state = .off
        status.since = nil
        return status
    }
}

extension ListenerStatus {
    /// One element of `listeners` of `status --json`, and with the process the contents of a status file.
    public func json(withProcess: Bool) -> JSONValue {
        var members: [(String, JSONValue)] = [
            ("name", .string(name)),
            ("adapter", .optional(adapter, JSONValue.string)),
            ("state", .string(state.rawValue)),
            ("since", .optional(since) { .string($0.description) }),
            ("reportsPerS", .optional(reportsPerSecond) { .decimal(DecimalText.thousandths($0)) }),
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

    /// - Throws: ``StatusFileError`` for anything but an object that names a listener and its state. Other members that
    ///   are missing or strange are unknown, or 0: a newer version may have written the file.
    public init(_ node: JSONNode) throws(StatusFileError) {
        guard let name = node["name"]?.string, !name.isEmpty else {
            throw StatusFileError("it is no status file: it names no listener")
        }
        guard let state = node["state"]?.string.flatMap(State.init) else {
            throw StatusFileError(
                "the listener's state is none of " + State.allCases.map(\.rawValue).joined(separator: ", "))
        }
        self.init(name: name, adapter: node["adapter"]?.string, state: state)
        since = node["since"]?.string.flatMap(RFC3339Time.init)
        reportsPerSecond = node["reportsPerS"]?.thousandths
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
    /// What a status file says of who wrote it.
    static func members(_ process: ProcessIdentity?) -> [(String, JSONValue)] {
        [
            ("pid", .optional(process) { .integer($0.id) }),
            ("startTicks", .optional(process?.startTicks) { .integer($0) }),
        ]
    }

    /// Who wrote a status file; `nil` where it does not say.
    init?(status node: JSONNode) {
        guard let id = node["pid"]?.integer.flatMap(Int32.init(exactly:)) else { return nil }
        self.init(id: id, startTicks: node["startTicks"]?.integer.flatMap(UInt64.init(exactly:)))
    }
}
