public import Configuration
public import LinuxHost

/// The status files of beacons, listeners and collectors.
public enum StatusFile {
    /// The default directory of the status files.
    public static let defaultDirectory = "/run/pharos"
    private static let suffix = ".status.json"
    private static let listenerSuffix = ".listener.json"
    private static let collectorSuffix = ".collector.json"
    /// The largest size of a status file, in bytes.
    private static let sizeLimit = 1 << 20

    static func path(of name: String, in directory: String) -> String { "\(directory)/\(name)\(suffix)" }

    static func path(ofListener name: String, in directory: String) -> String {
        "\(directory)/\(name)\(listenerSuffix)"
    }

    /// Writes `status` for `pharos status`. Readers see the old file or the new one, never a part.
    public static func write(_ status: InstanceStatus, in directory: String) throws(SystemError) {
        try replace(path(of: status.name, in: directory), with: status.json(withProcess: true))
    }

    /// Writes the status of a listener.
    public static func write(_ status: ListenerStatus, in directory: String) throws(SystemError) {
        try replace(path(ofListener: status.name, in: directory), with: status.json(withProcess: true))
    }

    /// Writes the status of a collector.
    public static func write(_ status: CollectorStatus, in directory: String) throws(SystemError) {
        try replace("\(directory)/\(status.name)\(collectorSuffix)", with: status.json(withProcess: true))
    }

    private static func replace(_ path: String, with status: JSONValue) throws(SystemError) {
        try Files.replace(path, with: Array((status.line + "\n").utf8), isDurable: false, ifBegins: isStatus)
    }

    /// Returns true if a file that begins with this text is a status file: the state comes soon after the name.
    private static func isStatus(_ start: String) -> Bool {
        start.hasPrefix("{\"name\":") && start.contains("\"state\":\"")
    }

    /// Returns the status in the file of the beacon `name`, even if it does not run any more; `nil` without a file.
    static func beacon(_ name: String, in directory: String) -> InstanceStatus? {
        try? InstanceStatus(read(path(of: name, in: directory)))
    }

    /// Returns the status in the file of the listener `name`, even if it does not run any more; `nil` without a file.
    public static func listener(_ name: String, in directory: String) -> ListenerStatus? {
        try? ListenerStatus(read(path(ofListener: name, in: directory)))
    }

    /// Returns the status of all beacons, listeners and collectors with a file in `directory`, sorted by name, and the
    /// problems of unreadable files.
    public static func all(in directory: String) throws(SystemError) -> (status: MachineStatus, problems: [String]) {
        // Throws for a directory that cannot be read, which would look empty otherwise.
        let folder = try Descriptor.open(directory + "/.", .read)
        withExtendedLifetime(folder) {}
        var status = MachineStatus()
        var problems: [String] = []
        for name in Files.names(in: directory) where !name.hasPrefix(".") {
            let path = "\(directory)/\(name)"
            do throws(StatusFileError) {
                if name.hasSuffix(suffix) {
                    status.instances.append(try InstanceStatus(read(path)).verified(in: directory))
                } else if name.hasSuffix(listenerSuffix) {
                    status.listenerStatuses.append(try ListenerStatus(read(path)).verified())
                } else if name.hasSuffix(collectorSuffix) {
                    status.collectors.append(try CollectorStatus(read(path)).verified())
                }
            } catch {
                problems.append(TerminalText.line("\(path): \(error.reason)"))
            }
        }
        return (status, problems)
    }

    private static func read(_ path: String) throws(StatusFileError) -> JSONNode {
        let octets: [UInt8]
        do throws(SystemError) {
            octets = try Files.read(path, limit: sizeLimit)
        } catch {
            throw StatusFileError("it cannot be read: \(error.text)")
        }
        let (root, problems) = JSONDocument.parse(octets)
        guard let root, problems.isEmpty else {
            throw StatusFileError("it is not a status file: \(problems.first?.description ?? "it is empty")")
        }
        return root
    }
}

/// The status of all beacons, listeners and collectors of this machine.
public struct MachineStatus: Equatable, Sendable {
    /// The status of each beacon, sorted by name.
    public var instances: [InstanceStatus]
    /// The status of each listener, sorted by name.
    public var listenerStatuses: [ListenerStatus]
    /// The status of each collector, sorted by name.
    public var collectors: [CollectorStatus]

    public init(
        instances: [InstanceStatus] = [], listenerStatuses: [ListenerStatus] = [], collectors: [CollectorStatus] = []
    ) {
        self.instances = instances
        self.listenerStatuses = listenerStatuses
        self.collectors = collectors
    }

    /// `true` if no beacon, no listener and no collector has a status file.
    public var isEmpty: Bool { instances.isEmpty && listenerStatuses.isEmpty && collectors.isEmpty }

    /// `true` if there is at least one status, every beacon is on the air, every listener listens, and every collector
    /// collects or is on standby.
    public var isGood: Bool {
        !isEmpty && instances.allSatisfy { $0.state == .onAir }
            && listenerStatuses.allSatisfy { $0.state == .listening } && collectors.allSatisfy(\.isGood)
    }

    /// The object of `status --json`: the format's version, the beacons, the listeners and the collectors.
    public var json: JSONValue {
        .record([
            ("version", .integer(1)), ("instances", .array(instances.map { $0.json(withProcess: false) })),
            ("listeners", .array(listenerStatuses.map { $0.json(withProcess: false) })),
            ("collectors", .array(collectors.map { $0.json(withProcess: false) })),
        ])
    }
}

/// The reason why a status file cannot be used.
public struct StatusFileError: Error, Hashable, Sendable {
    public let reason: String

    init(_ reason: String) {
        self.reason = reason
    }
}
