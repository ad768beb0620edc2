internal import BeaconService
internal import BluetoothTypes
internal import HCITransports

/// Which adapters are qualified: one, or two that are not the same.
struct QualifiedAdapters {
    /// The first sender and the first receiver; with a beacon to hear, the receiver alone.
    let names: [AdapterName]

    /// - Throws: `request` for what cannot be together, `unavailable` where there is no second adapter.
    init(_ options: QualificationRun.Options) throws {
        for case .managed(let index)? in [options.sender, options.receiver] {
            throw ListenerServiceError.refused(
                .request,
                "hci\(index):mgmt: the kernel drops repeats there, so nothing can be counted: use hci\(index)")
        }
        guard options.heard == nil else {
            names = [try options.receiver ?? Self.first(besides: nil)]
            return
        }
        if options.sender == .virtual || options.receiver == .virtual {
            for case let other? in [options.sender, options.receiver] where other != .virtual {
                throw ListenerServiceError.refused(
                    .request, "\(other): a virtual controller hears virtual ones only: use virtual for both")
            }
            names = [.virtual, .virtual]
            return
        }
        let sender = try options.sender ?? Self.first(besides: options.receiver)
        let receiver = try options.receiver ?? Self.first(besides: sender)
        guard !Self.isOneRadio(sender, receiver) else {
            throw ListenerServiceError.refused(
                .request,
                "\(sender): sender and receiver are one radio, and no radio hears itself: name two, or one that --hears a "
                    + "beacon")
        }
        names = [sender, receiver]
    }

    /// Each connection to a socket may be a controller of its own; a serial line, or an hciN in any form, is one.
    private static func isOneRadio(_ one: AdapterName, _ other: AdapterName) -> Bool {
        if let index = one.kernelIndex { return index == other.kernelIndex }
        if case .serial(let path, _) = one, case .serial(path, _) = other { return true }
        return false
    }

    private static func first(besides other: AdapterName?) throws(ListenerServiceError) -> AdapterName {
        let adapters = BlueZAdapter.all().filter { $0.supportsLE && $0.index != other?.kernelIndex }
        if let adapter = adapters.first { return .raw(index: adapter.index) }
        guard BlueZAdapter.kernelHasBluetooth || other != nil else {
            throw .refused(
                .unavailable, "this kernel has no Bluetooth; `pharos qualify --sender virtual` works without one")
        }
        throw .refused(
            .unavailable,
            other.map {
                "\($0): there is no second adapter with LE to hear it: name one (--sender, --receiver), or a beacon that "
                    + "stands near (--hears)"
            } ?? "there is no Bluetooth adapter with LE; `pharos qualify --sender virtual` works without one")
    }
}
