import BluetoothTypes

/// One packet of a capture: the offsets of its bytes, and the fields of its record in the file. The link type
/// determines how the bytes are decoded.
struct CaptureFrame {
    /// The length of the longest packet that is accepted, in bytes; Wireshark has the same limit. Bluetooth packets are
    /// much shorter.
    static let octetLimit = 262_144

    /// The offsets of the packet's bytes in the span that was read.
    var octets: Range<Int>
    var isShortened: Bool
    var unixMicroseconds: Int64?
    /// The link type of the packet's interface. Only pcapng files have it; `nil` in other files, and if the link type
    /// is not supported.
    var link: CaptureLink?
    var linkNumber: UInt32?
    /// The flags of a btsnoop record.
    var flags: UInt32 = 0
    var isFromController: Bool?
    var drops: UInt32 = 0

    /// The result of reading a capture at an offset.
    enum Step {
        /// The record is incomplete. The value is the number of bytes that the whole record needs, counted from its
        /// start.
        case needs(Int)
        /// The next bytes contain no packet. The value is the number of these bytes. The caller can skip them even if
        /// not all of them have arrived.
        case skip(Int)
        case frame(CaptureFrame, length: Int)
    }
}

/// The kind, the time and the offsets of a packet in a capture. The value contains no copy of the packet.
public struct CaptureElement: Hashable, Sendable {
    /// The contents of a captured packet.
    public enum Kind: Hashable, Sendable {
        /// A packet between host and controller.
        case hci(HCIPacket.Kind)
        /// A packet of the LE link layer that a sniffer received.
        case air(LowEnergyReception)
        /// A packet of an interface whose link type is not supported; `link` is the number of the link type.
        case unsupported(link: UInt32)
        /// A record without a packet that can be decoded: a note of the kernel's Bluetooth monitor, an unknown type
        /// byte, or a header that is too short.
        case other
    }

    /// The position of the packet in the file, from 0.
    public let index: Int
    /// Offset of the record's header from the start of the capture.
    public let offset: Int
    public let kind: Kind
    /// `true` for a packet that the controller sent; `nil` if the record does not contain the direction.
    public let isFromController: Bool?
    /// Offsets of the packet in the span that was read, without an H4 type byte or a pseudo header.
    public let octets: Range<Int>
    /// `true` if the capturing program stored only the first bytes of the packet.
    public let isShortened: Bool
    /// Microseconds since 1970; `nil` if the record does not contain it.
    public let unixMicroseconds: Int64?
    /// The number N of the adapter hciN; `nil` if the capture does not come from the kernel's Bluetooth monitor.
    public let adapter: UInt16?
    /// The number of packets that the capturing program lost from the start of the capture up to this packet. Always 0
    /// for formats other than btsnoop.
    public let drops: UInt32

    /// Copies the HCI packet out of the bytes that were read; `nil` if the frame is not an HCI packet.
    public func packet(in octets: Span<UInt8>) -> HCIPacket? {
        guard case .hci(let kind) = kind, octets.holds(self.octets.count, at: self.octets.lowerBound) else {
            return nil
        }
        return HCIPacket(kind, octets.array(self.octets))
    }
}

/// Finds the packets of a capture in bytes that the caller keeps. ``CaptureCursor`` and ``CaptureReader`` use it.
struct CaptureFraming: Sendable {
    private enum Format: Sendable {
        case unknown
        case btsnoop(CaptureLink)
        case pcap(PCAPFormat, CaptureLink)
        case pcapng
    }

    /// The offset of the next record from the start of the capture; after an error, the offset of the invalid record.
    private(set) var offset = 0
    /// The number of packets found so far.
    private(set) var count = 0
    /// The number of packets found so far whose link type is not supported.
    private var unsupportedCount = 0
    /// The link type of the first packet whose link type is not supported. Ignore it while ``unsupportedCount`` is 0.
    private var unsupportedLink: UInt32 = 0
    private var format = Format.unknown
    /// The state of a pcapng file. It is stored separately from ``format``, so that the list of interfaces is never
    /// copied.
    private var pcapng = PCAPNGFormat()

    enum Step {
        case needs(Int)
        case skip(Int)
        case packet(CaptureElement, length: Int)
    }

    /// Reads the record at `start` in `octets`. In the capture, this record is at ``offset``. If no more bytes are
    /// needed, ``offset`` is then advanced to the end of the record.
    mutating func step(_ octets: Span<UInt8>, at start: Int) throws(CaptureError) -> Step {
        do throws(CaptureError.Reason) {
            let link: CaptureLink?
            let step: CaptureFrame.Step
            switch format {
            case .unknown:
                link = nil
                step = try header(octets, at: start)
            case .btsnoop(let fileLink):
                link = fileLink
                step = try BTSnoopFormat.frame(octets, at: start)
            case .pcap(let format, let fileLink):
                link = fileLink
                step = try format.frame(octets, at: start)
            case .pcapng:
                link = nil
                step = try pcapng.take(octets, at: start)
            }
            switch step {
            case .needs(let count): return .needs(count)
            case .skip(let length):
                offset += length
                return .skip(length)
            case .frame(let frame, let length):
                let element = element(frame, link ?? frame.link, octets)
                offset += length
                count += 1
                if case .unsupported(let number) = element.kind {
                    if unsupportedCount == 0 { unsupportedLink = number }
                    unsupportedCount += 1
                }
                return .packet(element, length: length)
            }
        } catch {
            throw self.error(error)
        }
    }

    /// Checks, at the end of the capture, that no packet was left out because of an unsupported link type.
    func finish() throws(CaptureError) {
        if unsupportedCount > 0 { throw error(.packetsLeftOut(unsupportedCount, link: unsupportedLink)) }
    }

    /// Returns the error for a capture that ends inside a record, with only `left` of the `needed` bytes.
    func truncated(needed: Int, left: Int) -> CaptureError { error(.truncated(needed: needed, left: left)) }

    /// Returns the error for a capture that ends inside the block that was skipped last. The block has `needed` bytes,
    /// of which the last `missing` bytes are not in the capture.
    func truncatedSkip(needed: Int, missing: Int) -> CaptureError {
        CaptureError(.truncated(needed: needed, left: needed - missing), at: offset - needed, record: count)
    }

    /// Returns the error with this reason, at the next record or in the file's header.
    private func error(_ reason: CaptureError.Reason) -> CaptureError {
        if case .unknown = format { return CaptureError(reason, at: offset) }
        return CaptureError(reason, at: offset, record: count)
    }

    private mutating func header(_ octets: Span<UInt8>, at start: Int) throws(CaptureError.Reason) -> CaptureFrame.Step
    {
        guard octets.holds(CaptureFormat.magicLength, at: start) else { return .needs(CaptureFormat.magicLength) }
        switch CaptureFormat(startingWith: octets.extracting(start..<octets.count)) {
        case .btsnoop:
            guard octets.holds(BTSnoopFormat.headerLength, at: start) else {
                return .needs(BTSnoopFormat.headerLength)
            }
            format = .btsnoop(try BTSnoopFormat.link(octets, at: start))
            return .skip(BTSnoopFormat.headerLength)
        case .pcap:
            guard octets.holds(PCAPFormat.headerLength, at: start) else { return .needs(PCAPFormat.headerLength) }
            guard let pcap = PCAPFormat(magic: octets.uint32BigEndian(at: start)) else { throw .unknownFormat }
            format = .pcap(pcap, try pcap.link(octets, at: start))
            return .skip(PCAPFormat.headerLength)
        case .pcapng:
            // A pcapng file has no separate header: its first block has the same form as all other blocks.
            let step = try pcapng.take(octets, at: start)
            if case .skip = step { format = .pcapng }
            return step
        case nil: throw .unknownFormat
        }
    }

    private func element(_ frame: CaptureFrame, _ link: CaptureLink?, _ octets: Span<UInt8>) -> CaptureElement {
        let contents =
            link?.contents(frame, in: octets)
            ?? CaptureLink.Contents(.unsupported(link: frame.linkNumber ?? 0), frame.octets)
        return CaptureElement(
            index: count, offset: offset, kind: contents.kind, isFromController: contents.isFromController,
            octets: contents.octets, isShortened: frame.isShortened, unixMicroseconds: frame.unixMicroseconds,
            adapter: contents.adapter, drops: frame.drops)
    }
}

/// Reads the packets of a capture (btsnoop, pcap or pcapng) that is in memory, without allocating.
public struct CaptureCursor: Sendable {
    private var framing = CaptureFraming()
    /// `true` after an error and after the last packet.
    private var hasEnded = false

    /// The offset of the next record, or of the place at which reading stopped.
    public var offset: Int { framing.offset }

    /// Reads the header of the capture file with the bytes `file`.
    public init(_ file: Span<UInt8>) throws(CaptureError) {
        if case .needs(let needed) = try framing.step(file, at: 0) {
            throw framing.truncated(needed: needed, left: file.count)
        }
    }

    /// Returns the next packet, or `nil` after the last packet. `file` must be the bytes that were passed to the
    /// initialiser.
    ///
    /// - Throws: ``CaptureError`` if the file cannot be read further, or at its end if packets were left out. It is
    ///   thrown once; later calls return `nil`.
    public mutating func next(in file: Span<UInt8>) throws(CaptureError) -> CaptureElement? {
        while !hasEnded, offset < file.count {
            let start = offset
            do throws(CaptureError) {
                switch try framing.step(file, at: start) {
                case .needs(let needed): throw framing.truncated(needed: needed, left: file.count - start)
                case .skip(let length):
                    guard length <= file.count - start else {
                        throw framing.truncatedSkip(needed: length, missing: length - (file.count - start))
                    }
                case .packet(let element, _): return element
                }
            } catch {
                hasEnded = true
                throw error
            }
        }
        guard !hasEnded else { return nil }
        hasEnded = true
        try framing.finish()
        return nil
    }
}
