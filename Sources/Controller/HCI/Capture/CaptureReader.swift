/// A packet of a capture, with its own copy of the packet's bytes.
public struct CaptureRecord: Equatable, Sendable {
    /// The contents of a captured packet.
    public enum Content: Hashable, Sendable {
        /// A packet between host and controller.
        case hci(HCIPacket)
        /// An advertisement that a sniffer received.
        case advertisement(AdvertisingReport)
        /// A packet of an interface whose link type is not supported; `link` is the number of the link type.
        case unsupported(link: UInt32)
        /// Other contents: notes of the kernel's monitor, packets of a connection, corrupt packets.
        case other
    }

    /// The position of the packet in the capture, from 0.
    public let index: Int
    /// The number of bytes of the capture before the record's header.
    public let offset: Int
    public let content: Content
    /// `true` for a packet that the controller sent; `nil` if the record does not contain the direction.
    public let isFromController: Bool?
    /// `true` if the capturing program stored only the first bytes of the packet.
    public let isShortened: Bool
    /// Microseconds since 1970; `nil` if the record does not contain it.
    public let unixMicroseconds: Int64?
    /// The number N of the adapter hciN; `nil` if the capture does not come from the kernel's Bluetooth monitor.
    public let adapter: UInt16?

    /// A packet from a source other than a capture, without a time.
    ///
    /// - Parameter index: The position of the packet among the packets of the source, from 0.
    public init(_ content: Content, index: Int) {
        self.index = index
        self.content = content
        offset = 0
        isFromController = nil
        isShortened = false
        unixMicroseconds = nil
        adapter = nil
    }

    /// Copies a packet out of the span in which it was found.
    public init(_ element: CaptureElement, in octets: Span<UInt8>) {
        index = element.index
        offset = element.offset
        isFromController = element.isFromController
        isShortened = element.isShortened
        unixMicroseconds = element.unixMicroseconds
        adapter = element.adapter
        content =
            switch element.kind {
            case .hci: element.packet(in: octets).map(Content.hci) ?? .other
            case .air(let reception):
                AdvertisingReport(lowEnergyPacket: octets, in: element.octets, reception)
                    .map(Content.advertisement) ?? .other
            case .unsupported(let link): .unsupported(link: link)
            case .other: .other
            }
    }
}

/// Splits a stream of bytes into the packets of a capture. The format (btsnoop, pcap or pcapng) is recognised by the
/// first bytes.
///
/// The stream may arrive in pieces of any length. The reader stores only the bytes of one record, at most 320 KiB, and
/// the piece that was pushed last.
public struct CaptureReader: Sendable {
    private var framing = CaptureFraming()
    private var buffer: [UInt8] = []
    /// The offset in ``buffer`` of the first byte that was not read yet.
    private var start = 0
    /// A block without a packet is skipped. This is the number of its bytes that have not arrived yet.
    private var missingCount = 0
    /// The total length of the block that was skipped last, in bytes.
    private var skippedLength = 0
    /// The number of bytes, counted from ``start``, that must be in ``buffer`` before the next record can be read.
    private var needed = 0
    private var isFinished = false
    private var failure: CaptureError?

    /// A reader that waits for the first bytes of a capture.
    public init() {}

    /// Adds bytes in the order of their arrival.
    public mutating func push(_ octets: some Collection<UInt8>) {
        guard failure == nil, !isFinished else { return }
        let skipped = min(missingCount, octets.count)
        missingCount -= skipped
        if start > 0 {
            buffer.removeFirst(start)
            start = 0
        }
        buffer.append(contentsOf: octets.dropFirst(skipped))
    }

    /// Ends the stream. If bytes of an incomplete record remain, ``next()`` throws an error for them.
    public mutating func finish() { isFinished = true }

    /// Returns the next packet; `nil` if more bytes are needed, or if there are no more packets after ``finish()``.
    ///
    /// - Throws: ``CaptureError`` if the capture cannot be read further; every later call throws the same error.
    public mutating func next() throws(CaptureError) -> CaptureRecord? {
        try next { element, octets in CaptureRecord(element, in: octets) }
    }

    /// Returns the result of `body` for the next packet, without copying the packet; `nil` when ``next()`` would return
    /// `nil`.
    ///
    /// - Parameter body: Receives the packet's offsets and the bytes that contain it.
    /// - Throws: The same errors as ``next()``.
    public mutating func next<Result>(
        _ body: (CaptureElement, Span<UInt8>) -> Result
    ) throws(CaptureError) -> Result? {
        if let failure { throw failure }
        do throws(CaptureError) {
            guard let element = try element() else { return nil }
            return body(element, buffer.span)
        } catch {
            failure = error
            buffer = []
            start = 0
            throw error
        }
    }

    private mutating func element() throws(CaptureError) -> CaptureElement? {
        while missingCount == 0, buffer.count - start >= max(1, needed) {
            needed = 0
            let octets = buffer
            switch try framing.step(octets.span, at: start) {
            case .needs(let count): needed = count
            case .skip(let length):
                missingCount = max(0, length - (buffer.count - start))
                skippedLength = length
                start += length - missingCount
            case .packet(let element, let length):
                start += length
                return element
            }
        }
        guard isFinished else { return nil }
        guard missingCount == 0 else { throw framing.truncatedSkip(needed: skippedLength, missing: missingCount) }
        let remaining = buffer.count - start
        // An empty stream is not a capture.
        guard remaining > 0 || framing.offset == 0 else {
            try framing.finish()
            return nil
        }
        throw framing.truncated(needed: max(needed, CaptureFormat.magicLength), left: remaining)
    }
}

/// A capture that is in memory, as a sequence of packets.
///
///     let capture = try Capture(bytes)
///     for record in capture { … }
///     if let fault = capture.fault { … }
public struct Capture: Sequence, Sendable {
    private let octets: [UInt8]
    /// The cursor at the first record.
    private let start: CaptureCursor
    /// The error at which reading stops, with its offset and reason; `nil` if the whole capture can be read.
    public let fault: CaptureError?

    /// Reads the header. Then reads all records once, without copying them, to find ``fault``.
    ///
    /// - Throws: ``CaptureError`` if `octets` are not a capture in a known format.
    public init(_ octets: [UInt8]) throws(CaptureError) {
        self.octets = octets
        let start = try CaptureCursor(octets.span)
        self.start = start
        var firstError: CaptureError?
        do throws(CaptureError) {
            var cursor = start
            while try cursor.next(in: octets.span) != nil {}
        } catch {
            firstError = error
        }
        fault = firstError
    }

    /// Returns an iterator that starts at the first record.
    public func makeIterator() -> Iterator { Iterator(octets: octets, cursor: start) }

    /// Iterates over the packets before the fault.
    public struct Iterator: IteratorProtocol, Sendable {
        fileprivate let octets: [UInt8]
        fileprivate var cursor: CaptureCursor

        /// Returns the next record before ``Capture/fault``; `nil` after the last record.
        public mutating func next() -> CaptureRecord? {
            let octets = octets
            let span = octets.span
            // An error only ends the iteration. The user reads it from ``Capture/fault``.
            guard let element = try? cursor.next(in: span) else { return nil }
            return CaptureRecord(element, in: span)
        }
    }
}
