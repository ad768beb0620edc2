import BluetoothTypes

// Controller & Baseband commands: Core Specification 5.4, Vol 4 Part E 7.3.

/// Set Event Mask (7.3.1): which events the controller may send at all.
public struct SetEventMask: HCICommand {
    /// The status, and nothing behind it.
    public typealias ReturnParameters = HCINoReturnParameters
    public static let opcode = HCIOpcode(rawValue: 0x0C01)
    public static let name = "Set Event Mask"

    public let mask: HCIEventMask

    /// Has the controller send the events of `mask`, and no others.
    public init(_ mask: HCIEventMask) {
        self.mask = mask
    }

    /// Reads exactly 8 octets; `nil` for another number. Reserved values are kept.
    public init?(parameters octets: Span<UInt8>) {
        guard octets.count == 8 else { return nil }
        mask = HCIEventMask(rawValue: octets.uint64LittleEndian(at: 0))
    }

    public var parameters: [UInt8] {
        var octets: [UInt8] = []
        octets.append(littleEndian: mask.rawValue)
        return octets
    }

    public var fields: [HCIField] { [HCIField("Event_Mask", mask)] }
}

/// Reset (7.3.2): the controller forgets all sets, addresses, masks, and which family of commands it was used with.
public struct HCIReset: HCIParameterlessCommand {
    /// The status, and nothing behind it.
    public typealias ReturnParameters = HCINoReturnParameters
    public static let opcode = HCIOpcode(rawValue: 0x0C03)
    public static let name = "Reset"

    /// The command has no parameters.
    public init() {}
}

/// Write LE Host Supported (7.3.79): tells a dual-mode controller that its host speaks LE.
public struct WriteLEHostSupported: HCICommand {
    /// The status, and nothing behind it.
    public typealias ReturnParameters = HCINoReturnParameters
    public static let opcode = HCIOpcode(rawValue: 0x0C6D)
    public static let name = "Write LE Host Supported"

    /// LE_Supported_Host: 1 yes, 0 no.
    public let supported: UInt8
    /// An octet without meaning any more; 0.
    public let unused: UInt8

    /// Tells whether the host speaks LE; the second octet, which has lost its meaning, is 0.
    public init(_ supported: Bool) {
        self.supported = supported ? 1 : 0
        unused = 0
    }

    /// Reads exactly 2 octets; `nil` for another number. Reserved values are kept.
    public init?(parameters octets: Span<UInt8>) {
        guard octets.count == 2 else { return nil }
        supported = octets[0]
        unused = octets[1]
    }

    public var parameters: [UInt8] { [supported, unused] }

    public var fields: [HCIField] {
        [HCIField("LE_Supported_Host", onOff: supported), HCIField("Unused", onOff: unused)]
    }
}
