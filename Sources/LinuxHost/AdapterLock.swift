public import BluetoothTypes
internal import Glibc

/// The right to send with an adapter, of which there is one for each address on a box: two beacons on one controller
/// would undo each other's work.
///
/// A file `adapter-ADDRESS.lock`, locked for as long as this lives, that says who holds it. The kernel gives the lock
/// back when the process ends in whatever way; the file that stays behind means nothing.
public final class AdapterLock: Sendable {
    /// Who holds an adapter.
    public struct Holder: Hashable, Sendable {
        public let process: Int32
        /// The instance's name, as its profile has it.
        public let instance: String

        public init(process: Int32, instance: String) {
            self.process = process
            self.instance = instance
        }
    }

    public let address: DeviceAddress
    private let file: Descriptor

    /// Takes the adapter with `address` for `instance`.
    ///
    /// - Parameter directory: Where the locks of this box lie: /run/pharos.
    /// - Throws: ``AdapterLockError``; `held` when another process, or this one, has it already.
    public init(_ address: DeviceAddress, for instance: String, in directory: String) throws(AdapterLockError) {
        let path = Self.path(of: address, in: directory)
        let file: Descriptor
        do throws(SystemError) {
            file = try Descriptor.open(path, .exclusiveUse)
            try file.lock(path)
            // Others may ask who it is, whatever the process' mask says.
            _ = fchmod(file.number, 0o644)
            _ = try retryingInterrupts("truncate", path) { ftruncate(file.number, 0) }
            try file.writeAll(Array("\(getpid())\n\(instance)\n".utf8))
        } catch {
            guard error.errno == EAGAIN || error.errno == EACCES, error.call == "fcntl" else {
                throw .system(SystemError(error.call, path, errno: error.errno))
            }
            throw .held(address, by: Self.patientHolder(path))
        }
        // Last of all: an instance that is complete empties its file when it ends, even one that is refused.
        self.address = address
        self.file = file
    }

    /// What it said is over; an old name would mislead whoever reads the file.
    deinit { _ = ftruncate(file.number, 0) }

    /// Who holds the adapter with `address`; `nil` when nobody does. Asking disturbs nobody.
    public static func holder(of address: DeviceAddress, in directory: String) -> Holder? {
        holder(path(of: address, in: directory))
    }

    /// Everybody who holds an adapter of this box.
    public static func holders(in directory: String) -> [DeviceAddress: Holder] {
        var result: [DeviceAddress: Holder] = [:]
        for name in Files.names(in: directory) where name.hasPrefix(prefix) && name.hasSuffix(suffix) {
            guard let address = DeviceAddress(name.dropFirst(prefix.count).dropLast(suffix.count)) else { continue }
            result[address] = holder(directory + "/" + name)
        }
        return result
    }

    private static let prefix = "adapter-"
    private static let suffix = ".lock"

    private static func path(of address: DeviceAddress, in directory: String) -> String {
        "\(directory)/\(prefix)\(address)\(suffix)"
    }

    private static func holder(_ path: String) -> Holder? {
        guard let file = try? Descriptor.open(path, .read), file.isLockedByOthers,
            let octets = try? file.read(upTo: 4096)
        else { return nil }
        let lines = String(decoding: octets, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count > 2, let process = Int32(lines[0]) else { return nil }
        return Holder(process: process, instance: String(lines[1]))
    }

    /// The holder has the lock a moment before it has written who it is.
    private static func patientHolder(_ path: String) -> Holder? {
        for _ in 0..<20 {
            if let holder = holder(path), ProcessIdentity(id: holder.process, startTicks: nil).isRunning {
                return holder
            }
            usleep(5000)
        }
        return nil
    }
}

/// Why an adapter cannot be had.
public enum AdapterLockError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Another instance sends with it; `nil` when it does not say which.
    case held(DeviceAddress, by: AdapterLock.Holder?)
    /// The lock's file cannot be made or locked.
    case system(SystemError)

    public var description: String {
        switch self {
        case .held(let address, let holder?):
            "the adapter \(address) is used by the instance \"\(holder.instance)\" (process \(holder.process)); "
                + "stop that one, put its advertisements into one profile with these, or name another adapter"
        case .held(let address, nil):
            "the adapter \(address) is used by another instance; stop that one or name another adapter"
        case .system(let error): "\(error)"
        }
    }
}
