/// One AD structure: a type and its data. On the air it is preceded by a length byte that counts both.
///
/// Core Specification 5.4, Vol 3 Part C 11.
public struct ADStructure: Hashable, Sendable {
    public var type: ADType
    /// At most 254 bytes in an advertisement of any kind; 29 in a legacy one.
    public var data: [UInt8]

    /// A structure of any type and any data; ``AdvertisingData/init(_:limit:)`` refuses what cannot be sent.
    public init(_ type: ADType, _ data: [UInt8]) {
        self.type = type
        self.data = data
    }

    /// Bytes on the air: length, type and data.
    public var encodedLength: Int { 2 + data.count }

    /// The text of a Shortened or Complete Local Name; `nil` for other types, and for a name that is not UTF-8. It may
    /// contain control characters.
    public var localName: String? {
        guard type == .shortenedLocalName || type == .completeLocalName else { return nil }
        return String(validating: data, as: UTF8.self)
    }

    /// Flags: one byte (Core Specification Supplement, Part A 1.3).
    public static func flags(_ flags: ADFlags) -> Self { Self(.flags, [flags.rawValue]) }

    /// Complete Local Name: the name in UTF-8 (Core Specification Supplement, Part A 1.2).
    public static func completeLocalName(_ name: String) -> Self { Self(.completeLocalName, Array(name.utf8)) }

    /// TX Power Level: the transmit power in dBm as one signed byte (Core Specification Supplement,
    /// Part A 1.5).
    public static func txPowerLevel(_ power: RadioPower) -> Self { Self(.txPowerLevel, [power.octet]) }

    /// Service Data - 16-bit UUID: the UUID, least significant byte first, and the data of its owner
    /// (Core Specification Supplement, Part A 1.11).
    public static func serviceData(_ uuid: UInt16, _ data: [UInt8]) -> Self {
        Self(.serviceData16, BluetoothUUID.uuid16(uuid).littleEndian + data)
    }

    /// Manufacturer Specific Data: the company identifier, least significant byte first, and the data of the
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
    /// Offset of the length byte.
    public let offset: Int
    /// Offsets of the data, after length and type.
    public let data: Range<Int>

    /// An element at offsets that are not checked.
    @inlinable
    public init(type: ADType, offset: Int, data: Range<Int>) {
        self.type = type
        self.offset = offset
        self.data = data
    }
}

/// Reads the AD structures of a span without allocating.
///
/// It ends at the first zero length byte (early termination) or at a structure that extends beyond the end. Then
/// ``offset`` is the place, and ``isTruncated`` is true in the second case.
public struct ADStructureCursor: Sendable {
    @usableFromInline internal var position: Int
    @usableFromInline internal var ranOver = false
    @usableFromInline internal let end: Int

    /// A cursor over `range` of the span that is passed to ``next(in:)``.
    @inlinable
    public init(_ range: Range<Int>) {
        position = range.lowerBound
        end = range.upperBound
    }

    /// The offset of the next structure's length byte, or the offset at which reading stopped.
    @inlinable public var offset: Int { position }
    /// True if the last structure claims more bytes than are left.
    @inlinable public var isTruncated: Bool { ranOver }

    /// The next whole structure; `nil` at the end of the range, at a zero length byte, and at a truncated structure.
    ///
    /// - Parameter span: The span that contains the whole range. It must be equal in every call.
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

/// The type byte of an AD structure (Assigned Numbers 2.3; formats in the Core Specification Supplement, Part A).
public struct ADType: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt8

    /// Any byte. Types without a name here are kept.
    @inlinable
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// One byte of ``ADFlags``.
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
    /// One signed byte, in dBm.
    public static let txPowerLevel = Self(rawValue: 0x0A)
    /// A 16-bit UUID and its data.
    public static let serviceData16 = Self(rawValue: 0x16)
    /// Two bytes: the category of the device.
    public static let appearance = Self(rawValue: 0x19)
    /// A 32-bit UUID and its data.
    public static let serviceData32 = Self(rawValue: 0x20)
    /// A 128-bit UUID and its data.
    public static let serviceData128 = Self(rawValue: 0x21)
    /// A scheme in one character, and the rest of the URI in UTF-8.
    public static let uri = Self(rawValue: 0x24)
    /// A company identifier, least significant byte first, and the company's data.
    public static let manufacturerData = Self(rawValue: 0xFF)

    /// The name in profiles and JSON, such as `flags`; `nil` for types without one.
    public var key: String? { Self.names[rawValue]?.key }

    /// The name for people, such as `Flags`; the number for types without one.
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

    /// Any bits; 5, 6 and 7 are reserved.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// LE Limited Discoverable Mode: discoverable for a limited time. Not together with ``generalDiscoverable``.
    public static let limitedDiscoverable = Self(rawValue: 0x01)
    /// LE General Discoverable Mode.
    public static let generalDiscoverable = Self(rawValue: 0x02)
    /// The device has no Basic Rate / Enhanced Data Rate.
    public static let brEdrNotSupported = Self(rawValue: 0x04)
    /// LE and BR/EDR at the same time, by the controller.
    public static let simultaneousController = Self(rawValue: 0x08)
    /// LE and BR/EDR at the same time, by the host.
    public static let simultaneousHost = Self(rawValue: 0x10)

    /// 0x06, the flags of most beacons, which Eddystone requires.
    public static let beacon: Self = [.generalDiscoverable, .brEdrNotSupported]
}
