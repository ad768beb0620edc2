import BluetoothTypes

/// LE_Scan_Type (Core Specification 5.4, Vol 4 Part E 7.8.10).
public struct ScanType: HCINamedOctet {
    public let rawValue: UInt8

    /// Accepts any byte, including reserved values.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    public static let passive = Self(rawValue: 0)
    /// An active scan: the scanner sends scan requests to scannable advertisers.
    public static let active = Self(rawValue: 1)

    public var name: String? {
        switch rawValue {
        case 0: "passive"
        case 1: "active"
        default: nil
        }
    }
}

/// Scanning_Filter_Policy: the devices whose advertisements are reported.
public struct ScanFilterPolicy: HCINamedOctet {
    public let rawValue: UInt8

    /// Accepts any byte, including reserved values.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Advertisements of all devices are reported, except advertisements that are directed to other devices.
    public static let all = Self(rawValue: 0)

    public var name: String? {
        switch rawValue {
        case 0: "all devices"
        case 1: "the accept list only"
        case 2: "all devices, and directed PDUs to resolvable addresses"
        case 3: "the accept list only, and directed PDUs to resolvable addresses"
        default: nil
        }
    }
}

/// Filter_Duplicates of the scan enable commands.
public struct DuplicateFilter: HCINamedOctet {
    public let rawValue: UInt8

    /// Accepts any byte, including reserved values.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    public static let off = Self(rawValue: 0)
    public static let on = Self(rawValue: 1)
    /// The filter is on, and is reset at the start of each scan period. Only extended scanning has this value.
    public static let perPeriod = Self(rawValue: 2)

    public var name: String? {
        switch rawValue {
        case 0: "off"
        case 1: "on"
        case 2: "on, reset for each scan period"
        default: nil
        }
    }
}

/// Scanning_PHYs: the primary physical layers on which a scan listens.
public struct ScanningPHYs: OptionSet, Hashable, Sendable, CustomStringConvertible {
    public let rawValue: UInt8

    /// Accepts any byte, including reserved values.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    public static let le1M = Self(rawValue: 1 << 0)
    public static let leCoded = Self(rawValue: 1 << 2)

    public var description: String {
        var words: [String] = []
        if contains(.le1M) { words.append("LE 1M") }
        if contains(.leCoded) { words.append("LE Coded") }
        if rawValue & ~0x05 != 0 { words.append("reserved bits") }
        return "\(words.isEmpty ? "none" : words.joined(separator: ", ")) (\(Hexadecimal.number(rawValue, width: 2)))"
    }
}
