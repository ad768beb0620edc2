/// The right to be the instance of a name on this box: two under one name would overwrite each other's status, metrics
/// and state.
///
/// A ``FileLock`` `instance-NAME.lock` with `instance-NAME.holder` beside it, in which everybody can read who has it.
public final class InstanceLock: Sendable {
    /// The instance's name, as its profile has it.
    public let name: String
    private let lock: FileLock

    /// Takes the name.
    ///
    /// - Parameters:
    ///   - name: One component of a path, as the names of profiles are.
    ///   - directory: Where the locks of this box lie: /run/pharos.
    /// - Throws: ``InstanceLockError``; `held` when another process, or this one, has it already.
    public init(_ name: String, in directory: String) throws(InstanceLockError) {
        do throws(FileLockError) {
            lock = try FileLock(Self.path(of: name, in: directory), purpose: name, isPublic: true)
        } catch {
            switch error {
            case .held(_, let holder): throw .held(name, process: holder?.process)
            case .system(let error): throw .system(error)
            }
        }
        self.name = name
    }

    /// The number of the process that runs under that name; `nil` when none does. Every user may ask.
    public static func holder(of name: String, in directory: String) -> Int32? {
        FileLock.holder(of: path(of: name, in: directory))?.process
    }

    private static func path(of name: String, in directory: String) -> String { "\(directory)/instance-\(name).lock" }
}

/// Why a name cannot be had.
public enum InstanceLockError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Another process runs under that name; its number is `nil` when it does not say it.
    case held(String, process: Int32?)
    /// The lock's file cannot be made or locked.
    case system(SystemError)

    /// One sentence: what, where, and what to do next.
    public var description: String {
        switch self {
        case .held(let name, let process):
            "the beacon \"\(name)\" runs already\(process.map { " (process \($0))" } ?? ""); stop that one first, or give "
                + "this profile another name"
        case .system(let error): "\(error)"
        }
    }
}
