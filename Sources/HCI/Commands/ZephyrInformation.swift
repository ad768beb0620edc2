public import BluetoothTypes

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
