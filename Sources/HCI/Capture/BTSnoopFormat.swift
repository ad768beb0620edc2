/// The btsnoop file format (RFC 1761 with other datalink numbers): 16 octets of header, then records of 24 octets of
/// header and the packet. All integers big-endian.
public enum BTSnoopFormat {
    /// `btsnoop` and a zero octet.
    public static let magic: [UInt8] = [0x62, 0x74, 0x73, 0x6E, 0x6F, 0x6F, 0x70, 0x00]
    static let version: UInt32 = 1
    static let headerLength = 16
    static let recordHeaderLength = 24
    /// Microseconds from the start of the year 0, from which btsnoop counts, to that of 1970.
    public static let unixEpoch: Int64 = 0x00DC_DDB3_0F2F_8000

    /// What the records of a file hold.
    public enum Datalink: UInt32, Hashable, Sendable {
        /// HCI packets without a type octet; what they are stands in the flags.
        case unencapsulated = 1001
        /// HCI packets as H4 sends them, type octet first.
        case h4 = 1002
        /// What `btmon -w` writes: several adapters' packets, and notes; adapter and kind stand in the flags.
        case linuxMonitor = 2001
    }
}
