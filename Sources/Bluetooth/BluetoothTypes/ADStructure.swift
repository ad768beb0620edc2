/// One AD (advertising data) structure: a type byte and data. On the air, a length byte comes first. It counts the type
/// byte and the data.
///
/// Core Specification 5.4, Vol 3 Part C 11.
public struct ADStructure: Hashable, Sendable {
    public var type: ADType
    /// The data of the structure: at most 254 bytes, and at most 29 bytes in a legacy advertisement.
    public var data: [UInt8]

    /// A structure with any type and data. The length of the data is not checked here;
    /// ``AdvertisingData/init(_:limit:)`` refuses structures that are too long to be sent.
    public init(_ type: ADType, _ data: [UInt8]) {
        self.type = type
        self.data = data
    }

    /// The number of bytes on the air: the length byte, the type and the data.
    public var encodedLength: Int { 2 + data.count }

    /// The text of a Shortened or Complete Local Name; `nil` for other types, and for a name that is not UTF-8. The
    /// text may contain control characters.
    public var localName: String? {
        guard type == .shortenedLocalName || type == .completeLocalName else { return nil }
        return String(validating: data, as: UTF8.self)
    }

    /// Returns a Flags structure, which has one byte of data (Core Specification Supplement, Part A 1.3).
    public static func flags(_ flags: ADFlags) -> Self { Self(.flags, [flags.rawValue]) }

    /// Returns a Complete Local Name: the name in UTF-8 (Core Specification Supplement, Part A 1.2).
    public static func completeLocalName(_ name: String) -> Self { Self(.completeLocalName, Array(name.utf8)) }

    /// Returns a TX Power Level: the transmit power in dBm as one signed byte (Core Specification Supplement, Part A
    /// 1.5).
    public static func txPowerLevel(_ power: RadioPower) -> Self { Self(.txPowerLevel, [power.octet]) }

    /// Returns Service Data - 16-bit UUID: the UUID, least significant byte first, and the data of the service (Core
    /// Specification Supplement, Part A 1.11).
    public static func serviceData(_ uuid: UInt16, _ data: [UInt8]) -> Self {
        Self(.serviceData16, BluetoothUUID.uuid16(uuid).littleEndian + data)
    }

    /// Returns Manufacturer Specific Data: the company identifier, least significant byte first, and the data of the
    /// company (Core Specification Supplement, Part A 1.4).
    public static func manufacturerData(_ company: UInt16, _ data: [UInt8]) -> Self {
        var octets: [UInt8] = []
        octets.append(littleEndian: company)
        return Self(.manufacturerData, octets + data)
    }
}

/// The type and the offsets of an AD structure in a span of advertising data.
public struct ADElement: Hashable, Sendable {
    public let type: ADType
    /// The offset of the structure's length byte.
    public let offset: Int
    /// The offsets of the data, which follows the length byte and the type.
    public let data: Range<Int>

    /// An element with these offsets, which are not checked.
    @inlinable
    public init(type: ADType, offset: Int, data: Range<Int>) {
        self.type = type
        self.offset = offset
        self.data = data
    }
}

/// Reads the AD structures of a span without allocating.
///
/// Reading stops at the end of the range, at the first length byte of zero (early termination), or at a structure that
/// extends beyond the end. ``offset`` is then the position at which reading stopped. ``isTruncated`` is true if a
/// structure extends beyond the end.
public struct ADStructureCursor: Sendable {
    @usableFromInline internal var position: Int
    @usableFromInline internal var stoppedAtTruncated = false
    @usableFromInline internal let end: Int

    /// A cursor that reads the bytes in `range` of a span. The span itself is passed to ``next(in:)``.
    @inlinable
    public init(_ range: Range<Int>) {
        position = range.lowerBound
        end = range.upperBound
    }

    /// The offset of the next structure's length byte, or the offset at which reading stopped.
    @inlinable public var offset: Int { position }
    /// True if reading stopped at a structure whose length byte counts more bytes than are left.
    @inlinable public var isTruncated: Bool { stoppedAtTruncated }

    /// Returns the next complete structure; `nil` at the end of the range, at a length byte of zero, and at a truncated
    /// structure.
    ///
    /// - Parameter span: The span that contains the whole range. Every call must pass the same bytes.
    @inlinable
    public mutating func next(in span: Span<UInt8>) -> ADElement? {
        guard !stoppedAtTruncated, position < end else { return nil }
        let length = Int(span[position])
        guard length > 0 else { return nil }
        guard end &- position > length else {
            stoppedAtTruncated = true
            return nil
        }
        // The structure ends within the range, so these sums cannot overflow.
        let structureEnd = position &+ 1 &+ length
        let element = ADElement(
            type: ADType(rawValue: span[position &+ 1]), offset: position, data: position &+ 2..<structureEnd)
        position = structureEnd
        return element
    }
}

/// The type byte of an AD structure (Assigned Numbers 2.3; formats in the Core Specification Supplement, Part A).
public struct ADType: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt8

    /// A type with any value, including a value that has no constant below.
    @inlinable
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The discovery modes and the Bluetooth modes of the device: one byte of ``ADFlags``.
    public static let flags = Self(rawValue: 0x01)
    /// Some of the device's 16-bit service UUIDs, each least significant byte first.
    public static let incomplete16BitUUIDs = Self(rawValue: 0x02)
    /// All 16-bit service UUIDs.
    public static let complete16BitUUIDs = Self(rawValue: 0x03)
    /// Some of the 32-bit service UUIDs.
    public static let incomplete32BitUUIDs = Self(rawValue: 0x04)
    /// All 32-bit service UUIDs.
    public static let complete32BitUUIDs = Self(rawValue: 0x05)
    /// Some of the 128-bit service UUIDs.
    public static let incomplete128BitUUIDs = Self(rawValue: 0x06)
    /// All 128-bit service UUIDs.
    public static let complete128BitUUIDs = Self(rawValue: 0x07)
    /// The start of the device's name, in UTF-8.
    public static let shortenedLocalName = Self(rawValue: 0x08)
    /// The whole name, in UTF-8.
    public static let completeLocalName = Self(rawValue: 0x09)
    /// The transmit power in dBm, as one signed byte.
    public static let txPowerLevel = Self(rawValue: 0x0A)
    /// A 16-bit service UUID and the data of the service.
    public static let serviceData16 = Self(rawValue: 0x16)
    /// The category of the device, such as watch or keyboard, as a number of two bytes.
    public static let appearance = Self(rawValue: 0x19)
    /// A 32-bit service UUID and the data of the service.
    public static let serviceData32 = Self(rawValue: 0x20)
    /// A 128-bit service UUID and the data of the service.
    public static let serviceData128 = Self(rawValue: 0x21)
    /// A URI: one character for its scheme, then the rest of the URI in UTF-8.
    public static let uri = Self(rawValue: 0x24)
    /// A company identifier, least significant byte first, and the company's data.
    public static let manufacturerData = Self(rawValue: 0xFF)

    /// The name in profiles and JSON, such as `flags`; `nil` for types that are not in this list.
    public var key: String? { Self.names[rawValue]?.key }

    /// The name in the Assigned Numbers, such as `Flags`. A type that is not in this list is named by its number, such
    /// as `AD type 0x2A`.
    public var name: String { Self.names[rawValue]?.name ?? "AD type \(Hexadecimal.number(rawValue, width: 2))" }

    private static let names: [UInt8: (key: String, name: String)] = [
        0x01: ("flags", "Flags"),
        0x02: ("incomplete-16-bit-uuids", "Incomplete List of 16-bit Service UUIDs"),
        0x03: ("complete-16-bit-uuids", "Complete List of 16-bit Service UUIDs"),
        0x04: ("incomplete-32-bit-uuids", "Incomplete List of 32-bit Service UUIDs"),
        0x05: ("complete-32-bit-uuids", "Complete List of 32-bit Service UUIDs"),
        0x06: ("incomplete-128-bit-uuids", "Incomplete List of 128-bit Service UUIDs"),
        0x07: ("complete-128-bit-uuids", "Complete List of 128-bit Service UUIDs"),
        0x08: ("shortened-local-name", "Shortened Local Name"),
        0x09: ("complete-local-name", "Complete Local Name"),
        0x0A: ("tx-power-level", "TX Power Level"),
        0x16: ("service-data-16", "Service Data - 16-bit UUID"),
        0x19: ("appearance", "Appearance"),
        0x20: ("service-data-32", "Service Data - 32-bit UUID"),
        0x21: ("service-data-128", "Service Data - 128-bit UUID"),
        0x24: ("uri", "URI"),
        0xFF: ("manufacturer-data", "Manufacturer Specific Data"),
    ]
}

/// The byte of the Flags AD structure (Core Specification Supplement, Part A 1.3).
public struct ADFlags: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8

    /// Flags with any bits. Bits 5, 6 and 7 are reserved.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// LE Limited Discoverable Mode: discoverable for a limited time. Must not be set together with
    /// ``generalDiscoverable``.
    public static let limitedDiscoverable = Self(rawValue: 0x01)
    /// LE General Discoverable Mode: discoverable without a time limit.
    public static let generalDiscoverable = Self(rawValue: 0x02)
    /// The device does not support Bluetooth Classic (BR/EDR, Basic Rate / Enhanced Data Rate).
    public static let brEdrNotSupported = Self(rawValue: 0x04)
    /// The controller supports LE and BR/EDR at the same time.
    public static let simultaneousController = Self(rawValue: 0x08)
    /// The host supports LE and BR/EDR at the same time.
    public static let simultaneousHost = Self(rawValue: 0x10)

    /// The flags of most beacons, 0x06. Eddystone requires them.
    public static let beacon: Self = [.generalDiscoverable, .brEdrNotSupported]
}
