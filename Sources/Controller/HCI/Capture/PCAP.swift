import BluetoothTypes

/// The byte order of a file's integers. It depends on the machine that wrote the file.
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

/// The pcap file format (draft-ietf-opsawg-pcap). A file consists of a header of 24 bytes and the records. Each record
/// consists of a header of 16 bytes and a packet.
struct PCAPFormat: Hashable, Sendable {
    static let headerLength = 24
    private static let recordHeaderLength = 16

    let order: CaptureByteOrder
    /// `true` if the fractions of a second are in nanoseconds, `false` if they are in microseconds.
    let countsNanoseconds: Bool

    /// The variant of the format, from the first four bytes of the file; `nil` if the file is not a pcap file.
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

    /// Returns the link type of a file whose header (``headerLength`` bytes) starts at `start`. The upper half of the
    /// link type's field is about frame checksums. It is ignored, because Bluetooth link types do not use frame
    /// checksums.
    func link(_ octets: Span<UInt8>, at start: Int) throws(CaptureError.Reason) -> CaptureLink {
        let version = order.uint16(octets, at: start + 4)
        guard version == 2 else { throw .unknownVersion(UInt32(version), .pcap) }
        let number = order.uint32(octets, at: start + 20) & 0xFFFF
        guard let link = CaptureLink(pcapNumber: number) else { throw .unknownLink(number, .pcap) }
        return link
    }

    /// Reads the record whose header starts at `start`. Returns the number of bytes needed if the record is not
    /// complete.
    func frame(_ octets: Span<UInt8>, at start: Int) throws(CaptureError.Reason) -> CaptureFrame.Step {
        guard octets.holds(Self.recordHeaderLength, at: start) else { return .needs(Self.recordHeaderLength) }
        let seconds = Int64(order.uint32(octets, at: start))
        let fraction = Int64(order.uint32(octets, at: start + 4))
        let included = order.uint32(octets, at: start + 8)
        let original = order.uint32(octets, at: start + 12)
        guard included <= CaptureFrame.octetLimit else { throw .recordTooLong(octets: Int(included)) }
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

/// The pcapng file format (draft-ietf-opsawg-pcapng): a sequence of blocks. Each block is a type, a length, a body, and
/// the length again. The first block of a section contains the byte order, and other blocks describe interfaces. The
/// byte order and the interfaces apply to the later blocks of the section.
struct PCAPNGFormat: Sendable {
    /// The type of a section's first block. Its bytes are the same in both byte orders.
    static let sectionHeader: UInt32 = 0x0A0D_0D0A
    /// The maximum number of interfaces in a section. Without this limit, a malicious file could fill the memory,
    /// because it can describe an interface in 20 bytes.
    static let interfaceLimit = 4096
    /// The length of the longest block that is accepted, in bytes: a packet with long options. A block must be in
    /// memory as a whole.
    private static let blockLimit = CaptureFrame.octetLimit + 65_536

    private struct Interface: Sendable {
        /// The number of the link type.
        let linkNumber: UInt32
        /// The link type; `nil` if it is not supported.
        let link: CaptureLink?
        let clock: PCAPNGClock
    }

    /// The byte order of the current section.
    private var order = CaptureByteOrder(isBigEndian: false)
    /// The interfaces of the current section. The number of an interface is its index in this list.
    private var interfaces: [Interface] = []

    /// Reads the block that starts at `start`.
    mutating func take(_ octets: Span<UInt8>, at start: Int) throws(CaptureError.Reason) -> CaptureFrame.Step {
        guard octets.holds(12, at: start) else { return .needs(12) }
        let isSection = octets.uint32LittleEndian(at: start) == Self.sectionHeader
        if isSection { order = try Self.order(octets, at: start + 8) }
        let type = order.uint32(octets, at: start)
        let length = Int(order.uint32(octets, at: start + 4))
        guard length >= 12, length.isMultiple(of: 4) else { throw .badBlockLength(length) }
        // The obsolete packet block (2) has the same fields as the enhanced packet block (6), with one difference: the
        // interface number is only the first half of the first field.
        guard isSection || type == 1 || type == 2 || type == 3 || type == 6 else { return .skip(length) }
        guard length <= Self.blockLimit else { throw .recordTooLong(octets: length) }
        guard octets.holds(length, at: start) else { return .needs(length) }
        guard order.uint32(octets, at: start + length - 4) == UInt32(length) else { throw .badBlockLength(length) }
        let body = start + 8..<start + length - 4
        guard body.count >= (isSection ? 16 : type == 1 ? 8 : type == 3 ? 4 : 20) else { throw .badBlockLength(length) }
        switch type {
        case 1:
            try addInterface(octets, body)
            return .skip(length)
        case 2: return try packet(octets, body, of: Int(order.uint16(octets, at: body.lowerBound)), length)
        case 3: return try simplePacket(octets, body, length)
        case 6: return try packet(octets, body, of: Int(order.uint32(octets, at: body.lowerBound)), length)
        default:
            let version = order.uint16(octets, at: body.lowerBound + 4)
            guard version == 1 else { throw .unknownVersion(UInt32(version), .pcapng) }
            interfaces.removeAll(keepingCapacity: true)
            return .skip(length)
        }
    }

    private static func order(_ octets: Span<UInt8>, at offset: Int) throws(CaptureError.Reason) -> CaptureByteOrder {
        switch octets.uint32BigEndian(at: offset) {
        case 0x1A2B_3C4D: CaptureByteOrder(isBigEndian: true)
        case 0x4D3C_2B1A: CaptureByteOrder(isBigEndian: false)
        case let number: throw .badByteOrder(number)
        }
    }

    /// Adds an interface. The fields, with their sizes in bytes: link type (2), reserved (2), snapshot length (4),
    /// options.
    private mutating func addInterface(_ octets: Span<UInt8>, _ body: Range<Int>) throws(CaptureError.Reason) {
        guard interfaces.count < Self.interfaceLimit else { throw .tooManyInterfaces(limit: Self.interfaceLimit) }
        var clock = PCAPNGClock()
        let options = body.dropFirst(8)
        if let resolution = option(9, ofLength: 1, octets, options) { clock.resolution = octets[resolution] }
        if let offset = option(14, ofLength: 8, octets, options) {
            clock.offsetSeconds = Int64(bitPattern: order.uint64(octets, at: offset))
        }
        let linkNumber = UInt32(order.uint16(octets, at: body.lowerBound))
        interfaces.append(
            Interface(linkNumber: linkNumber, link: CaptureLink(pcapNumber: linkNumber), clock: clock))
    }

    /// Reads an enhanced packet block. The fields, with their sizes in bytes: interface (4), time (8, upper half
    /// first), captured length (4), original length (4), the packet, options.
    private func packet(
        _ octets: Span<UInt8>, _ body: Range<Int>, of number: Int, _ length: Int
    ) throws(CaptureError.Reason) -> CaptureFrame.Step {
        let start = body.lowerBound
        let packetInterface = try interface(number)
        let ticks =
            UInt64(order.uint32(octets, at: start + 4)) << 32 | UInt64(order.uint32(octets, at: start + 8))
        let included = order.uint32(octets, at: start + 12)
        let original = order.uint32(octets, at: start + 16)
        guard Int(included) <= body.count - 20, included <= original else {
            throw .lengthsDisagree(original: original, included: included)
        }
        let end = start + 20 + Int(included)
        let options = body.dropFirst((end - start + 3) / 4 * 4)
        // The lowest two bits of epb_flags: 1 received, 2 sent, 0 not known.
        let direction = option(2, ofLength: 4, octets, options).map { order.uint32(octets, at: $0) & 3 } ?? 0
        return .frame(
            CaptureFrame(
                octets: start + 20..<end, isShortened: included < original,
                unixMicroseconds: packetInterface.clock.unixMicroseconds(ticks), link: packetInterface.link,
                linkNumber: packetInterface.linkNumber,
                isFromController: direction == 1 ? true : direction == 2 ? false : nil),
            length: length)
    }

    /// Reads a simple packet block: the original length (4 bytes), then the part of the packet that fits into the
    /// block. The packet belongs to the first interface and has no time.
    private func simplePacket(
        _ octets: Span<UInt8>, _ body: Range<Int>, _ length: Int
    ) throws(CaptureError.Reason) -> CaptureFrame.Step {
        let packetInterface = try interface(0)
        let original = Int(order.uint32(octets, at: body.lowerBound))
        let included = min(original, body.count - 4)
        return .frame(
            CaptureFrame(
                octets: body.lowerBound + 4..<body.lowerBound + 4 + included, isShortened: included < original,
                unixMicroseconds: nil, link: packetInterface.link, linkNumber: packetInterface.linkNumber),
            length: length)
    }

    private func interface(_ number: Int) throws(CaptureError.Reason) -> Interface {
        guard interfaces.indices.contains(number) else { throw .unknownInterface(number) }
        return interfaces[number]
    }

    /// Returns the offset of the value of the first option with the code `code`; `nil` if there is none, or if its
    /// value does not have `length` bytes. An option has a code (2 bytes), a length (2 bytes), and a value that is
    /// padded to a multiple of four bytes.
    private func option(_ code: UInt16, ofLength length: Int, _ octets: Span<UInt8>, _ range: Range<Int>) -> Int? {
        var offset = range.lowerBound
        while range.upperBound - offset >= 4 {
            let foundCode = order.uint16(octets, at: offset)
            let foundLength = Int(order.uint16(octets, at: offset + 2))
            guard foundCode != 0, range.upperBound - offset - 4 >= foundLength else { return nil }
            if foundCode == code { return foundLength == length ? offset + 4 : nil }
            offset += 4 + (foundLength + 3) / 4 * 4
        }
        return nil
    }
}

/// The clock of an interface, which the options if_tsresol and if_tsoffset describe.
struct PCAPNGClock: Hashable, Sendable {
    /// The number of ticks per second, as an exponent. The number is 10 to the power of this value. If the highest bit
    /// is set, it is 2 to the power of the other bits.
    var resolution: UInt8 = 6
    /// The seconds to add to the time of each packet.
    var offsetSeconds: Int64 = 0

    /// Returns the time of a packet in microseconds since 1970, limited to the range of 64 bits.
    func unixMicroseconds(_ ticks: UInt64) -> Int64 {
        let exponent = Int(resolution & 0x7F)
        let product = ticks.multipliedFullWidth(by: 1_000_000)
        let scaledTicks = UInt128(product.high) << 64 | UInt128(product.low)
        // 10 to the power of 39 does not fit into 128 bits. It is larger than any value of `scaledTicks`, so the
        // quotient is 0.
        let microseconds =
            resolution & 0x80 != 0
            ? scaledTicks >> exponent : exponent > 38 ? 0 : scaledTicks / Self.powerOfTen(exponent)
        let offset = Int128(offsetSeconds) * 1_000_000
        return Int64(clamping: Int128(clamping: microseconds) + offset)
    }

    private static func powerOfTen(_ exponent: Int) -> UInt128 {
        (0..<exponent).reduce(into: 1) { value, _ in value *= 10 }
    }
}
