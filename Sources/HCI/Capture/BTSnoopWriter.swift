import BluetoothTypes

/// Makes btsnoop files with datalink 1002, which Wireshark and btmon open.
public enum BTSnoopWriter {
    /// The first octets of the file.
    public static let header: [UInt8] = {
        var octets = BTSnoopFormat.magic
        octets.append(bigEndian: BTSnoopFormat.version)
        octets.append(bigEndian: BTSnoopFormat.Datalink.h4.rawValue)
        return octets
    }()

    /// The record of one packet.
    ///
    /// - Parameter unixMicroseconds: wall clock time, microseconds since 1970.
    public static func record(_ packet: HCIPacket, isFromController: Bool, unixMicroseconds: Int64) -> [UInt8] {
        let isCommandOrEvent = packet.kind == .command || packet.kind == .event
        let flags: UInt32 = (isFromController ? 1 : 0) | (isCommandOrEvent ? 2 : 0)
        let length = UInt32(clamping: packet.octets.count + 1)
        var octets: [UInt8] = []
        octets.reserveCapacity(BTSnoopFormat.recordHeaderLength + packet.octets.count + 1)
        octets.append(bigEndian: length)
        octets.append(bigEndian: length)
        octets.append(bigEndian: flags)
        octets.append(bigEndian: UInt32(0))
        octets.append(bigEndian: unixMicroseconds &+ BTSnoopFormat.unixEpoch)
        octets.append(packet.kind.rawValue)
        return octets + packet.octets
    }
}
