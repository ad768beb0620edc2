import BluetoothTypes

// How many advertising sets there are and how they go: Core Specification 5.4, Vol 4 Part E 7.8.57...7.8.60.

/// LE Read Maximum Advertising Data Length (7.8.57).
public struct LEReadMaximumAdvertisingDataLength: HCIParameterlessCommand {
    public static let opcode = HCIOpcode(rawValue: 0x203A)
    public static let name = "LE Read Maximum Advertising Data Length"

    /// The command has no parameters.
    public init() {}

    /// Max_Advertising_Data_Length, 31...1650.
    public struct ReturnParameters: HCIReturnParameters {
        /// Octets, 31...1650.
        public let maximumLength: UInt16

        /// What is answered with success; nothing is checked.
        public init(maximumLength: UInt16) {
            self.maximumLength = maximumLength
        }

        /// Reads 2 octets from `offset` on, whatever follows; `nil` when fewer are left.
        public init?(octets: Span<UInt8>, at offset: Int) {
            guard octets.holds(2, at: offset) else { return nil }
            maximumLength = octets.uint16LittleEndian(at: offset)
        }

        public var octets: [UInt8] {
            var octets: [UInt8] = []
            octets.append(littleEndian: maximumLength)
            return octets
        }
    }
}

/// LE Read Number of Supported Advertising Sets (7.8.58). May change while sets are used for other things.
public struct LEReadNumberOfSupportedAdvertisingSets: HCIParameterlessCommand {
    public static let opcode = HCIOpcode(rawValue: 0x203B)
    public static let name = "LE Read Number of Supported Advertising Sets"

    /// The command has no parameters.
    public init() {}

    /// Num_Supported_Advertising_Sets, 1...240.
    public struct ReturnParameters: HCIReturnParameters {
        public let count: UInt8

        /// What is answered with success; nothing is checked.
        public init(count: UInt8) {
            self.count = count
        }

        /// Reads from `offset` on the fixed octets and the lists that they count; `nil` when not all are there.
        public init?(octets: Span<UInt8>, at offset: Int) {
            guard octets.holds(1, at: offset) else { return nil }
            count = octets[offset]
        }

        public var octets: [UInt8] { [count] }
    }
}

/// LE Remove Advertising Set (7.8.59). Refused while it is enabled (0x0C) and when there is no such set (0x42).
public struct LERemoveAdvertisingSet: HCICommand {
    /// The status, and nothing behind it.
    public typealias ReturnParameters = HCINoReturnParameters
    public static let opcode = HCIOpcode(rawValue: 0x203C)
    public static let name = "LE Remove Advertising Set"

    public let handle: UInt8

    /// - Throws: ``HCIParameterError`` for a handle over 0xEF.
    public init(handle: UInt8) throws(HCIParameterError) {
        try HCIParameterError.check("Advertising_Handle", handle, in: AdvertisingHandle.range)
        self.handle = handle
    }

    /// Reads exactly 1 octet; `nil` for another number. Reserved values are kept.
    public init?(parameters octets: Span<UInt8>) {
        guard octets.count == 1 else { return nil }
        handle = octets[0]
    }

    public var parameters: [UInt8] { [handle] }
    public var fields: [HCIField] { [HCIField("Advertising_Handle", handle: handle)] }
}

/// LE Clear Advertising Sets (7.8.60). Refused (0x0C) while any is enabled.
public struct LEClearAdvertisingSets: HCIParameterlessCommand {
    /// The status, and nothing behind it.
    public typealias ReturnParameters = HCINoReturnParameters
    public static let opcode = HCIOpcode(rawValue: 0x203D)
    public static let name = "LE Clear Advertising Sets"

    /// The command has no parameters.
    public init() {}
}
