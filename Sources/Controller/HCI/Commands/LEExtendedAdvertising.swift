public import BluetoothTypes

// The extended advertising commands: Core Specification 5.4, Vol 4 Part E 7.8.52...7.8.60. Between two resets, a host
// must not use both legacy and extended commands (3.1.1).

/// LE Set Advertising Set Random Address (7.8.52). Send ``LESetExtendedAdvertisingParameters`` first: if the set does
/// not exist, the controller refuses the command (status 0x42).
public struct LESetAdvertisingSetRandomAddress: HCICommand {
    public static let opcode = HCIOpcode(rawValue: 0x2035)
    public static let name = "LE Set Advertising Set Random Address"

    /// The host's number of the advertising set, 0x00...0xEF.
    public private(set) var handle: UInt8 = 0
    public private(set) var address = DeviceAddress(FixedOctets())

    /// - Throws: ``HCIParameterError`` for a handle above 0xEF.
    public init(handle: UInt8, address: DeviceAddress) throws(HCIParameterError) {
        self.handle = handle
        self.address = address
        try check()
    }

    public init(placeholder: HCIPlaceholder) {}
    public mutating func layout(_ fields: inout HCIFieldCoder) {
        fields.handle("Advertising_Handle", &handle, in: AdvertisingHandle.range)
        fields.address("Random_Address", &address)
    }
}

/// LE Set Extended Advertising Parameters (7.8.53): creates or changes a set. The controller refuses the command
/// (status 0x0C) while the set is enabled.
public struct LESetExtendedAdvertisingParameters: HCICommand {
    public static let opcode = HCIOpcode(rawValue: 0x2036)
    public static let name = "LE Set Extended Advertising Parameters"

    /// The host's number of the advertising set, 0x00...0xEF.
    public private(set) var handle: UInt8 = 0
    public private(set) var properties: AdvertisingEventProperties = []
    /// The shortest interval, in units of 0.625 ms. The controller chooses an interval between this value and
    /// ``intervalMaximum``.
    public private(set) var intervalMinimum = AdvertisingInterval(rawValue: 0)
    /// The longest interval, in units of 0.625 ms.
    public private(set) var intervalMaximum = AdvertisingInterval(rawValue: 0)
    public private(set) var channels: AdvertisingChannels = []
    public private(set) var ownAddressType = OwnAddressType(rawValue: 0)
    public private(set) var peerAddressType = AddressType(rawValue: 0)
    public private(set) var peerAddress = DeviceAddress(FixedOctets())
    public private(set) var filterPolicy = AdvertisingFilterPolicy(rawValue: 0)
    /// The requested power. The command returns the power that the controller has selected.
    public private(set) var power = RadioPower.noPreference
    public private(set) var primaryPHY = AdvertisingPHY(rawValue: 0)
    /// Secondary_Advertising_Max_Skip: the number of advertising events that the controller may skip before it sends
    /// the auxiliary packet.
    public private(set) var secondaryMaximumSkip: UInt8 = 0
    public private(set) var secondaryPHY = AdvertisingPHY(rawValue: 0)
    /// Advertising_SID, 0...15.
    public private(set) var setIdentifier: UInt8 = 0
    /// Scan_Request_Notification_Enable: 1 if the controller reports scan requests to the host, 0 if not.
    public private(set) var scanRequestNotification: UInt8 = 0

    /// - Throws: ``HCIParameterError`` for values that 7.8.53 forbids for every controller: values out of range, a
    ///   minimum above the maximum, no channel, and combinations of properties that no PDU has.
    public init(
        handle: UInt8, properties: AdvertisingEventProperties,
        intervalMinimum: AdvertisingInterval, intervalMaximum: AdvertisingInterval,
        channels: AdvertisingChannels = .all, ownAddressType: OwnAddressType,
        peerAddressType: AddressType = .publicDevice, peerAddress: DeviceAddress = DeviceAddress(FixedOctets()),
        filterPolicy: AdvertisingFilterPolicy = .all, power: RadioPower = .noPreference,
        primaryPHY: AdvertisingPHY = .le1M, secondaryMaximumSkip: UInt8 = 0, secondaryPHY: AdvertisingPHY = .le1M,
        setIdentifier: UInt8 = 0, scanRequestNotification: Bool = false
    ) throws(HCIParameterError) {
        self.handle = handle
        self.properties = properties
        self.intervalMinimum = intervalMinimum
        self.intervalMaximum = intervalMaximum
        self.channels = channels
        self.ownAddressType = ownAddressType
        self.peerAddressType = peerAddressType
        self.peerAddress = peerAddress
        self.filterPolicy = filterPolicy
        self.power = power
        self.primaryPHY = primaryPHY
        self.secondaryMaximumSkip = secondaryMaximumSkip
        self.secondaryPHY = secondaryPHY
        self.setIdentifier = setIdentifier
        self.scanRequestNotification = scanRequestNotification ? 1 : 0
        try check()
        try checkProperties()
    }

    public init(placeholder: HCIPlaceholder) {}
    public mutating func layout(_ fields: inout HCIFieldCoder) {
        fields.handle("Advertising_Handle", &handle, in: AdvertisingHandle.range)
        fields.named("Advertising_Event_Properties", &properties)
        fields.intervals(
            "Primary_Advertising_Interval_Min", &intervalMinimum, "Primary_Advertising_Interval_Max",
            &intervalMaximum, bytesPerInterval: 3, in: AdvertisingInterval.extendedRange)
        fields.channels("Primary_Advertising_Channel_Map", &channels)
        fields.named("Own_Address_Type", &ownAddressType, in: 0...3)
        fields.named("Peer_Address_Type", &peerAddressType, in: 0...1)
        fields.address("Peer_Address", &peerAddress)
        fields.named("Advertising_Filter_Policy", &filterPolicy, in: 0...3)
        fields.power("Advertising_TX_Power", &power)
        fields.named("Primary_Advertising_PHY", &primaryPHY)
        fields.number("Secondary_Advertising_Max_Skip", &secondaryMaximumSkip)
        fields.named("Secondary_Advertising_PHY", &secondaryPHY, in: 1...3)
        fields.number("Advertising_SID", &setIdentifier, in: 0...15)
        fields.onOff("Scan_Request_Notification_Enable", &scanRequestNotification)
    }

    /// Throws an error if properties exclude each other, or if the primary physical layer does not allow them.
    private func checkProperties() throws(HCIParameterError) {
        func refuse(_ reason: String) -> HCIParameterError {
            .notAllowed(field: "Advertising_Event_Properties", value: properties.description, reason: reason)
        }
        guard properties.rawValue >> 7 == 0 else { throw refuse("bits 7 to 15 are reserved") }
        guard primaryPHY == .le1M || primaryPHY == .leCoded else {
            throw .notAllowed(
                field: "Primary_Advertising_PHY", value: primaryPHY.description,
                reason: "only LE 1M and LE Coded are allowed on the primary channels")
        }
        if properties.contains(.legacyPDU) {
            guard AdvertisingEventProperties.allowedLegacy.contains(properties.rawValue) else {
                throw refuse("no legacy PDU has these properties")
            }
            guard primaryPHY == .le1M else { throw refuse("legacy PDUs are sent on LE 1M only") }
        } else {
            guard !properties.isSuperset(of: [.connectable, .scannable]) else {
                throw refuse("extended PDUs are connectable or scannable, not both")
            }
            guard !properties.contains(.highDutyDirected) else {
                throw refuse("only legacy PDUs have a high duty cycle")
            }
        }
    }

    /// The power that the controller has selected.
    public struct ReturnParameters: HCIReturnParameters {
        /// The power in dBm.
        public private(set) var selectedPower = RadioPower(octet: 0)

        /// Creates the return parameters that a controller sends. The values are not checked.
        public init(selectedPower: RadioPower) {
            self.selectedPower = selectedPower
        }

        public init(placeholder: HCIPlaceholder) {}
        public mutating func layout(_ fields: inout HCIFieldCoder) {
            fields.power("Selected_TX_Power", &selectedPower)
        }
    }
}

/// LE Set Extended Advertising Parameters, version 2 (7.8.53). It also selects the coding on LE Coded. Controllers with
/// the feature Advertising Coding Selection support it.
public struct LESetExtendedAdvertisingParametersV2: HCICommand {
    public typealias ReturnParameters = LESetExtendedAdvertisingParameters.ReturnParameters
    public static let opcode = HCIOpcode(rawValue: 0x207F)
    public static let name = "LE Set Extended Advertising Parameters v2"

    /// The parameters that version 1 also has.
    public private(set) var common = LESetExtendedAdvertisingParameters(placeholder: HCIPlaceholder())
    public private(set) var primaryOptions = AdvertisingPHYOptions(rawValue: 0)
    public private(set) var secondaryOptions = AdvertisingPHYOptions(rawValue: 0)

    /// - Throws: ``HCIParameterError`` for reserved options.
    public init(
        _ parameters: LESetExtendedAdvertisingParameters, primaryOptions: AdvertisingPHYOptions,
        secondaryOptions: AdvertisingPHYOptions
    ) throws(HCIParameterError) {
        common = parameters
        self.primaryOptions = primaryOptions
        self.secondaryOptions = secondaryOptions
        try check()
    }

    public init(placeholder: HCIPlaceholder) {}
    public mutating func layout(_ fields: inout HCIFieldCoder) {
        common.layout(&fields)
        fields.named("Primary_Advertising_PHY_Options", &primaryOptions, in: 0...4)
        fields.named("Secondary_Advertising_PHY_Options", &secondaryOptions, in: 0...4)
    }
}

/// LE Set Extended Advertising Data (7.8.54). While the set is enabled, the controller accepts only complete data and
/// refuses fragments (status 0x0C).
public struct LESetExtendedAdvertisingData: HCICommand {
    public static let opcode = HCIOpcode(rawValue: 0x2037)
    public static let name = "LE Set Extended Advertising Data"

    /// The maximum number of data bytes in one command: 255 parameter bytes minus the four that precede the data.
    public static let fragmentLimit = 251

    /// The host's number of the advertising set, 0x00...0xEF.
    public private(set) var handle: UInt8 = 0
    public private(set) var operation = AdvertisingDataOperation(rawValue: 0)
    /// 0: the controller may fragment the data. 1: it should not.
    public private(set) var fragmentPreference: UInt8 = 0
    public private(set) var data: [UInt8] = []

    /// Returns the commands that set `data` of any length: one command with the complete data, or several commands with
    /// the first, the intermediate and the last fragments. The controller refuses fragments (status 0x0C) while the set
    /// is enabled.
    ///
    /// - Throws: ``HCIParameterError`` for a handle above 0xEF.
    public static func all(handle: UInt8, data: [UInt8]) throws(HCIParameterError) -> [Self] {
        guard data.count > fragmentLimit else { return [try Self(handle: handle, data: data)] }
        var commands: [Self] = []
        for start in stride(from: 0, to: data.count, by: fragmentLimit) {
            let end = min(start + fragmentLimit, data.count)
            let operation: AdvertisingDataOperation =
                start == 0 ? .firstFragment : end == data.count ? .lastFragment : .intermediateFragment
            // The data does not fit into one packet, so the controller must be allowed to fragment it.
            commands.append(
                try Self(handle: handle, operation: operation, mayFragment: true, data: Array(data[start..<end])))
        }
        return commands
    }

    /// - Throws: ``HCIParameterError`` for a handle above 0xEF, more than 251 bytes, an empty fragment, or a reserved
    ///   operation.
    public init(
        handle: UInt8, operation: AdvertisingDataOperation = .complete, mayFragment: Bool = false, data: [UInt8]
    ) throws(HCIParameterError) {
        self.handle = handle
        self.operation = operation
        fragmentPreference = mayFragment ? 0 : 1
        self.data = data
        try check()
    }

    public init(placeholder: HCIPlaceholder) {}
    public mutating func layout(_ fields: inout HCIFieldCoder) {
        fields.handle("Advertising_Handle", &handle, in: AdvertisingHandle.range)
        fields.named("Operation", &operation, in: 0...4)
        fields.fragmentPreference(&fragmentPreference)
        fields.fragment("Advertising_Data", &data, operation)
    }
}

/// LE Set Extended Scan Response Data (7.8.55). The operation "unchanged" is not allowed.
public struct LESetExtendedScanResponseData: HCICommand {
    public static let opcode = HCIOpcode(rawValue: 0x2038)
    public static let name = "LE Set Extended Scan Response Data"

    /// The host's number of the advertising set, 0x00...0xEF.
    public private(set) var handle: UInt8 = 0
    public private(set) var operation = AdvertisingDataOperation(rawValue: 0)
    /// 0: the controller may fragment the data. 1: it should not.
    public private(set) var fragmentPreference: UInt8 = 0
    public private(set) var data: [UInt8] = []

    /// - Throws: ``HCIParameterError`` for a handle above 0xEF, more than 251 bytes, an empty fragment, or a reserved
    ///   operation.
    public init(
        handle: UInt8, operation: AdvertisingDataOperation = .complete, mayFragment: Bool = false, data: [UInt8]
    ) throws(HCIParameterError) {
        self.handle = handle
        self.operation = operation
        fragmentPreference = mayFragment ? 0 : 1
        self.data = data
        try check()
    }

    public init(placeholder: HCIPlaceholder) {}
    public mutating func layout(_ fields: inout HCIFieldCoder) {
        fields.handle("Advertising_Handle", &handle, in: AdvertisingHandle.range)
        fields.named("Operation", &operation, in: 0...3)
        fields.fragmentPreference(&fragmentPreference)
        fields.fragment("Scan_Response_Data", &data, operation)
    }
}

extension HCIFieldCoder {
    fileprivate mutating func fragmentPreference(_ value: inout UInt8) {
        number("Fragment_Preference", &value) { value in
            (value == 0 ? "may fragment" : "should not fragment") + " (\(Hexadecimal.number(value, width: 2)))"
        }
    }

    /// Visits two fields: the length and the bytes of the data, or of one fragment of the data.
    fileprivate mutating func fragment(_ name: String, _ data: inout [UInt8], _ operation: AdvertisingDataOperation) {
        // A fragment must not be empty, and "unchanged" has no data.
        let lengths =
            switch operation {
            case .complete: 0...LESetExtendedAdvertisingData.fragmentLimit
            case .unchanged: 0...0
            default: 1...LESetExtendedAdvertisingData.fragmentLimit
            }
        let count = count(name + "_Length", of: data.count, in: lengths, unit: "bytes", isDescribed: true)
        bytes(name, &data, count: count)
    }
}

/// LE Set Extended Advertising Enable (7.8.56).
public struct LESetExtendedAdvertisingEnable: HCICommand {
    public static let opcode = HCIOpcode(rawValue: 0x2039)
    public static let name = "LE Set Extended Advertising Enable"

    /// An advertising set, and the limits after which the controller stops sending it.
    public struct Entry: Hashable, Sendable {
        /// The host's number of the advertising set, 0x00...0xEF.
        public private(set) var handle: UInt8
        /// The duration in units of 10 ms; 0 means until disabled.
        public private(set) var duration: UInt16
        /// Max_Extended_Advertising_Events: the maximum number of advertising events; 0 means no maximum.
        public private(set) var maximumEvents: UInt8

        /// - Parameters:
        ///   - handle: The host's number of the set.
        ///   - duration: The duration in units of 10 ms; 0 means until disabled.
        ///   - maximumEvents: The maximum number of advertising events; 0 means no maximum.
        public init(handle: UInt8, duration: UInt16 = 0, maximumEvents: UInt8 = 0) {
            self.handle = handle
            self.duration = duration
            self.maximumEvents = maximumEvents
        }

        fileprivate mutating func layout(_ fields: inout HCIFieldCoder) {
            fields.handle("Advertising_Handle", &handle, in: AdvertisingHandle.range)
            fields.number("Duration", &duration) { $0 == 0 ? "until disabled" : "\(Int($0) * 10) ms" }
            fields.number("Max_Extended_Advertising_Events", &maximumEvents) { $0 == 0 ? "no maximum" : "\($0)" }
        }
    }

    /// 1 on, 0 off. Other values are invalid, but captured commands can contain them.
    public private(set) var enable: UInt8 = 0
    /// The sets. If ``enable`` is 0, an empty list means all sets.
    public private(set) var sets: [Entry] = []

    /// Disables all sets.
    public static let disableAll = Self(placeholder: HCIPlaceholder())

    /// - Throws: ``HCIParameterError`` if `enable` is true and there is no set, if there are more than 63 sets, and if
    ///   a handle is above 0xEF or occurs twice.
    public init(_ enable: Bool, _ sets: [Entry]) throws(HCIParameterError) {
        self.enable = enable ? 1 : 0
        self.sets = sets
        try check()
        var seen: Set<UInt8> = []
        for set in sets where !seen.insert(set.handle).inserted {
            throw .notAllowed(
                field: "Advertising_Handle", value: Hexadecimal.number(set.handle, width: 2),
                reason: "the list contains this set twice")
        }
    }

    public init(placeholder: HCIPlaceholder) {}
    public mutating func layout(_ fields: inout HCIFieldCoder) {
        fields.onOff("Enable", &enable)
        let count = fields.count("Num_Sets", of: sets.count, in: (enable == 1 ? 1 : 0)...63, isDescribed: true)
        fields.each(&sets, count: count, placeholder: Entry(handle: 0)) { $0.layout(&$1) }
    }
}

/// LE Read Maximum Advertising Data Length (7.8.57).
public struct LEReadMaximumAdvertisingDataLength: HCIParameterlessCommand {
    public static let opcode = HCIOpcode(rawValue: 0x203A)
    public static let name = "LE Read Maximum Advertising Data Length"

    /// The command has no parameters.
    public init() {}

    /// The maximum length.
    public struct ReturnParameters: HCIReturnParameters {
        /// The length in bytes, 31...1650.
        public private(set) var maximumLength: UInt16 = 0

        /// Creates the return parameters that a controller sends. The values are not checked.
        public init(maximumLength: UInt16) {
            self.maximumLength = maximumLength
        }

        public init(placeholder: HCIPlaceholder) {}
        public mutating func layout(_ fields: inout HCIFieldCoder) {
            fields.number("Max_Advertising_Data_Length", &maximumLength)
        }
    }
}

/// LE Read Number of Supported Advertising Sets (7.8.58). The number may change, because the controller may use the
/// memory of the sets for other purposes.
public struct LEReadNumberOfSupportedAdvertisingSets: HCIParameterlessCommand {
    public static let opcode = HCIOpcode(rawValue: 0x203B)
    public static let name = "LE Read Number of Supported Advertising Sets"

    /// The command has no parameters.
    public init() {}

    /// The number of sets.
    public struct ReturnParameters: HCIReturnParameters {
        /// The number of sets that can exist at the same time, 1...240.
        public private(set) var count: UInt8 = 0

        /// Creates the return parameters that a controller sends. The values are not checked.
        public init(count: UInt8) {
            self.count = count
        }

        public init(placeholder: HCIPlaceholder) {}
        public mutating func layout(_ fields: inout HCIFieldCoder) {
            fields.number("Num_Supported_Advertising_Sets", &count)
        }
    }
}

/// LE Remove Advertising Set (7.8.59). The controller refuses the command while the set is enabled (status 0x0C), and
/// if the set does not exist (status 0x42).
public struct LERemoveAdvertisingSet: HCICommand {
    public static let opcode = HCIOpcode(rawValue: 0x203C)
    public static let name = "LE Remove Advertising Set"

    /// The host's number of the advertising set, 0x00...0xEF.
    public private(set) var handle: UInt8 = 0

    /// - Throws: ``HCIParameterError`` for a handle above 0xEF.
    public init(handle: UInt8) throws(HCIParameterError) {
        self.handle = handle
        try check()
    }

    public init(placeholder: HCIPlaceholder) {}
    public mutating func layout(_ fields: inout HCIFieldCoder) {
        fields.handle("Advertising_Handle", &handle, in: AdvertisingHandle.range)
    }
}

/// LE Clear Advertising Sets (7.8.60). The controller refuses the command (status 0x0C) while any set is enabled.
public struct LEClearAdvertisingSets: HCIParameterlessCommand {
    public static let opcode = HCIOpcode(rawValue: 0x203D)
    public static let name = "LE Clear Advertising Sets"

    /// The command has no parameters.
    public init() {}
}
