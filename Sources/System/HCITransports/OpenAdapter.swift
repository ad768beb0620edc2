public import BluetoothTypes
public import HCI
public import LinuxHost
internal import SystemPackage
internal import VirtualController

/// An adapter that was opened by its name. ``close()`` undoes the changes that opening made.
public final class OpenAdapter {
    public let name: AdapterName
    public let channel: any HCIChannel
    /// The channel's descriptor, to poll for reading.
    public let descriptor: Descriptor
    /// True if no other program uses the controller, so that it may be reset.
    public let isExclusive: Bool
    /// The number N of the hciN that this object has brought up because it was down; `nil` if there is none, and after
    /// the adapter was put down again.
    public private(set) var raisedIndex: UInt16?
    /// The address of the adapter that this object has brought up. ``close()`` compares it, because another adapter may
    /// have got the number N.
    public private(set) var raisedAddress: DeviceAddress?
    /// The simulated air of a virtual adapter, if this object has created it.
    private let ownAir: VirtualAirServer?

    /// Opens the adapter `name`. An hciN that is down is brought up first.
    ///
    /// - Parameters:
    ///   - isListening: True if the channel is for advertising reports; see
    ///     ``BlueZChannel/init(raw:isListening:interruption:)``.
    ///   - interruption: Receives signals. A signal ends waiting with `HCIChannelError.interrupted`.
    ///   - air: The simulated air for a `virtual` adapter; `nil` creates a new air.
    public init(
        _ name: AdapterName, isListening: Bool = false, interruption: SignalDescriptor? = nil,
        air: VirtualAirServer? = nil
    ) throws(TransportError) {
        self.name = name
        ownAir = try Self.newAir(for: name, unless: air)
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
                "the kernel's advertising manager accepts no HCI commands; use hciN without :mgmt")
        case .tcp, .unix, .serial, .virtual, .virtualTour:
            let h4: H4Channel
            do throws(SystemError) {
                let stream = try Self.connect(name, air ?? ownAir, interruption)
                h4 =
                    try isListening
                    ? H4Channel(listeningTo: stream, name: name.description, interruption: interruption)
                    : H4Channel(stream, name: name.description, interruption: interruption)
            } catch {
                throw TransportError.unreachable(name, error)
            }
            if case .serial = name { h4.flushInput() }
            channel = h4
            descriptor = h4.descriptor
            isExclusive = true
        }
    }

    /// All descriptors of the channel, to poll for reading. A raw channel that listens has two descriptors, other
    /// channels have one.
    public var descriptors: [Descriptor] { (channel as? BlueZChannel)?.descriptors ?? [descriptor] }

    /// The number of packets that the kernel has dropped since the adapter was opened, because they were not read in
    /// time; `nil` if it is unknown.
    public var lostPackets: Int? { (channel as? BlueZChannel)?.lostPackets }

    /// Brings the adapter up, even if it is up already: the kernel powers an adapter that was just plugged in off after
    /// two seconds if no program has brought it up.
    ///
    /// - Returns: True if the adapter was down, so that ``close()`` must put it down.
    private static func raise(_ index: UInt16) throws(TransportError) -> Bool {
        let adapter = try BlueZAdapter(index: index)
        do throws(TransportError) {
            return try BlueZAdapter.bringUp(index)
        } catch {
            // The kernel requires CAP_NET_ADMIN even if the adapter is up already.
            guard case .notPermitted = error.reason, adapter.isUp else { throw error }
            return false
        }
    }

    /// Puts the adapter down if opening has brought it up. Call this after the last command.
    public func close() throws(TransportError) {
        guard let index = raisedIndex else { return }
        raisedIndex = nil
        guard try BlueZAdapter(index: index).address == raisedAddress else { return }
        try BlueZAdapter.bringDown(index)
    }

    /// Returns a new air for a virtual adapter; `nil` if `air` is given, and for all other adapters.
    private static func newAir(for name: AdapterName, unless air: VirtualAirServer?) throws(TransportError)
        -> VirtualAirServer?
    {
        guard name.isVirtual, air == nil else { return nil }
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
        case .raw, .user, .managed, .virtual, .virtualTour:
            guard let air else { throw SystemError("connect", name.description, errno: .invalidArgument) }
            return try air.connect()
        }
    }
}
