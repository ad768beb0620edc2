internal import CBlueZ
internal import Glibc
public import HCI
public import LinuxHost

/// The Bluetooth management socket of the kernel, which serves all adapters.
///
/// Every user may send commands that only read, and receives most events. Commands that change something need
/// CAP_NET_ADMIN.
public final class ManagementSocket: ManagementChannel {
    /// The descriptor to poll for reading.
    public let descriptor: Descriptor
    private let waiter: ChannelWaiter

    /// Opens the socket.
    ///
    /// - Parameter name: The adapter as the user named it, for error messages.
    public init(_ name: String = "mgmt", interruption: SignalDescriptor? = nil) throws(TransportError) {
        descriptor = try BlueZAdapter.boundSocket(UInt16(HCI_DEV_NONE), UInt16(HCI_CHANNEL_CONTROL), name)
        waiter = ChannelWaiter(descriptor, interruption: interruption)
    }

    public var now: HCIInstant { waiter.now }

    /// Writes the message with one call, as the kernel requires.
    public func send(_ packet: ManagementPacket) throws(HCIChannelError) {
        do throws(SystemError) {
            _ = try descriptor.write(packet.octets)
        } catch {
            throw HCIChannelError(error)
        }
    }

    /// Waits for the next message until `deadline`, and returns `nil` at the deadline. Messages with a wrong length are
    /// ignored.
    public func receive(until deadline: HCIInstant) throws(HCIChannelError) -> ManagementPacket? {
        repeat {
            guard try waiter.wait(until: deadline) else { return nil }
            let octets = try descriptor.message("the management socket was closed")
            if let packet = ManagementPacket(octets: octets.span) { return packet }
        } while waiter.now < deadline
        return nil
    }
}

/// The monitor channel of the kernel. It reports every packet of every adapter, and the programs that have Bluetooth
/// sockets.
///
/// It needs CAP_NET_RAW.
public final class MonitorSocket {
    /// The descriptor to poll for reading.
    public let descriptor: Descriptor
    private let waiter: ChannelWaiter

    /// Opens the channel. The kernel first sends messages about all existing adapters and sockets.
    ///
    /// - Throws: ``TransportError`` if this process lacks CAP_NET_RAW, or if the kernel has no Bluetooth.
    public init() throws(TransportError) {
        guard Privileges.has(.netRaw) else {
            throw TransportError.notPermitted(.netRaw, "the monitor channel", "observing other programs")
        }
        descriptor = try BlueZAdapter.boundSocket(
            UInt16(HCI_DEV_NONE), UInt16(HCI_CHANNEL_MONITOR), "the monitor channel")
        waiter = ChannelWaiter(descriptor, interruption: nil)
    }

    public var now: HCIInstant { waiter.now }

    /// Waits for the next message until `deadline`, and returns `nil` at the deadline. Messages with a wrong length are
    /// ignored.
    public func receive(until deadline: HCIInstant) throws(HCIChannelError) -> MonitorPacket? {
        repeat {
            guard try waiter.wait(until: deadline) else { return nil }
            let octets = try descriptor.message("the monitor channel was closed")
            if let packet = MonitorPacket(octets: octets.span) { return packet }
        } while waiter.now < deadline
        return nil
    }

    /// The programs that have Bluetooth sockets now; empty without CAP_NET_RAW.
    public static var openSockets: MonitoredSockets {
        var sockets = MonitoredSockets()
        guard let monitor = try? MonitorSocket() else { return sockets }
        // When the channel is open, the kernel has already sent the messages about all existing sockets.
        while let packet = try? monitor.receive(until: monitor.now) { sockets.receive(packet) }
        return sockets
    }
}

extension Descriptor {
    /// Reads a message from a Bluetooth socket. A message above 8192 bytes is truncated, and the caller ignores it
    /// because its length is wrong.
    ///
    /// - Parameter closedText: The text of the error if the socket was closed.
    fileprivate func message(_ closedText: String) throws(HCIChannelError) -> [UInt8] {
        let octets: [UInt8]
        do throws(SystemError) {
            octets = try read(upTo: 8192)
        } catch {
            throw HCIChannelError(error)
        }
        if octets.isEmpty { throw .gone(closedText) }
        return octets
    }
}
