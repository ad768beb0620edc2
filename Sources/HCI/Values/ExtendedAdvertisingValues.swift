import BluetoothTypes

/// Advertising_Event_Properties (Core Specification 5.4, Vol 4 Part E 7.8.53).
public struct AdvertisingEventProperties: OptionSet, Hashable, Sendable, CustomStringConvertible {
    public let rawValue: UInt16

    /// Any bits, reserved ones included.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    public static let connectable = Self(rawValue: 1 << 0)
    public static let scannable = Self(rawValue: 1 << 1)
    public static let directed = Self(rawValue: 1 << 2)
    public static let highDutyDirected = Self(rawValue: 1 << 3)
    /// Legacy PDUs, which every scanner hears.
    public static let legacyPDU = Self(rawValue: 1 << 4)
    public static let anonymous = Self(rawValue: 1 << 5)
    public static let includeTxPower = Self(rawValue: 1 << 6)

    public static let legacyConnectable: Self = [.legacyPDU, .connectable, .scannable]
    public static let legacyScannable: Self = [.legacyPDU, .scannable]
    public static let legacyNonconnectable: Self = [.legacyPDU]

    /// The five values with legacy PDUs that the specification allows.
    static let allowedLegacy: [UInt16] = [0x10, 0x12, 0x13, 0x15, 0x1D]

    public var description: String {
        let names = [
            "connectable", "scannable", "directed", "high duty cycle", "legacy PDU", "anonymous", "include TxPower",
        ]
        var words = names.indices.filter { rawValue & 1 << UInt16($0) != 0 }.map { names[$0] }
        if rawValue >> 7 != 0 { words.append("reserved bits") }
        let text = words.isEmpty ? "extended, non-connectable" : words.joined(separator: ", ")
        return "\(text) (\(Hexadecimal.number(rawValue, width: 4)))"
    }
}

/// A physical layer, as the advertising commands and reports number them.
public struct AdvertisingPHY: HCINamedOctet {
    public let rawValue: UInt8

    /// Any octet, reserved ones included.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// In reports: no packets on the secondary channel.
    public static let none = Self(rawValue: 0)
    public static let le1M = Self(rawValue: 1)
    public static let le2M = Self(rawValue: 2)
    public static let leCoded = Self(rawValue: 3)

    public var name: String? {
        switch rawValue {
        case 0: "none"
        case 1: "LE 1M"
        case 2: "LE 2M"
        case 3: "LE Coded"
        default: nil
        }
    }
}

/// Operation of the extended data commands: which part of the data a command carries.
public struct AdvertisingDataOperation: HCINamedOctet {
    public let rawValue: UInt8

    /// Any octet, reserved ones included.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    public static let intermediateFragment = Self(rawValue: 0)
    public static let firstFragment = Self(rawValue: 1)
    public static let lastFragment = Self(rawValue: 2)
    public static let complete = Self(rawValue: 3)
    /// Same data, new Advertising DID: the data is kept.
    public static let unchanged = Self(rawValue: 4)

    public var name: String? {
        switch rawValue {
        case 0: "intermediate fragment"
        case 1: "first fragment"
        case 2: "last fragment"
        case 3: "complete"
        case 4: "unchanged"
        default: nil
        }
    }
}

/// Advertising_Handle: a host's own number for an advertising set.
public enum AdvertisingHandle {
    /// 0x00...0xEF (Core Specification 5.4, Vol 4 Part E 7.8.53).
    public static let range: ClosedRange<Int> = 0x00...0xEF
}
