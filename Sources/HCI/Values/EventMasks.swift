import BluetoothTypes

/// Event_Mask: which events the controller may send (Core Specification 5.4, Vol 4 Part E 7.3.1).
public struct HCIEventMask: OptionSet, Hashable, Sendable, CustomStringConvertible {
    public let rawValue: UInt64

    /// Any bits, reserved ones included.
    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    public static let hardwareError = Self(rawValue: 1 << 15)
    /// Every event of ``LEEventMask`` needs this bit too. It is clear after a reset.
    public static let leMeta = Self(rawValue: 1 << 61)

    /// What holds after a reset: without LE Meta.
    public static let standard = Self(rawValue: 0x0000_1FFF_FFFF_FFFF)
    /// What holds after a reset, and LE Meta.
    public static let standardAndLE = standard.union(.leMeta)

    public var description: String { Hexadecimal.number(rawValue, width: 16) }
}

/// LE_Event_Mask: which LE Meta events the controller may send (Core Specification 5.4, Vol 4 Part E 7.8.1).
public struct LEEventMask: OptionSet, Hashable, Sendable, CustomStringConvertible {
    public let rawValue: UInt64

    /// Any bits, reserved ones included.
    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    public static let connectionComplete = Self(rawValue: 1 << 0)
    public static let advertisingReport = Self(rawValue: 1 << 1)
    public static let enhancedConnectionComplete = Self(rawValue: 1 << 9)
    public static let extendedAdvertisingReport = Self(rawValue: 1 << 12)
    public static let scanTimeout = Self(rawValue: 1 << 16)
    public static let advertisingSetTerminated = Self(rawValue: 1 << 17)
    public static let scanRequestReceived = Self(rawValue: 1 << 18)

    /// What holds after a reset: connections and legacy reports.
    public static let standard = Self(rawValue: 0x1F)

    public var description: String { Hexadecimal.number(rawValue, width: 16) }
}

/// LE_Features: what the LE link layer can do (Core Specification 5.4, Vol 6 Part B 4.6).
public struct LEFeatures: OptionSet, Hashable, Sendable, CustomStringConvertible {
    public let rawValue: UInt64

    /// Any bits, reserved ones included.
    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    public static let encryption = Self(rawValue: 1 << 0)
    public static let dataPacketLengthExtension = Self(rawValue: 1 << 5)
    public static let llPrivacy = Self(rawValue: 1 << 6)
    public static let le2MPHY = Self(rawValue: 1 << 8)
    public static let leCodedPHY = Self(rawValue: 1 << 11)
    /// Decides between the legacy and the extended family of commands.
    public static let extendedAdvertising = Self(rawValue: 1 << 12)
    public static let periodicAdvertising = Self(rawValue: 1 << 13)
    public static let channelSelectionAlgorithm2 = Self(rawValue: 1 << 14)

    public var description: String { Hexadecimal.number(rawValue, width: 16) }
}
