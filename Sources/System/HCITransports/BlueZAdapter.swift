public import BluetoothTypes
internal import CBlueZ
internal import Glibc
internal import LinuxHost

/// The kernel's description of an adapter hciN. Reading it sends no command to the controller.
public struct BlueZAdapter: Hashable, Sendable {
    /// The number N of hciN.
    public let index: UInt16
    public let address: DeviceAddress
    public let isUp: Bool
    /// True if the controller supports LE (LMP feature bit 38).
    public let supportsLE: Bool
    /// True if the kernel is still reading the controller's address and features, because the adapter was just plugged
    /// in. Afterwards, a controller without a public address still has an address of zeros, but its features are known.
    public let isBeingSetUp: Bool

    /// The number of packets from the controller that the kernel has dropped since the adapter was plugged in, because
    /// they were damaged or too long.
    public let receiveErrors: Int

    public var name: String { "hci\(index)" }

    /// Returns every adapter of the kernel in the order of the numbers N; empty if the kernel has no Bluetooth.
    public static func all() -> [BlueZAdapter] {
        (0..<UInt16(HCI_MAX_DEV)).compactMap { index in try? BlueZAdapter(index: index) }
    }

    /// True if the kernel supports Bluetooth sockets.
    public static var kernelHasBluetooth: Bool { (try? controlSocket("hci")) != nil }

    /// Reads the description of the adapter with the number `index` from the kernel.
    public init(index: UInt16) throws(TransportError) {
        var info = hci_dev_info()
        guard unsafe hci_devinfo(Int32(index), &info) >= 0 else {
            throw TransportError.bluetooth("HCIGETDEVINFO", errno, "hci\(index)")
        }
        let wire = info.bdaddr.b
        let octets = [wire.5, wire.4, wire.3, wire.2, wire.1, wire.0]
        self.index = index
        address = FixedOctets<6>(octets).map(DeviceAddress.init) ?? DeviceAddress(FixedOctets())
        receiveErrors = Int(info.stat.err_rx)
        isUp = info.flags & 1 << UInt32(HCI_UP) != 0
        supportsLE = info.features.4 & 0x40 != 0
        let isUnknown = !supportsLE || info.flags & 1 << UInt32(HCI_INIT) != 0
        isBeingSetUp = isUnknown && octets.allSatisfy { $0 == 0 }
    }

    /// Powers the adapter on. Returns true if it was off.
    public static func bringUp(_ index: UInt16) throws(TransportError) -> Bool {
        let name = "hci\(index)"
        let socket = try controlSocket(name)
        guard ioctl(socket.number, PHAROS_HCIDEVUP, Int32(index)) < 0 else { return true }
        switch errno {
        case EALREADY: return false
        case EPERM: throw TransportError.notPermitted(.netAdmin, name, "the adapter is down, and bringing it up")
        case let number: throw TransportError.bluetooth("HCIDEVUP", number, name)
        }
    }

    /// Powers the adapter off.
    public static func bringDown(_ index: UInt16) throws(TransportError) {
        let name = "hci\(index)"
        let socket = try controlSocket(name)
        guard ioctl(socket.number, PHAROS_HCIDEVDOWN, Int32(index)) < 0, errno != EALREADY else { return }
        let number = errno
        if number == EPERM { throw TransportError.notPermitted(.netAdmin, name, "powering the adapter down") }
        throw TransportError.bluetooth("HCIDEVDOWN", number, name)
    }

    /// Returns the adapter with this address, whose number may have changed; `nil` if there is none.
    public static func find(_ address: DeviceAddress) -> BlueZAdapter? {
        all().first { $0.address == address }
    }

    /// Returns a Bluetooth socket on a channel of the kernel, bound to the adapter `index`, or to no adapter for
    /// HCI_DEV_NONE.
    static func boundSocket(
        _ index: UInt16, _ channel: UInt16, _ name: String
    ) throws(TransportError) -> Descriptor {
        let socket = try controlSocket(name)
        var address = sockaddr_hci()
        address.hci_family = sa_family_t(AF_BLUETOOTH)
        address.hci_dev = index
        address.hci_channel = channel
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(socket.number, $0, socklen_t(MemoryLayout<sockaddr_hci>.size))
            }
        }
        guard result == 0 else { throw TransportError.bluetooth("bind", errno, name) }
        return socket
    }

    static func controlSocket(_ name: String) throws(TransportError) -> Descriptor {
        let number = socket(AF_BLUETOOTH, Int32(SOCK_RAW.rawValue | SOCK_CLOEXEC.rawValue), BTPROTO_HCI)
        guard number >= 0 else { throw TransportError.bluetooth("socket", errno, name) }
        return Descriptor(owning: number)
    }
}
