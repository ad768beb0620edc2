public import BluetoothTypes

// LE controller commands that belong neither to the legacy nor to the extended family: Core Specification 5.4, Vol 4
// Part E 7.8.

/// LE Set Event Mask (7.8.1): selects the LE Meta events that the controller may send.
public struct LESetEventMask: HCICommand {
    public static let opcode = HCIOpcode(rawValue: 0x2001)
    public static let name = "LE Set Event Mask"

    public private(set) var mask: LEEventMask = []

    /// Allows only the LE events of `mask`. They are sent only if ``SetEventMask`` also allows ``HCIEventMask/leMeta``.
    public init(_ mask: LEEventMask) {
        self.mask = mask
    }

    public init(placeholder: HCIPlaceholder) {}
    public mutating func layout(_ fields: inout HCIFieldCoder) {
        fields.named("LE_Event_Mask", &mask)
    }
}

/// LE Read Local Supported Features (7.8.3): the LE features of the controller, such as extended advertising.
public struct LEReadLocalSupportedFeatures: HCIParameterlessCommand {
    public static let opcode = HCIOpcode(rawValue: 0x2003)
    public static let name = "LE Read Local Supported Features"

    /// The command has no parameters.
    public init() {}

    /// LE_Features: a bit for each feature.
    public struct ReturnParameters: HCIReturnParameters {
        public private(set) var features: LEFeatures = []

        /// Creates the return parameters that a controller sends. The values are not checked.
        public init(_ features: LEFeatures) {
            self.features = features
        }

        public init(placeholder: HCIPlaceholder) {}
        public mutating func layout(_ fields: inout HCIFieldCoder) {
            fields.named("LE_Features", &features)
        }
    }
}

/// LE Read Supported States (7.8.27): the states (such as advertising and scanning) that the controller can be in at
/// the same time.
public struct LEReadSupportedStates: HCIParameterlessCommand {
    public static let opcode = HCIOpcode(rawValue: 0x201C)
    public static let name = "LE Read Supported States"

    /// The command has no parameters.
    public init() {}

    /// LE_States: a bit for each state, and for each combination of two states.
    public struct ReturnParameters: HCIReturnParameters {
        public private(set) var states: UInt64 = 0

        public init(placeholder: HCIPlaceholder) {}
        public mutating func layout(_ fields: inout HCIFieldCoder) {
            fields.number("LE_States", &states)
        }

        /// `true` if the controller can scan passively (bit 4).
        public var scans: Bool { states & 1 << 4 != 0 }
        /// `true` if the controller can scan passively while it sends any kind of undirected advertisement (bits 8, 9
        /// and 10).
        public var scansWhileAdvertising: Bool { states & 0x700 == 0x700 }
    }
}

/// LE Set Host Feature (7.8.115): informs the controller that the host supports a feature. The controller refuses the
/// command (status 0x0C) while a connection exists.
public struct LESetHostFeature: HCICommand {
    public static let opcode = HCIOpcode(rawValue: 0x2074)
    public static let name = "LE Set Host Feature"

    /// The number of the feature's bit in ``LEFeatures``.
    public private(set) var bit: UInt8 = 0
    /// 1 if the host supports the feature, 0 if not. Other values are invalid, but captured commands can contain them.
    public private(set) var value: UInt8 = 0

    /// The command after which reports of advertisements on LE Coded contain the coding, S=2 or S=8 (7.7.65.13).
    public static let codingInReports = Self(bit: 41, value: 1)

    private init(bit: UInt8, value: UInt8) {
        self.bit = bit
        self.value = value
    }

    public init(placeholder: HCIPlaceholder) {}
    public mutating func layout(_ fields: inout HCIFieldCoder) {
        fields.number("Bit_Number", &bit)
        fields.onOff("Bit_Value", &value)
    }
}

/// LE Set Random Address (7.8.4). The controller refuses the command (status 0x0C) while legacy advertising or scanning
/// is enabled.
public struct LESetRandomAddress: HCICommand {
    public static let opcode = HCIOpcode(rawValue: 0x2005)
    public static let name = "LE Set Random Address"

    public private(set) var address = DeviceAddress(FixedOctets())

    /// Sets the address that is used with ``OwnAddressType/random``. The two highest bits of the address are its kind.
    public init(_ address: DeviceAddress) {
        self.address = address
    }

    public init(placeholder: HCIPlaceholder) {}
    public mutating func layout(_ fields: inout HCIFieldCoder) {
        fields.address("Random_Address", &address)
    }
}

/// LE Read Transmit Power (7.8.74): the lowest and the highest transmit power of the radio.
public struct LEReadTransmitPower: HCIParameterlessCommand {
    public static let opcode = HCIOpcode(rawValue: 0x204B)
    public static let name = "LE Read Transmit Power"

    /// The command has no parameters.
    public init() {}

    /// The lowest and the highest power.
    public struct ReturnParameters: HCIReturnParameters {
        /// The lowest power in dBm, -127...20.
        public private(set) var minimum = RadioPower(octet: 0)
        /// The highest power in dBm, -127...20.
        public private(set) var maximum = RadioPower(octet: 0)

        /// Creates the return parameters that a controller sends. The values are not checked.
        public init(minimum: RadioPower, maximum: RadioPower) {
            self.minimum = minimum
            self.maximum = maximum
        }

        public init(placeholder: HCIPlaceholder) {}
        public mutating func layout(_ fields: inout HCIFieldCoder) {
            fields.power("Min_TX_Power", &minimum)
            fields.power("Max_TX_Power", &maximum)
        }
    }
}
