public import BluetoothTypes
public import HCI

/// A host's channel to a virtual controller. Waiting for a packet advances the simulated clock to the next packet, so
/// seconds of advertising take no real time.
///
/// Several channels may share one air; a wait on one channel advances the time for all of them. When the channel is
/// released, its controller is removed from the air.
public final class VirtualChannel: HCIChannel {
    public let air: VirtualAir
    public let controller: VirtualController
    private let arrivedPackets: PacketQueue

    /// Attaches a new controller to `air`.
    public init(
        _ model: VirtualControllerModel, on air: VirtualAir = VirtualAir(), address: DeviceAddress? = nil
    ) {
        let queue = PacketQueue()
        self.air = air
        arrivedPackets = queue
        controller = air.attach(model, address: address) { queue.append($0) }
    }

    deinit { air.detach(controller) }

    public var now: HCIInstant { air.now }

    /// Passes the packet to the controller. If neither a fault nor a latency delays the answer, the answer arrives
    /// during this call.
    public func send(_ packet: HCIPacket) throws(HCIChannelError) {
        guard controller.isAttached else { throw Self.gone }
        controller.receive(packet)
    }

    /// Advances the clock until there is a packet for this host, or to `deadline`. If `deadline` is
    /// `HCIInstant.distantFuture` and nothing is planned, returns `nil` at once and does not advance the clock.
    ///
    /// - Throws: `HCIChannelError.gone(_:)` if the controller was removed from the air and all its packets were
    ///   received.
    public func receive(until deadline: HCIInstant) throws(HCIChannelError) -> HCIPacket? {
        while true {
            if let packet = arrivedPackets.removeFirst() { return packet }
            guard controller.isAttached else { throw Self.gone }
            guard let nextEvent = air.nextEvent, nextEvent <= deadline else { break }
            air.advance(to: nextEvent)
        }
        if deadline < .distantFuture { air.advance(to: deadline) }
        return nil
    }

    private static var gone: HCIChannelError { .gone("the virtual controller was removed") }
}

/// The packets that the host has not fetched yet. If there are too many, further LE Meta events, such as reports, are
/// dropped, as in real controllers. Answers are never dropped.
final class PacketQueue {
    /// The number of packets from which on further LE Meta events are dropped.
    private static let capacity = 1 << 16

    private var packets: [HCIPacket] = []
    /// The index of the first packet that was not fetched yet.
    private var firstIndex = 0

    func append(_ packet: HCIPacket) {
        let isFull = packets.count - firstIndex >= Self.capacity
        let isLEMetaEvent = packet.kind == .event && packet.octets.first == 0x3E
        if !(isFull && isLEMetaEvent) { packets.append(packet) }
    }

    func removeFirst() -> HCIPacket? {
        guard firstIndex < packets.count else { return nil }
        let packet = packets[firstIndex]
        firstIndex += 1
        if 2 * firstIndex >= packets.count {
            packets.removeFirst(firstIndex)
            firstIndex = 0
        }
        return packet
    }
}

/// A simulated fault in the transfer of a packet between the host and a virtual controller.
public enum VirtualFault: Hashable, Sendable {
    /// No fault.
    case pass
    /// The packet is lost: a command is not executed, or an event is not sent.
    case drop
    /// The packet arrives this many microseconds later; other packets may overtake it.
    case delay(microseconds: Int)
    /// Another packet arrives instead.
    case replace(HCIPacket)
    /// A command is answered with this status and not executed. In an answer, this status replaces the original status.
    /// Other packets are not changed.
    case fail(HCIStatus)
    /// The answer contains no credits (Num_HCI_Command_Packets is 0), so the host must not send a command. After this
    /// number of microseconds, an event that is not an answer contains credits again; `nil` if this never happens.
    case withoutCredits(forMicroseconds: Int?)
    /// The controller is removed at this moment, as if it were unplugged.
    case vanish
}

/// The time for which answers contain no credits, in microseconds; `nil` for no limit.
struct CreditWithholding {
    let microseconds: Int?
}
