internal import HCI

/// A channel that can be let go of while somebody still holds it: a session that is off the air keeps its counts, and
/// must not keep its adapter.
final class ClosableChannel: HCIChannel {
    private var channel: (any HCIChannel)?
    private let clock: () -> HCIInstant

    init(_ channel: any HCIChannel, clock: @escaping () -> HCIInstant) {
        self.channel = channel
        self.clock = clock
    }

    /// From now on it is an adapter that is gone.
    func close() { channel = nil }

    var now: HCIInstant { clock() }

    func send(_ packet: HCIPacket) throws(HCIChannelError) {
        guard let channel else { throw .gone("the adapter was closed") }
        try channel.send(packet)
    }

    func receive(until deadline: HCIInstant) throws(HCIChannelError) -> HCIPacket? {
        guard let channel else { throw .gone("the adapter was closed") }
        return try channel.receive(until: deadline)
    }
}
