internal import BeaconService
internal import BluetoothTypes
internal import HCITransports

/// Chooses the adapters of a qualification: one, or two different ones.
struct QualifiedAdapters {
    /// The first sender and the first receiver; only the receiver if a single radio receives a beacon nearby.
    let names: [AdapterName]

    /// - Throws: `request` for adapters that cannot be used together, `unavailable` if there is no second adapter.
    init(_ options: QualificationRun.Options) throws {
        for case .managed(let index)? in [options.sender, options.receiver] {
            throw ListenerServiceError.refused(
                .request,
                "hci\(index):mgmt: the kernel drops repeated reports there, so none can be counted: use hci\(index)")
        }
        guard options.sender != .virtualTour, options.receiver != .virtualTour else {
            throw ListenerServiceError.refused(
                .request, "qualify tests radios that do not move: use virtual without a path")
        }
        guard options.heard == nil else {
            names = [try options.receiver ?? Self.first(besides: nil)]
            return
        }
        if options.sender == .virtual || options.receiver == .virtual {
            for case let other? in [options.sender, options.receiver] where other != .virtual {
                throw ListenerServiceError.refused(
                    .request, "\(other): a virtual controller receives only virtual controllers: use virtual for both")
            }
            names = [.virtual, .virtual]
            return
        }
        let sender = try options.sender ?? Self.first(besides: options.receiver)
        let receiver = try options.receiver ?? Self.first(besides: sender)
        guard !Self.isOneRadio(sender, receiver) else {
            throw ListenerServiceError.refused(
                .request,
                "\(sender): sender and receiver are the same radio, which cannot receive its own packets: name two radios, "
                    + "or give --hears for a beacon nearby")
        }
        names = [sender, receiver]
    }

    /// Returns whether two names are certainly one radio: the same serial port, or the same hciN. Two connections to
    /// the same socket may be two controllers.
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
                "\($0): there is no second adapter with LE: name one (--sender, --receiver), or name a beacon nearby "
                    + "(--hears)"
            } ?? "there is no Bluetooth adapter with LE; `pharos qualify --sender virtual` works without one")
    }
}
