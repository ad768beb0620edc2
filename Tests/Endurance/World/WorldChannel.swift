internal import HCI
internal import VirtualController

/// The way to the controller from one opening to the next closing. Waiting lets the world's time pass, with all that is
/// to happen in it.
final class WorldChannel: HCIChannel {
    private unowned let world: EnduranceWorld
    private var virtual: VirtualChannel?
    private var waiting: HCIPacket?
    /// Who waits is interrupted once.
    private var isInterrupted = false
    /// What may be waited for after a wish to stop, as with a real channel, in microseconds: 0.8 s.
    private static let farewell = 800_000

    init(_ virtual: VirtualChannel, _ world: EnduranceWorld) {
        self.virtual = virtual
        self.world = world
    }

    var now: HCIInstant { world.now }

    /// The adapter behind it is no more, or not open any more.
    func end() { virtual = nil }

    var isEnded: Bool { virtual == nil }

    func send(_ packet: HCIPacket) throws(HCIChannelError) {
        guard let virtual else { throw .gone("the adapter is gone") }
        try virtual.send(packet)
    }

    func receive(until deadline: HCIInstant) throws(HCIChannelError) -> HCIPacket? {
        if try hasPacket(until: deadline) {
            defer { waiting = nil }
            return waiting
        }
        return nil
    }

    /// Whether there is a packet, or will be by `deadline`.
    func hasPacket(until deadline: HCIInstant) throws(HCIChannelError) -> Bool {
        while true {
            guard let virtual else { throw .gone("the adapter is gone") }
            let deadline = try obeying(deadline)
            if waiting != nil { return true }
            waiting = try virtual.receive(until: min(deadline, world.nextIncident ?? deadline))
            if waiting != nil { return true }
            world.happen()
            if world.now >= deadline, !isEnded { return false }
        }
    }

    private func obeying(_ deadline: HCIInstant) throws(HCIChannelError) -> HCIInstant {
        guard let wanted = world.stopWantedAt else { return deadline }
        guard isInterrupted else {
            isInterrupted = true
            throw .interrupted
        }
        return min(deadline, wanted.advanced(byMicroseconds: Self.farewell))
    }
}
