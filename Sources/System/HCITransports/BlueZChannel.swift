internal import CBlueZ
internal import Glibc
public import HCI
public import LinuxHost

/// A Bluetooth socket to one hciN: next to the kernel's stack (raw), or in its place (user channel).
///
/// Each read is one packet, its H4 type byte first.
public final class BlueZChannel: HCIChannel {
    private let commands: PacketSocket
    /// Where advertising reports come, apart from the answers to commands: neither can crowd the other out. Of a raw
    /// channel that listens.
    private let reports: PacketSocket?
    private let waiter: ChannelWaiter
    private let name: String
    public private(set) var receivedAt = HCIInstant.distantPast
    /// Of a raw channel.
    private let rawIndex: UInt16?
    /// When ``checkPower()`` looks again.
    private var nextLook = HCIInstant.distantPast
    /// A channel that listens is asked after each report whether there is another one: it looks no more often than so, in
    /// microseconds.
    private static let lookSpacing = 200_000

    /// The raw channel of an adapter that is up.
    ///
    /// Sending what moves the radio needs CAP_NET_RAW. The kernel says so only when the first command is sent, so it
    /// is asked beforehand.
    ///
    /// - Parameter isListening: Whether advertising reports are what it is for: they get a socket of their own, which
    ///   holds many of them, and the time at which the kernel had them.
    public init(
        raw index: UInt16, isListening: Bool = false, interruption: SignalDescriptor? = nil
    ) throws(TransportError) {
        name = "hci\(index)"
        rawIndex = index
        guard Privileges.has(.netRaw) else {
            throw TransportError.notPermitted(.netRaw, name, "sending HCI commands")
        }
        let number = hci_open_dev(Int32(index))
        guard number >= 0 else { throw TransportError.bluetooth("bind", errno, name) }
        commands = PacketSocket(Descriptor(owning: number))
        if isListening {
            let socket = PacketSocket(try BlueZAdapter.boundSocket(index, UInt16(HCI_CHANNEL_RAW), name))
            socket.makeRoom(octets: PacketSocket.listeningRoom)
            socket.askForTimes(isRaw: true)
            reports = socket
            waiter = ChannelWaiter(commands.descriptor, socket.descriptor, interruption: interruption)
        } else {
            reports = nil
            waiter = ChannelWaiter(commands.descriptor, interruption: interruption)
        }
        try refuseWhereTaken()
        let answers = [EVT_CMD_COMPLETE, EVT_CMD_STATUS, EVT_HARDWARE_ERROR, EVT_DISCONN_COMPLETE]
        try hear(isListening ? answers : answers + [EVT_LE_META_EVENT], on: commands)
        if let reports {
            try hear([EVT_LE_META_EVENT], on: reports)
            try refuseWhereNothingIsHeard(reports)
        }
    }

    /// The user channel of an adapter that is down: nobody else can use the adapter until it is closed.
    public init(user index: UInt16, interruption: SignalDescriptor? = nil) throws(TransportError) {
        name = "hci\(index):user"
        rawIndex = nil
        guard Privileges.has(.netAdmin) else {
            throw TransportError.notPermitted(.netAdmin, name, "the user channel")
        }
        commands = PacketSocket(try BlueZAdapter.boundSocket(index, UInt16(HCI_CHANNEL_USER), name))
        commands.makeRoom(octets: PacketSocket.listeningRoom)
        commands.askForTimes(isRaw: false)
        reports = nil
        waiter = ChannelWaiter(commands.descriptor, interruption: interruption)
    }

    /// To wait for together with other things; of a channel that listens, for the answers to commands.
    var descriptor: Descriptor { commands.descriptor }

    /// All that can have something to give.
    var descriptors: [Descriptor] { [commands.descriptor] + [reports?.descriptor].compactMap { $0 } }

    /// Packets that the kernel has thrown away since the opening, because nobody read them in time; of a raw channel that
    /// listens, advertising reports. `nil` if the kernel does not tell.
    public var lostPackets: Int? { (reports ?? commands).lost }

    public var now: HCIInstant { waiter.now }

    /// Writes the packet in one piece.
    ///
    /// - Throws: `HCIChannelError.gone` when the adapter was unplugged or put down.
    public func send(_ packet: HCIPacket) throws(HCIChannelError) {
        do throws(SystemError) {
            _ = try commands.descriptor.write(packet.h4)
        } catch {
            throw failure(error)
        }
    }

    /// Waits in the kernel; what is no HCI packet is passed over.
    public func receive(until deadline: HCIInstant) throws(HCIChannelError) -> HCIPacket? {
        while let place = try waiter.first(until: deadline) {
            let octets: [UInt8]
            do throws(SystemError) {
                let socket = place == 0 ? commands : reports ?? commands
                (octets, receivedAt) = try socket.receive()
            } catch {
                if error.errno == SystemError.wouldBlock { continue }
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
        guard let rawIndex else { return }
        if reports != nil {
            let now = self.now
            guard now >= nextLook else { return }
            nextLook = now.advanced(byMicroseconds: Self.lookSpacing)
        }
        guard let adapter = try? BlueZAdapter(index: rawIndex), !adapter.isUp else { return }
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
            return unsafe ioctl(commands.descriptor.number, PHAROS_HCIGETCONNINFO, start) < 0 ? errno : 0
        }
        if reason == EBUSY { throw TransportError.bluetooth("HCIGETCONNINFO", EUSERS, name) }
    }

    /// A new raw socket hears nothing. The filter is kept to what is needed, so that a busy adapter does not wake it for
    /// every data packet.
    private func hear(_ events: [Int32], on socket: PacketSocket) throws(TransportError) {
        var filter = hci_filter()
        unsafe hci_filter_clear(&filter)
        unsafe hci_filter_set_ptype(HCI_EVENT_PKT, &filter)
        for event in events { unsafe hci_filter_set_event(event, &filter) }
        let size = socklen_t(MemoryLayout<hci_filter>.size)
        guard unsafe setsockopt(socket.descriptor.number, SOL_HCI, HCI_FILTER, &filter, size) == 0 else {
            throw TransportError.bluetooth("setsockopt HCI_FILTER", errno, name)
        }
    }

    /// Whoever may not hear an event has it taken out of the filter without a word: root in a user namespace of its own
    /// has a capability by that name, and still may not.
    private func refuseWhereNothingIsHeard(_ socket: PacketSocket) throws(TransportError) {
        var filter = hci_filter()
        var size = socklen_t(MemoryLayout<hci_filter>.size)
        guard unsafe getsockopt(socket.descriptor.number, SOL_HCI, HCI_FILTER, &filter, &size) == 0,
            unsafe hci_filter_test_event(EVT_LE_META_EVENT, &filter) == 0
        else { return }
        throw TransportError.notPermitted(.netRaw, name, "hearing advertising reports")
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
