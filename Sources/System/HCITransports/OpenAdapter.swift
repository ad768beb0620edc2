public import BluetoothTypes
public import HCI
public import LinuxHost
internal import VirtualController

/// An adapter that has been opened by name, and what must be undone when it is closed.
public final class OpenAdapter {
    public let name: AdapterName
    public let channel: any HCIChannel
    /// Readable when the channel has something to give, for those who wait for several things at once.
    public let descriptor: Descriptor
    /// Whether nobody else talks to this controller, so that it may be reset.
    public let isExclusive: Bool
    /// N of an hciN that was down and has been brought up; `nil` again once it is put down.
    public private(set) var raisedIndex: UInt16?
    /// The address of one that was brought up: another adapter may get its number.
    public private(set) var raisedAddress: DeviceAddress?
    /// Lives as long as its only client.
    private let ownAir: VirtualAirServer?

    /// Opens `name`; an hciN that is down is brought up first.
    ///
    /// - Parameters:
    ///   - isListening: whether advertising reports are what it is for; see ``BlueZChannel/init(raw:isListening:interruption:)``.
    ///   - interruption: a signal on it ends waiting with `HCIChannelError.interrupted`.
    ///   - air: where a `virtual` controller lives.
    public init(
        _ name: AdapterName, isListening: Bool = false, interruption: SignalDescriptor? = nil,
        air: VirtualAirServer? = nil
    ) throws(TransportError) {
        self.name = name
        ownAir = try Self.needed(air, for: name)
        switch name {
        case .raw(let index):
            let raised = try Self.raise(index)
            raisedIndex = raised ? index : nil
            raisedAddress = raised ? try? BlueZAdapter(index: index).address : nil
            do throws(TransportError) {
                let socket = try BlueZChannel(
                    raw: index, isListening: isListening, interruption: interruption)
                channel = socket
                descriptor = socket.descriptor
            } catch {
                if raised { try? BlueZAdapter.bringDown(index) }
                throw error
            }
            isExclusive = false
        case .user(let index):
            _ = try BlueZAdapter(index: index)
            let socket = try BlueZChannel(user: index, interruption: interruption)
            channel = socket
            descriptor = socket.descriptor
            isExclusive = true
        case .managed:
            throw TransportError(
                .noHCI, name.description,
                "the kernel's advertising manager does not take HCI commands; use another form")
        case .tcp, .unix, .serial, .virtual:
            let stream: Descriptor
            do throws(SystemError) {
                stream = try Self.connect(name, air ?? ownAir, interruption)
            } catch {
                throw TransportError.unreachable(name, error)
            }
            let h4 = H4Channel(stream, name: name.description, interruption: interruption)
            if case .serial = name { h4.flushInput() }
            channel = h4
            descriptor = h4.stream
            isExclusive = true
        }
    }

    /// All descriptors of the channel, for those who wait for several adapters at once: of a raw channel that listens there
    /// are two.
    public var descriptors: [Descriptor] { (channel as? BlueZChannel)?.descriptors ?? [descriptor] }

    /// Packets that the kernel has thrown away since the opening, because nobody read them in time; `nil` if nobody can
    /// know.
    public var lostPackets: Int? { (channel as? BlueZChannel)?.lostPackets }

    /// Brings the adapter up, also where it is up for a moment only: an adapter that was just plugged in is powered off
    /// again after two seconds unless somebody asks for it. Returns whether it is ours to put down.
    private static func raise(_ index: UInt16) throws(TransportError) -> Bool {
        let adapter = try BlueZAdapter(index: index)
        do throws(TransportError) {
            return try BlueZAdapter.bringUp(index)
        } catch {
            // The kernel asks for CAP_NET_ADMIN even to be told that the adapter is up already.
            guard case .notPermitted = error.reason, adapter.isUp else { throw error }
            return false
        }
    }

    /// Puts down again what was brought up. Call it when the controller has been left in order.
    public func close() throws(TransportError) {
        guard let index = raisedIndex else { return }
        raisedIndex = nil
        guard try BlueZAdapter(index: index).address == raisedAddress else { return }
        try BlueZAdapter.bringDown(index)
    }

    private static func needed(_ air: VirtualAirServer?, for name: AdapterName) throws(TransportError)
        -> VirtualAirServer?
    {
        guard name == .virtual, air == nil else { return nil }
        do throws(SystemError) {
            return try VirtualAirServer(VirtualAirConfiguration(model: .raspberryPi))
        } catch {
            throw TransportError.unreachable(name, error)
        }
    }

    private static func connect(
        _ name: AdapterName, _ air: VirtualAirServer?, _ interruption: SignalDescriptor?
    ) throws(SystemError) -> Descriptor {
        switch name {
        case .tcp(let host, let port):
            return try StreamSocket.connect(host: host, port: port, interruption: interruption)
        case .unix(let path): return try StreamSocket.connect(path: path, interruption: interruption)
        case .serial(let path, let rate): return try SerialPort.open(path, rate: rate)
        case .raw, .user, .managed, .virtual:
            guard let air else { throw SystemError("connect", name.description, errno: SystemError.invalid) }
            return try air.connect()
        }
    }
}
