public import Advertiser
public import BluetoothTypes
public import HCI
internal import HCITransports
public import LinuxHost

/// Finds the adapter of a service, even if it comes back with another number, and explains its faults.
public final class AdapterFinder {
    /// The hciN in use, and its address.
    private var known: (index: UInt16, address: DeviceAddress)?
    /// The adapter in use, with its current number.
    private var inUse: AdapterName?
    /// The time since which the hciN in use is missing, in nanoseconds of the monotonic clock; `nil` while it is there.
    private var missingSince: UInt64?
    /// `true` if this process has the adapter's user channel: the kernel's list does not contain the adapter then.
    var isUserChannelOpen = false

    /// The wait for the same adapter if another adapter has its number, in nanoseconds: 10 s. After that, the service uses
    /// the new adapter.
    private static let replacementDelay: UInt64 = 10_000_000_000

    /// Creates a finder. It looks for nothing yet.
    public init() {}

    /// Returns the adapter to open: `wanted`, or the first hciN with LE. If the adapter's number has changed, the result
    /// has the new number.
    ///
    /// - Throws: `TransportError` if the adapter is missing.
    public func find(_ wanted: AdapterName?) throws -> AdapterName {
        let wanted = try wanted ?? inUse ?? DefaultAdapter.find()
        guard let index = wanted.kernelIndex else {
            inUse = wanted
            return wanted
        }
        let found = try wanted.withKernelIndex(locate(index))
        inUse = found
        return found
    }

    var nameInUse: String { inUse?.description ?? "the adapter" }

    /// The address of the hciN in use, or used last.
    var addressInUse: DeviceAddress? { known?.address }

    /// The number of the hciN in use, or used last.
    var indexInUse: UInt16? { inUse?.kernelIndex }

    /// Forgets the adapter, because another adapter will be used next.
    func forget() {
        known = nil
        inUse = nil
        missingSince = nil
    }

    private func locate(_ index: UInt16) throws -> UInt16 {
        guard let known else { return try remember(complete(index)) }
        if let same = BlueZAdapter.all().first(where: { $0.address == known.address }) { return remember(same) }
        let now = MonotonicClock.nanoseconds()
        let since = missingSince ?? now
        missingSince = since
        // Throws if the adapter is missing.
        let other = try complete(index)
        guard now - since >= Self.replacementDelay else {
            throw AdapterFault(
                .adapterMissing, "hci\(index) is another adapter now (\(other.address)); waiting for \(known.address)")
        }
        return remember(other)
    }

    /// - Throws: The error if the adapter is missing, or so new that the kernel does not know its address yet.
    private func complete(_ index: UInt16) throws -> BlueZAdapter {
        let adapter = try BlueZAdapter(index: index)
        guard adapter.isBeingSetUp else { return adapter }
        throw AdapterFault(.adapterMissing, "hci\(index): the kernel is setting this adapter up")
    }

    private func remember(_ adapter: BlueZAdapter) -> UInt16 {
        known = (adapter.index, adapter.address)
        missingSince = nil
        return adapter.index
    }

    /// Explains an error of the channel to the adapter in use.
    public func explain(_ error: HCIChannelError) -> AdapterFault {
        guard let inUse else { return AdapterFault(.adapterGone, "\(error)") }
        switch error {
        case .system: return AdapterFault(.system, "\(error)", isPermanent: error.isNotPermitted)
        case .interrupted, .framing: return AdapterFault(.controllerReset, "\(error)")
        case .gone: break
        }
        guard let index = inUse.kernelIndex else { return AdapterFault(.peerGone, "\(error)") }
        guard let adapter = try? BlueZAdapter(index: index), adapter.address == known?.address else {
            return AdapterFault(.adapterGone, "\(inUse): the adapter was unplugged")
        }
        return adapter.isUp
            ? AdapterFault(.controllerReset, "\(inUse): the adapter was reset")
            : AdapterFault(.poweredDown, "\(inUse): the adapter was powered down")
    }

    /// Explains an error of finding or opening an adapter.
    public static func fault(_ error: any Error) -> AdapterFault {
        switch error {
        case let fault as AdapterFault: fault
        case let error as TransportError:
            switch error.reason {
            case .missing: AdapterFault(.adapterMissing, "\(error)")
            case .notPermitted: AdapterFault(.system, "\(error)", isPermanent: true)
            case .noHCI: AdapterFault(.system, "\(error)", isPermanent: true)
            case .down: AdapterFault(.poweredDown, "\(error)")
            case .rfkilled: AdapterFault(.rfkill, "\(error)")
            case .busy: AdapterFault(.adapterBusy, "\(error)")
            case .unreachable: AdapterFault(.peerGone, "\(error)")
            case .system: AdapterFault(.system, "\(error)")
            }
        case let error as AdapterLockError: AdapterFault(.adapterBusy, "\(error)", isPermanent: true)
        case BeaconServiceError.refused(.unavailable, let messages):
            AdapterFault(.adapterMissing, messages.joined(separator: "; "))
        default: AdapterFault(.system, "\(error)")
        }
    }
}

/// The adapter for a service that does not name one.
enum DefaultAdapter {
    /// Returns the first hciN with LE.
    ///
    /// - Throws: `refused` without such an adapter. No other form is used silently.
    static func find() throws(BeaconServiceError) -> AdapterName {
        if let adapter = BlueZAdapter.all().first(where: \.supportsLE) { return .raw(index: adapter.index) }
        throw .refused(
            .unavailable,
            BlueZAdapter.kernelHasBluetooth
                ? "there is no Bluetooth adapter with LE; `--adapter virtual` works without one"
                : "this kernel has no Bluetooth; `--adapter virtual` works without one")
    }
}

/// The right to send or to listen with an adapter of the kernel, visible to other processes of this machine. A user
/// channel takes both rights, because it excludes all other programs.
///
/// If this user may not create locks, the claim is invisible and excludes no other process.
public final class AdapterClaim {
    private var locks: [AdapterLock] = []
    /// Another process that listens with the adapter. Raw sockets all receive the same, so this is not an error.
    public private(set) var shared: AdapterLockError?

    /// Claims an hciN. For other forms of adapter it claims nothing.
    ///
    /// - Parameters:
    ///   - purpose: The instance or the command, for messages of other processes.
    ///   - directory: The directory of the locks. It is created if it is missing.
    /// - Throws: `LinuxHost/AdapterLockError` if another process has the right.
    public convenience init(
        _ name: AdapterName, _ role: AdapterLock.Role, for purpose: String, in directory: String = defaultDirectory
    ) throws(AdapterLockError) {
        switch name {
        case .raw(let index), .user(let index):
            guard let adapter = try? BlueZAdapter(index: index) else { fallthrough }
            let isShared = if case .raw = name { true } else { false }
            try self.init(adapter.address, role, isShared: isShared, for: purpose, in: directory)
        case .managed, .tcp, .unix, .serial, .virtual, .virtualTour: self.init()
        }
    }

    private init() {}

    /// - Parameter isShared: `true` if other programs may use the controller: with a raw channel, not with a user
    ///   channel.
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

    /// The default directory of the locks: /run/pharos.
    public static var defaultDirectory: String { StatusFile.defaultDirectory }
}
