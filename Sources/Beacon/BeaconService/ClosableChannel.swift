package import HCI
internal import LinuxHost

/// A channel that can be let go of while somebody still holds it: a session that is off the air keeps its counts, and
/// must not keep its adapter.
package final class ClosableChannel: HCIChannel {
    private var channel: (any HCIChannel)?

    /// Lets everything through until it is closed.
    package init(_ channel: any HCIChannel) {
        self.channel = channel
    }

    /// From now on it is an adapter that is gone.
    package func close() { channel = nil }

    package var now: HCIInstant { HCIInstant(nanoseconds: MonotonicClock.nanoseconds()) }

    package func send(_ packet: HCIPacket) throws(HCIChannelError) {
        guard let channel else { throw .gone("the adapter was closed") }
        try channel.send(packet)
    }

    package var receivedAt: HCIInstant { channel?.receivedAt ?? now }

    package func receive(until deadline: HCIInstant) throws(HCIChannelError) -> HCIPacket? {
        guard let channel else { throw .gone("the adapter was closed") }
        return try channel.receive(until: deadline)
    }
}
