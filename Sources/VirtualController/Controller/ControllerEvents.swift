import BluetoothTypes
import HCI

/// LE Meta events that only controllers need to know, and what faults make of answers.
enum ControllerEvents {
    /// Command Complete for opcode 0: nothing is answered, only the number of commands told (Core Specification 5.4,
    /// Vol 4 Part E 7.7.14).
    static let creditsReturned = HCIEvent.commandComplete(
        CommandComplete(credits: 1, opcode: .noOperation, returnOctets: []))

    /// LE Scan Timeout (7.7.65.17).
    static let scanTimeout = meta([0x11])

    /// LE Scan Request Received (7.7.65.19).
    static func scanRequestReceived(handle: UInt8, from scanner: DeviceIdentity) -> HCIEvent {
        meta([0x13, handle, scanner.type.rawValue] + scanner.address.littleEndian)
    }

    /// LE Connection Complete (7.7.65.1) with which directed advertising of high duty cycle ends when nobody came.
    static let directedAdvertisingTimeout = meta(
        [0x01, HCIStatus.advertisingTimeout.rawValue] + [UInt8](repeating: 0, count: 17))

    private static func meta(_ parameters: [UInt8]) -> HCIEvent { .unknown(code: 0x3E, parameters: parameters) }

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
}
