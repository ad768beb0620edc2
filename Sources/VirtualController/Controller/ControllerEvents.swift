import BluetoothTypes
import HCI

/// The event packets of a controller, octet by octet (Core Specification 5.4, Vol 4 Part E 7.7).
///
/// Written apart from the host's decoder, so that a mistake in one of the two shows.
enum ControllerEvents {
    /// Any event; what is over 255 octets of parameters is left off, which no caller comes near.
    static func event(_ code: UInt8, _ parameters: [UInt8]) -> HCIPacket {
        let parameters = parameters.prefix(255)
        return HCIPacket(.event, [code, UInt8(parameters.count)] + parameters)
    }

    /// Command Complete (7.7.14).
    static func commandComplete(_ opcode: HCIOpcode, _ reply: CommandReply, credits: UInt8) -> HCIPacket {
        var octets = [credits]
        octets.append(littleEndian: opcode.rawValue)
        octets.append(reply.status.rawValue)
        return event(0x0E, octets + reply.returned)
    }

    /// Command Status (7.7.15).
    static func commandStatus(_ opcode: HCIOpcode, _ status: HCIStatus, credits: UInt8) -> HCIPacket {
        var octets = [status.rawValue, credits]
        octets.append(littleEndian: opcode.rawValue)
        return event(0x0F, octets)
    }

    /// Command Complete for opcode 0: nothing is answered, only the number of commands told.
    static func credits(_ count: UInt8) -> HCIPacket { event(0x0E, [count, 0, 0]) }

    /// An answer with its status exchanged; any other packet as it is.
    static func with(_ status: HCIStatus, _ packet: HCIPacket) -> HCIPacket {
        setting(packet, complete: 5, status: 2, to: status.rawValue)
    }

    /// An answer that takes no further command; any other packet as it is.
    static func withoutCredits(_ packet: HCIPacket) -> HCIPacket {
        setting(packet, complete: 2, status: 3, to: 0)
    }

    /// Sets one octet of an answer: at the one place in Command Complete, at the other in Command Status.
    private static func setting(_ packet: HCIPacket, complete: Int, status: Int, to octet: UInt8) -> HCIPacket {
        guard packet.kind == .event, let code = packet.octets.first else { return packet }
        let place = code == 0x0E ? complete : code == 0x0F ? status : packet.octets.count
        guard place < packet.octets.count else { return packet }
        var packet = packet
        packet.octets[place] = octet
        return packet
    }

    /// LE Advertising Set Terminated (7.7.65.18), without its event code. No connection was made: handle 0.
    static func setTerminated(_ status: HCIStatus, handle: UInt8, completedEvents: Int) -> [UInt8] {
        [0x12, status.rawValue, handle, 0, 0, UInt8(clamping: completedEvents)]
    }

    /// LE Scan Timeout (7.7.65.17), without its event code.
    static let scanTimeout: [UInt8] = [0x11]

    /// LE Scan Request Received (7.7.65.19), without its event code.
    static func scanRequestReceived(handle: UInt8, from scanner: DeviceIdentity) -> [UInt8] {
        [0x13, handle, scanner.type.rawValue] + scanner.address.littleEndian
    }

    /// LE Connection Complete (7.7.65.1) with which directed advertising of high duty cycle ends when nobody came.
    static let directedAdvertisingTimeout: [UInt8] =
        [0x01, HCIStatus.advertisingTimeout.rawValue] + [UInt8](repeating: 0, count: 17)
}
