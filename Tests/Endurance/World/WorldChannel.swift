internal import HCI
internal import VirtualController

/// A channel to the controller from opening to closing. While the channel waits, the world's time passes and its
/// planned steps are executed.
final class WorldChannel: HCIChannel {
    private unowned let world: EnduranceWorld
    private var virtual: VirtualChannel?
    private var waiting: HCIPacket?
    /// True after a stop request has interrupted the channel, which happens once.
    private var isInterrupted = false
    /// The time in microseconds for which the channel still waits for packets after a stop request, as in a real
    /// channel.
    private static let shutdownTimeout = 800_000

    init(_ virtual: VirtualChannel, _ world: EnduranceWorld) {
        self.virtual = virtual
        self.world = world
    }

    var now: HCIInstant { world.now }

    /// Ends the channel: the adapter is gone or was closed.
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

    /// Returns true if there is a packet or one arrives by `deadline`.
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
        return min(deadline, wanted.advanced(byMicroseconds: Self.shutdownTimeout))
    }
}
