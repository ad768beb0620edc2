public import BluetoothTypes

// LE controller commands that belong to no family: Core Specification 5.4, Vol 4 Part E 7.8.

/// LE Set Event Mask (7.8.1): which LE Meta events the controller may send.
public struct LESetEventMask: HCICommand {
    /// The status, and nothing behind it.
    public typealias ReturnParameters = HCINoReturnParameters
    public static let opcode = HCIOpcode(rawValue: 0x2001)
    public static let name = "LE Set Event Mask"

    public let mask: LEEventMask

    /// Has the controller send the LE events of `mask`, and no others, provided the LE Meta event itself is on.
    public init(_ mask: LEEventMask) {
        self.mask = mask
    }

    /// Reads exactly 8 octets; `nil` for another number. Reserved values are kept.
    public init?(parameters octets: Span<UInt8>) {
        guard octets.count == 8 else { return nil }
        mask = LEEventMask(rawValue: octets.uint64LittleEndian(at: 0))
    }

    public var parameters: [UInt8] {
        var octets: [UInt8] = []
        octets.append(littleEndian: mask.rawValue)
        return octets
    }

    public var fields: [HCIField] { [HCIField("LE_Event_Mask", mask)] }
}

/// LE Read Local Supported Features (7.8.3): among them whether the extended family is there.
public struct LEReadLocalSupportedFeatures: HCIParameterlessCommand {
    public static let opcode = HCIOpcode(rawValue: 0x2003)
    public static let name = "LE Read Local Supported Features"

    /// The command has no parameters.
    public init() {}

    /// LE_Features, 8 octets.
    public struct ReturnParameters: HCIReturnParameters {
        public let features: LEFeatures

        /// What is answered with success; nothing is checked.
        public init(_ features: LEFeatures) {
            self.features = features
        }

        /// Reads 8 octets from `offset` on, whatever follows; `nil` when fewer are left.
        public init?(octets: Span<UInt8>, at offset: Int) {
            guard octets.holds(8, at: offset) else { return nil }
            features = LEFeatures(rawValue: octets.uint64LittleEndian(at: offset))
        }

        public var octets: [UInt8] {
            var octets: [UInt8] = []
            octets.append(littleEndian: features.rawValue)
            return octets
        }
    }
}

/// LE Read Supported States (7.8.27): what the controller can do at the same time.
public struct LEReadSupportedStates: HCIParameterlessCommand {
    public static let opcode = HCIOpcode(rawValue: 0x201C)
    public static let name = "LE Read Supported States"

    /// The command has no parameters.
    public init() {}

    /// LE_States, 8 octets.
    public struct ReturnParameters: HCIReturnParameters {
        /// A bit for each state, and for each two together.
        public let states: UInt64

        /// What is answered with success; nothing is checked.
        public init(states: UInt64) {
            self.states = states
        }

        /// Reads 8 octets from `offset` on, whatever follows; `nil` when fewer are left.
        public init?(octets: Span<UInt8>, at offset: Int) {
            guard octets.holds(8, at: offset) else { return nil }
            states = octets.uint64LittleEndian(at: offset)
        }

        public var octets: [UInt8] {
            var octets: [UInt8] = []
            octets.append(littleEndian: states)
            return octets
        }

        /// Whether it can scan passively at all: bit 4.
        public var scans: Bool { states & 1 << 4 != 0 }
        /// Whether it can scan passively while it sends any kind of undirected advertisement: bits 8, 9 and 10.
        public var scansWhileAdvertising: Bool { states & 0x700 == 0x700 }
    }
}

/// LE Set Random Address (7.8.4): refused (0x0C) while legacy advertising or scanning is enabled.
public struct LESetRandomAddress: HCICommand {
    /// The status, and nothing behind it.
    public typealias ReturnParameters = HCINoReturnParameters
    public static let opcode = HCIOpcode(rawValue: 0x2005)
    public static let name = "LE Set Random Address"

    public let address: DeviceAddress

    /// Sets the address that ``OwnAddressType/random`` stands for; its two top bits tell which kind it is.
    public init(_ address: DeviceAddress) {
        self.address = address
    }

    /// Reads exactly 6 octets; `nil` for another number. Reserved values are kept.
    public init?(parameters octets: Span<UInt8>) {
        guard octets.count == 6, let address = DeviceAddress(littleEndian: octets, at: 0) else { return nil }
        self.address = address
    }

    public var parameters: [UInt8] { address.littleEndian }
    public var fields: [HCIField] { [HCIField("Random_Address", address)] }
}

/// LE Read Transmit Power (7.8.74): the range of the radio's power.
public struct LEReadTransmitPower: HCIParameterlessCommand {
    public static let opcode = HCIOpcode(rawValue: 0x204B)
    public static let name = "LE Read Transmit Power"

    /// The command has no parameters.
    public init() {}

    /// Min_TX_Power and Max_TX_Power, in dBm.
    public struct ReturnParameters: HCIReturnParameters {
        /// The least that it can emit, in dBm, -127...20.
        public let minimum: RadioPower
        /// The most, in dBm, -127...20.
        public let maximum: RadioPower

        /// What is answered with success; nothing is checked.
        public init(minimum: RadioPower, maximum: RadioPower) {
            self.minimum = minimum
            self.maximum = maximum
        }

        /// Reads 2 octets from `offset` on, whatever follows; `nil` when fewer are left.
        public init?(octets: Span<UInt8>, at offset: Int) {
            guard octets.holds(2, at: offset) else { return nil }
            minimum = RadioPower(octet: octets[offset])
            maximum = RadioPower(octet: octets[offset + 1])
        }

        public var octets: [UInt8] { [minimum.octet, maximum.octet] }
    }
}
