internal import BeaconStatus
internal import BluetoothTypes
internal import HCITransports
internal import LinuxHost

/// A box, and the adapter on it that a beacon shall use.
struct DoctorSubject {
    /// By which way a beacon talks to the controller.
    enum Form: Equatable {
        case raw(String)
        case user(String)
        case mgmt(String)
        /// A controller that the kernel knows nothing of.
        case stream
        case virtual
    }

    /// `nil` where the box has no adapter.
    let name: AdapterName?
    let form: Form?
    let adapters: [BlueZAdapter]
    /// Where the file system begins.
    let root: String

    init(_ name: AdapterName?, _ adapters: [BlueZAdapter], root: String) {
        self.name = name
        self.adapters = adapters
        self.root = root
        form = name.map { Self.form($0.description) }
    }

    /// The hciN that is meant, where the kernel has it.
    var adapter: BlueZAdapter? { device.flatMap { device in adapters.first { $0.name == device } } }

    /// `hci0`; `nil` for controllers that the kernel knows nothing of.
    var device: String? {
        switch form {
        case .raw(let device), .user(let device), .mgmt(let device): device
        case .stream, .virtual, nil: nil
        }
    }

    /// Whether the kernel's Bluetooth plays no part.
    var isOutsideTheKernel: Bool { form == .stream || form == .virtual }

    private static func form(_ text: String) -> Form {
        if text == "virtual" { return .virtual }
        guard text.hasPrefix("hci") else { return .stream }
        let device = String(text.prefix { $0 != ":" })
        if text.hasSuffix(":user") { return .user(device) }
        return text.hasSuffix(":mgmt") ? .mgmt(device) : .raw(device)
    }
}

extension DoctorSubject {
    var kernel: [DoctorFinding] {
        if isOutsideTheKernel { return [.ok("kernel", "its Bluetooth is not needed for \(name?.description ?? "")")] }
        if BlueZAdapter.kernelHasBluetooth { return [.ok("kernel", "it has Bluetooth")] }
        return [
            .fail(
                "kernel", "this kernel has no Bluetooth, or this is a container without the host's network",
                "`sudo modprobe bluetooth`, or run where the host's network is; serial: and tcp: controllers, and "
                    + "--adapter virtual, need none")
        ]
    }

    /// Whether the adapter is there, and ready.
    var presence: [DoctorFinding] {
        guard !isOutsideTheKernel, BlueZAdapter.kernelHasBluetooth else { return [] }
        guard let device else {
            return [
                .fail(
                    "adapter", "no Bluetooth adapter with LE is there",
                    "plug one in; `lsusb` shows whether the box sees it, and `sudo dmesg | grep -i bluetooth` whether "
                        + "its driver wants a firmware file that is missing (package firmware-…)")
            ]
        }
        guard let adapter else {
            let names = adapters.map(\.name).joined(separator: ", ")
            return [
                .fail(
                    "adapter", "\(device) is not there",
                    names.isEmpty ? "plug it in; this box has no adapter at all" : "plug it in, or use \(names)")
            ]
        }
        let others = adapters.filter { $0.name != device }.map { "\($0.name) \($0.address)" }
        let also = others.isEmpty ? "" : "; also there: " + others.joined(separator: ", ")
        return [presence(adapter, also), firmware(adapter)].compactMap(\.self)
    }

    private func presence(_ adapter: BlueZAdapter, _ also: String) -> DoctorFinding {
        // A beacon that has it by the user channel has brought it up itself.
        if let owner = owner(of: adapter) {
            return .ok("adapter", "\(adapter.name) \(adapter.address): \(owner) sends with it\(also)")
        }
        if adapter.isUp, case .user = form {
            return .fail(
                "adapter", "\(adapter.name) \(adapter.address) is up, and the user channel needs it down\(also)",
                "`sudo hciconfig \(adapter.name) down`, and stop bluetoothd or set AutoEnable=false in its main.conf")
        }
        let state = adapter.isUp ? "is up" : "is down; it is brought up when a beacon starts"
        return .ok("adapter", "\(adapter.name) \(adapter.address) \(state)\(also)")
    }

    /// The kernel does not show in /sys whether a firmware file was missing; what follows from it is visible.
    private func firmware(_ adapter: BlueZAdapter) -> DoctorFinding? {
        guard adapter.address.octets.octets.allSatisfy({ $0 == 0 }) else { return nil }
        return .warn(
            "firmware", "\(adapter.name) has no address, as when its firmware file is missing or it was never up",
            "`sudo dmesg | grep -i -e bluetooth -e firmware` names a missing file, `apt-cache search firmware` packages"
        )
    }

    /// A beacon that has this adapter already.
    func owner(of adapter: BlueZAdapter) -> String? {
        AdapterLock.holder(of: adapter.address, in: root + StatusFile.defaultDirectory)?.instance
    }
}
