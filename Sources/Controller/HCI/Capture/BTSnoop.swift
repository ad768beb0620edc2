import BluetoothTypes

/// The btsnoop file format (RFC 1761 with other datalink numbers). A file consists of a header of 16 bytes and the
/// records. Each record consists of a header of 24 bytes and a packet. All integers are big-endian.
public enum BTSnoopFormat {
    /// The first eight bytes of every btsnoop file: `btsnoop` and a zero byte.
    public static let magic: [UInt8] = [0x62, 0x74, 0x73, 0x6E, 0x6F, 0x6F, 0x70, 0x00]
    static let version: UInt32 = 1
    static let headerLength = 16
    static let recordHeaderLength = 24
    /// The time from the start of the year 0 to the start of 1970, in microseconds. btsnoop counts time from the year
    /// 0.
    public static let unixEpoch: Int64 = 0x00DC_DDB3_0F2F_8000

    /// The contents of a file's records.
    public enum Datalink: UInt32, Hashable, Sendable {
        /// HCI packets without a type byte. The flags of the record contain the type.
        case unencapsulated = 1001
        /// HCI packets in the form of the H4 transport: the type byte comes first.
        case h4 = 1002
        /// Packets of several adapters, and notes about the adapters, as `btmon -w` writes them. The flags of the
        /// record contain the adapter and the kind of the packet.
        case linuxMonitor = 2001

        var link: CaptureLink {
            switch self {
            case .unencapsulated: .unencapsulated
            case .h4: .h4
            case .linuxMonitor: .linuxMonitorFlags
            }
        }
    }

    /// Returns the link type of a file whose header (``headerLength`` bytes) starts at `start`.
    static func link(_ octets: Span<UInt8>, at start: Int) throws(CaptureError.Reason) -> CaptureLink {
        let version = octets.uint32BigEndian(at: start + 8)
        guard version == Self.version else { throw .unknownVersion(version, .btsnoop) }
        let number = octets.uint32BigEndian(at: start + 12)
        guard let datalink = Datalink(rawValue: number) else { throw .unknownLink(number, .btsnoop) }
        return datalink.link
    }

    /// Reads the record whose header starts at `start`. Returns the number of bytes needed if the record is not
    /// complete.
    static func frame(_ octets: Span<UInt8>, at start: Int) throws(CaptureError.Reason) -> CaptureFrame.Step {
        guard octets.holds(recordHeaderLength, at: start) else { return .needs(recordHeaderLength) }
        let original = octets.uint32BigEndian(at: start)
        let included = octets.uint32BigEndian(at: start + 4)
        guard included <= CaptureFrame.octetLimit else { throw .recordTooLong(octets: Int(included)) }
        guard included <= original else { throw .lengthsDisagree(original: original, included: included) }
        let flags = octets.uint32BigEndian(at: start + 8)
        let length = recordHeaderLength + Int(included)
        guard octets.holds(length, at: start) else { return .needs(length) }
        return .frame(
            CaptureFrame(
                octets: start + recordHeaderLength..<start + length, isShortened: included < original,
                unixMicroseconds: Int64(bitPattern: octets.uint64BigEndian(at: start + 16)) &- unixEpoch,
                flags: flags, isFromController: flags & 1 != 0, drops: octets.uint32BigEndian(at: start + 12)),
            length: length)
    }
}

/// Creates the bytes of btsnoop files with datalink 1002 (H4), which Wireshark and btmon can open.
public enum BTSnoopWriter {
    /// The file header: the first 16 bytes of the file.
    public static let header: [UInt8] = {
        var octets = BTSnoopFormat.magic
        octets.append(bigEndian: BTSnoopFormat.version)
        octets.append(bigEndian: BTSnoopFormat.Datalink.h4.rawValue)
        return octets
    }()

    /// Returns the record of one packet. Append it to the header and the earlier records.
    ///
    /// - Parameters:
    ///   - unixMicroseconds: The time of the packet, in microseconds since 1970.
    ///   - drops: The number of packets that were lost since the start of the file.
    public static func record(
        _ packet: HCIPacket, isFromController: Bool, unixMicroseconds: Int64, drops: Int = 0
    ) -> [UInt8] {
        let isCommandOrEvent = packet.kind == .command || packet.kind == .event
        let flags: UInt32 = (isFromController ? 1 : 0) | (isCommandOrEvent ? 2 : 0)
        let length = UInt32(clamping: packet.octets.count + 1)
        var octets: [UInt8] = []
        octets.reserveCapacity(BTSnoopFormat.recordHeaderLength + packet.octets.count + 1)
        octets.append(bigEndian: length)
        octets.append(bigEndian: length)
        octets.append(bigEndian: flags)
        octets.append(bigEndian: UInt32(clamping: drops))
        octets.append(bigEndian: unixMicroseconds &+ BTSnoopFormat.unixEpoch)
        octets.append(packet.kind.rawValue)
        return octets + packet.octets
    }
}
