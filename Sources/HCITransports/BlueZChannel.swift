internal import CBlueZ
internal import Glibc
public import HCI
public import LinuxHost

/// A Bluetooth socket to one hciN: beside the kernel's stack (raw), or in its place (user channel).
///
/// Each read is one packet, its H4 type octet first.
public final class BlueZChannel: HCIChannel {
    let socket: Descriptor
    private let waiter: ChannelWaiter
    private let name: String
    /// Of a raw channel.
    private let rawIndex: UInt16?

    /// The raw channel of an adapter that is up.
    ///
    /// Sending what moves the radio needs CAP_NET_RAW. The kernel says so only when the first command is sent, so it
    /// is asked beforehand.
    public init(raw index: UInt16, interruption: SignalDescriptor? = nil) throws(TransportError) {
        name = "hci\(index)"
        rawIndex = index
        guard Privileges.has(.netRaw) else {
            throw TransportError.notPermitted(.netRaw, name, "sending HCI commands")
        }
        let number = hci_open_dev(Int32(index))
        guard number >= 0 else { throw TransportError.bluetooth("bind", errno, name) }
        socket = Descriptor(owning: number)
        waiter = ChannelWaiter(socket, interruption)
        try refuseWhereTaken()
        try hearEvents()
    }

    /// The user channel of an adapter that is down: nobody else can use the adapter until it is closed.
    public init(user index: UInt16, interruption: SignalDescriptor? = nil) throws(TransportError) {
        name = "hci\(index):user"
        rawIndex = nil
        guard Privileges.has(.netAdmin) else {
            throw TransportError.notPermitted(.netAdmin, name, "the user channel")
        }
        socket = try BlueZAdapter.boundSocket(index, UInt16(HCI_CHANNEL_USER), name)
        waiter = ChannelWaiter(socket, interruption)
    }

    public var now: HCIInstant { waiter.now }

    /// Writes the packet in one piece.
    ///
    /// - Throws: `HCIChannelError.gone` when the adapter was unplugged or put down.
    public func send(_ packet: HCIPacket) throws(HCIChannelError) {
        do throws(SystemError) {
            _ = try socket.write(packet.h4)
        } catch {
            throw failure(error)
        }
    }

    /// Waits in the kernel; what is no HCI packet is passed over.
    public func receive(until deadline: HCIInstant) throws(HCIChannelError) -> HCIPacket? {
        while try waiter.wait(until: deadline) {
            let octets: [UInt8]
            do throws(SystemError) {
                octets = try socket.read(upTo: 4096)
            } catch {
                throw failure(error)
            }
            guard let first = octets.first else { throw .gone("\(name): the adapter was closed") }
            // Types that Core does not know (the kernel's own notices) are nothing for a host.
            if let kind = HCIPacket.Kind(rawValue: first) { return HCIPacket(kind, Array(octets.dropFirst())) }
        }
        try checkPower()
        return nil
    }

    /// Nothing wakes a raw socket up when its adapter is powered down, and a beacon whose payload never changes has
    /// nothing to send that would fail.
    private func checkPower() throws(HCIChannelError) {
        guard let rawIndex, let adapter = try? BlueZAdapter(index: rawIndex), !adapter.isUp else { return }
        throw .gone("\(name): the adapter was powered down")
    }

    /// The kernel passes a raw socket's commands on even while another program holds the user channel, to the
    /// confusion of both. It tells only those that ask something else: here, for a connection to nobody.
    private func refuseWhereTaken() throws(TransportError) {
        // struct hci_conn_info_req with room for its answer: an address, then the type of the link.
        var request = [UInt8](repeating: 0, count: 64)
        request[6] = UInt8(ACL_LINK)
        let reason = unsafe request.withUnsafeMutableBytes { buffer -> Int32 in
            guard let start = buffer.baseAddress else { return 0 }
            return unsafe ioctl(socket.number, PHAROS_HCIGETCONNINFO, start) < 0 ? errno : 0
        }
        if reason == EBUSY { throw TransportError.bluetooth("HCIGETCONNINFO", EUSERS, name) }
    }

    /// A new raw socket hears nothing. The filter is kept to what an advertiser needs, so that a busy adapter does
    /// not wake it for every data packet.
    private func hearEvents() throws(TransportError) {
        var filter = hci_filter()
        unsafe hci_filter_clear(&filter)
        unsafe hci_filter_set_ptype(HCI_EVENT_PKT, &filter)
        for event in [EVT_CMD_COMPLETE, EVT_CMD_STATUS, EVT_LE_META_EVENT, EVT_HARDWARE_ERROR, EVT_DISCONN_COMPLETE] {
            unsafe hci_filter_set_event(event, &filter)
        }
        let size = socklen_t(MemoryLayout<hci_filter>.size)
        guard unsafe setsockopt(socket.number, SOL_HCI, HCI_FILTER, &filter, size) == 0 else {
            throw TransportError.bluetooth("setsockopt HCI_FILTER", errno, name)
        }
    }

    private func failure(_ error: SystemError) -> HCIChannelError {
        switch error.errno {
        case ENETDOWN: .gone("\(name): the adapter was powered down")
        case EPIPE, ENODEV, EBADFD, ENXIO: .gone("\(name): the adapter was unplugged")
        case EPERM:
            // Root in a user namespace of its own has the capability, but not the one that the kernel asks for.
            .system(
                call: "sending HCI commands on \(name)", errno: EPERM,
                text: "CAP_NET_RAW is needed outside every user namespace (container)")
        default: .system(call: error.call, errno: error.errno, text: error.text)
        }
    }
}
