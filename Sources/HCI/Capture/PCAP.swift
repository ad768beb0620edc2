import BluetoothTypes

/// The order of the octets of a file's integers: that of the machine which wrote it.
struct CaptureByteOrder: Hashable, Sendable {
    let isBigEndian: Bool

    func uint16(_ octets: Span<UInt8>, at offset: Int) -> UInt16 {
        isBigEndian ? octets.uint16BigEndian(at: offset) : octets.uint16LittleEndian(at: offset)
    }

    func uint32(_ octets: Span<UInt8>, at offset: Int) -> UInt32 {
        isBigEndian ? octets.uint32BigEndian(at: offset) : octets.uint32LittleEndian(at: offset)
    }

    func uint64(_ octets: Span<UInt8>, at offset: Int) -> UInt64 {
        isBigEndian ? octets.uint64BigEndian(at: offset) : octets.uint64LittleEndian(at: offset)
    }
}

/// The pcap file format (draft-ietf-opsawg-pcap): 24 octets of header, then records of 16 octets of header and the
/// packet.
struct PCAPFormat: Hashable, Sendable {
    static let headerLength = 24
    private static let recordHeaderLength = 16

    let order: CaptureByteOrder
    /// Fractions of a second are nanoseconds, not microseconds.
    let countsNanoseconds: Bool

    /// What the first four octets say; `nil` where they are not those of pcap.
    init?(magic: UInt32) {
        switch magic {
        case 0xA1B2_C3D4: self.init(isBigEndian: true, countsNanoseconds: false)
        case 0xD4C3_B2A1: self.init(isBigEndian: false, countsNanoseconds: false)
        case 0xA1B2_3C4D: self.init(isBigEndian: true, countsNanoseconds: true)
        case 0x4D3C_B2A1: self.init(isBigEndian: false, countsNanoseconds: true)
        default: return nil
        }
    }

    private init(isBigEndian: Bool, countsNanoseconds: Bool) {
        order = CaptureByteOrder(isBigEndian: isBigEndian)
        self.countsNanoseconds = countsNanoseconds
    }

    /// The link of a file that starts with `octets`, of which there are ``headerLength``. The upper half of the number
    /// tells of checksums, which Bluetooth's links do not have.
    func link(_ octets: Span<UInt8>, at start: Int) throws(CaptureError.Reason) -> CaptureLink {
        let version = order.uint16(octets, at: start + 4)
        guard version == 2 else { throw .unknownVersion(UInt32(version), .pcap) }
        let number = order.uint32(octets, at: start + 20) & 0xFFFF
        guard let link = CaptureLink(pcapNumber: number) else { throw .unknownLink(number, .pcap) }
        return link
    }

    /// The record whose header starts at `start`; `nil` where its octets are not all there.
    func frame(_ octets: Span<UInt8>, at start: Int) throws(CaptureError.Reason) -> CaptureFrame.Step {
        guard octets.holds(Self.recordHeaderLength, at: start) else { return .needs(Self.recordHeaderLength) }
        let seconds = Int64(order.uint32(octets, at: start))
        let fraction = Int64(order.uint32(octets, at: start + 4))
        let included = order.uint32(octets, at: start + 8)
        let original = order.uint32(octets, at: start + 12)
        guard included <= CaptureFrame.octetLimit else { throw .tooLong(octets: Int(included)) }
        guard included <= original else { throw .lengthsDisagree(original: original, included: included) }
        let length = Self.recordHeaderLength + Int(included)
        guard octets.holds(length, at: start) else { return .needs(length) }
        return .frame(
            CaptureFrame(
                octets: start + Self.recordHeaderLength..<start + length, isShortened: included < original,
                unixMicroseconds: seconds * 1_000_000 + (countsNanoseconds ? fraction / 1000 : fraction)),
            length: length)
    }
}
