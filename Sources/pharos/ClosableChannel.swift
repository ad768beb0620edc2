internal import HCI
internal import LinuxHost

/// A channel that can be let go of while somebody still holds it: a session that is off the air keeps its counts, and
/// must not keep its adapter.
final class ClosableChannel: HCIChannel {
    private var channel: (any HCIChannel)?

    init(_ channel: any HCIChannel) {
        self.channel = channel
    }

    /// From now on it is an adapter that is gone.
    func close() { channel = nil }

    var now: HCIInstant { HCIInstant(nanoseconds: MonotonicClock.nanoseconds()) }

    func send(_ packet: HCIPacket) throws(HCIChannelError) {
        guard let channel else { throw .gone("the adapter was closed") }
        try channel.send(packet)
    }

    func receive(until deadline: HCIInstant) throws(HCIChannelError) -> HCIPacket? {
        guard let channel else { throw .gone("the adapter was closed") }
        return try channel.receive(until: deadline)
    }
}
