/// The type octet of an AD structure (Assigned Numbers 2.3; formats in the Core Specification Supplement, Part A).
public struct ADType: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt8

    @inlinable
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    public static let flags = Self(rawValue: 0x01)
    public static let incomplete16BitUUIDs = Self(rawValue: 0x02)
    public static let complete16BitUUIDs = Self(rawValue: 0x03)
    public static let incomplete32BitUUIDs = Self(rawValue: 0x04)
    public static let complete32BitUUIDs = Self(rawValue: 0x05)
    public static let incomplete128BitUUIDs = Self(rawValue: 0x06)
    public static let complete128BitUUIDs = Self(rawValue: 0x07)
    public static let shortenedLocalName = Self(rawValue: 0x08)
    public static let completeLocalName = Self(rawValue: 0x09)
    public static let txPowerLevel = Self(rawValue: 0x0A)
    public static let serviceData16 = Self(rawValue: 0x16)
    public static let appearance = Self(rawValue: 0x19)
    public static let serviceData32 = Self(rawValue: 0x20)
    public static let serviceData128 = Self(rawValue: 0x21)
    public static let uri = Self(rawValue: 0x24)
    public static let manufacturerData = Self(rawValue: 0xFF)

    /// The name for machines, such as `flags`; `nil` for types that Pharos does not name.
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

/// The octet of the Flags AD structure (Core Specification Supplement, Part A 1.3).
public struct ADFlags: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    public static let limitedDiscoverable = Self(rawValue: 0x01)
    public static let generalDiscoverable = Self(rawValue: 0x02)
    public static let brEdrNotSupported = Self(rawValue: 0x04)
    public static let simultaneousController = Self(rawValue: 0x08)
    public static let simultaneousHost = Self(rawValue: 0x10)

    /// 0x06, what vendors' beacons carry and what Eddystone asks for.
    public static let beacon: Self = [.generalDiscoverable, .brEdrNotSupported]
}
