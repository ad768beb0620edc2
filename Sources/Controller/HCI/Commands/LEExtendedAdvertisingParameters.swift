public import BluetoothTypes

// Advertising sets and what they are: Core Specification 5.4, Vol 4 Part E 7.8.52, 7.8.53, 7.8.59, 7.8.60.

/// LE Set Advertising Set Random Address (7.8.52). The set must exist (0x42 otherwise): parameters first.
public struct LESetAdvertisingSetRandomAddress: HCICommand {
    /// The status, and nothing behind it.
    public typealias ReturnParameters = HCINoReturnParameters
    public static let opcode = HCIOpcode(rawValue: 0x2035)
    public static let name = "LE Set Advertising Set Random Address"

    /// The host's number of the advertising set, 0x00...0xEF.
    public let handle: UInt8
    public let address: DeviceAddress

    /// - Throws: ``HCIParameterError`` for a handle over 0xEF.
    public init(handle: UInt8, address: DeviceAddress) throws(HCIParameterError) {
        try HCIParameterError.check("Advertising_Handle", handle, in: AdvertisingHandle.range)
        self.handle = handle
        self.address = address
    }

    /// Reads exactly 7 octets; `nil` for another number. Reserved values are kept.
    public init?(parameters octets: Span<UInt8>) {
        guard octets.count == 7, let address = DeviceAddress(littleEndian: octets, at: 1) else { return nil }
        handle = octets[0]
        self.address = address
    }

    public var parameters: [UInt8] { [handle] + address.littleEndian }

    public var fields: [HCIField] {
        [HCIField("Advertising_Handle", handle: handle), HCIField("Random_Address", address)]
    }
}

/// LE Set Extended Advertising Parameters (7.8.53): makes a set or changes it; refused (0x0C) while it is enabled.
public struct LESetExtendedAdvertisingParameters: HCICommand {
    public static let opcode = HCIOpcode(rawValue: 0x2036)
    public static let name = "LE Set Extended Advertising Parameters"

    /// The host's number of the advertising set, 0x00...0xEF.
    public let handle: UInt8
    public let properties: AdvertisingEventProperties
    /// In units of 0.625 ms; the controller chooses an interval between the two.
    public let intervalMinimum: AdvertisingInterval
    public let intervalMaximum: AdvertisingInterval
    public let channels: AdvertisingChannels
    public let ownAddressType: OwnAddressType
    public let peerAddressType: AddressType
    public let peerAddress: DeviceAddress
    public let filterPolicy: AdvertisingFilterPolicy
    /// What is asked for; what was granted is returned.
    public let power: RadioPower
    public let primaryPHY: AdvertisingPHY
    /// Secondary_Advertising_Max_Skip: advertising events that may pass before the auxiliary packet is sent.
    public let secondaryMaximumSkip: UInt8
    public let secondaryPHY: AdvertisingPHY
    /// Advertising_SID, 0...15.
    public let setIdentifier: UInt8
    /// Scan_Request_Notification_Enable: 1 or 0.
    public let scanRequestNotification: UInt8

    /// - Throws: ``HCIParameterError`` for what 7.8.53 forbids whatever the controller can do: values out of range,
    ///   minimum over maximum, no channel, combinations of properties that no PDU has.
    public init(
        handle: UInt8, properties: AdvertisingEventProperties,
        intervalMinimum: AdvertisingInterval, intervalMaximum: AdvertisingInterval,
        channels: AdvertisingChannels = .all, ownAddressType: OwnAddressType,
        peerAddressType: AddressType = .publicDevice, peerAddress: DeviceAddress = DeviceAddress(FixedOctets()),
        filterPolicy: AdvertisingFilterPolicy = .all, power: RadioPower = .noPreference,
        primaryPHY: AdvertisingPHY = .le1M, secondaryMaximumSkip: UInt8 = 0, secondaryPHY: AdvertisingPHY = .le1M,
        setIdentifier: UInt8 = 0, scanRequestNotification: Bool = false
    ) throws(HCIParameterError) {
        try HCIParameterError.check("Advertising_Handle", handle, in: AdvertisingHandle.range)
        try Self.check(properties, primaryPHY)
        try HCIParameterError.check(
            intervalMinimum, intervalMaximum, names: "Primary_Advertising_Interval",
            in: AdvertisingInterval.extendedRange)
        try HCIParameterError.check("Primary_Advertising_Channel_Map", channels.rawValue, in: 1...7)
        try HCIParameterError.check("Own_Address_Type", ownAddressType.rawValue, in: 0...3)
        try HCIParameterError.check("Peer_Address_Type", peerAddressType.rawValue, in: 0...1)
        try HCIParameterError.check("Advertising_Filter_Policy", filterPolicy.rawValue, in: 0...3)
        if power != .noPreference {
            try HCIParameterError.check("Advertising_TX_Power", power.dBm, in: RadioPower.range, unit: "dBm")
        }
        try HCIParameterError.check("Secondary_Advertising_PHY", secondaryPHY.rawValue, in: 1...3)
        try HCIParameterError.check("Advertising_SID", setIdentifier, in: 0...15)
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
    }

    /// Reads exactly 25 octets; `nil` for another number. Reserved values are kept.
    public init?(parameters octets: Span<UInt8>) {
        guard octets.count == 25, let peer = DeviceAddress(littleEndian: octets, at: 12) else { return nil }
        handle = octets[0]
        properties = AdvertisingEventProperties(rawValue: octets.uint16LittleEndian(at: 1))
        intervalMinimum = AdvertisingInterval(rawValue: octets.uint24LittleEndian(at: 3))
        intervalMaximum = AdvertisingInterval(rawValue: octets.uint24LittleEndian(at: 6))
        channels = AdvertisingChannels(rawValue: octets[9])
        ownAddressType = OwnAddressType(rawValue: octets[10])
        peerAddressType = AddressType(rawValue: octets[11])
        peerAddress = peer
        filterPolicy = AdvertisingFilterPolicy(rawValue: octets[18])
        power = RadioPower(octet: octets[19])
        primaryPHY = AdvertisingPHY(rawValue: octets[20])
        secondaryMaximumSkip = octets[21]
        secondaryPHY = AdvertisingPHY(rawValue: octets[22])
        setIdentifier = octets[23]
        scanRequestNotification = octets[24]
    }

    public var parameters: [UInt8] {
        var octets: [UInt8] = [handle]
        octets.append(littleEndian: properties.rawValue)
        octets.append(littleEndian24: intervalMinimum.rawValue)
        octets.append(littleEndian24: intervalMaximum.rawValue)
        octets += [channels.rawValue, ownAddressType.rawValue, peerAddressType.rawValue]
        octets += peerAddress.littleEndian
        octets += [filterPolicy.rawValue, power.octet, primaryPHY.rawValue, secondaryMaximumSkip]
        octets += [secondaryPHY.rawValue, setIdentifier, scanRequestNotification]
        return octets
    }

    public var fields: [HCIField] {
        [
            HCIField("Advertising_Handle", handle: handle),
            HCIField("Advertising_Event_Properties", properties),
            HCIField("Primary_Advertising_Interval_Min", interval: intervalMinimum),
            HCIField("Primary_Advertising_Interval_Max", interval: intervalMaximum),
            HCIField("Primary_Advertising_Channel_Map", channels: channels),
            HCIField("Own_Address_Type", ownAddressType),
            HCIField("Peer_Address_Type", peerAddressType),
            HCIField("Peer_Address", peerAddress),
            HCIField("Advertising_Filter_Policy", filterPolicy),
            HCIField("Advertising_TX_Power", power),
            HCIField("Primary_Advertising_PHY", primaryPHY),
            HCIField("Secondary_Advertising_Max_Skip", secondaryMaximumSkip),
            HCIField("Secondary_Advertising_PHY", secondaryPHY),
            HCIField("Advertising_SID", setIdentifier),
            HCIField("Scan_Request_Notification_Enable", onOff: scanRequestNotification),
        ]
    }

    /// Selected_TX_Power, in dBm.
    public struct ReturnParameters: HCIReturnParameters {
        /// Selected_TX_Power: what the controller will send with.
        public let selectedPower: RadioPower

        /// What is answered with success; nothing is checked.
        public init(selectedPower: RadioPower) {
            self.selectedPower = selectedPower
        }

        /// Reads 1 octet from `offset` on, whatever follows; `nil` when it is not there.
        public init?(octets: Span<UInt8>, at offset: Int) {
            guard octets.holds(1, at: offset) else { return nil }
            selectedPower = RadioPower(octet: octets[offset])
        }

        public var octets: [UInt8] { [selectedPower.octet] }
    }

    /// What the properties exclude, by themselves and together with the primary physical layer.
    private static func check(
        _ properties: AdvertisingEventProperties, _ primaryPHY: AdvertisingPHY
    ) throws(HCIParameterError) {
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
}
