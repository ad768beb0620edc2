public import BluetoothTypes
internal import CBlueZ
internal import Glibc
internal import LinuxHost

/// An hciN as the kernel describes it without asking the controller anything.
public struct BlueZAdapter: Hashable, Sendable {
    /// The N of hciN.
    public let index: UInt16
    public let address: DeviceAddress
    public let isUp: Bool
    /// Whether the controller has LE at all (LMP feature bit 38).
    public let supportsLE: Bool
    /// Whether the kernel has not asked the controller for its address yet: it was plugged in a moment ago. One that has
    /// no public address at all says zero for ever, but has told its features by then.
    public let isBeingSetUp: Bool

    /// What was lost between the controller and the kernel since the adapter came: packets that could not be put together
    /// from the line's bytes, or were too long.
    public let receiveErrors: Int

    public var name: String { "hci\(index)" }

    /// Every adapter that the kernel knows, in the order of their numbers; empty if it has no Bluetooth.
    public static func all() -> [BlueZAdapter] {
        (0..<UInt16(HCI_MAX_DEV)).compactMap { index in try? BlueZAdapter(index: index) }
    }

    /// Whether the kernel has Bluetooth sockets.
    public static var kernelHasBluetooth: Bool { (try? controlSocket("hci")) != nil }

    /// Asks the kernel about hci`index`.
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

    /// Powers the adapter. Returns whether it had to be done.
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

    /// Takes the adapter's power away.
    public static func bringDown(_ index: UInt16) throws(TransportError) {
        let name = "hci\(index)"
        let socket = try controlSocket(name)
        guard ioctl(socket.number, PHAROS_HCIDEVDOWN, Int32(index)) < 0, errno != EALREADY else { return }
        if errno == EPERM { throw TransportError.notPermitted(.netAdmin, name, "putting the adapter down") }
        throw TransportError.bluetooth("HCIDEVDOWN", errno, name)
    }

    /// The adapter with this address, whatever its number has become since it was last seen; `nil` when it is not there.
    public static func find(_ address: DeviceAddress) -> BlueZAdapter? {
        all().first { $0.address == address }
    }

    /// A Bluetooth socket on one of the kernel's channels, of adapter `index` or of none.
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
