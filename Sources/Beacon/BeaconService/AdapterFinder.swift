public import Advertiser
public import BluetoothTypes
public import HCI
internal import HCITransports
internal import LinuxHost

/// Finds the adapter of a service, even if it comes back with another number, and explains its faults.
public final class AdapterFinder {
    /// The number and the address of the hciN in use.
    private var knownAdapter: (index: UInt16, address: DeviceAddress)?
    /// The adapter in use, with its current number.
    private var adapterInUse: AdapterName?
    /// The time at which the hciN in use disappeared, in nanoseconds of the monotonic clock; `nil` while it is present.
    private var missingSince: UInt64?
    /// `true` if this process has the adapter's user channel: the kernel's list does not contain the adapter then.
    var isUserChannelOpen = false

    /// The time for which the service waits for its adapter if another adapter has got the adapter's number, in
    /// nanoseconds: 10 s. After that, the service uses the other adapter.
    private static let replacementDelay: UInt64 = 10_000_000_000

    /// Creates a finder without an adapter.
    public init() {}

    /// Returns the adapter to open: `requested`; if that is `nil`, the adapter in use; if there is none, the first hciN
    /// with LE. If the adapter's number has changed, the result has the new number.
    ///
    /// - Throws: `TransportError` if the adapter is missing.
    public func find(_ requested: AdapterName?) throws -> AdapterName {
        let name = try requested ?? adapterInUse ?? DefaultAdapter.find()
        guard let index = name.kernelIndex else {
            adapterInUse = name
            return name
        }
        let currentName = try name.withKernelIndex(locate(index))
        adapterInUse = currentName
        return currentName
    }

    var nameInUse: String { adapterInUse?.description ?? "the adapter" }

    /// The address of the hciN in use, or used last.
    var addressInUse: DeviceAddress? { knownAdapter?.address }

    /// The number of the hciN in use, or used last.
    var indexInUse: UInt16? { adapterInUse?.kernelIndex }

    /// Forgets the adapter, because another adapter will be used next.
    func forget() {
        knownAdapter = nil
        adapterInUse = nil
        missingSince = nil
    }

    private func locate(_ index: UInt16) throws -> UInt16 {
        guard let knownAdapter else { return try remember(complete(index)) }
        if let adapter = BlueZAdapter.all().first(where: { $0.address == knownAdapter.address }) {
            return remember(adapter)
        }
        let now = MonotonicClock.nanoseconds()
        let since = missingSince ?? now
        missingSince = since
        // Throws if the adapter is missing.
        let other = try complete(index)
        guard now - since >= Self.replacementDelay else {
            throw AdapterFault(
                .adapterMissing,
                "hci\(index) is another adapter now (\(other.address)); waiting for \(knownAdapter.address)")
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
        knownAdapter = (adapter.index, adapter.address)
        missingSince = nil
        return adapter.index
    }

    /// Explains an error of the channel to the adapter in use.
    public func explain(_ error: HCIChannelError) -> AdapterFault {
        guard let adapterInUse else { return AdapterFault(.adapterGone, "\(error)") }
        switch error {
        case .system: return AdapterFault(.system, "\(error)", isPermanent: error.isNotPermitted)
        case .interrupted, .framing: return AdapterFault(.controllerReset, "\(error)")
        case .gone: break
        }
        guard let index = adapterInUse.kernelIndex else { return AdapterFault(.peerGone, "\(error)") }
        guard let adapter = try? BlueZAdapter(index: index), adapter.address == knownAdapter?.address else {
            return AdapterFault(.adapterGone, "\(adapterInUse): the adapter was unplugged")
        }
        return adapter.isUp
            ? AdapterFault(.controllerReset, "\(adapterInUse): the adapter was reset")
            : AdapterFault(.poweredDown, "\(adapterInUse): the adapter was powered down")
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
        case BeaconServiceError.refused(.request, let messages):
            AdapterFault(.system, messages.joined(separator: "; "), isPermanent: true)
        default: AdapterFault(.system, "\(error)")
        }
    }
}

/// The adapter for a service that does not name one.
enum DefaultAdapter {
    /// Returns the first hciN with LE.
    ///
    /// - Throws: `refused` if there is no such adapter. An adapter outside the kernel is never chosen automatically.
    static func find() throws(BeaconServiceError) -> AdapterName {
        if let adapter = BlueZAdapter.all().first(where: \.supportsLE) { return .raw(index: adapter.index) }
        throw .refused(
            .unavailable,
            BlueZAdapter.kernelHasBluetooth
                ? "there is no Bluetooth adapter with LE; `--adapter virtual` works without one"
                : "this kernel has no Bluetooth; `--adapter virtual` works without one")
    }
}
