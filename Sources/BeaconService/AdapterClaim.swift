internal import BeaconStatus
internal import BluetoothTypes
public import HCITransports
public import LinuxHost

/// What this process holds of an adapter of the kernel, so that others on this box see it: the right to send, or to
/// listen; of a user channel both, because nobody else can use the adapter meanwhile.
///
/// Where no lock can be made, because this user may not, nobody sees it, and nobody is refused.
public final class AdapterClaim {
    private var locks: [AdapterLock] = []
    /// Who listens with the adapter already: raw sockets all hear the same, so that is no refusal.
    public private(set) var shared: AdapterLockError?

    /// Claims an hciN; other forms are left to whoever is at their other end.
    ///
    /// - Parameters:
    ///   - purpose: What claims it, for those who find it taken: the instance, or the command.
    ///   - directory: Where the locks of this box lie; it is made where it is missing.
    /// - Throws: `LinuxHost/AdapterLockError` where another process has what is wanted.
    public convenience init(
        _ name: AdapterName, _ role: AdapterLock.Role, for purpose: String, in directory: String = defaultDirectory
    ) throws(AdapterLockError) {
        switch name {
        case .raw(let index), .user(let index):
            guard let adapter = try? BlueZAdapter(index: index) else { fallthrough }
            let isShared = if case .raw = name { true } else { false }
            try self.init(adapter.address, role, isShared: isShared, for: purpose, in: directory)
        case .managed, .tcp, .unix, .serial, .virtual: self.init()
        }
    }

    private init() {}

    /// - Parameter isShared: Whether others use the controller too: by a raw channel, not by the user channel.
    init(
        _ address: DeviceAddress, _ role: AdapterLock.Role, isShared: Bool, for purpose: String, in directory: String
    ) throws(AdapterLockError) {
        try? Files.makeDirectory(directory)
        for wanted in isShared ? [role] : AdapterLock.Role.allCases {
            do throws(AdapterLockError) {
                locks.append(try AdapterLock(address, wanted, for: purpose, in: directory))
            } catch {
                guard case .held = error else { continue }
                guard isShared, wanted == .listen else { throw error }
                shared = error
            }
        }
    }

    /// /run/pharos.
    public static var defaultDirectory: String { StatusFile.defaultDirectory }
}
