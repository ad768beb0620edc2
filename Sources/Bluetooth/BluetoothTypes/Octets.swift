/// Reads integers of several bytes from a span of bytes. The caller must check the bounds.
extension Span<UInt8> {
    /// Returns the 16-bit number whose most significant byte is at `offset`.
    @inlinable
    public func uint16BigEndian(at offset: Int) -> UInt16 {
        UInt16(self[offset]) << 8 | UInt16(self[offset + 1])
    }

    /// Returns the 16-bit number whose least significant byte is at `offset`.
    @inlinable
    public func uint16LittleEndian(at offset: Int) -> UInt16 {
        UInt16(self[offset + 1]) << 8 | UInt16(self[offset])
    }

    /// Returns the 32-bit number whose most significant byte is at `offset`.
    @inlinable
    public func uint32BigEndian(at offset: Int) -> UInt32 {
        UInt32(uint16BigEndian(at: offset)) << 16 | UInt32(uint16BigEndian(at: offset + 2))
    }

    /// Returns the 32-bit number whose least significant byte is at `offset`.
    @inlinable
    public func uint32LittleEndian(at offset: Int) -> UInt32 {
        UInt32(uint16LittleEndian(at: offset + 2)) << 16 | UInt32(uint16LittleEndian(at: offset))
    }

    /// Returns the 64-bit number whose most significant byte is at `offset`.
    @inlinable
    public func uint64BigEndian(at offset: Int) -> UInt64 {
        UInt64(uint32BigEndian(at: offset)) << 32 | UInt64(uint32BigEndian(at: offset + 4))
    }

    /// Returns the 64-bit number whose least significant byte is at `offset`.
    @inlinable
    public func uint64LittleEndian(at offset: Int) -> UInt64 {
        UInt64(uint32LittleEndian(at: offset + 4)) << 32 | UInt64(uint32LittleEndian(at: offset))
    }

    /// Returns a copy of the bytes in `range`.
    public func array(_ range: Range<Int>) -> [UInt8] {
        // All bytes are copied at once, because this function is called for every packet. It is safe: `extracting`
        // checks the range, and the pointer is not used after the closure.
        unsafe extracting(range).withUnsafeBufferPointer { octets in unsafe Array(octets) }
    }
}

/// Appends integers of several bytes to a list of bytes.
extension [UInt8] {
    /// Appends `value`, most significant byte first.
    @inlinable
    public mutating func append(bigEndian value: some FixedWidthInteger) {
        for shift in stride(from: value.bitWidth - 8, through: 0, by: -8) {
            append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }

    /// Appends `value`, least significant byte first.
    @inlinable
    public mutating func append(littleEndian value: some FixedWidthInteger) {
        for shift in stride(from: 0, to: value.bitWidth, by: 8) {
            append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }
}

/// Exactly `count` bytes, stored in the value itself and not in an allocated array.
///
/// The specifications fix the size of a UUID, an Eddystone namespace and a beacon id. Because the size is part of the
/// type, the length is never wrong, and decoding a frame allocates no memory.
public struct FixedOctets<let count: Int>: Sendable {
    @usableFromInline internal var storage: InlineArray<count, UInt8>

    /// A value of `count` bytes that all equal `octet`.
    @inlinable
    public init(repeating octet: UInt8 = 0) {
        storage = InlineArray(repeating: octet)
    }

    /// The bytes of `octets`; `nil` if their number is not `count`.
    @inlinable
    public init?(_ octets: some Collection<UInt8>) {
        guard octets.count == count else { return nil }
        self.init()
        var index = 0
        for octet in octets {
            storage[index] = octet
            index += 1
        }
    }

    /// Copies the `count` bytes of `span` that start at `offset`; `nil` if there are fewer.
    ///
    /// It checks the bounds once and copies all bytes at once, because it is called for every received frame.
    @inlinable
    public init?(_ span: Span<UInt8>, at offset: Int) {
        guard offset >= 0, span.count - offset >= count else { return nil }
        // The load is safe: any bytes are a valid value of this type, and the guard above checks the bounds.
        unsafe storage = span.bytes.unsafeLoadUnaligned(
            fromByteOffset: offset, as: InlineArray<count, UInt8>.self)
    }

    /// Reads hexadecimal text (see ``Hexadecimal``) of exactly `count` bytes.
    public init(hexadecimal text: some StringProtocol) throws(HexadecimalError) {
        let octets = try Hexadecimal.octets(text)
        guard let value = Self(octets) else {
            throw HexadecimalError(.wrongLength(expected: count, found: octets.count), at: 0)
        }
        self = value
    }

    /// The byte at `index`, 0..<`count`.
    @inlinable
    public subscript(index: Int) -> UInt8 {
        get { storage[index] }
        set { storage[index] = newValue }
    }

    /// The bytes in an array.
    public var octets: [UInt8] { storage.span.array(0..<count) }

    /// The bytes in reverse order, for fields that are sent least significant byte first.
    public var reversed: Self {
        var result = Self()
        for index in 0..<count { result[index] = storage[count - 1 - index] }
        return result
    }
}

extension FixedOctets: Hashable {
    public static func == (left: Self, right: Self) -> Bool {
        for index in 0..<count where left.storage[index] != right.storage[index] { return false }
        return true
    }

    public func hash(into hasher: inout Hasher) {
        for index in 0..<count { hasher.combine(storage[index]) }
    }
}

extension FixedOctets: Comparable {
    /// Compares the values as numbers whose most significant byte is the first.
    public static func < (left: Self, right: Self) -> Bool {
        for index in 0..<count where left.storage[index] != right.storage[index] {
            return left.storage[index] < right.storage[index]
        }
        return false
    }
}

extension FixedOctets: CustomStringConvertible {
    /// The bytes as lower-case hexadecimal digits without separators.
    public var description: String { Hexadecimal.text(octets) }
}
