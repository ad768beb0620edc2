public import BluetoothTypes

/// One packet between host and controller, without the H4 type byte.
///
/// Core Specification 5.4, Vol 4 Part A 2.
public struct HCIPacket: Hashable, Sendable {
    /// The kind of a packet. The raw value is the H4 type byte.
    public enum Kind: UInt8, Hashable, Sendable {
        case command = 1
        case acl = 2
        case sco = 3
        case event = 4
        case iso = 5
    }

    public var kind: Kind
    /// The header and the parameters. A command packet consists of opcode, length and parameters; an event packet of
    /// event code, length and parameters.
    public var octets: [UInt8]

    /// A packet of `octets` without the H4 type byte. Its length fields are not checked.
    public init(_ kind: Kind, _ octets: [UInt8]) {
        self.kind = kind
        self.octets = octets
    }

    /// The bytes that the H4 transport sends: the type byte, then the packet.
    public var h4: [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(1 + octets.count)
        result.append(kind.rawValue)
        result += octets
        return result
    }
}

extension HCIPacket {
    /// `true` if this packet is an LE Advertising Report or LE Extended Advertising Report event.
    public var isAdvertisingReport: Bool {
        kind == .event && octets.count > 2 && octets[0] == HCIEventCode.leMeta
            && (octets[2] == LESubevent.advertisingReport || octets[2] == LESubevent.extendedAdvertisingReport)
    }
}

/// Splits a stream of bytes into HCI packets. Each packet consists of a type byte, a header with a length, and as many
/// bytes as the length states.
///
/// The stream may arrive in pieces of any length. In H4, nothing marks the start of a packet. Therefore, the framer
/// reads nothing more after the first error, and the connection must be reopened. Core Specification 5.4, Vol 4 Part A
/// 2.
public struct H4Framer: Sendable {
    /// The largest packet in bytes, including its type byte. A larger packet is an error that ends the stream.
    public let limit: Int
    private var buffer: [UInt8] = []
    /// The offset in ``buffer`` of the first byte that was not read yet.
    private var start = 0
    /// The number of bytes that precede ``buffer`` in the stream.
    private var discardedCount = 0
    private var failure: H4Error?

    /// The length of the longest possible packet, in bytes: an ACL packet with its type byte.
    public static let longestPacket = 1 + 4 + 0xFFFF

    /// A framer at the start of a stream. A packet of more than `limit` bytes is an error.
    public init(limit: Int = H4Framer.longestPacket) {
        self.limit = limit
    }

    /// The number of bytes that were pushed but not yet returned in a packet.
    public var pending: Int { buffer.count - start }

    /// Adds bytes in the order of their arrival.
    public mutating func push(_ octets: [UInt8]) {
        guard failure == nil else { return }
        if pending == 0 {
            discardedCount += start
            start = 0
            buffer = octets
            return
        }
        compact()
        buffer.append(contentsOf: octets)
    }

    /// Returns the next complete packet, or `nil` if more bytes are needed.
    ///
    /// - Throws: ``H4Error``; every later call throws the same error.
    public mutating func next() throws(H4Error) -> HCIPacket? {
        if let failure { throw failure }
        guard start < buffer.count else { return nil }
        guard let kind = HCIPacket.Kind(rawValue: buffer[start]) else {
            throw fail(.unknownType(buffer[start]))
        }
        guard let length = Self.length(kind, buffer.span, at: start + 1) else { return nil }
        guard 1 + length <= limit else {
            throw fail(.tooLong(kind, octets: 1 + length, limit: limit))
        }
        guard pending >= 1 + length else { return nil }
        let packet = HCIPacket(kind, buffer.span.array(start + 1..<start + 1 + length))
        start += 1 + length
        return packet
    }

    /// Returns the size in bytes, without the type byte, of the packet whose header starts at `start`; `nil` if the
    /// header is incomplete.
    private static func length(_ kind: HCIPacket.Kind, _ octets: Span<UInt8>, at start: Int) -> Int? {
        let count = octets.count - start
        switch kind {
        case .command, .sco:
            return count < 3 ? nil : 3 + Int(octets[start + 2])
        case .event:
            return count < 2 ? nil : 2 + Int(octets[start + 1])
        case .acl:
            return count < 4 ? nil : 4 + (Int(octets[start + 2]) | Int(octets[start + 3]) << 8)
        case .iso:
            // The two top bits are reserved.
            return count < 4 ? nil : 4 + (Int(octets[start + 2]) | Int(octets[start + 3] & 0x3F) << 8)
        }
    }

    private mutating func fail(_ reason: H4Error.Reason) -> H4Error {
        let error = H4Error(reason, at: discardedCount + start)
        failure = error
        buffer = []
        start = 0
        return error
    }

    /// If at least half of the buffer has been read, removes these bytes from it.
    private mutating func compact() {
        guard start > 0, start * 2 >= buffer.count else { return }
        discardedCount += start
        buffer.removeFirst(start)
        start = 0
    }
}

/// An error after which the packets of a stream can no longer be found. Its offset is the number of bytes of the stream
/// before the invalid packet.
public typealias H4Error = PositionedError<H4Fault>

/// The reason for an ``H4Error``.
public enum H4Fault: PositionedReason {
    /// No packet starts with this byte.
    case unknownType(UInt8)
    /// A packet is longer than ``H4Framer/limit``.
    case tooLong(HCIPacket.Kind, octets: Int, limit: Int)

    /// One sentence with a remedy.
    public func sentence(at offset: Int) -> String {
        switch self {
        case .unknownType(let octet):
            "\(Hexadecimal.number(octet, width: 2)) at offset \(offset) does not start an HCI packet; "
                + "the connection must be reopened"
        case .tooLong(_, let octets, let limit):
            "the packet at offset \(offset) claims \(octets) bytes; at most \(limit) are accepted"
        }
    }
}
