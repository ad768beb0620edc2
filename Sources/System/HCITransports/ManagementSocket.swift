internal import CBlueZ
internal import Glibc
public import HCI
public import LinuxHost

/// The kernel's Bluetooth management socket: one for all adapters.
///
/// Reading and most events are open to everybody; what changes something needs CAP_NET_ADMIN.
public final class ManagementSocket: ManagementChannel {
    /// To wait for together with other things; ready to read when a message is there.
    public let descriptor: Descriptor
    private let waiter: ChannelWaiter

    /// - Parameter name: the adapter as the user named it, for error messages.
    public init(_ name: String = "mgmt", interruption: SignalDescriptor? = nil) throws(TransportError) {
        descriptor = try BlueZAdapter.boundSocket(UInt16(HCI_DEV_NONE), UInt16(HCI_CHANNEL_CONTROL), name)
        waiter = ChannelWaiter(descriptor, interruption: interruption)
    }

    public var now: HCIInstant { waiter.now }

    /// Writes the message in one piece, as the kernel wants it.
    public func send(_ packet: ManagementPacket) throws(HCIChannelError) {
        do throws(SystemError) {
            _ = try descriptor.write(packet.octets)
        } catch {
            throw .system(call: error.call, errno: error.errno, text: error.text)
        }
    }

    /// The next message; those whose length is wrong are passed over.
    public func receive(until deadline: HCIInstant) throws(HCIChannelError) -> ManagementPacket? {
        repeat {
            guard try waiter.wait(until: deadline) else { return nil }
            let octets = try descriptor.message("the management socket was closed")
            if let packet = ManagementPacket(octets: octets.span) { return packet }
        } while waiter.now < deadline
        return nil
    }
}

/// The kernel's monitor channel: every packet of every adapter, and which programs hold Bluetooth sockets.
///
/// Needs CAP_NET_RAW.
public final class MonitorSocket: MonitorChannel {
    /// To wait for together with other things; ready to read when a message is there.
    public let descriptor: Descriptor
    private let waiter: ChannelWaiter

    /// Opens the channel; the kernel tells at once of all adapters and sockets that are there.
    ///
    /// - Throws: ``TransportError`` without CAP_NET_RAW, and in a kernel without Bluetooth.
    public init(interruption: SignalDescriptor? = nil) throws(TransportError) {
        guard Privileges.has(.netRaw) else {
            throw TransportError.notPermitted(.netRaw, "the monitor channel", "listening to what other programs do")
        }
        descriptor = try BlueZAdapter.boundSocket(
            UInt16(HCI_DEV_NONE), UInt16(HCI_CHANNEL_MONITOR), "the monitor channel")
        waiter = ChannelWaiter(descriptor, interruption: interruption)
    }

    public var now: HCIInstant { waiter.now }

    /// The next message; those whose length is wrong are passed over.
    public func receive(until deadline: HCIInstant) throws(HCIChannelError) -> MonitorPacket? {
        repeat {
            guard try waiter.wait(until: deadline) else { return nil }
            let octets = try descriptor.message("the monitor channel was closed")
            if let packet = MonitorPacket(octets: octets.span) { return packet }
        } while waiter.now < deadline
        return nil
    }

    /// Who has a Bluetooth socket just now; nobody that is known without CAP_NET_RAW.
    public static var openSockets: MonitoredSockets {
        var sockets = MonitoredSockets()
        guard let monitor = try? MonitorSocket() else { return sockets }
        // The kernel has told of all of them by now.
        while let packet = try? monitor.receive(until: monitor.now) { sockets.receive(packet) }
        return sockets
    }
}

extension Descriptor {
    /// One message of a Bluetooth socket. Longer ones than any that matters here are cut, and so passed over.
    fileprivate func message(_ end: String) throws(HCIChannelError) -> [UInt8] {
        let octets: [UInt8]
        do throws(SystemError) {
            octets = try read(upTo: 8192)
        } catch {
            throw .system(call: error.call, errno: error.errno, text: error.text)
        }
        if octets.isEmpty { throw .gone(end) }
        return octets
    }
}
