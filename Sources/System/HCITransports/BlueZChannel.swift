internal import CBlueZ
internal import Glibc
public import HCI
public import LinuxHost
internal import SystemPackage

/// A Bluetooth socket to an adapter hciN. A raw channel shares the adapter with the kernel's Bluetooth stack. A user
/// channel removes the adapter from the kernel's Bluetooth stack.
///
/// Each read from the socket returns one packet, which begins with its H4 type byte.
public final class BlueZChannel: HCIChannel {
    private let commandSocket: PacketSocket
    /// The socket for advertising reports of a raw channel that listens. It is separate from the socket for commands,
    /// because reports could fill the buffer that the answers need.
    private let reportSocket: PacketSocket?
    private let waiter: ChannelWaiter
    private let name: String
    public private(set) var receivedAt = HCIInstant.distantPast
    /// The number of the adapter of a raw channel; `nil` for a user channel.
    private let rawIndex: UInt16?
    /// The time before which ``checkPower()`` does not check a channel that listens.
    private var nextPowerCheck = HCIInstant.distantPast
    /// The shortest time between two checks of a channel that listens, in microseconds. ``receive(until:)`` of such a
    /// channel is called after each report, so a check in each call would be too expensive.
    private static let powerCheckInterval = 200_000

    /// Opens the raw channel of an adapter that is up.
    ///
    /// Commands to the radio need CAP_NET_RAW. The initialiser refuses to open the channel without this capability.
    /// Otherwise the channel would open, and the kernel would refuse the first command.
    ///
    /// - Parameter isListening: True if the channel is for advertising reports. The reports then get their own socket
    ///   with a large buffer, and ``receivedAt`` is the time at which the kernel received a report.
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
        commandSocket = PacketSocket(Descriptor(owning: number))
        if isListening {
            let socket = PacketSocket(try BlueZAdapter.boundSocket(index, UInt16(HCI_CHANNEL_RAW), name))
            socket.setBufferSize(PacketSocket.listeningBufferSize)
            socket.recordTimes(isRaw: true)
            reportSocket = socket
            waiter = ChannelWaiter(commandSocket.descriptor, socket.descriptor, interruption: interruption)
        } else {
            reportSocket = nil
            waiter = ChannelWaiter(commandSocket.descriptor, interruption: interruption)
        }
        try refuseTakenAdapter()
        let basicEvents = [EVT_CMD_COMPLETE, EVT_CMD_STATUS, EVT_HARDWARE_ERROR, EVT_DISCONN_COMPLETE]
        try receiveOnly(
            isListening ? basicEvents : basicEvents + [EVT_LE_META_EVENT], withCommands: true, on: commandSocket)
        if let reportSocket {
            try receiveOnly([EVT_LE_META_EVENT], withCommands: false, on: reportSocket)
            try refuseWithoutReports(reportSocket)
        }
    }

    /// Opens the user channel of an adapter that is down. No other program can use the adapter until the channel is
    /// closed.
    public init(user index: UInt16, interruption: SignalDescriptor? = nil) throws(TransportError) {
        name = "hci\(index):user"
        rawIndex = nil
        guard Privileges.has(.netAdmin) else {
            throw TransportError.notPermitted(.netAdmin, name, "the user channel")
        }
        commandSocket = PacketSocket(try BlueZAdapter.boundSocket(index, UInt16(HCI_CHANNEL_USER), name))
        commandSocket.setBufferSize(PacketSocket.listeningBufferSize)
        commandSocket.recordTimes(isRaw: false)
        reportSocket = nil
        waiter = ChannelWaiter(commandSocket.descriptor, interruption: interruption)
    }

    /// The descriptor to poll for reading. For a raw channel that listens, this is the socket that receives only the
    /// answers to commands.
    var descriptor: Descriptor { commandSocket.descriptor }

    /// All descriptors of the channel, to poll for reading.
    var descriptors: [Descriptor] { [commandSocket.descriptor] + [reportSocket?.descriptor].compactMap { $0 } }

    /// The number of packets that the kernel has dropped since the channel was opened, because they were not read in
    /// time; `nil` if it is unknown. A raw channel that listens counts only advertising reports.
    public var lostPackets: Int? { (reportSocket ?? commandSocket).lost }

    public var now: HCIInstant { waiter.now }

    /// Writes the packet with one system call.
    ///
    /// - Throws: `HCIChannelError.gone` if the adapter was unplugged or powered off.
    public func send(_ packet: HCIPacket) throws(HCIChannelError) {
        do throws(SystemError) {
            _ = try commandSocket.descriptor.write(packet.h4)
        } catch {
            throw failure(error)
        }
    }

    /// Waits for the next packet until `deadline`, and returns `nil` at the deadline. Messages that are not HCI packets
    /// are ignored.
    public func receive(until deadline: HCIInstant) throws(HCIChannelError) -> HCIPacket? {
        while let index = try waiter.firstReadable(until: deadline) {
            let octets: [UInt8]
            do throws(SystemError) {
                let socket = index == 0 ? commandSocket : reportSocket ?? commandSocket
                (octets, receivedAt) = try socket.receive()
            } catch {
                if error.errno == .wouldBlock { continue }
                throw failure(error)
            }
            guard let typeOctet = octets.first else { throw .gone("\(name): the adapter was closed") }
            // The kernel's own messages have types that the Core specification does not define.
            if let kind = HCIPacket.Kind(rawValue: typeOctet) { return HCIPacket(kind, Array(octets.dropFirst())) }
        }
        try checkPower()
        return nil
    }

    /// Throws an error if the adapter was powered off. In this case a raw socket simply receives nothing, and a beacon
    /// whose payload never changes sends no command that would fail.
    private func checkPower() throws(HCIChannelError) {
        guard let rawIndex else { return }
        if reportSocket != nil {
            let now = self.now
            guard now >= nextPowerCheck else { return }
            nextPowerCheck = now.advanced(byMicroseconds: Self.powerCheckInterval)
        }
        guard let adapter = try? BlueZAdapter(index: rawIndex), !adapter.isUp else { return }
        throw .gone("\(name): the adapter was powered down")
    }

    /// Refuses an adapter whose user channel another program has opened. The kernel would still pass this program's
    /// commands to the controller, and that would disturb both programs. It reports EBUSY only for requests that are
    /// not commands, so this function requests the description of a connection.
    private func refuseTakenAdapter() throws(TransportError) {
        // The struct hci_conn_info_req with space for the answer: first an address, then the type of the link.
        var request = [UInt8](repeating: 0, count: 64)
        request[6] = UInt8(ACL_LINK)
        let isTaken = unsafe request.withUnsafeMutableBytes { buffer in
            guard let start = buffer.baseAddress else { return false }
            return unsafe ioctl(commandSocket.descriptor.number, PHAROS_HCIGETCONNINFO, start) < 0 && errno == EBUSY
        }
        if isTaken { throw TransportError.bluetooth("HCIGETCONNINFO", EUSERS, name) }
    }

    /// Sets the filter of a raw socket. Without a filter, the socket receives nothing. Only these events pass the
    /// filter, so that data packets do not wake the process.
    ///
    /// - Parameter withCommands: True to receive also the commands that the kernel and other programs send, so that
    ///   their answers can be distinguished from the answers to the commands of this program.
    private func receiveOnly(
        _ events: [Int32], withCommands: Bool, on socket: PacketSocket
    ) throws(TransportError) {
        var filter = hci_filter()
        unsafe hci_filter_clear(&filter)
        unsafe hci_filter_set_ptype(HCI_EVENT_PKT, &filter)
        if withCommands { unsafe hci_filter_set_ptype(HCI_COMMAND_PKT, &filter) }
        for event in events { unsafe hci_filter_set_event(event, &filter) }
        let size = socklen_t(MemoryLayout<hci_filter>.size)
        guard unsafe setsockopt(socket.descriptor.number, SOL_HCI, HCI_FILTER, &filter, size) == 0 else {
            throw TransportError.bluetooth("setsockopt HCI_FILTER", errno, name)
        }
    }

    /// Refuses a socket that may not receive advertising reports. If this process is root only in a user namespace, the
    /// kernel silently removes the reports from the filter.
    private func refuseWithoutReports(_ socket: PacketSocket) throws(TransportError) {
        var filter = hci_filter()
        var size = socklen_t(MemoryLayout<hci_filter>.size)
        guard unsafe getsockopt(socket.descriptor.number, SOL_HCI, HCI_FILTER, &filter, &size) == 0,
            unsafe hci_filter_test_event(EVT_LE_META_EVENT, &filter) == 0
        else { return }
        throw TransportError.notPermitted(.netRaw, name, "receiving advertising reports")
    }

    private func failure(_ error: SystemError) -> HCIChannelError {
        switch error.errno {
        case .networkDown: .gone("\(name): the adapter was powered down")
        case .brokenPipe, .operationNotSupportedByDevice, .badDescriptorState, .noSuchAddressOrDevice:
            .gone("\(name): the adapter was unplugged")
        case .notPermitted:
            // Root in a user namespace has the capability only in this namespace.
            .system(
                call: "sending HCI commands on \(name)", errno: EPERM,
                text: "the capability CAP_NET_RAW of a user namespace (container) is not enough")
        default: HCIChannelError(error)
        }
    }
}
