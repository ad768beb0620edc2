public import BluetoothTypes

// The legacy advertising family: Core Specification 5.4, Vol 4 Part E 7.8.5...7.8.9. Never to be mixed with the
// extended family between two resets (3.1.1).

/// LE Set Advertising Parameters (7.8.5). Refused (0x0C) while advertising is enabled.
public struct LESetAdvertisingParameters: HCICommand {
    /// The status, and nothing behind it.
    public typealias ReturnParameters = HCINoReturnParameters
    public static let opcode = HCIOpcode(rawValue: 0x2006)
    public static let name = "LE Set Advertising Parameters"

    /// In units of 0.625 ms; the controller chooses an interval between the two.
    public let intervalMinimum: AdvertisingInterval
    public let intervalMaximum: AdvertisingInterval
    public let type: LegacyAdvertisingType
    public let ownAddressType: OwnAddressType
    public let peerAddressType: AddressType
    public let peerAddress: DeviceAddress
    public let channels: AdvertisingChannels
    public let filterPolicy: AdvertisingFilterPolicy

    /// - Throws: ``HCIParameterError`` for what 7.8.5 forbids: intervals outside 0x0020...0x4000 or minimum over
    ///   maximum (both without meaning for high duty cycle directed advertising), no channel, reserved values.
    public init(
        intervalMinimum: AdvertisingInterval, intervalMaximum: AdvertisingInterval,
        type: LegacyAdvertisingType, ownAddressType: OwnAddressType,
        peerAddressType: AddressType = .publicDevice, peerAddress: DeviceAddress = DeviceAddress(FixedOctets()),
        channels: AdvertisingChannels = .all, filterPolicy: AdvertisingFilterPolicy = .all
    ) throws(HCIParameterError) {
        try HCIParameterError.check("Advertising_Type", type.rawValue, in: 0...4)
        try HCIParameterError.check("Own_Address_Type", ownAddressType.rawValue, in: 0...3)
        try HCIParameterError.check("Peer_Address_Type", peerAddressType.rawValue, in: 0...1)
        try HCIParameterError.check("Advertising_Channel_Map", channels.rawValue, in: 1...7)
        try HCIParameterError.check("Advertising_Filter_Policy", filterPolicy.rawValue, in: 0...3)
        if type == .directedHighDuty {
            try HCIParameterError.check("Advertising_Interval_Min", intervalMinimum.rawValue, in: 0...0xFFFF)
            try HCIParameterError.check("Advertising_Interval_Max", intervalMaximum.rawValue, in: 0...0xFFFF)
        } else {
            try HCIParameterError.check(
                intervalMinimum, intervalMaximum, names: "Advertising_Interval", in: AdvertisingInterval.legacyRange)
        }
        self.intervalMinimum = intervalMinimum
        self.intervalMaximum = intervalMaximum
        self.type = type
        self.ownAddressType = ownAddressType
        self.peerAddressType = peerAddressType
        self.peerAddress = peerAddress
        self.channels = channels
        self.filterPolicy = filterPolicy
    }

    /// Reads exactly 15 octets; `nil` for another number. Reserved values are kept.
    public init?(parameters octets: Span<UInt8>) {
        guard octets.count == 15, let peer = DeviceAddress(littleEndian: octets, at: 7) else { return nil }
        intervalMinimum = AdvertisingInterval(rawValue: UInt32(octets.uint16LittleEndian(at: 0)))
        intervalMaximum = AdvertisingInterval(rawValue: UInt32(octets.uint16LittleEndian(at: 2)))
        type = LegacyAdvertisingType(rawValue: octets[4])
        ownAddressType = OwnAddressType(rawValue: octets[5])
        peerAddressType = AddressType(rawValue: octets[6])
        peerAddress = peer
        channels = AdvertisingChannels(rawValue: octets[13])
        filterPolicy = AdvertisingFilterPolicy(rawValue: octets[14])
    }

    public var parameters: [UInt8] {
        var octets: [UInt8] = []
        octets.append(littleEndian: UInt16(truncatingIfNeeded: intervalMinimum.rawValue))
        octets.append(littleEndian: UInt16(truncatingIfNeeded: intervalMaximum.rawValue))
        octets += [type.rawValue, ownAddressType.rawValue, peerAddressType.rawValue]
        octets += peerAddress.littleEndian
        octets += [channels.rawValue, filterPolicy.rawValue]
        return octets
    }

    public var fields: [HCIField] {
        [
            HCIField("Advertising_Interval_Min", interval: intervalMinimum),
            HCIField("Advertising_Interval_Max", interval: intervalMaximum),
            HCIField("Advertising_Type", type),
            HCIField("Own_Address_Type", ownAddressType),
            HCIField("Peer_Address_Type", peerAddressType),
            HCIField("Peer_Address", peerAddress),
            HCIField("Advertising_Channel_Map", channels: channels),
            HCIField("Advertising_Filter_Policy", filterPolicy),
        ]
    }
}

/// LE Read Advertising Physical Channel Tx Power (7.8.6). Of the legacy family although it only reads.
public struct LEReadAdvertisingPhysicalChannelTxPower: HCIParameterlessCommand {
    public static let opcode = HCIOpcode(rawValue: 0x2007)
    public static let name = "LE Read Advertising Physical Channel Tx Power"

    /// The command has no parameters.
    public init() {}

    /// TX_Power_Level, -20...20 dBm.
    public struct ReturnParameters: HCIReturnParameters {
        /// In dBm.
        public let power: RadioPower

        /// What is answered with success; nothing is checked.
        public init(_ power: RadioPower) {
            self.power = power
        }

        /// Reads 1 octet from `offset` on, whatever follows; `nil` when it is not there.
        public init?(octets: Span<UInt8>, at offset: Int) {
            guard octets.holds(1, at: offset) else { return nil }
            power = RadioPower(octet: octets[offset])
        }

        public var octets: [UInt8] { [power.octet] }
    }
}

/// LE Set Advertising Enable (7.8.9).
public struct LESetAdvertisingEnable: HCICommand {
    /// The status, and nothing behind it.
    public typealias ReturnParameters = HCINoReturnParameters
    public static let opcode = HCIOpcode(rawValue: 0x200A)
    public static let name = "LE Set Advertising Enable"

    /// 1 on, 0 off; what else a host may send is invalid.
    public let enable: UInt8

    /// Turns legacy advertising on or off.
    public init(_ enable: Bool) {
        self.enable = enable ? 1 : 0
    }

    /// Reads exactly 1 octet; `nil` for another number. Reserved values are kept.
    public init?(parameters octets: Span<UInt8>) {
        guard octets.count == 1 else { return nil }
        enable = octets[0]
    }

    public var parameters: [UInt8] { [enable] }
    public var fields: [HCIField] { [HCIField("Advertising_Enable", onOff: enable)] }
}

/// The parameter of the two legacy data commands: a length and always 31 octets, what is not significant being zero.
///
/// Core Specification 5.4, Vol 4 Part E 7.8.7 and 7.8.8.
public struct LegacyDataParameter: Hashable, Sendable {
    /// Significant octets as claimed; over 31 only in what others sent.
    public let length: UInt8
    /// All 31 octets.
    public let padded: FixedOctets<31>

    init(_ data: [UInt8], of name: String) throws(HCIParameterError) {
        let range = 0...AdvertisingData.legacyLimit
        guard range.contains(data.count) else {
            throw .outOfRange(ValueOutOfRange("\(name)_Length", data.count, range: range, unit: "octets"))
        }
        var padded = FixedOctets<31>()
        for index in data.indices { padded[index] = data[index] }
        self.padded = padded
        length = UInt8(data.count)
    }

    init?(_ octets: Span<UInt8>) {
        guard octets.count == 32, let padded = FixedOctets<31>(octets, at: 1) else { return nil }
        length = octets[0]
        self.padded = padded
    }

    /// The significant octets; at most 31, whatever the length claims.
    public var data: [UInt8] { Array(padded.octets.prefix(Int(length))) }

    var octets: [UInt8] {
        var octets: [UInt8] = []
        octets.reserveCapacity(32)
        octets.append(length)
        octets += padded.octets
        return octets
    }
}

/// What the two legacy data commands have in common: a length and 31 octets.
public protocol LegacyDataCommand: HCICommand where ReturnParameters == HCINoReturnParameters {
    /// Length and data, as they are sent.
    var parameter: LegacyDataParameter { get }
    /// The specification's name of the data.
    static var dataName: String { get }

    init(_ parameter: LegacyDataParameter)
}

extension LegacyDataCommand {
    /// - Throws: ``HCIParameterError`` for more than 31 octets.
    public init(_ data: [UInt8]) throws(HCIParameterError) {
        self.init(try LegacyDataParameter(data, of: Self.dataName))
    }

    /// Reads the length and the 31 octets of data that always follow it; `nil` for another number of octets.
    public init?(parameters octets: Span<UInt8>) {
        guard let parameter = LegacyDataParameter(octets) else { return nil }
        self.init(parameter)
    }

    /// The significant octets.
    public var data: [UInt8] { parameter.data }
    public var parameters: [UInt8] { parameter.octets }

    public var fields: [HCIField] {
        [HCIField("\(Self.dataName)_Length", parameter.length), HCIField(Self.dataName, octets: data)]
    }
}

/// LE Set Advertising Data (7.8.7). Allowed at any time; used from the next advertising event on.
public struct LESetAdvertisingData: LegacyDataCommand {
    public static let opcode = HCIOpcode(rawValue: 0x2008)
    public static let name = "LE Set Advertising Data"
    public static let dataName = "Advertising_Data"

    public let parameter: LegacyDataParameter

    /// A command with parameters that were read or made before.
    public init(_ parameter: LegacyDataParameter) {
        self.parameter = parameter
    }
}

/// LE Set Scan Response Data (7.8.8). Allowed at any time.
public struct LESetScanResponseData: LegacyDataCommand {
    public static let opcode = HCIOpcode(rawValue: 0x2009)
    public static let name = "LE Set Scan Response Data"
    public static let dataName = "Scan_Response_Data"

    public let parameter: LegacyDataParameter

    /// A command with parameters that were read or made before.
    public init(_ parameter: LegacyDataParameter) {
        self.parameter = parameter
    }
}
