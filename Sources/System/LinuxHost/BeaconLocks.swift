/// A lock on an adapter, for sending or for listening. At a time, one process can send with an adapter, and one process
/// can listen with it. Two sending processes would change each other's settings of the controller.
///
/// The lock is a ``FileLock`` named `adapter-KEY.lock` or `listener-KEY.lock`. Only the owner of the directory and root
/// can take it. KEY identifies the ``LockedAdapter``; for an adapter of the kernel it is the address. Every user can
/// read in `adapter-KEY.holder` or `listener-KEY.holder` which process holds the lock.
public final class AdapterLock: Sendable {
    /// The use of an adapter.
    public enum Role: String, CaseIterable, Hashable, Sendable {
        case send = "adapter-"
        case listen = "listener-"
    }

    public let adapter: LockedAdapter
    private let lock: FileLock

    /// Locks an adapter for `instance`.
    ///
    /// - Parameter directory: The directory of this machine's locks, /run/pharos.
    /// - Throws: ``AdapterLockError/held(_:_:by:)`` if another process, or this one, has locked the adapter in this
    ///   role.
    public init(
        _ adapter: LockedAdapter, _ role: Role = .send, for instance: String, in directory: String
    ) throws(AdapterLockError) {
        do throws(FileLockError) {
            lock = try FileLock(Self.path(of: adapter, role, in: directory), purpose: instance, isPublic: true)
        } catch {
            switch error {
            case .held(_, let holder): throw .held(adapter, role, by: holder)
            case .system(let error): throw .system(error)
            }
        }
        self.adapter = adapter
    }

    /// Returns the process that has locked the adapter in this role; `nil` if the adapter is free. The holder's purpose
    /// is the name of its instance or command. Every user may call this. The holder is not affected.
    public static func holder(of adapter: LockedAdapter, _ role: Role = .send, in directory: String) -> FileLock.Holder?
    {
        FileLock.holder(of: path(of: adapter, role, in: directory))
    }

    /// Returns the processes that have locked adapters of this machine for sending, sorted by the names of the lock
    /// files.
    public static func holders(in directory: String) -> [FileLock.Holder] {
        Files.names(in: directory).filter { $0.hasPrefix(Role.send.rawValue) && $0.hasSuffix(suffix) }.compactMap {
            FileLock.holder(of: "\(directory)/\($0)")
        }
    }

    private static let suffix = ".lock"

    private static func path(of adapter: LockedAdapter, _ role: Role, in directory: String) -> String {
        "\(directory)/\(role.rawValue)\(adapter.key)\(suffix)"
    }
}

/// The reason why an adapter cannot be locked.
public enum AdapterLockError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Another process has locked the adapter in this role. The holder is `nil` if it cannot be read.
    case held(LockedAdapter, AdapterLock.Role, by: FileLock.Holder?)
    /// The lock file cannot be created or locked.
    case system(SystemError)

    public var description: String {
        switch self {
        case .held(let adapter, .listen, let holder):
            "the adapter \(adapter) is used for listening by "
                + (holder.map { "\"\($0.purpose)\" (process \($0.process))" } ?? "another instance")
                + "; stop that instance, or name another adapter"
        case .held(let adapter, .send, let holder?):
            "the adapter \(adapter) is used by the instance \"\(holder.purpose)\" (process \(holder.process)); "
                + "stop that instance, put its advertisements into this profile, or name another adapter"
        case .held(let adapter, .send, nil):
            "the adapter \(adapter) is used by another instance; stop that instance, or name another adapter"
        case .system(let error): "\(error)"
        }
    }
}

/// A lock on the name of an instance on this machine. Two instances with the same name would overwrite each other's
/// status, metrics and state.
///
/// The lock is a ``FileLock`` named `instance-NAME.lock`. Every user can read in `instance-NAME.holder` which process
/// holds it.
public final class InstanceLock: Sendable {
    /// The name of the instance from its profile.
    public let name: String
    private let lock: FileLock

    /// Takes the lock on `name`.
    ///
    /// - Parameters:
    ///   - name: The name of a profile, which is a single component of a path.
    ///   - directory: The directory of this machine's locks, /run/pharos.
    /// - Throws: ``InstanceLockError/held(_:process:)`` if another process, or this one, has locked the name.
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

    /// Returns the id of the process that runs under `name`; `nil` if there is none. Every user may call this.
    public static func holder(of name: String, in directory: String) -> Int32? {
        FileLock.holder(of: path(of: name, in: directory))?.process
    }

    private static func path(of name: String, in directory: String) -> String { "\(directory)/instance-\(name).lock" }
}

/// The reason why a name cannot be locked.
public enum InstanceLockError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Another process runs under this name; its id is `nil` if it cannot be read.
    case held(String, process: Int32?)
    /// The lock file cannot be created or locked.
    case system(SystemError)

    /// A sentence with the problem and what to do.
    public var description: String {
        switch self {
        case .held(let name, let process):
            "the beacon \"\(name)\" is already running\(process.map { " (process \($0))" } ?? ""); stop it first, or "
                + "give this profile another name"
        case .system(let error): "\(error)"
        }
    }
}
