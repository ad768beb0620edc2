public import Configuration
public import LinuxHost

/// The files in which instances of `run` and `listen` say how they are.
public enum StatusFile {
    /// Where they lie on a box.
    public static let defaultDirectory = "/run/pharos"
    private static let suffix = ".status.json"
    private static let listenerSuffix = ".listener.json"
    /// Far more than any instance has to say.
    private static let sizeLimit = 1 << 20

    static func path(of name: String, in directory: String) -> String { "\(directory)/\(name)\(suffix)" }

    static func path(ofListener name: String, in directory: String) -> String {
        "\(directory)/\(name)\(listenerSuffix)"
    }

    /// Puts `status` where `pharos status` finds it. Readers see the old one or the new one, nothing in between.
    public static func write(_ status: InstanceStatus, in directory: String) throws(SystemError) {
        let text = status.json(withProcess: true).line + "\n"
        try Files.replace(path(of: status.name, in: directory), with: Array(text.utf8), isDurable: false)
    }

    /// The same for a listener.
    public static func write(_ status: ListenerStatus, in directory: String) throws(SystemError) {
        let text = status.json(withProcess: true).line + "\n"
        try Files.replace(path(ofListener: status.name, in: directory), with: Array(text.utf8), isDurable: false)
    }

    /// The last words of the listener `name`, whether it still runs or not; `nil` where it has left none.
    public static func listener(_ name: String, in directory: String) -> ListenerStatus? {
        try? ListenerStatus(read(path(ofListener: name, in: directory)))
    }

    /// All instances that have left a file in `directory`, sorted by name, and what is wrong with the other files.
    public static func all(in directory: String) throws(SystemError) -> (status: BoxStatus, problems: [String]) {
        // Opening it tells a directory that may not be read from one with nothing in it.
        let folder = try Descriptor.open(directory + "/.", .read)
        withExtendedLifetime(folder) {}
        var status = BoxStatus()
        var problems: [String] = []
        for name in Files.names(in: directory) where !name.hasPrefix(".") {
            let path = "\(directory)/\(name)"
            do throws(StatusFileError) {
                if name.hasSuffix(suffix) {
                    status.instances.append(try InstanceStatus(read(path)).verified(in: directory))
                } else if name.hasSuffix(listenerSuffix) {
                    status.listeners.append(try ListenerStatus(read(path)).verified())
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
            throw StatusFileError("it is no status file: \(problems.first?.description ?? "it is empty")")
        }
        return root
    }
}

/// How all that runs on this box is.
public struct BoxStatus: Hashable, Sendable {
    /// Beacons, sorted by name.
    public var instances: [InstanceStatus]
    /// Listeners, sorted by name.
    public var listeners: [ListenerStatus]

    /// - Parameters are as the properties of the same names.
    public init(instances: [InstanceStatus] = [], listeners: [ListenerStatus] = []) {
        self.instances = instances
        self.listeners = listeners
    }

    /// Whether nothing runs here, or ever has.
    public var isEmpty: Bool { instances.isEmpty && listeners.isEmpty }

    /// Whether something runs here, each beacon is on the air and each listener listens.
    public var isGood: Bool {
        !isEmpty && instances.allSatisfy { $0.state == .onAir } && listeners.allSatisfy { $0.state == .listening }
    }

    /// What `status --json` prints: the format's version, the instances and the listeners.
    public var json: JSONValue {
        .record([
            ("version", .integer(1)), ("instances", .array(instances.map { $0.json(withProcess: false) })),
            ("listeners", .array(listeners.map { $0.json(withProcess: false) })),
        ])
    }
}

/// Why a file says nothing about an instance.
public struct StatusFileError: Error, Hashable, Sendable {
    public let reason: String

    init(_ reason: String) {
        self.reason = reason
    }
}
