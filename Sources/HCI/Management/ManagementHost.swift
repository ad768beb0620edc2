public import BluetoothTypes

/// Sends management commands over a channel, waits for their answers, and keeps the events that come meanwhile.
///
/// For one thread: the one that owns the channel.
public final class ManagementHost: CommandExchange {
    /// How long an answer is waited for, unless said otherwise: 10 s. Set Powered waits for the controller's whole set-up.
    public static let defaultTimeout = Duration.seconds(10)
    /// Events that are kept; of more the oldest ones are dropped.
    public static let backlogLimit = 1024

    /// The way to the kernel and back.
    public let channel: any ManagementChannel
    /// Sees every message in either direction at the moment of its passing.
    public var observer: ((_ packet: ManagementPacket, _ isFromKernel: Bool) -> Void)?
    /// No command is waited for longer than until this moment. For a program that has to end soon.
    public var latestAnswer = HCIInstant.distantFuture
    var queue = ManagementQueue()
    private var backlog: [ManagementEvent] = []

    /// A host on `channel`, which nobody else reads.
    public init(channel: any ManagementChannel) {
        self.channel = channel
    }

    /// Now, on the channel's clock.
    public var now: HCIInstant { channel.now }

    /// Sends `command` for the adapter `index` and waits for what it returns.
    ///
    /// - Throws: ``ManagementError``, at the latest when `timeout` is over.
    @discardableResult
    public func execute<C: ManagementCommand>(
        _ command: C, index: UInt16 = ManagementPacket.noController,
        timeout: Duration = ManagementHost.defaultTimeout
    ) throws(ManagementError) -> C.ReturnParameters {
        let deadline = min(channel.now.advanced(by: timeout), latestAnswer)
        switch try end(of: queue.submit(command.packet(index), deadline: deadline), by: deadline) {
        case .completed(let octets):
            guard let returned = C.ReturnParameters(octets: octets.span, at: 0) else {
                throw .malformedReturn(command: C.name, index: index, octets: octets)
            }
            return returned
        case .refused(let status):
            throw .refused(command: C.name, index: index, status: status)
        case .unanswered:
            throw .noAnswer(command: C.name, index: index, after: timeout)
        }
    }

    /// The next event that is no answer to a command, in the order of arrival, or `nil` when `deadline` came first.
    ///
    /// - Throws: ``ManagementError/channel(_:)`` only.
    public func nextEvent(until deadline: HCIInstant) throws(ManagementError) -> ManagementEvent? {
        while backlog.isEmpty {
            guard let event = try receive(until: deadline) else { return nil }
            _ = queue.receive(event)
            keep(event)
        }
        return backlog.removeFirst()
    }

    func send(_ packet: ManagementPacket) throws(ManagementError) {
        observer?(packet, false)
        do throws(HCIChannelError) {
            try channel.send(packet)
        } catch {
            throw .channel(error)
        }
    }

    func receive(until deadline: HCIInstant) throws(ManagementError) -> ManagementEvent? {
        do throws(HCIChannelError) {
            guard let packet = try channel.receive(until: deadline) else { return nil }
            observer?(packet, true)
            return ManagementEvent(packet)
        } catch {
            throw .channel(error)
        }
    }

    func keep(_ event: ManagementEvent) {
        switch event.content {
        case .commandComplete, .commandStatus: return
        default: break
        }
        if backlog.count >= Self.backlogLimit { backlog.removeFirst() }
        backlog.append(event)
    }
}

/// Which adapters there are, and when one comes.
extension ManagementHost {
    /// The numbers and addresses of the adapters that the kernel manages now.
    public func adapters() throws(ManagementError) -> [(index: UInt16, address: DeviceAddress)] {
        var result: [(index: UInt16, address: DeviceAddress)] = []
        for index in try execute(ReadControllerIndexList()).indexes.sorted() {
            guard let address = try address(of: index) else { continue }
            result.append((index, address))
        }
        return result
    }

    /// The number of the adapter with this address, whatever it was before; `nil` when it is not there.
    public func index(of address: DeviceAddress) throws(ManagementError) -> UInt16? {
        try adapters().first { $0.address == address }?.index
    }

    /// Waits for an adapter to be plugged in, or given back by a program that held its user channel: the one with
    /// `address`, or any. Other events pass by meanwhile. `nil` when `deadline` came first.
    public func nextAdapter(
        _ address: DeviceAddress?, until deadline: HCIInstant
    ) throws(ManagementError) -> UInt16? {
        while let event = try nextEvent(until: deadline) {
            guard event.content == .indexAdded, let found = try self.address(of: event.index) else { continue }
            if address == nil || found == address { return event.index }
        }
        return nil
    }

    /// `nil` when the adapter has gone again meanwhile.
    private func address(of index: UInt16) throws(ManagementError) -> DeviceAddress? {
        do throws(ManagementError) {
            return try execute(ReadControllerInformation(), index: index).address
        } catch {
            guard error.status == .invalidIndex else { throw error }
            return nil
        }
    }
}
