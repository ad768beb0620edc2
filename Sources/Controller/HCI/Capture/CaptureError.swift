import BluetoothTypes

/// The capture formats that can be read.
public enum CaptureFormat: String, Hashable, Sendable, CaseIterable {
    case btsnoop
    case pcap
    case pcapng

    /// The number of bytes that are needed to recognize a format.
    public static let magicLength = 8

    /// Returns `true` if a stream that starts with `octets` can be a capture. `octets` may be shorter than
    /// ``magicLength``.
    public static func canStart(with octets: [UInt8]) -> Bool {
        let magics: [[UInt8]] = [
            BTSnoopFormat.magic, [0xA1, 0xB2, 0xC3, 0xD4], [0xD4, 0xC3, 0xB2, 0xA1], [0xA1, 0xB2, 0x3C, 0x4D],
            [0x4D, 0x3C, 0xB2, 0xA1], [0x0A, 0x0D, 0x0D, 0x0A],
        ]
        return magics.contains { zip($0, octets).allSatisfy(==) }
    }

    /// The format of a file that starts with `octets` (at least ``magicLength`` bytes); `nil` for other formats.
    public init?(startingWith octets: Span<UInt8>) {
        guard octets.count >= Self.magicLength else { return nil }
        let magic = octets.uint32BigEndian(at: 0)
        if BTSnoopFormat.magic.indices.allSatisfy({ octets[$0] == BTSnoopFormat.magic[$0] }) {
            self = .btsnoop
        } else if PCAPFormat(magic: magic) != nil {
            self = .pcap
        } else if magic == PCAPNGFormat.sectionHeader {
            self = .pcapng
        } else {
            return nil
        }
    }
}

/// An error in a capture: the reason, and the offset in the file.
public struct CaptureError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reason why a capture cannot be read completely.
    public enum Reason: Error, Hashable, Sendable {
        /// The first bytes do not belong to a supported format.
        case unknownFormat
        case unknownVersion(UInt32, CaptureFormat)
        /// The datalink (in btsnoop) or link type (in the other formats) with this number is not supported.
        case unknownLink(UInt32, CaptureFormat)
        /// The capture was read to its end, but packets whose link type is not supported were left out. The values are
        /// the number of these packets, and the link type of the first of them.
        case packetsLeftOut(Int, link: UInt32)
        /// The file ends inside a record or header, for example because the capturing program was killed. The values
        /// are the length of the record or header in bytes, and the number of its bytes that the file contains.
        case truncated(needed: Int, left: Int)
        /// A record's captured length is larger than the length of the original packet, or does not fit into the
        /// record's block.
        case lengthsDisagree(original: UInt32, included: UInt32)
        /// A record's length is larger than that of any packet. Its bytes are not read into memory.
        case recordTooLong(octets: Int)
        /// The length of a pcapng block is too small for its fields, is not a multiple of four, or differs from the
        /// length at the end of the block.
        case badBlockLength(Int)
        /// A pcapng section has a byte-order mark that is not one of the two valid values.
        case badByteOrder(UInt32)
        /// A pcapng packet belongs to an interface that no earlier block describes.
        case unknownInterface(Int)
        case tooManyInterfaces(limit: Int)
    }

    public let reason: Reason
    /// The number of bytes from the start of the file to the invalid record or header.
    public let offset: Int
    /// The position of the invalid record, from 0; `nil` if the fault is in the file's header.
    public let record: Int?

    /// An error at `offset` bytes from the start of the capture. `record` is the position of the invalid record, from
    /// 0; `nil` for the file's header.
    public init(_ reason: Reason, at offset: Int, record: Int? = nil) {
        self.reason = reason
        self.offset = offset
        self.record = record
    }

    private static let supportedLinks = "187, 201 and 254 (HCI), 251, 256 and 272 (LE link layer) are"

    public var description: String {
        let place = "\(record.map { "record \($0 + 1)" } ?? "the header") at offset \(offset)"
        return switch reason {
        case .unknownFormat:
            "not a capture: the format is not one of \(CaptureFormat.allCases.map(\.rawValue).joined(separator: ", "))"
        case .unknownVersion(let version, let format):
            "\(format.rawValue) version \(version) at offset \(offset) is unknown; only "
                + "\(format == .pcap ? "2" : "1") is read"
        case .unknownLink(let number, .btsnoop):
            "datalink \(number) is not supported; 1001, 1002 and 2001 are"
        case .unknownLink(let number, _):
            "link type \(CaptureLink.title(of: number)) is not supported; \(Self.supportedLinks)"
        case .packetsLeftOut(let count, let number):
            "\(count == 1 ? "1 packet was" : "\(count) packets were") left out: link type "
                + "\(CaptureLink.title(of: number)) is not supported; \(Self.supportedLinks)"
        case .truncated(let needed, let left):
            "\(place) is incomplete: it needs \(needed) bytes, but only \(left) are left"
        case .lengthsDisagree(let original, let included):
            "\(place): the captured length (\(included) bytes) exceeds the packet (\(original) bytes) or its block"
        case .recordTooLong(let octets):
            "\(place) has a length of \(octets) bytes; no packet has more than \(CaptureFrame.octetLimit)"
        case .badBlockLength(let length):
            "\(place): a block length of \(length) bytes is invalid, or differs from the length at the block's end"
        case .badByteOrder(let mark):
            "\(place): \(Hexadecimal.number(mark, width: 8)) is not a byte-order magic of pcapng"
        case .unknownInterface(let number):
            "\(place) belongs to interface \(number), which no earlier block describes"
        case .tooManyInterfaces(let limit):
            "\(place) is in a section with more than \(limit) interfaces"
        }
    }
}
