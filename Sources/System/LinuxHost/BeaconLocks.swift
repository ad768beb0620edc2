public import BluetoothTypes

/// The right to send with an adapter, or to listen with it, of which there is one each for each address on a box: two
/// beacons on one controller would undo each other's work. One that sends and one that listens can share it.
///
/// A ``FileLock`` `adapter-ADDRESS.lock`, or `listener-ADDRESS.lock`, which only the directory's owner and root can take,
/// and next to it `adapter-ADDRESS.holder`, in which everybody can read who has it.
public final class AdapterLock: Sendable {
    /// What an adapter is held for.
    public enum Role: String, CaseIterable, Hashable, Sendable {
        case send = "adapter-"
        case listen = "listener-"
    }

    /// Who holds an adapter.
    public struct Holder: Hashable, Sendable {
        /// The process' number.
        public let process: Int32
        /// The instance's name, as its profile has it; of a command, the command.
        public let instance: String

        /// A process by its number, and the name of the instance that it runs.
        public init(process: Int32, instance: String) {
            self.process = process
            self.instance = instance
        }

        fileprivate init(_ holder: FileLock.Holder) {
            self.init(process: holder.process, instance: holder.purpose)
        }
    }

    /// The controller's own address.
    public let address: DeviceAddress
    private let lock: FileLock

    /// Takes the adapter with `address` for `instance`.
    ///
    /// - Parameter directory: Where the locks of this box lie: /run/pharos.
    /// - Throws: ``AdapterLockError``; `held` when another process, or this one, has it in that role already.
    public init(
        _ address: DeviceAddress, _ role: Role = .send, for instance: String, in directory: String
    ) throws(AdapterLockError) {
        do throws(FileLockError) {
            lock = try FileLock(Self.path(of: address, role, in: directory), purpose: instance, isPublic: true)
        } catch {
            switch error {
            case .held(_, let holder): throw .held(address, role, by: holder.map(Holder.init))
            case .system(let error): throw .system(error)
            }
        }
        self.address = address
    }

    /// Who holds the adapter with `address` in that role; `nil` when nobody does. Asking disturbs nobody, and every user
    /// may ask.
    public static func holder(of address: DeviceAddress, _ role: Role = .send, in directory: String) -> Holder? {
        FileLock.holder(of: path(of: address, role, in: directory)).map(Holder.init)
    }

    /// Everybody who sends with an adapter of this box.
    public static func holders(in directory: String) -> [DeviceAddress: Holder] {
        var result: [DeviceAddress: Holder] = [:]
        for name in Files.names(in: directory) where name.hasPrefix(Role.send.rawValue) && name.hasSuffix(suffix) {
            guard let address = DeviceAddress(name.dropFirst(Role.send.rawValue.count).dropLast(suffix.count)) else {
                continue
            }
            result[address] = holder(of: address, in: directory)
        }
        return result
    }

    private static let suffix = ".lock"

    private static func path(of address: DeviceAddress, _ role: Role, in directory: String) -> String {
        "\(directory)/\(role.rawValue)\(address)\(suffix)"
    }
}

/// Why an adapter cannot be had.
public enum AdapterLockError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Another instance sends with it, or listens; `nil` when it does not say which.
    case held(DeviceAddress, AdapterLock.Role, by: AdapterLock.Holder?)
    /// The lock's file cannot be made or locked.
    case system(SystemError)

    public var description: String {
        switch self {
        case .held(let address, .listen, let holder):
            "the adapter \(address) is listened to by \(holder.map { "\"\($0.instance)\" (process \($0.process))" } ?? "others"); "
                + "stop that one, or name another adapter"
        case .held(let address, .send, let holder?):
            "the adapter \(address) is used by the instance \"\(holder.instance)\" (process \(holder.process)); "
                + "stop that one, put its advertisements into one profile with these, or name another adapter"
        case .held(let address, .send, nil):
            "the adapter \(address) is used by another instance; stop that one or name another adapter"
        case .system(let error): "\(error)"
        }
    }
}

/// The right to be the instance of a name on this box: two under one name would overwrite each other's status, metrics
/// and state.
///
/// A ``FileLock`` `instance-NAME.lock` with `instance-NAME.holder` next to it, in which everybody can read who has it.
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
