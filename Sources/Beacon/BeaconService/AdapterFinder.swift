public import Advertiser
public import BluetoothTypes
public import HCI
internal import HCITransports
public import LinuxHost

/// Finds a service's adapter, also when it comes back under another number, and tells what has happened to it.
public final class AdapterFinder {
    /// The hciN in use, and its address.
    private var known: (index: UInt16, address: DeviceAddress)?
    private var inUse: AdapterName?
    private var missingSince: UInt64?
    /// Whether the kernel's list of adapters leaves ours out because we have its user channel.
    var isUserChannelOpen = false

    /// For so long the same adapter is waited for when another one has got its number, in nanoseconds: 10 s. A box
    /// whose adapter was replaced by a new one goes on after that.
    private static let replacementDelay: UInt64 = 10_000_000_000

    /// Nothing is looked for yet.
    public init() {}

    /// The adapter to open: `wanted`, or where none is named the first hciN with LE; the same one when it has got another
    /// number.
    ///
    /// - Throws: `TransportError` where it is not there.
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

    /// N of the hciN in use, or that was.
    var indexInUse: UInt16? { inUse?.kernelIndex }

    /// Another adapter is wanted from now on.
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
        // The error of an adapter that is not there, unless another one has been in its place for long.
        let other = try complete(index)
        guard now - since >= Self.replacementDelay else {
            throw AdapterFault(
                .adapterMissing, "hci\(index) is another adapter now (\(other.address)); waiting for \(known.address)")
        }
        return remember(other)
    }

    /// - Throws: where it is not there, or so new that its address is not known: the kernel tells when it is.
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

    /// What has happened to the adapter in use when its channel gives this error.
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

    /// What an error of finding or opening means.
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

/// The adapter where none is named.
enum DefaultAdapter {
    /// The first hciN with LE; never another form, never a silent way out.
    static func find() throws(BeaconServiceError) -> AdapterName {
        if let adapter = BlueZAdapter.all().first(where: \.supportsLE) { return .raw(index: adapter.index) }
        throw .refused(
            .unavailable,
            BlueZAdapter.kernelHasBluetooth
                ? "there is no Bluetooth adapter with LE; `--adapter virtual` works without one"
                : "this kernel has no Bluetooth; `--adapter virtual` works without one")
    }
}

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
