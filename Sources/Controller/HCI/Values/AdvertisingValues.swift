import BluetoothTypes

/// A parameter byte whose values have names. Decoding accepts reserved values too.
public protocol HCINamedOctet: RawRepresentable, Hashable, Sendable, CustomStringConvertible where RawValue == UInt8 {
    init(rawValue: UInt8)
    /// The value in words; `nil` if the specification reserves it.
    var name: String? { get }
}

extension HCINamedOctet {
    /// The name and the number, such as `random (0x01)`.
    public var description: String {
        "\(name ?? "reserved") (\(Hexadecimal.number(rawValue, width: 2)))"
    }
}

/// Advertising_Type of the legacy command (Core Specification 5.4, Vol 4 Part E 7.8.5).
public struct LegacyAdvertisingType: HCINamedOctet {
    public let rawValue: UInt8

    /// Accepts any byte, including reserved values.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// ADV_IND: connectable and scannable, undirected.
    public static let connectable = Self(rawValue: 0)
    /// ADV_DIRECT_IND, high duty cycle.
    public static let directedHighDuty = Self(rawValue: 1)
    /// ADV_SCAN_IND: scannable, undirected.
    public static let scannable = Self(rawValue: 2)
    /// ADV_NONCONN_IND: the type of most beacons.
    public static let nonconnectable = Self(rawValue: 3)
    /// ADV_DIRECT_IND, low duty cycle.
    public static let directedLowDuty = Self(rawValue: 4)

    public var name: String? {
        switch rawValue {
        case 0: "ADV_IND"
        case 1: "ADV_DIRECT_IND, high duty cycle"
        case 2: "ADV_SCAN_IND"
        case 3: "ADV_NONCONN_IND"
        case 4: "ADV_DIRECT_IND, low duty cycle"
        default: nil
        }
    }
}

/// Own_Address_Type: the kind of address from which the controller sends.
public struct OwnAddressType: HCINamedOctet {
    public let rawValue: UInt8

    /// Accepts any byte, including reserved values.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    public static let publicDevice = Self(rawValue: 0)
    public static let random = Self(rawValue: 1)
    public static let resolvableOrPublic = Self(rawValue: 2)
    public static let resolvableOrRandom = Self(rawValue: 3)

    public var name: String? {
        switch rawValue {
        case 0: "public"
        case 1: "random"
        case 2: "resolvable, or public"
        case 3: "resolvable, or random"
        default: nil
        }
    }
}

/// Address_Type of a peer or of a report.
public struct AddressType: HCINamedOctet {
    public let rawValue: UInt8

    /// Accepts any byte, including reserved values.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    public static let publicDevice = Self(rawValue: 0)
    public static let random = Self(rawValue: 1)
    public static let publicIdentity = Self(rawValue: 2)
    public static let randomIdentity = Self(rawValue: 3)
    /// The value 0xFF in extended reports: the advertisement contained no address.
    public static let anonymous = Self(rawValue: 0xFF)

    public var name: String? {
        switch rawValue {
        case 0: "public"
        case 1: "random"
        case 2: "public identity"
        case 3: "random identity"
        case 0xFE: "random, not resolved"
        case 0xFF: "anonymous"
        default: nil
        }
    }
}

/// Advertising_Filter_Policy: the devices whose scan and connection requests are answered.
public struct AdvertisingFilterPolicy: HCINamedOctet {
    public let rawValue: UInt8

    /// Accepts any byte, including reserved values.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Requests of all devices are answered.
    public static let all = Self(rawValue: 0)

    public var name: String? {
        switch rawValue {
        case 0: "all devices"
        case 1: "connection requests from all devices, scan requests from the accept list"
        case 2: "scan requests from all devices, connection requests from the accept list"
        case 3: "the accept list only"
        default: nil
        }
    }
}

/// Advertising_Event_Properties (Core Specification 5.4, Vol 4 Part E 7.8.53).
public struct AdvertisingEventProperties: OptionSet, Hashable, Sendable, CustomStringConvertible {
    public let rawValue: UInt16

    /// Accepts any bits, including reserved bits.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    public static let connectable = Self(rawValue: 1 << 0)
    public static let scannable = Self(rawValue: 1 << 1)
    public static let directed = Self(rawValue: 1 << 2)
    public static let highDutyDirected = Self(rawValue: 1 << 3)
    /// The set sends legacy PDUs, which every scanner receives.
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

/// A physical layer, with its number in advertising commands and reports.
public struct AdvertisingPHY: HCINamedOctet {
    public let rawValue: UInt8

    /// Accepts any byte, including reserved values.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// No physical layer. In reports, it means that the advertisement has no packets on the secondary channels.
    public static let none = Self(rawValue: 0)
    public static let le1M = Self(rawValue: 1)
    public static let le2M = Self(rawValue: 2)
    /// LE Coded with any coding. In reports after ``LESetHostFeature/codingInReports``, it means LE Coded with S=8.
    public static let leCoded = Self(rawValue: 3)
    /// LE Coded with S=2. This value occurs only in reports.
    public static let leCodedS2 = Self(rawValue: 4)

    public var name: String? {
        switch rawValue {
        case 0: "none"
        case 1: "LE 1M"
        case 2: "LE 2M"
        case 3: "LE Coded"
        case 4: "LE Coded, S=2"
        default: nil
        }
    }
}

/// Primary_Advertising_PHY_Options and Secondary_Advertising_PHY_Options: the coding on LE Coded (7.8.53).
public struct AdvertisingPHYOptions: HCINamedOctet {
    public let rawValue: UInt8

    /// Accepts any byte, including reserved values.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    public static let noPreference = Self(rawValue: 0)
    public static let prefersS2 = Self(rawValue: 1)
    public static let prefersS8 = Self(rawValue: 2)
    public static let requiresS2 = Self(rawValue: 3)
    public static let requiresS8 = Self(rawValue: 4)

    public var name: String? {
        switch rawValue {
        case 0: "no preference"
        case 1: "prefers S=2"
        case 2: "prefers S=8"
        case 3: "requires S=2"
        case 4: "requires S=8"
        default: nil
        }
    }
}

/// Operation of the extended data commands: the part of the data that a command contains.
public struct AdvertisingDataOperation: HCINamedOctet {
    public let rawValue: UInt8

    /// Accepts any byte, including reserved values.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    public static let intermediateFragment = Self(rawValue: 0)
    public static let firstFragment = Self(rawValue: 1)
    public static let lastFragment = Self(rawValue: 2)
    public static let complete = Self(rawValue: 3)
    /// The data stays the same, but gets a new Advertising DID, so that receivers handle it as new data.
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

/// Advertising_Handle: the number that a host gives to an advertising set.
public enum AdvertisingHandle {
    /// The valid handles: 0x00...0xEF (Core Specification 5.4, Vol 4 Part E 7.8.53).
    public static let range: ClosedRange<Int> = 0x00...0xEF
}
