public import BluetoothTypes
internal import HCI
public import HCITransports
public import LinuxHost

/// The right to send or to listen with an adapter, visible to other processes of this machine. The claim of a user
/// channel, a serial line or a socket includes both rights, because Pharos resets the controller behind it.
///
/// If this user may not create locks, the claim is invisible and excludes no other process. A virtual adapter belongs
/// to its process, so it needs no claim.
public final class AdapterClaim {
    private var locks: [AdapterLock] = []
    /// The lock of another process that listens with the adapter; `nil` if there is none. Such a lock is not an error:
    /// all raw sockets receive the same packets, so several processes can listen.
    public private(set) var shared: AdapterLockError?
    private let role: AdapterLock.Role
    private let purpose: String
    private let directory: String

    /// Claims an hciN or a serial line, before it is opened. A controller behind a socket is claimed with ``add(_:)``.
    ///
    /// - Parameters:
    ///   - purpose: The instance or the command, for messages of other processes.
    ///   - directory: The directory of the locks. It is created if it is missing.
    /// - Throws: `LinuxHost/AdapterLockError` if another process has the right.
    public convenience init(
        _ name: AdapterName, _ role: AdapterLock.Role, for purpose: String, in directory: String = defaultDirectory
    ) throws(AdapterLockError) {
        self.init(role, for: purpose, in: directory)
        // The kernel's advertising manager can be shared.
        if case .managed = name { return }
        guard let adapter = Self.adapter(name) else { return }
        let isShared = if case .raw = name { true } else { false }
        try take(adapter, isShared: isShared)
    }

    /// Creates a claim without any adapter.
    init(_ role: AdapterLock.Role, for purpose: String, in directory: String) {
        self.role = role
        self.purpose = purpose
        self.directory = directory
    }

    /// Claims the controller behind a socket, before the first command that changes it. Does nothing for other
    /// adapters.
    ///
    /// - Throws: `LinuxHost/AdapterLockError` if another process has the right.
    public func add(_ opened: OpenAdapter) throws(AdapterLockError) {
        guard let adapter = Self.adapter(opened) else { return }
        try take(adapter, isShared: false)
    }

    /// - Parameter isShared: `true` if other programs may use the controller too, which is possible only with a raw
    ///   channel.
    func take(_ adapter: LockedAdapter, isShared: Bool) throws(AdapterLockError) {
        try? Files.makeDirectory(directory)
        for neededRole in isShared ? [role] : AdapterLock.Role.allCases {
            do throws(AdapterLockError) {
                locks.append(try AdapterLock(adapter, neededRole, for: purpose, in: directory))
            } catch {
                guard case .held = error else { continue }
                guard isShared, neededRole == .listen else { throw error }
                shared = error
            }
        }
    }

    /// The default directory of the locks: /run/pharos.
    public static var defaultDirectory: String { StatusFile.defaultDirectory }

    /// Returns the adapter to lock before it is opened: an hciN or a serial line; `nil` for other adapters, and for
    /// adapters that are missing.
    static func adapter(_ name: AdapterName) -> LockedAdapter? {
        switch name {
        case .raw(let index), .user(let index), .managed(let index):
            (try? BlueZAdapter(index: index)).map { LockedAdapter($0.address) }
        case .serial(let path, _): LockedAdapter(serialLine: path, named: name.description)
        case .tcp, .unix, .virtual, .virtualTour: nil
        }
    }

    /// Returns the controller to lock behind a socket; `nil` for other adapters. Only the controller's address
    /// distinguishes several controllers of one server, so it is read first. This does not disturb another host of the
    /// controller.
    static func adapter(_ opened: OpenAdapter) -> LockedAdapter? {
        let path: String?
        switch opened.name {
        case .unix(let socket): path = socket
        case .tcp: path = nil
        case .raw, .user, .managed, .serial, .virtual, .virtualTour: return nil
        }
        // If the controller does not answer, the address stays empty. The commands that follow report the problem.
        let host = HCIHost(channel: opened.channel)
        let address = (try? host.execute(ReadBDADDR()))?.address ?? DeviceAddress(FixedOctets())
        return LockedAdapter(address, behind: opened.descriptor, at: path, named: opened.name.description)
    }
}
