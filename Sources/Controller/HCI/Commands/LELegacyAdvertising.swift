public import BluetoothTypes

// The legacy advertising commands: Core Specification 5.4, Vol 4 Part E 7.8.5...7.8.9. Between two resets, a host must
// not use both legacy and extended commands (3.1.1).

/// LE Set Advertising Parameters (7.8.5). The controller refuses the command (status 0x0C) while advertising is
/// enabled.
public struct LESetAdvertisingParameters: HCICommand {
    public static let opcode = HCIOpcode(rawValue: 0x2006)
    public static let name = "LE Set Advertising Parameters"

    /// The shortest interval, in units of 0.625 ms. The controller chooses an interval between this value and
    /// ``intervalMaximum``.
    public private(set) var intervalMinimum = AdvertisingInterval(rawValue: 0)
    /// The longest interval, in units of 0.625 ms.
    public private(set) var intervalMaximum = AdvertisingInterval(rawValue: 0)
    public private(set) var type = LegacyAdvertisingType(rawValue: 0)
    public private(set) var ownAddressType = OwnAddressType(rawValue: 0)
    public private(set) var peerAddressType = AddressType(rawValue: 0)
    public private(set) var peerAddress = DeviceAddress(FixedOctets())
    public private(set) var channels: AdvertisingChannels = []
    public private(set) var filterPolicy = AdvertisingFilterPolicy(rawValue: 0)

    /// - Throws: ``HCIParameterError`` for values that 7.8.5 forbids: intervals outside 0x0020...0x4000, a minimum
    ///   above the maximum, no channel, and reserved values. Intervals are not checked for directed advertising with a
    ///   high duty cycle, which ignores them.
    public init(
        intervalMinimum: AdvertisingInterval, intervalMaximum: AdvertisingInterval,
        type: LegacyAdvertisingType, ownAddressType: OwnAddressType,
        peerAddressType: AddressType = .publicDevice, peerAddress: DeviceAddress = DeviceAddress(FixedOctets()),
        channels: AdvertisingChannels = .all, filterPolicy: AdvertisingFilterPolicy = .all
    ) throws(HCIParameterError) {
        self.intervalMinimum = intervalMinimum
        self.intervalMaximum = intervalMaximum
        self.type = type
        self.ownAddressType = ownAddressType
        self.peerAddressType = peerAddressType
        self.peerAddress = peerAddress
        self.channels = channels
        self.filterPolicy = filterPolicy
        try check()
    }

    public init(placeholder: HCIPlaceholder) {}
    public mutating func layout(_ fields: inout HCIFieldCoder) {
        fields.intervals(
            "Advertising_Interval_Min", &intervalMinimum, "Advertising_Interval_Max", &intervalMaximum,
            bytesPerInterval: 2, in: type == .directedHighDuty ? nil : AdvertisingInterval.legacyRange)
        fields.named("Advertising_Type", &type, in: 0...4)
        fields.named("Own_Address_Type", &ownAddressType, in: 0...3)
        fields.named("Peer_Address_Type", &peerAddressType, in: 0...1)
        fields.address("Peer_Address", &peerAddress)
        fields.channels("Advertising_Channel_Map", &channels)
        fields.named("Advertising_Filter_Policy", &filterPolicy, in: 0...3)
    }
}

/// LE Read Advertising Physical Channel Tx Power (7.8.6). It is a legacy command, although it only reads. So a host
/// must not use it together with extended commands.
public struct LEReadAdvertisingPhysicalChannelTxPower: HCIParameterlessCommand {
    public static let opcode = HCIOpcode(rawValue: 0x2007)
    public static let name = "LE Read Advertising Physical Channel Tx Power"

    /// The command has no parameters.
    public init() {}

    /// The power of legacy advertising.
    public struct ReturnParameters: HCIReturnParameters {
        /// The power in dBm, -20...20.
        public private(set) var power = RadioPower(octet: 0)

        /// Creates the return parameters that a controller sends. The values are not checked.
        public init(_ power: RadioPower) {
            self.power = power
        }

        public init(placeholder: HCIPlaceholder) {}
        public mutating func layout(_ fields: inout HCIFieldCoder) {
            fields.power("TX_Power_Level", &power)
        }
    }
}

/// LE Set Advertising Enable (7.8.9).
public struct LESetAdvertisingEnable: HCICommand {
    public static let opcode = HCIOpcode(rawValue: 0x200A)
    public static let name = "LE Set Advertising Enable"

    /// 1 on, 0 off. Other values are invalid, but captured commands can contain them.
    public private(set) var enable: UInt8 = 0

    /// Turns legacy advertising on or off.
    public init(_ enable: Bool) {
        self.enable = enable ? 1 : 0
    }

    public init(placeholder: HCIPlaceholder) {}
    public mutating func layout(_ fields: inout HCIFieldCoder) {
        fields.onOff("Advertising_Enable", &enable)
    }
}

/// LE Set Advertising Data (7.8.7). It is allowed at any time. The data is used from the next advertising event on.
public struct LESetAdvertisingData: HCICommand {
    public static let opcode = HCIOpcode(rawValue: 0x2008)
    public static let name = "LE Set Advertising Data"

    /// The number of significant bytes, 0...31. Captured commands of other hosts can contain a higher number.
    public private(set) var length: UInt8 = 0
    /// Always 31 bytes. Bytes that are not significant are zero.
    public private(set) var padded = FixedOctets<31>()

    /// - Throws: ``HCIParameterError`` for more than 31 bytes.
    public init(_ data: [UInt8]) throws(HCIParameterError) {
        length = UInt8(clamping: data.count)
        padded = FixedOctets(padding: data)
        try check()
    }

    /// The significant bytes; at most 31.
    public var data: [UInt8] { Array(padded.octets.prefix(Int(length))) }

    public init(placeholder: HCIPlaceholder) {}
    public mutating func layout(_ fields: inout HCIFieldCoder) {
        let data = data
        fields.number("Advertising_Data_Length", &length, in: 0...31, unit: "bytes")
        fields.fixed("Advertising_Data", &padded) { _ in data.isEmpty ? "none" : Hexadecimal.text(data) }
    }
}

/// LE Set Scan Response Data (7.8.8). Allowed at any time.
public struct LESetScanResponseData: HCICommand {
    public static let opcode = HCIOpcode(rawValue: 0x2009)
    public static let name = "LE Set Scan Response Data"

    /// The number of significant bytes, 0...31. Captured commands of other hosts can contain a higher number.
    public private(set) var length: UInt8 = 0
    /// Always 31 bytes. Bytes that are not significant are zero.
    public private(set) var padded = FixedOctets<31>()

    /// - Throws: ``HCIParameterError`` for more than 31 bytes.
    public init(_ data: [UInt8]) throws(HCIParameterError) {
        length = UInt8(clamping: data.count)
        padded = FixedOctets(padding: data)
        try check()
    }

    /// The significant bytes; at most 31.
    public var data: [UInt8] { Array(padded.octets.prefix(Int(length))) }

    public init(placeholder: HCIPlaceholder) {}
    public mutating func layout(_ fields: inout HCIFieldCoder) {
        let data = data
        fields.number("Scan_Response_Data_Length", &length, in: 0...31, unit: "bytes")
        fields.fixed("Scan_Response_Data", &padded) { _ in data.isEmpty ? "none" : Hexadecimal.text(data) }
    }
}

extension FixedOctets<31> {
    /// The first 31 bytes of `data`, followed by zeros.
    fileprivate init(padding data: [UInt8]) {
        self.init()
        for (index, octet) in data.prefix(31).enumerated() { self[index] = octet }
    }
}
