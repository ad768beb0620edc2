/// A 16-, 32- or 128-bit UUID, kept in the width in which it was given.
///
/// Text is written most significant octet first; AD structures carry it least significant octet first
/// (Core Specification Supplement, Part A 1.1), iBeacon most significant first.
public enum BluetoothUUID: Hashable, Sendable {
    case uuid16(UInt16)
    case uuid32(UInt32)
    /// Most significant octet first.
    case uuid128(FixedOctets<16>)

    /// `FEAA`, `0xFEAA`, eight digits, or 32 digits with or without dashes, in either case; `nil` for anything else.
    public init?(_ text: some StringProtocol) {
        let digits = text.hasPrefix("0x") || text.hasPrefix("0X") ? text.dropFirst(2) : text[...]
        guard let octets = try? Hexadecimal.octets(digits) else { return nil }
        self.init(bigEndian: octets)
    }

    /// Two, four or sixteen octets, most significant first.
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

    /// As in AD structures, least significant octet first.
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
    /// `0xFEAA`, or 8-4-4-4-12 lower-case digits.
    public var description: String {
        switch self {
        case .uuid16(let value): Hexadecimal.number(value, width: 4)
        case .uuid32(let value): Hexadecimal.number(value, width: 8)
        case .uuid128(let value): value.uuidText
        }
    }
}

extension FixedOctets<16> {
    /// A 128-bit UUID from text with or without dashes, in either case; `nil` for anything else.
    public init?(uuid text: some StringProtocol) {
        guard let value = try? Self(hexadecimal: text) else { return nil }
        self = value
    }

    /// 8-4-4-4-12 lower-case digits.
    public var uuidText: String {
        var text = ""
        for index in 0..<16 {
            if index == 4 || index == 6 || index == 8 || index == 10 { text += "-" }
            text += Hexadecimal.text(self[index])
        }
        return text
    }
}
