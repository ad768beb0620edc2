public import Configuration
public import LinuxHost

/// The status of a collector that follows a broker: the contents of its file in /run/pharos.
public struct CollectorStatus: Equatable, Sendable {
    /// The state of the collector.
    public enum State: String, CaseIterable, Sendable {
        case collecting
        /// No receiver works.
        case deaf
        /// The broker is not connected.
        case recovering
        /// Another collector works for the site.
        case standby
        case off
    }

    /// The site's name from the collector file.
    public var name: String
    public var state: State
    /// The time at which the collector entered this state.
    public var since: RFC3339Time?
    /// The number of receivers in the collector file.
    public var receivers = 0
    /// The names of the receivers that do not work.
    public var silentReceivers: [String] = []
    /// The number of beacons that are present.
    public var present = 0
    /// `connected`, or `down since` and the time; `nil` if the collector does not use the broker.
    public var broker: String?
    /// The process that wrote the file.
    public var process: ProcessIdentity?

    /// Creates a status in which all other values are unknown or 0.
    public init(name: String, state: State) {
        self.name = name
        self.state = state
    }

    /// True if the collector works, or is ready to replace another collector.
    var isGood: Bool { state == .collecting || state == .standby }

    /// Returns the current status: off if the process that wrote the file has ended.
    func verified() -> CollectorStatus {
        guard state != .off, process?.isRunning != true else { return self }
        var status = self
        status.state = .off
        status.since = nil
        return status
    }
}

extension CollectorStatus {
    /// An element of `collectors` of `status --json`; with the process, the contents of a status file.
    public func json(withProcess: Bool) -> JSONValue {
        var members: [(String, JSONValue)] = [
            ("name", .string(name)),
            ("state", .string(state.rawValue)),
            ("since", .optional(since) { .string($0.description) }),
            ("receivers", .integer(receivers)),
            ("silentReceivers", .array(silentReceivers.map(JSONValue.string))),
            ("present", .integer(present)),
            ("broker", .optional(broker, JSONValue.string)),
        ]
        if withProcess { members += ProcessIdentity.members(process) }
        return .record(members)
    }

    /// Reads a status file. It must contain the name of the collector and its state. All other members are unknown, or
    /// 0, if they are missing or have another type, because a newer version may have written the file.
    ///
    /// - Throws: ``StatusFileError`` if the name or the state is missing.
    public init(_ node: JSONNode) throws(StatusFileError) {
        guard let name = node["name"]?.string, !name.isEmpty else {
            throw StatusFileError("it is not a status file: the collector's name is missing")
        }
        guard let state = node["state"]?.string.flatMap(State.init) else {
            throw StatusFileError(
                "the collector's state is not one of " + State.allCases.map(\.rawValue).joined(separator: ", "))
        }
        self.init(name: name, state: state)
        since = node["since"]?.string.flatMap(RFC3339Time.init)
        receivers = max(0, node["receivers"]?.integer ?? 0)
        silentReceivers = node["silentReceivers"]?.elements?.compactMap(\.string) ?? []
        present = max(0, node["present"]?.integer ?? 0)
        broker = node["broker"]?.string
        process = ProcessIdentity(status: node)
    }
}
