/// One AD structure: a type and its data. On the air it is preceded by a length octet that counts both.
///
/// Core Specification 5.4, Vol 3 Part C 11.
public struct ADStructure: Hashable, Sendable {
    public var type: ADType
    /// At most 254 octets in an advertisement of any kind; 29 in a legacy one.
    public var data: [UInt8]

    public init(_ type: ADType, _ data: [UInt8]) {
        self.type = type
        self.data = data
    }

    /// Octets on the air: length, type and data.
    public var encodedLength: Int { 2 + data.count }

    public static func flags(_ flags: ADFlags) -> Self { Self(.flags, [flags.rawValue]) }

    public static func completeLocalName(_ name: String) -> Self { Self(.completeLocalName, Array(name.utf8)) }

    public static func txPowerLevel(_ power: RadioPower) -> Self { Self(.txPowerLevel, [power.octet]) }

    public static func serviceData(_ uuid: UInt16, _ data: [UInt8]) -> Self {
        Self(.serviceData16, BluetoothUUID.uuid16(uuid).littleEndian + data)
    }

    public static func manufacturerData(_ company: UInt16, _ data: [UInt8]) -> Self {
        var octets: [UInt8] = []
        octets.append(littleEndian: company)
        return Self(.manufacturerData, octets + data)
    }
}

/// Where an AD structure lies in a span of advertising data; nothing is copied.
public struct ADElement: Hashable, Sendable {
    public let type: ADType
    /// Offset of the length octet.
    public let offset: Int
    /// Offsets of the data, after length and type.
    public let data: Range<Int>

    @inlinable
    public init(type: ADType, offset: Int, data: Range<Int>) {
        self.type = type
        self.offset = offset
        self.data = data
    }
}

/// Walks over the AD structures of a span without allocating.
///
/// Ends at the first zero length octet (early termination) or at a structure that runs past the end; ``offset`` then
/// tells where, and ``isTruncated`` which of the two it was.
public struct ADStructureCursor: Sendable {
    @usableFromInline internal var position: Int
    @usableFromInline internal var ranOver = false
    @usableFromInline internal let end: Int

    /// Walks over `range` of whatever span is handed to ``next(in:)``.
    @inlinable
    public init(_ range: Range<Int>) {
        position = range.lowerBound
        end = range.upperBound
    }

    /// The next structure's length octet, or where reading stopped.
    @inlinable public var offset: Int { position }
    /// Whether the last structure claims more octets than are left.
    @inlinable public var isTruncated: Bool { ranOver }

    @inlinable
    public mutating func next(in span: Span<UInt8>) -> ADElement? {
        guard !ranOver, position < end else { return nil }
        let length = Int(span[position])
        guard length > 0 else { return nil }
        guard end &- position > length else {
            ranOver = true
            return nil
        }
        // The structure ends within the range, so no sum can run over.
        let next = position &+ 1 &+ length
        let element = ADElement(
            type: ADType(rawValue: span[position &+ 1]), offset: position, data: position &+ 2..<next)
        position = next
        return element
    }
}
