import BluetoothTypes

/// Where a record lies in a btsnoop file, and what its header says; nothing is copied.
public struct BTSnoopRecord: Hashable, Sendable {
    /// Position in the file, from 0.
    public let index: Int
    /// Offset of the record's header.
    public let offset: Int
    /// `nil` for what is no HCI packet: a monitor's notes, or an unknown type octet.
    public let kind: HCIPacket.Kind?
    /// `nil` where the record does not tell.
    public let isFromController: Bool?
    /// Offsets of the packet, without an H4 type octet.
    public let octets: Range<Int>
    /// Whether the capturing program kept only the first octets of the packet.
    public let isShortened: Bool
    /// Microseconds since 1970.
    public let unixMicroseconds: Int64
    /// The adapter's number, in the monitor format only.
    public let adapter: UInt16?

    /// Copies the packet out of the file's octets; `nil` for what is none.
    public func packet(in file: Span<UInt8>) -> HCIPacket? {
        guard let kind, octets.lowerBound >= 0, octets.upperBound <= file.count else { return nil }
        return HCIPacket(kind, file.array(octets))
    }
}

/// Walks over the records of a btsnoop file without allocating.
public struct BTSnoopCursor: Sendable {
    public let datalink: BTSnoopFormat.Datalink
    /// The next record, or where reading stopped.
    public private(set) var offset = BTSnoopFormat.headerLength
    /// Records read so far.
    public private(set) var count = 0
    private var isBroken = false

    /// Reads the header of the file that `file` holds.
    public init(_ file: Span<UInt8>) throws(BTSnoopError) {
        guard file.count >= BTSnoopFormat.headerLength else {
            throw BTSnoopError(.notBTSnoop, at: 0)
        }
        for index in BTSnoopFormat.magic.indices where file[index] != BTSnoopFormat.magic[index] {
            throw BTSnoopError(.notBTSnoop, at: index)
        }
        let version = file.uint32BigEndian(at: 8)
        guard version == BTSnoopFormat.version else { throw BTSnoopError(.unknownVersion(version), at: 8) }
        let number = file.uint32BigEndian(at: 12)
        guard let datalink = BTSnoopFormat.Datalink(rawValue: number) else {
            throw BTSnoopError(.unknownDatalink(number), at: 12)
        }
        self.datalink = datalink
    }

    /// The next record of the file that was given at the start, or `nil` after the last one.
    ///
    /// - Throws: ``BTSnoopError`` once, when the last record is cut short or claims to hold more than was captured;
    ///   after that `nil`.
    public mutating func next(in file: Span<UInt8>) throws(BTSnoopError) -> BTSnoopRecord? {
        guard !isBroken, offset < file.count else { return nil }
        let start = offset + BTSnoopFormat.recordHeaderLength
        guard start <= file.count else {
            throw broken(.truncatedRecord(needed: BTSnoopFormat.recordHeaderLength, left: file.count - offset))
        }
        let original = file.uint32BigEndian(at: offset)
        let included = file.uint32BigEndian(at: offset + 4)
        let length = Int(included)
        guard length <= file.count - start else {
            throw broken(
                .truncatedRecord(needed: BTSnoopFormat.recordHeaderLength + length, left: file.count - offset))
        }
        guard included <= original else {
            throw broken(.lengthsDisagree(original: original, included: included))
        }
        let flags = file.uint32BigEndian(at: offset + 8)
        let timestamp = Int64(bitPattern: file.uint64BigEndian(at: offset + 16)) &- BTSnoopFormat.unixEpoch
        let content = content(flags, file, start..<start + length)
        let record = BTSnoopRecord(
            index: count, offset: offset, kind: content.kind, isFromController: content.isFromController,
            octets: content.octets, isShortened: included < original, unixMicroseconds: timestamp,
            adapter: datalink == .linuxMonitor ? UInt16(truncatingIfNeeded: flags >> 16) : nil)
        offset = start + length
        count += 1
        return record
    }

    private func content(
        _ flags: UInt32, _ file: Span<UInt8>, _ range: Range<Int>
    ) -> (kind: HCIPacket.Kind?, isFromController: Bool?, octets: Range<Int>) {
        let received = flags & 1 != 0
        switch datalink {
        case .unencapsulated:
            let kind: HCIPacket.Kind = flags & 2 == 0 ? .acl : received ? .event : .command
            return (kind, received, range)
        case .h4:
            guard let first = range.first else { return (nil, received, range) }
            let kind = HCIPacket.Kind(rawValue: file[first])
            return (kind, received, kind == nil ? range : range.dropFirst())
        case .linuxMonitor:
            let packet = MonitorOpcode(rawValue: UInt16(truncatingIfNeeded: flags)).packet
            return (packet?.kind, packet?.isFromController, range)
        }
    }

    private mutating func broken(_ reason: BTSnoopError.Reason) -> BTSnoopError {
        isBroken = true
        return BTSnoopError(reason, at: offset, record: count)
    }
}

/// Why octets are no btsnoop file, or where it breaks off.
public struct BTSnoopError: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Reason: Hashable, Sendable {
        case notBTSnoop
        case unknownVersion(UInt32)
        case unknownDatalink(UInt32)
        /// The file ends inside the record, as it does when the capturing program was killed.
        case truncatedRecord(needed: Int, left: Int)
        /// More octets in the file than the packet ever had.
        case lengthsDisagree(original: UInt32, included: UInt32)
    }

    public let reason: Reason
    /// Octets from the start of the file.
    public let offset: Int
    /// The record's position, from 0; `nil` in the file's header.
    public let record: Int?

    public init(_ reason: Reason, at offset: Int, record: Int? = nil) {
        self.reason = reason
        self.offset = offset
        self.record = record
    }

    public var description: String {
        switch reason {
        case .notBTSnoop:
            "no btsnoop file: its first 16 octets are not the header that starts with \"btsnoop\""
        case .unknownVersion(let version):
            "btsnoop version \(version) at offset \(offset) is unknown; only 1 exists"
        case .unknownDatalink(let number):
            "datalink \(number) at offset \(offset) is not supported; 1001, 1002 and 2001 are"
        case .truncatedRecord(let needed, let left):
            "record \((record ?? 0) + 1) at offset \(offset) is cut short: it needs \(needed) octets, \(left) are left"
        case .lengthsDisagree(let original, let included):
            "record \((record ?? 0) + 1) at offset \(offset) claims to hold \(included) octets "
                + "of a packet of \(original)"
        }
    }
}
