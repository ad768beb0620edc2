/// A Bluetooth device address (BD_ADDR) of 48 bits. Text contains the most significant byte first; packets contain the
/// least significant byte first.
///
/// The bytes are stored in the order of the text. Only ``littleEndian`` reverses them.
public struct DeviceAddress: Hashable, Comparable, Sendable {
    /// The six bytes, most significant byte first, as printed.
    public let octets: FixedOctets<6>

    /// An address with these bytes, most significant byte first.
    public init(_ octets: FixedOctets<6>) {
        self.octets = octets
    }

    /// Reads an address from an HCI packet, least significant byte first; `nil` if there are fewer than six bytes.
    public init?(littleEndian span: Span<UInt8>, at offset: Int) {
        guard let wire = FixedOctets<6>(span, at: offset) else { return nil }
        octets = wire.reversed
    }

    /// Reads an address such as `F0:01:02:03:04:05`, also with dashes or without separators; `nil` for any other text.
    public init?(_ text: some StringProtocol) {
        guard let octets = try? FixedOctets<6>(hexadecimal: text) else { return nil }
        self.octets = octets
    }

    /// The six bytes for HCI, least significant first.
    public var littleEndian: [UInt8] { octets.reversed.octets }

    /// The kind of a random address, given by its two most significant bits (Core Specification 5.4, Vol 6 Part B
    /// 1.3.2).
    public enum RandomKind: Sendable {
        case nonResolvablePrivate
        case resolvablePrivate
        case reserved
        /// A static address (bits `11`), which does not change while the device is powered.
        case staticDevice
    }

    /// The kind of the address if it is a random address. The address itself does not say whether it is random; for a
    /// public address, ignore this value.
    public var randomKind: RandomKind {
        switch octets[0] >> 6 {
        case 0b00: .nonResolvablePrivate
        case 0b01: .resolvablePrivate
        case 0b10: .reserved
        default: .staticDevice
        }
    }

    /// True if this is a valid static random address: the two top bits are 11, and the other 46 are not all 0 or all 1.
    public var isValidStaticRandom: Bool {
        guard randomKind == .staticDevice else { return false }
        let last = octets[5]
        for index in 1..<5 where octets[index] != last { return true }
        return !(octets[0] == 0xC0 && last == 0) && !(octets[0] == 0xFF && last == 0xFF)
    }

    /// Returns a static random address from any six bytes. The two top bits are set. If the other 46 bits are all 0 or
    /// all 1, which is invalid, the lowest bit is inverted.
    public static func staticRandom(from octets: FixedOctets<6>) -> DeviceAddress {
        var octets = octets
        octets[0] |= 0xC0
        let address = DeviceAddress(octets)
        if address.isValidStaticRandom { return address }
        octets[5] ^= 1
        return DeviceAddress(octets)
    }

    public static func < (left: Self, right: Self) -> Bool { left.octets < right.octets }
}

extension DeviceAddress: CustomStringConvertible {
    /// The address in upper case with colons, most significant byte first.
    public var description: String { Hexadecimal.upperCaseText(octets.octets, separator: ":") }
}
