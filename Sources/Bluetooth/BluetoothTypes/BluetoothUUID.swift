/// A UUID of 16, 32 or 128 bits. A short UUID is not extended to 128 bits.
///
/// In text and in iBeacon frames, the most significant byte comes first. In AD structures, the least significant byte
/// comes first (Core Specification Supplement, Part A 1.1).
public enum BluetoothUUID: Hashable, Sendable {
    case uuid16(UInt16)
    case uuid32(UInt32)
    /// All 16 bytes, most significant byte first.
    case uuid128(FixedOctets<16>)

    /// Reads `FEAA`, `0xFEAA`, eight digits, or 32 digits with or without dashes, in either case; `nil` for any other
    /// text.
    public init?(_ text: some StringProtocol) {
        let digits = text.hasPrefix("0x") || text.hasPrefix("0X") ? text.dropFirst(2) : text[...]
        guard let octets = try? Hexadecimal.octets(digits) else { return nil }
        self.init(bigEndian: octets)
    }

    /// A UUID from two, four or sixteen bytes, most significant byte first; `nil` for any other number of bytes.
    public init?(bigEndian octets: [UInt8]) {
        switch octets.count {
        case 2: self = .uuid16(octets.span.uint16BigEndian(at: 0))
        case 4: self = .uuid32(octets.span.uint32BigEndian(at: 0))
        case 16:
            guard let value = FixedOctets<16>(octets) else { return nil }
            self = .uuid128(value)
        default: return nil
        }
    }

    /// The UUID with 128 bits. For a shorter UUID, its value is the first four bytes, and the other twelve bytes are
    /// those of the Bluetooth Base UUID, 00000000-0000-1000-8000-00805F9B34FB (Core Specification 5.4, Vol 3 Part B
    /// 2.5.1).
    public var expanded: FixedOctets<16> {
        let short: UInt32
        switch self {
        case .uuid16(let value): short = UInt32(value)
        case .uuid32(let value): short = value
        case .uuid128(let value): return value
        }
        var octets: [UInt8] = []
        octets.append(bigEndian: short)
        octets += [0x00, 0x00, 0x10, 0x00, 0x80, 0x00, 0x00, 0x80, 0x5F, 0x9B, 0x34, 0xFB]
        var result = FixedOctets<16>()
        for (index, octet) in octets.enumerated() { result[index] = octet }
        return result
    }

    /// The bytes as in AD structures, least significant byte first.
    public var littleEndian: [UInt8] {
        var result: [UInt8] = []
        switch self {
        case .uuid16(let value): result.append(littleEndian: value)
        case .uuid32(let value): result.append(littleEndian: value)
        case .uuid128(let value): result = value.reversed.octets
        }
        return result
    }
}

extension BluetoothUUID: CustomStringConvertible {
    /// The UUID as `0xFEAA`, or as lower-case digits in the form 8-4-4-4-12.
    public var description: String {
        switch self {
        case .uuid16(let value): Hexadecimal.number(value, width: 4)
        case .uuid32(let value): Hexadecimal.number(value, width: 8)
        case .uuid128(let value): value.uuidText
        }
    }
}

extension FixedOctets<16> {
    /// Reads a 128-bit UUID from text with or without dashes, in either case; `nil` for any other text.
    public init?(uuid text: some StringProtocol) {
        guard let value = try? Self(hexadecimal: text) else { return nil }
        self = value
    }

    /// Returns a random UUID: version 4, variant 1 (RFC 9562, section 5.4).
    public static func randomUUID(using generator: inout some RandomNumberGenerator) -> Self {
        var uuid = Self()
        for index in 0..<16 { uuid[index] = .random(in: 0...255, using: &generator) }
        uuid[6] = uuid[6] & 0x0F | 0x40
        uuid[8] = uuid[8] & 0x3F | 0x80
        return uuid
    }

    /// The UUID as lower-case digits in the form 8-4-4-4-12.
    public var uuidText: String {
        var digits: [UInt8] = []
        digits.reserveCapacity(36)
        for index in 0..<16 {
            if index == 4 || index == 6 || index == 8 || index == 10 { digits.append(UInt8(ascii: "-")) }
            digits.append(Hexadecimal.digit(self[index] >> 4))
            digits.append(Hexadecimal.digit(self[index] & 0xF))
        }
        return String(decoding: digits, as: UTF8.self)
    }
}
