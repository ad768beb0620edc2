import BluetoothTypes

/// One message of the kernel's Bluetooth management channel, command or event: six octets of header and parameters,
/// all integers little-endian.
///
///      0         2         4         6
///     +---------+---------+---------+------------+
///     | code    | index   | length  | parameters |
///     +---------+---------+---------+------------+
///
/// BlueZ's doc/mgmt-api.txt, "Packet Structures".
public struct ManagementPacket: Hashable, Sendable {
    /// Of a command or of an event: the two are counted apart, and the direction tells which one is meant.
    public var code: UInt16
    /// The N of hciN, or ``noController``.
    public var index: UInt16
    /// At most 65,535 octets.
    public var parameters: [UInt8]

    /// The index of what concerns no adapter.
    public static let noController: UInt16 = 0xFFFF
    static let headerLength = 6

    /// A message of opcode or event `code`. More than 65,535 octets of parameters cannot be counted.
    public init(code: UInt16, index: UInt16, parameters: [UInt8]) {
        self.code = code
        self.index = index
        self.parameters = parameters
    }

    /// Reads a whole message; `nil` when its length field and the number of octets disagree.
    public init?(octets: Span<UInt8>) {
        guard octets.count >= Self.headerLength,
            octets.count == Self.headerLength + Int(octets.uint16LittleEndian(at: 4))
        else { return nil }
        code = octets.uint16LittleEndian(at: 0)
        index = octets.uint16LittleEndian(at: 2)
        parameters = octets.array(Self.headerLength..<octets.count)
    }

    /// The message as it goes through the socket; what is over 65,535 octets of parameters cannot be counted and is
    /// left off.
    public var octets: [UInt8] {
        let counted = parameters.prefix(Int(UInt16.max))
        var result: [UInt8] = []
        result.reserveCapacity(Self.headerLength + counted.count)
        result.append(littleEndian: code)
        result.append(littleEndian: index)
        result.append(littleEndian: UInt16(counted.count))
        result += counted
        return result
    }
}

/// A way to the kernel's management and back, as the layers above see it.
public protocol ManagementChannel: AnyObject {
    /// Now, on the channel's own monotonic clock.
    var now: HCIInstant { get }

    /// Hands one message to the kernel.
    func send(_ packet: ManagementPacket) throws(HCIChannelError)

    /// The next message from the kernel, or `nil` when `deadline` came first. Octets that are no message are skipped.
    func receive(until deadline: HCIInstant) throws(HCIChannelError) -> ManagementPacket?
}
