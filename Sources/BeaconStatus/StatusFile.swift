internal import Configuration
public import LinuxHost
internal import TextEscaping

/// The files in which instances say how they are.
public enum StatusFile {
    /// Where they lie on a box.
    public static let defaultDirectory = "/run/pharos"
    private static let suffix = ".status.json"
    /// Far more than any instance has to say.
    private static let sizeLimit = 1 << 20

    static func path(of name: String, in directory: String) -> String { "\(directory)/\(name)\(suffix)" }

    /// Puts `status` where `pharos status` finds it. Readers see the old one or the new one, nothing in between.
    public static func write(_ status: InstanceStatus, in directory: String) throws(SystemError) {
        let text = status.json(withProcess: true).line + "\n"
        try Files.replace(path(of: status.name, in: directory), with: Array(text.utf8), isDurable: false)
    }

    /// All instances that have left a file in `directory`, sorted by name, and what is wrong with the other files.
    public static func all(in directory: String) throws(SystemError) -> (
        instances: [InstanceStatus], problems: [String]
    ) {
        // Opening it tells a directory that may not be read from one with nothing in it.
        let folder = try Descriptor.open(directory + "/.", .read)
        withExtendedLifetime(folder) {}
        var instances: [InstanceStatus] = []
        var problems: [String] = []
        for name in Files.names(in: directory) where name.hasSuffix(suffix) && !name.hasPrefix(".") {
            let path = "\(directory)/\(name)"
            do throws(StatusFileError) {
                instances.append(try read(path).verified(in: directory))
            } catch {
                problems.append(TerminalText.line("\(path): \(error.reason)"))
            }
        }
        return (instances, problems)
    }

    private static func read(_ path: String) throws(StatusFileError) -> InstanceStatus {
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
        return try InstanceStatus(root)
    }
}

/// Why a file says nothing about an instance.
public struct StatusFileError: Error, Hashable, Sendable {
    public let reason: String

    init(_ reason: String) {
        self.reason = reason
    }
}
