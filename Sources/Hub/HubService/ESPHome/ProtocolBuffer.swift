/// Writes a message of Protocol Buffers, field by field (protobuf.dev, "Encoding"). Fields with their default value
/// are left out, as in proto3.
public struct ProtocolBufferWriter: Hashable, Sendable {
    /// The encoded fields so far.
    public private(set) var octets: [UInt8] = []

    /// Creates an empty message.
    public init() {}

    /// Adds a number: a uint32, a uint64, an enumeration or a boolean.
    public mutating func add(_ field: Int, _ value: UInt64) {
        guard value != 0 else { return }
        octets.append(varint: UInt64(field) << 3)
        octets.append(varint: value)
    }

    /// Adds a sint32, which is encoded with the sign in the lowest bit.
    public mutating func add(_ field: Int, signed value: Int32) {
        add(field, UInt64(UInt32(bitPattern: value << 1 ^ value >> 31)))
    }

    /// Adds bytes: a text or an encoded nested message.
    public mutating func add(_ field: Int, _ value: some Collection<UInt8>) {
        guard !value.isEmpty else { return }
        octets.append(varint: UInt64(field) << 3 | 2)
        octets.append(varint: UInt64(value.count))
        octets += value
    }

    /// Adds a text.
    public mutating func add(_ field: Int, _ text: String) { add(field, text.utf8) }
}

extension [UInt8] {
    /// Appends a number as a varint: seven bits in each byte, the lowest bits first. The highest bit is set in all
    /// bytes except the last.
    mutating func append(varint value: UInt64) {
        var value = value
        while value > 0x7F {
            append(UInt8(value & 0x7F) | 0x80)
            value >>= 7
        }
        append(UInt8(value))
    }
}

extension Collection<UInt8> where SubSequence == Self {
    /// Removes a number from the front, and returns it; `nil` if the number is incomplete or longer than 64 bits.
    mutating func takeVarint() -> UInt64? {
        var value: UInt64 = 0
        for shift in stride(from: 0, to: 64, by: 7) {
            guard let octet = popFirst() else { return nil }
            guard shift < 63 || octet <= 1 else { return nil }
            value |= UInt64(octet & 0x7F) << UInt64(shift)
            if octet & 0x80 == 0 { return value }
        }
        return nil
    }
}
