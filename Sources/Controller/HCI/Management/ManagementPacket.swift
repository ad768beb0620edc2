import BluetoothTypes

/// One message of the kernel's Bluetooth management channel: a command or an event. It consists of a header of six
/// bytes and the parameters. All integers are little-endian.
///
///      0         2         4         6
///     +---------+---------+---------+------------+
///     | code    | index   | length  | parameters |
///     +---------+---------+---------+------------+
///
/// BlueZ's doc/mgmt-api.txt, "Packet Structures".
public struct ManagementPacket: Hashable, Sendable {
    /// The code of a command or, if the kernel sent the packet, of an event. Commands and events are numbered
    /// separately.
    public var code: UInt16
    /// The number N of the adapter hciN, or ``ManagementPacket/noController``.
    public var index: UInt16
    /// The parameters, at most 65,535 bytes.
    public var parameters: [UInt8]

    /// The index of messages that concern no adapter.
    public static let noController: UInt16 = 0xFFFF
    static let headerLength = 6

    /// A message with the opcode or event code `code`. Only the first 65,535 bytes of parameters are sent.
    public init(code: UInt16, index: UInt16, parameters: [UInt8]) {
        self.code = code
        self.index = index
        self.parameters = parameters
    }

    /// Reads a complete message; `nil` if its length field does not match the number of bytes.
    public init?(octets: Span<UInt8>) {
        guard octets.count >= Self.headerLength,
            octets.count == Self.headerLength + Int(octets.uint16LittleEndian(at: 4))
        else { return nil }
        code = octets.uint16LittleEndian(at: 0)
        index = octets.uint16LittleEndian(at: 2)
        parameters = octets.array(Self.headerLength..<octets.count)
    }

    /// The bytes of the message on the socket. Parameters after the first 65,535 bytes are omitted, because the length
    /// field cannot count them.
    public var octets: [UInt8] {
        let sentParameters = parameters.prefix(Int(UInt16.max))
        var result: [UInt8] = []
        result.reserveCapacity(Self.headerLength + sentParameters.count)
        result.append(littleEndian: code)
        result.append(littleEndian: index)
        result.append(littleEndian: UInt16(sentParameters.count))
        result += sentParameters
        return result
    }
}

/// A channel to the kernel's Bluetooth management interface, for messages in both directions.
public protocol ManagementChannel: AnyObject {
    /// The current time of the channel's own monotonic clock.
    var now: HCIInstant { get }

    /// Sends one message to the kernel.
    func send(_ packet: ManagementPacket) throws(HCIChannelError)

    /// Returns the next message from the kernel, or `nil` if there is none until `deadline`. Bytes that are not a
    /// message are skipped.
    func receive(until deadline: HCIInstant) throws(HCIChannelError) -> ManagementPacket?
}

/// A message from the kernel's Bluetooth management interface: an event, or the answer to a command.
///
/// BlueZ's doc/mgmt-api.txt.
public struct ManagementEvent: Hashable, Sendable {
    /// The number N of the adapter hciN, or ``ManagementPacket/noController``.
    public let index: UInt16
    public let content: Content

    /// The content of an event or answer.
    public enum Content: Hashable, Sendable {
        /// The end of a command: its opcode, its status, and its return parameters.
        case commandComplete(opcode: UInt16, status: ManagementStatus, returned: [UInt8])
        /// If `status` is an error, the command has ended with this error. If it is success, the command has only
        /// started.
        case commandStatus(opcode: UInt16, status: ManagementStatus)
        /// The controller has reported a Hardware Error event.
        case controllerError(code: UInt8)
        case indexAdded
        case indexRemoved
        case newSettings(ManagementSettings)
        /// An advertisement of a device was received. The kernel sends this event while any program scans or monitors.
        case deviceFound(ManagementDevice)
        /// Another program's advertisement monitor was removed.
        case monitorRemoved(UInt16)
        /// A device was received that matches an advertisement monitor. `monitor` is the handle of the first such
        /// monitor; 0 if the kernel has reported the device before, or if the controller does not filter by itself.
        case monitoredDeviceFound(monitor: UInt16, ManagementDevice)
        /// A controller that filters by itself no longer receives a device. `peer` contains seven bytes, the address
        /// and its type.
        case monitoredDeviceLost(monitor: UInt16, peer: [UInt8])
        /// Another program's instance was added.
        case advertisingAdded(instance: UInt8)
        /// Another program removed the instance, or the kernel removed it because its time was over or an update
        /// failed.
        case advertisingRemoved(instance: UInt8)
        /// The machine goes to sleep. `state` is the state of the controller during the sleep.
        case controllerSuspend(state: UInt8)
        /// The machine has woken up. `peer` contains seven bytes: the address and the address type of the device that
        /// woke the machine up, or zeros.
        case controllerResume(reason: UInt8, peer: [UInt8])
        /// A message with an unknown code, or with parameters that do not fit its event.
        case unknown(code: UInt16, parameters: [UInt8])
    }

    /// An event about the adapter `index`.
    public init(index: UInt16, _ content: Content) {
        self.index = index
        self.content = content
    }

    /// Decodes a message. If the code is unknown or the layout is wrong, the content is
    /// ``Content/unknown(code:parameters:)``.
    public init(_ packet: ManagementPacket) {
        index = packet.index
        content = Content(packet.code, packet.parameters)
    }

    /// The event as a message, for tests that simulate the kernel.
    public var packet: ManagementPacket {
        let (code, parameters) = content.wire
        return ManagementPacket(code: code, index: index, parameters: parameters)
    }
}

extension ManagementEvent.Content {
    fileprivate init(_ code: UInt16, _ parameters: [UInt8]) {
        self = Self.decoded(code, parameters.span) ?? .unknown(code: code, parameters: parameters)
    }

    /// Decodes an event; `nil` for an unknown code, and for parameters that do not fit the event.
    private static func decoded(_ code: UInt16, _ octets: Span<UInt8>) -> Self? {
        switch (code, octets.count) {
        case (0x0001, 3...):
            .commandComplete(
                opcode: octets.uint16LittleEndian(at: 0), status: ManagementStatus(rawValue: octets[2]),
                returned: octets.array(3..<octets.count))
        case (0x0002, 3):
            .commandStatus(opcode: octets.uint16LittleEndian(at: 0), status: ManagementStatus(rawValue: octets[2]))
        case (0x0003, 1): .controllerError(code: octets[0])
        case (0x0004, 0): .indexAdded
        case (0x0005, 0): .indexRemoved
        case (0x0006, 4): .newSettings(ManagementSettings(rawValue: octets.uint32LittleEndian(at: 0)))
        case (0x0012, 14...): ManagementDevice(octets, at: 0).map { .deviceFound($0) }
        case (0x0023, 1): .advertisingAdded(instance: octets[0])
        case (0x0024, 1): .advertisingRemoved(instance: octets[0])
        case (0x002C, 2): .monitorRemoved(octets.uint16LittleEndian(at: 0))
        case (0x002D, 1): .controllerSuspend(state: octets[0])
        case (0x002E, 8): .controllerResume(reason: octets[0], peer: octets.array(1..<8))
        case (0x002F, 16...):
            ManagementDevice(octets, at: 2).map {
                .monitoredDeviceFound(monitor: octets.uint16LittleEndian(at: 0), $0)
            }
        case (0x0030, 9):
            .monitoredDeviceLost(monitor: octets.uint16LittleEndian(at: 0), peer: octets.array(2..<9))
        default: nil
        }
    }

    fileprivate var wire: (UInt16, [UInt8]) {
        var octets: [UInt8] = []
        switch self {
        case .commandComplete(let opcode, let status, let returned):
            octets.append(littleEndian: opcode)
            return (0x0001, octets + [status.rawValue] + returned)
        case .commandStatus(let opcode, let status):
            octets.append(littleEndian: opcode)
            return (0x0002, octets + [status.rawValue])
        case .controllerError(let code): return (0x0003, [code])
        case .indexAdded: return (0x0004, [])
        case .indexRemoved: return (0x0005, [])
        case .newSettings(let settings):
            octets.append(littleEndian: settings.rawValue)
            return (0x0006, octets)
        case .deviceFound(let device): return (0x0012, device.wire)
        case .monitorRemoved(let monitor): return (0x002C, ManagementMonitor(monitor).octets)
        case .monitoredDeviceFound(let monitor, let device):
            return (0x002F, ManagementMonitor(monitor).octets + device.wire)
        case .monitoredDeviceLost(let monitor, let peer): return (0x0030, ManagementMonitor(monitor).octets + peer)
        case .advertisingAdded(let instance): return (0x0023, [instance])
        case .advertisingRemoved(let instance): return (0x0024, [instance])
        case .controllerSuspend(let state): return (0x002D, [state])
        case .controllerResume(let reason, let peer): return (0x002E, [reason] + peer)
        case .unknown(let code, let parameters): return (code, parameters)
        }
    }
}
