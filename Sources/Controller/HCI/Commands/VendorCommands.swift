public import BluetoothTypes

// Commands of controller makers that move the radio's power. Numbers from 0xFC00 on mean something else with every
// maker: they are sent only to a controller whose maker is known.

/// Set_Transmit_Power of Broadcom, Cypress and Infineon chips. Lasts until the next reset.
///
/// Status 0x30 means that the chip does not know this power.
public struct BroadcomSetTransmitPower: HCICommand {
    /// The status, and nothing behind it.
    public typealias ReturnParameters = HCINoReturnParameters
    public static let opcode = HCIOpcode(rawValue: 0xFC26)
    public static let name = "Broadcom Set Transmit Power"

    /// The handle that stands for LE advertising.
    public static let advertisingHandle: UInt16 = 0x00FE

    /// A connection, or ``advertisingHandle``.
    public let handle: UInt16
    /// In dBm.
    public let power: RadioPower

    /// - Throws: ``HCIParameterError`` for a power outside -127...20 dBm: this command has no "no preference".
    public init(handle: UInt16 = Self.advertisingHandle, power: RadioPower) throws(HCIParameterError) {
        try HCIParameterError.check("Transmit_Power", power.dBm, in: RadioPower.range, unit: "dBm")
        self.handle = handle
        self.power = power
    }

    /// Reads exactly 3 octets; `nil` for another number. Reserved values are kept.
    public init?(parameters octets: Span<UInt8>) {
        guard octets.count == 3 else { return nil }
        handle = octets.uint16LittleEndian(at: 0)
        power = RadioPower(octet: octets[2])
    }

    public var parameters: [UInt8] {
        var octets: [UInt8] = []
        octets.append(littleEndian: handle)
        return octets + [power.octet]
    }

    public var fields: [HCIField] {
        let role = handle == Self.advertisingHandle ? "LE advertising" : "connection"
        return [
            HCIField("Handle", "\(role) (\(Hexadecimal.number(handle, width: 4)))"),
            HCIField("Transmit_Power", "\(power.dBm) dBm"),
        ]
    }
}

/// Handle_Type of Zephyr's power commands: what the handle counts.
public struct ZephyrHandleType: HCINamedOctet {
    public let rawValue: UInt8

    /// Any octet, reserved ones included.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The handle is the advertising set's; 0 with the legacy commands.
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
    /// The handle, and the level that the controller has selected.
    public typealias ReturnParameters = ZephyrTxPowerLevel
    public static let opcode = HCIOpcode(rawValue: 0xFC0E)
    public static let name = "Zephyr Write Tx Power Level"

    public let handleType: ZephyrHandleType
    /// The number of the advertising set, scanner or connection, as the type says; 0 where there is one only.
    public let handle: UInt16
    /// In dBm.
    public let power: RadioPower

    /// - Throws: ``HCIParameterError`` for reserved handle types and for a power outside -127...20 dBm other than
    ///   `RadioPower.noPreference`.
    public init(
        handleType: ZephyrHandleType = .advertising, handle: UInt16 = 0, power: RadioPower
    ) throws(HCIParameterError) {
        try HCIParameterError.check("Handle_Type", handleType.rawValue, in: 0...2)
        if power != .noPreference {
            try HCIParameterError.check("Tx_Power_Level", power.dBm, in: RadioPower.range, unit: "dBm")
        }
        self.handleType = handleType
        self.handle = handle
        self.power = power
    }

    /// Reads exactly 4 octets; `nil` for another number. Reserved values are kept.
    public init?(parameters octets: Span<UInt8>) {
        guard octets.count == 4 else { return nil }
        handleType = ZephyrHandleType(rawValue: octets[0])
        handle = octets.uint16LittleEndian(at: 1)
        power = RadioPower(octet: octets[3])
    }

    public var parameters: [UInt8] {
        ZephyrTxPowerLevel(handleType: handleType, handle: handle, power: power).octets
    }

    public var fields: [HCIField] {
        [
            HCIField("Handle_Type", handleType),
            HCIField("Handle", Hexadecimal.number(handle, width: 4)),
            HCIField("Tx_Power_Level", power),
        ]
    }
}

/// Read Tx Power Level of Zephyr and of Nordic's controller (zephyr/bluetooth/hci_vs.h).
public struct ZephyrReadTxPowerLevel: HCICommand {
    /// The handle, and the level that the controller has selected.
    public typealias ReturnParameters = ZephyrTxPowerLevel
    public static let opcode = HCIOpcode(rawValue: 0xFC0F)
    public static let name = "Zephyr Read Tx Power Level"

    public let handleType: ZephyrHandleType
    /// The number of the advertising set, scanner or connection, as the type says; 0 where there is one only.
    public let handle: UInt16

    /// - Throws: ``HCIParameterError`` for reserved handle types.
    public init(handleType: ZephyrHandleType = .advertising, handle: UInt16 = 0) throws(HCIParameterError) {
        try HCIParameterError.check("Handle_Type", handleType.rawValue, in: 0...2)
        self.handleType = handleType
        self.handle = handle
    }

    /// Reads exactly 3 octets; `nil` for another number. Reserved values are kept.
    public init?(parameters octets: Span<UInt8>) {
        guard octets.count == 3 else { return nil }
        handleType = ZephyrHandleType(rawValue: octets[0])
        handle = octets.uint16LittleEndian(at: 1)
    }

    public var parameters: [UInt8] {
        var octets = [handleType.rawValue]
        octets.append(littleEndian: handle)
        return octets
    }

    public var fields: [HCIField] {
        [HCIField("Handle_Type", handleType), HCIField("Handle", Hexadecimal.number(handle, width: 4))]
    }
}

/// What both of Zephyr's power commands return: whose power, and what the radio really sends with.
public struct ZephyrTxPowerLevel: HCIReturnParameters {
    public let handleType: ZephyrHandleType
    /// The number of the advertising set, scanner or connection, as the type says; 0 where there is one only.
    public let handle: UInt16
    /// In dBm.
    public let power: RadioPower

    /// A level for a handle; its meaning depends on `handleType`.
    public init(handleType: ZephyrHandleType, handle: UInt16, power: RadioPower) {
        self.handleType = handleType
        self.handle = handle
        self.power = power
    }

    /// Reads 4 octets from `offset` on, whatever follows; `nil` when fewer are left.
    public init?(octets: Span<UInt8>, at offset: Int) {
        guard octets.holds(4, at: offset) else { return nil }
        handleType = ZephyrHandleType(rawValue: octets[offset])
        handle = octets.uint16LittleEndian(at: offset + 1)
        power = RadioPower(octet: octets[offset + 3])
    }

    public var octets: [UInt8] {
        var octets = [handleType.rawValue]
        octets.append(littleEndian: handle)
        return octets + [power.octet]
    }
}

// How a Zephyr controller tells what it is (zephyr/bluetooth/hci_vs.h). Both are safe to send to any controller whose
// maker is the Linux Foundation or Nordic.

/// Read Version Information: answered with status 0 only by a controller that knows Zephyr's vendor commands.
public struct ZephyrReadVersionInformation: HCIParameterlessCommand {
    public static let opcode = HCIOpcode(rawValue: 0xFC01)
    public static let name = "Zephyr Read Version Information"

    /// The command has no parameters.
    public init() {}

    /// Platform, firmware and their versions, 12 octets.
    public struct ReturnParameters: HCIReturnParameters {
        /// The chip's maker, 2 for Nordic Semiconductor, and in the variant its family (enumerations of that header).
        public let hardwarePlatform: UInt16
        public let hardwareVariant: UInt16
        public let firmwareVariant: UInt8
        public let firmwareVersion: UInt8
        public let firmwareRevision: UInt16
        public let firmwareBuild: UInt32

        /// What is answered with success; nothing is checked.
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

        /// Reads 12 octets from `offset` on, whatever follows; `nil` when fewer are left.
        public init?(octets: Span<UInt8>, at offset: Int) {
            guard octets.holds(12, at: offset) else { return nil }
            hardwarePlatform = octets.uint16LittleEndian(at: offset)
            hardwareVariant = octets.uint16LittleEndian(at: offset + 2)
            firmwareVariant = octets[offset + 4]
            firmwareVersion = octets[offset + 5]
            firmwareRevision = octets.uint16LittleEndian(at: offset + 6)
            firmwareBuild = octets.uint32LittleEndian(at: offset + 8)
        }

        public var octets: [UInt8] {
            var octets: [UInt8] = []
            octets.append(littleEndian: hardwarePlatform)
            octets.append(littleEndian: hardwareVariant)
            octets += [firmwareVariant, firmwareVersion]
            octets.append(littleEndian: firmwareRevision)
            octets.append(littleEndian: firmwareBuild)
            return octets
        }
    }
}

/// Read Supported Commands: the bitmap of the vendor commands.
public struct ZephyrReadSupportedCommands: HCIParameterlessCommand {
    public static let opcode = HCIOpcode(rawValue: 0xFC02)
    public static let name = "Zephyr Read Supported Commands"

    /// The command has no parameters.
    public init() {}

    /// A bitmap of the commands, 64 octets.
    public struct ReturnParameters: HCIReturnParameters {
        /// A bit for each vendor command, as Zephyr numbers them.
        public let bitmap: FixedOctets<64>

        /// What is answered with success; nothing is checked.
        public init(bitmap: FixedOctets<64>) {
            self.bitmap = bitmap
        }

        /// Reads 64 octets from `offset` on, whatever follows; `nil` when fewer are left.
        public init?(octets: Span<UInt8>, at offset: Int) {
            guard let bitmap = FixedOctets<64>(octets, at: offset) else { return nil }
            self.bitmap = bitmap
        }

        public var octets: [UInt8] { bitmap.octets }

        /// Bits 13 and 14: both of Zephyr's power commands are there.
        public var setsTxPower: Bool { bitmap[1] & 0x60 == 0x60 }
    }
}
