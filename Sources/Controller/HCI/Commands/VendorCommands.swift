public import BluetoothTypes

// Vendor commands that set the transmit power. The meaning of opcodes from 0xFC00 on depends on the manufacturer, so
// these commands are sent only to a controller whose manufacturer is known.

/// Set_Transmit_Power of Broadcom, Cypress and Infineon chips. The setting lasts until the next reset.
///
/// Status 0x30 means that the chip does not support this power.
public struct BroadcomSetTransmitPower: HCICommand {
    public static let opcode = HCIOpcode(rawValue: 0xFC26)
    public static let name = "Broadcom Set Transmit Power"

    /// The handle for LE advertising.
    public static let advertisingHandle: UInt16 = 0x00FE

    /// The handle of a connection, or ``advertisingHandle``.
    public private(set) var handle: UInt16 = 0
    /// The power in dBm.
    public private(set) var power = RadioPower(octet: 0)

    /// - Throws: ``HCIParameterError`` for a power outside -127...20 dBm. This command does not accept
    ///   `RadioPower.noPreference`.
    public init(handle: UInt16 = Self.advertisingHandle, power: RadioPower) throws(HCIParameterError) {
        self.handle = handle
        self.power = power
        try check()
    }

    public init(placeholder: HCIPlaceholder) {}
    public mutating func layout(_ fields: inout HCIFieldCoder) {
        fields.number("Handle", &handle) { handle in
            let role = handle == Self.advertisingHandle ? "LE advertising" : "connection"
            return "\(role) (\(Hexadecimal.number(handle, width: 4)))"
        }
        fields.power("Transmit_Power", &power, allowsNoPreference: false)
    }
}

/// Handle_Type of Zephyr's power commands: the kind of object that the handle identifies.
public struct ZephyrHandleType: HCINamedOctet {
    public let rawValue: UInt8

    /// Accepts any byte, including reserved values.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The handle is the handle of an advertising set; 0 if the legacy commands are used.
    public static let advertising = Self(rawValue: 0)
    public static let scanning = Self(rawValue: 1)
    public static let connection = Self(rawValue: 2)

    public var name: String? {
        switch rawValue {
        case 0: "advertising"
        case 1: "scanning"
        case 2: "connection"
        default: nil
        }
    }
}

/// Write Tx Power Level of Zephyr and of Nordic's controller (zephyr/bluetooth/hci_vs.h).
public struct ZephyrWriteTxPowerLevel: HCICommand {
    public typealias ReturnParameters = ZephyrTxPowerLevel
    public static let opcode = HCIOpcode(rawValue: 0xFC0E)
    public static let name = "Zephyr Write Tx Power Level"

    public private(set) var handleType = ZephyrHandleType(rawValue: 0)
    /// The number of the advertising set, scanner or connection; 0 if there is only one.
    public private(set) var handle: UInt16 = 0
    /// The power in dBm.
    public private(set) var power = RadioPower(octet: 0)

    /// - Throws: ``HCIParameterError`` for reserved handle types and for a power outside -127...20 dBm other than
    ///   `RadioPower.noPreference`.
    public init(
        handleType: ZephyrHandleType = .advertising, handle: UInt16 = 0, power: RadioPower
    ) throws(HCIParameterError) {
        self.handleType = handleType
        self.handle = handle
        self.power = power
        try check()
    }

    public init(placeholder: HCIPlaceholder) {}
    public mutating func layout(_ fields: inout HCIFieldCoder) {
        fields.named("Handle_Type", &handleType, in: 0...2)
        fields.number("Handle", &handle) { Hexadecimal.number($0, width: 4) }
        fields.power("Tx_Power_Level", &power)
    }
}

/// Read Tx Power Level of Zephyr and of Nordic's controller (zephyr/bluetooth/hci_vs.h).
public struct ZephyrReadTxPowerLevel: HCICommand {
    public typealias ReturnParameters = ZephyrTxPowerLevel
    public static let opcode = HCIOpcode(rawValue: 0xFC0F)
    public static let name = "Zephyr Read Tx Power Level"

    public private(set) var handleType = ZephyrHandleType(rawValue: 0)
    /// The number of the advertising set, scanner or connection; 0 if there is only one.
    public private(set) var handle: UInt16 = 0

    /// - Throws: ``HCIParameterError`` for reserved handle types.
    public init(handleType: ZephyrHandleType = .advertising, handle: UInt16 = 0) throws(HCIParameterError) {
        self.handleType = handleType
        self.handle = handle
        try check()
    }

    public init(placeholder: HCIPlaceholder) {}
    public mutating func layout(_ fields: inout HCIFieldCoder) {
        fields.named("Handle_Type", &handleType, in: 0...2)
        fields.number("Handle", &handle) { Hexadecimal.number($0, width: 4) }
    }
}

/// The return parameters of both of Zephyr's power commands: the power that the radio really uses.
public struct ZephyrTxPowerLevel: HCIReturnParameters {
    public private(set) var handleType = ZephyrHandleType(rawValue: 0)
    /// The number of the advertising set, scanner or connection; 0 if there is only one.
    public private(set) var handle: UInt16 = 0
    /// The power in dBm.
    public private(set) var power = RadioPower(octet: 0)

    /// Creates the return parameters that a controller sends. The values are not checked.
    public init(handleType: ZephyrHandleType, handle: UInt16, power: RadioPower) {
        self.handleType = handleType
        self.handle = handle
        self.power = power
    }

    public init(placeholder: HCIPlaceholder) {}
    public mutating func layout(_ fields: inout HCIFieldCoder) {
        fields.named("Handle_Type", &handleType)
        fields.number("Handle", &handle)
        fields.power("Selected_Tx_Power", &power)
    }
}

// The commands that identify a Zephyr controller (zephyr/bluetooth/hci_vs.h). They may be sent to any controller whose
// manufacturer is the Linux Foundation or Nordic.

/// Read Version Information. Only a controller with Zephyr's vendor commands answers it with status 0.
public struct ZephyrReadVersionInformation: HCIParameterlessCommand {
    public static let opcode = HCIOpcode(rawValue: 0xFC01)
    public static let name = "Zephyr Read Version Information"

    /// The command has no parameters.
    public init() {}

    /// Platform, firmware and their versions.
    public struct ReturnParameters: HCIReturnParameters {
        /// The chip's manufacturer, 2 for Nordic Semiconductor.
        public private(set) var hardwarePlatform: UInt16 = 0
        /// The chip's family, numbered by its manufacturer.
        public private(set) var hardwareVariant: UInt16 = 0
        public private(set) var firmwareVariant: UInt8 = 0
        public private(set) var firmwareVersion: UInt8 = 0
        public private(set) var firmwareRevision: UInt16 = 0
        public private(set) var firmwareBuild: UInt32 = 0

        /// Creates the return parameters that a controller sends. The values are not checked.
        public init(
            hardwarePlatform: UInt16, hardwareVariant: UInt16, firmwareVariant: UInt8, firmwareVersion: UInt8,
            firmwareRevision: UInt16, firmwareBuild: UInt32
        ) {
            self.hardwarePlatform = hardwarePlatform
            self.hardwareVariant = hardwareVariant
            self.firmwareVariant = firmwareVariant
            self.firmwareVersion = firmwareVersion
            self.firmwareRevision = firmwareRevision
            self.firmwareBuild = firmwareBuild
        }

        public init(placeholder: HCIPlaceholder) {}
        public mutating func layout(_ fields: inout HCIFieldCoder) {
            fields.number("Hardware_Platform", &hardwarePlatform)
            fields.number("Hardware_Variant", &hardwareVariant)
            fields.number("Firmware_Variant", &firmwareVariant)
            fields.number("Firmware_Version", &firmwareVersion)
            fields.number("Firmware_Revision", &firmwareRevision)
            fields.number("Firmware_Build", &firmwareBuild)
        }
    }
}

/// Read Supported Commands: the bitmap of the vendor commands.
public struct ZephyrReadSupportedCommands: HCIParameterlessCommand {
    public static let opcode = HCIOpcode(rawValue: 0xFC02)
    public static let name = "Zephyr Read Supported Commands"

    /// The command has no parameters.
    public init() {}

    /// A bit for each vendor command, in Zephyr's numbering.
    public struct ReturnParameters: HCIReturnParameters {
        public private(set) var bitmap = FixedOctets<64>()

        /// Creates the return parameters that a controller sends. The values are not checked.
        public init(bitmap: FixedOctets<64>) {
            self.bitmap = bitmap
        }

        public init(placeholder: HCIPlaceholder) {}
        public mutating func layout(_ fields: inout HCIFieldCoder) {
            fields.fixed("Vendor_Supported_Commands", &bitmap)
        }

        /// `true` if the controller has both of Zephyr's power commands: bits 13 and 14.
        public var setsTxPower: Bool { bitmap[1] & 0x60 == 0x60 }
    }
}
