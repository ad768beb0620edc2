import BluetoothTypes

// Controller & Baseband commands: Core Specification 5.4, Vol 4 Part E 7.3.

/// Set Event Mask (7.3.1): selects the events that the controller may send.
public struct SetEventMask: HCICommand {
    public static let opcode = HCIOpcode(rawValue: 0x0C01)
    public static let name = "Set Event Mask"

    public private(set) var mask: HCIEventMask = []

    /// Allows the events of `mask` and no others.
    public init(_ mask: HCIEventMask) {
        self.mask = mask
    }

    public init(placeholder: HCIPlaceholder) {}
    public mutating func layout(_ fields: inout HCIFieldCoder) {
        fields.named("Event_Mask", &mask)
    }
}

/// Reset (7.3.2): the controller deletes all advertising sets, addresses and event masks. Afterwards the host may use
/// either the legacy or the extended family of commands.
public struct HCIReset: HCIParameterlessCommand {
    public static let opcode = HCIOpcode(rawValue: 0x0C03)
    public static let name = "Reset"

    /// The command has no parameters.
    public init() {}
}

/// Write LE Host Supported (7.3.79): informs a dual-mode controller that its host uses LE.
public struct WriteLEHostSupported: HCICommand {
    public static let opcode = HCIOpcode(rawValue: 0x0C6D)
    public static let name = "Write LE Host Supported"

    /// LE_Supported_Host: 1 yes, 0 no.
    public private(set) var supported: UInt8 = 0
    /// A byte without meaning; always 0. Earlier specifications used it.
    public private(set) var unused: UInt8 = 0

    /// Sets LE_Supported_Host; the unused byte is 0.
    public init(_ supported: Bool) {
        self.supported = supported ? 1 : 0
    }

    public init(placeholder: HCIPlaceholder) {}
    public mutating func layout(_ fields: inout HCIFieldCoder) {
        fields.onOff("LE_Supported_Host", &supported)
        fields.onOff("Unused", &unused)
    }
}

/// Event_Mask: the events that the controller may send (Core Specification 5.4, Vol 4 Part E 7.3.1).
public struct HCIEventMask: OptionSet, Hashable, Sendable, CustomStringConvertible {
    public let rawValue: UInt64

    /// Accepts any bits, including reserved bits.
    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    public static let hardwareError = Self(rawValue: 1 << 15)
    /// The LE Meta event. If this bit is not set, no event of ``LEEventMask`` is sent. It is not set after a reset.
    public static let leMeta = Self(rawValue: 1 << 61)

    /// The mask after a reset. It does not contain ``leMeta``.
    public static let standard = Self(rawValue: 0x0000_1FFF_FFFF_FFFF)
    /// The mask after a reset, with ``leMeta`` added.
    public static let standardAndLE = standard.union(.leMeta)

    public var description: String { Hexadecimal.number(rawValue, width: 16) }
}

/// LE_Event_Mask: the LE Meta events that the controller may send (Core Specification 5.4, Vol 4 Part E 7.8.1).
public struct LEEventMask: OptionSet, Hashable, Sendable, CustomStringConvertible {
    public let rawValue: UInt64

    /// Accepts any bits, including reserved bits.
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

    /// The mask after a reset: connections and legacy reports.
    public static let standard = Self(rawValue: 0x1F)

    public var description: String { Hexadecimal.number(rawValue, width: 16) }
}

/// LE_Features: the features of the LE link layer (Core Specification 5.4, Vol 6 Part B 4.6).
public struct LEFeatures: OptionSet, Hashable, Sendable, CustomStringConvertible {
    public let rawValue: UInt64

    /// Accepts any bits, including reserved bits.
    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    public static let encryption = Self(rawValue: 1 << 0)
    public static let dataPacketLengthExtension = Self(rawValue: 1 << 5)
    public static let llPrivacy = Self(rawValue: 1 << 6)
    public static let le2MPHY = Self(rawValue: 1 << 8)
    public static let leCodedPHY = Self(rawValue: 1 << 11)
    /// The controller has the extended family of advertising and scanning commands.
    public static let extendedAdvertising = Self(rawValue: 1 << 12)
    public static let periodicAdvertising = Self(rawValue: 1 << 13)
    public static let channelSelectionAlgorithm2 = Self(rawValue: 1 << 14)
    /// The controller can select S=2 or S=8 for advertisements on LE Coded.
    public static let advertisingCodingSelection = Self(rawValue: 1 << 40)
    /// The host can decode S=2 and S=8 in advertising reports: see ``LESetHostFeature``.
    public static let advertisingCodingSelectionHost = Self(rawValue: 1 << 41)

    public var description: String { Hexadecimal.number(rawValue, width: 16) }
}
