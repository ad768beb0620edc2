import BluetoothTypes

/// The integers that HCI has beside the usual ones. The caller has checked the bounds.
extension Span<UInt8> {
    /// Whether `count` octets lie at `offset`. Everything else here needs that to be asked first.
    func holds(_ count: Int, at offset: Int) -> Bool {
        offset >= 0 && offset <= self.count && self.count - offset >= count
    }

    /// The 24-bit number whose least significant octet is at `offset`.
    func uint24LittleEndian(at offset: Int) -> UInt32 {
        UInt32(self[offset + 2]) << 16 | UInt32(uint16LittleEndian(at: offset))
    }
}

extension [UInt8] {
    /// Appends the low 24 bits of `value`, least significant octet first.
    mutating func append(littleEndian24 value: UInt32) {
        append(littleEndian: UInt16(truncatingIfNeeded: value))
        append(UInt8(truncatingIfNeeded: value >> 16))
    }
}
