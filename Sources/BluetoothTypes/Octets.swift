/// Multi-octet integers in a span of octets. The order stands in the name; the caller has checked the bounds.
extension Span<UInt8> {
    /// The 16-bit number whose most significant octet is at `offset`.
    @inlinable
    public func uint16BigEndian(at offset: Int) -> UInt16 {
        UInt16(self[offset]) << 8 | UInt16(self[offset + 1])
    }

    /// The 16-bit number whose least significant octet is at `offset`.
    @inlinable
    public func uint16LittleEndian(at offset: Int) -> UInt16 {
        UInt16(self[offset + 1]) << 8 | UInt16(self[offset])
    }

    /// The 32-bit number whose most significant octet is at `offset`.
    @inlinable
    public func uint32BigEndian(at offset: Int) -> UInt32 {
        UInt32(uint16BigEndian(at: offset)) << 16 | UInt32(uint16BigEndian(at: offset + 2))
    }

    /// The 32-bit number whose least significant octet is at `offset`.
    @inlinable
    public func uint32LittleEndian(at offset: Int) -> UInt32 {
        UInt32(uint16LittleEndian(at: offset + 2)) << 16 | UInt32(uint16LittleEndian(at: offset))
    }

    /// The 64-bit number whose most significant octet is at `offset`.
    @inlinable
    public func uint64BigEndian(at offset: Int) -> UInt64 {
        UInt64(uint32BigEndian(at: offset)) << 32 | UInt64(uint32BigEndian(at: offset + 4))
    }

    /// The 64-bit number whose least significant octet is at `offset`.
    @inlinable
    public func uint64LittleEndian(at offset: Int) -> UInt64 {
        UInt64(uint32LittleEndian(at: offset + 4)) << 32 | UInt64(uint32LittleEndian(at: offset))
    }

    /// The octets of `range` in an array of their own.
    public func array(_ range: Range<Int>) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(range.count)
        for index in range { result.append(self[index]) }
        return result
    }
}

/// Multi-octet integers at the end of a list of octets.
extension [UInt8] {
    /// Appends `value`, most significant octet first.
    public mutating func append(bigEndian value: some FixedWidthInteger) {
        for shift in stride(from: value.bitWidth - 8, through: 0, by: -8) {
            append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }

    /// Appends `value`, least significant octet first.
    public mutating func append(littleEndian value: some FixedWidthInteger) {
        for shift in stride(from: 0, to: value.bitWidth, by: 8) {
            append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }
}
