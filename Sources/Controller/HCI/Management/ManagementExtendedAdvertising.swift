public import BluetoothTypes

// The form of Linux 5.11 and later: first the parameters, then the data. BlueZ's doc/mgmt-api.txt.

/// Add Extended Advertising Parameters. The adapter must be powered.
public struct AddExtendedAdvertisingParameters: ManagementCommand {
    public static let opcode: UInt16 = 0x0054
    public static let name = "Add Extended Advertising Parameters"

    /// The host's number of the advertising instance, from 1.
    public let instance: UInt8
    public let flags: ManagementAdvertisingFlags
    /// Seconds on the air before the next instance's turn, with ``ManagementAdvertisingFlags/useDuration``.
    public let duration: UInt16
    /// Seconds until the kernel removes the instance, with ``ManagementAdvertisingFlags/useTimeout``.
    public let timeout: UInt16
    /// Used with ``ManagementAdvertisingFlags/useIntervals``.
    public let intervalMinimum: AdvertisingInterval
    public let intervalMaximum: AdvertisingInterval
    /// Used with ``ManagementAdvertisingFlags/useTxPower``.
    public let power: RadioPower

    /// - Throws: ``HCIParameterError`` for an instance outside 1...254, and for intervals outside 0x20...0xFFFFFF or in
    ///   the wrong order when they are used.
    public init(
        instance: UInt8, flags: ManagementAdvertisingFlags, duration: UInt16 = 0, timeout: UInt16 = 0,
        intervalMinimum: AdvertisingInterval = AdvertisingInterval(rawValue: 0),
        intervalMaximum: AdvertisingInterval = AdvertisingInterval(rawValue: 0), power: RadioPower = .noPreference
    ) throws(HCIParameterError) {
        try HCIParameterError.check(instance: instance)
        if flags.contains(.useIntervals) {
            try HCIParameterError.check(
                intervalMinimum, intervalMaximum, names: "Interval", in: AdvertisingInterval.extendedRange)
        }
        self.instance = instance
        self.flags = flags
        self.duration = duration
        self.timeout = timeout
        self.intervalMinimum = intervalMinimum
        self.intervalMaximum = intervalMaximum
        self.power = power
    }

    /// Reads exactly 18 octets; `nil` for another number. Reserved values are kept.
    public init?(parameters octets: Span<UInt8>) {
        guard octets.count == 18 else { return nil }
        instance = octets[0]
        flags = ManagementAdvertisingFlags(rawValue: octets.uint32LittleEndian(at: 1))
        duration = octets.uint16LittleEndian(at: 5)
        timeout = octets.uint16LittleEndian(at: 7)
        intervalMinimum = AdvertisingInterval(rawValue: octets.uint32LittleEndian(at: 9))
        intervalMaximum = AdvertisingInterval(rawValue: octets.uint32LittleEndian(at: 13))
        power = RadioPower(octet: octets[17])
    }

    public var parameters: [UInt8] {
        var octets = [instance]
        octets.append(littleEndian: flags.rawValue)
        octets.append(littleEndian: duration)
        octets.append(littleEndian: timeout)
        octets.append(littleEndian: intervalMinimum.rawValue)
        octets.append(littleEndian: intervalMaximum.rawValue)
        octets.append(power.octet)
        return octets
    }

    public var fields: [HCIField] {
        [
            HCIField("Instance", instance), HCIField("Flags", flags), HCIField("Duration", "\(duration) s"),
            HCIField("Timeout", "\(timeout) s"), HCIField("Min_Interval", interval: intervalMinimum),
            HCIField("Max_Interval", interval: intervalMaximum), HCIField("TX_Power", power),
        ]
    }

    /// The power that the controller has granted, and the room for data in octets.
    public struct ReturnParameters: HCIReturnParameters {
        /// The host's number of the advertising instance, from 1.
        public let instance: UInt8
        /// What the controller selected; `RadioPower.noPreference` where nobody could be asked.
        public let power: RadioPower
        /// In octets.
        public let maximumDataLength: UInt8
        /// In octets.
        public let maximumScanResponseLength: UInt8

        /// What is answered with success; nothing is checked.
        public init(instance: UInt8, power: RadioPower, maximumDataLength: UInt8, maximumScanResponseLength: UInt8) {
            self.instance = instance
            self.power = power
            self.maximumDataLength = maximumDataLength
            self.maximumScanResponseLength = maximumScanResponseLength
        }

        /// Reads 4 octets from `offset` on, whatever follows; `nil` when fewer are left.
        public init?(octets: Span<UInt8>, at offset: Int) {
            guard octets.holds(4, at: offset) else { return nil }
            instance = octets[offset]
            power = RadioPower(octet: octets[offset + 1])
            maximumDataLength = octets[offset + 2]
            maximumScanResponseLength = octets[offset + 3]
        }

        public var octets: [UInt8] { [instance, power.octet, maximumDataLength, maximumScanResponseLength] }
    }
}

/// Add Extended Advertising Data: fills the instance, or replaces what it sends.
///
/// Some kernels of 2025 refuse a message that is one octet longer than it says.
public struct AddExtendedAdvertisingData: ManagementCommand {
    /// The instance that the command was about.
    public typealias ReturnParameters = ManagementInstance
    public static let opcode: UInt16 = 0x0055
    public static let name = "Add Extended Advertising Data"

    /// The host's number of the advertising instance, from 1.
    public let instance: UInt8
    public let data: [UInt8]
    public let scanResponse: [UInt8]

    /// - Throws: ``HCIParameterError`` for an instance outside 1...254, or more than 255 octets of data or scan
    ///   response.
    public init(instance: UInt8, data: [UInt8], scanResponse: [UInt8] = []) throws(HCIParameterError) {
        try HCIParameterError.check(instance: instance)
        try HCIParameterError.check(data: data, scanResponse: scanResponse)
        self.instance = instance
        self.data = data
        self.scanResponse = scanResponse
    }

    /// Reads 3 octets, then data and scan response of the lengths that they state; `nil` for another number.
    public init?(parameters octets: Span<UInt8>) {
        guard octets.count >= 3, octets.count == 3 + Int(octets[1]) + Int(octets[2]) else { return nil }
        instance = octets[0]
        data = octets.array(3..<3 + Int(octets[1]))
        scanResponse = octets.array(3 + Int(octets[1])..<octets.count)
    }

    public var parameters: [UInt8] {
        [instance, UInt8(truncatingIfNeeded: data.count), UInt8(truncatingIfNeeded: scanResponse.count)]
            + data + scanResponse
    }

    public var fields: [HCIField] {
        [
            HCIField("Instance", instance), HCIField("Adv_Data", octets: data),
            HCIField("Scan_Rsp", octets: scanResponse),
        ]
    }
}
