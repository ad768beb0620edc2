/// Advertising_Type of the legacy command (Core Specification 5.4, Vol 4 Part E 7.8.5).
public struct LegacyAdvertisingType: HCINamedOctet {
    public let rawValue: UInt8

    /// Any octet, reserved ones included.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// ADV_IND: connectable and scannable, undirected.
    public static let connectable = Self(rawValue: 0)
    /// ADV_DIRECT_IND, high duty cycle.
    public static let directedHighDuty = Self(rawValue: 1)
    /// ADV_SCAN_IND: scannable, undirected.
    public static let scannable = Self(rawValue: 2)
    /// ADV_NONCONN_IND: what a beacon is.
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

/// Own_Address_Type: which of its addresses the controller sends with.
public struct OwnAddressType: HCINamedOctet {
    public let rawValue: UInt8

    /// Any octet, reserved ones included.
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

    /// Any octet, reserved ones included.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    public static let publicDevice = Self(rawValue: 0)
    public static let random = Self(rawValue: 1)
    public static let publicIdentity = Self(rawValue: 2)
    public static let randomIdentity = Self(rawValue: 3)
    /// 0xFF in extended reports: the advertisement carried no address.
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

/// Advertising_Filter_Policy: whose scan and connection requests are answered.
public struct AdvertisingFilterPolicy: HCINamedOctet {
    public let rawValue: UInt8

    /// Any octet, reserved ones included.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Everybody's.
    public static let all = Self(rawValue: 0)

    public var name: String? {
        switch rawValue {
        case 0: "everybody"
        case 1: "connections from all, scans from the list"
        case 2: "scans from all, connections from the list"
        case 3: "the list only"
        default: nil
        }
    }
}
