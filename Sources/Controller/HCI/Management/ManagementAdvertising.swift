public import BluetoothTypes

// Commands for the kernel's advertising instances, which all programs share: BlueZ's doc/mgmt-api.txt.

/// Read Advertising Features.
public struct ReadAdvertisingFeatures: ManagementParameterlessCommand {
    public static let opcode: UInt16 = 0x003D
    public static let name = "Read Advertising Features"

    /// The command has no parameters.
    public init() {}

    /// The advertising features of the kernel on this adapter, and the existing instances.
    public struct ReturnParameters: HCIReturnParameters {
        public private(set) var supportedFlags: ManagementAdvertisingFlags = []
        /// The largest length of the data, in bytes.
        public private(set) var maximumDataLength: UInt8 = 0
        /// The largest length of the scan response, in bytes.
        public private(set) var maximumScanResponseLength: UInt8 = 0
        /// The highest instance number that the kernel accepts; the lowest is 1.
        public private(set) var maximumInstances: UInt8 = 0
        /// The numbers of the existing instances. Linux 6.1 omits numbers that are greater than the count of instances.
        public private(set) var instances: [UInt8] = []

        /// Creates the return parameters that the kernel sends. The values are not checked.
        public init(
            supportedFlags: ManagementAdvertisingFlags, maximumDataLength: UInt8, maximumScanResponseLength: UInt8,
            maximumInstances: UInt8, instances: [UInt8]
        ) {
            self.supportedFlags = supportedFlags
            self.maximumDataLength = maximumDataLength
            self.maximumScanResponseLength = maximumScanResponseLength
            self.maximumInstances = maximumInstances
            self.instances = instances
        }

        public init(placeholder: HCIPlaceholder) {}
        public mutating func layout(_ fields: inout HCIFieldCoder) {
            fields.named("Supported_Flags", &supportedFlags)
            fields.number("Max_Adv_Data_Len", &maximumDataLength)
            fields.number("Max_Scan_Rsp_Len", &maximumScanResponseLength)
            fields.number("Max_Instances", &maximumInstances)
            let count = fields.count("Num_Instances", of: instances.count, in: 0...255)
            fields.bytes("Instance", &instances, count: count)
        }
    }
}

/// Add Advertising, since Linux 4.1. It has no parameters for interval and power.
public struct AddAdvertising: ManagementCommand {
    public typealias ReturnParameters = ManagementInstance
    public static let opcode: UInt16 = 0x003E
    public static let name = "Add Advertising"

    /// The host's number of the advertising instance, from 1.
    public private(set) var instance: UInt8 = 0
    public private(set) var flags: ManagementAdvertisingFlags = []
    /// The time for which the instance is sent before the kernel switches to the next instance, in seconds; 0 if the
    /// kernel chooses the time.
    public private(set) var duration: UInt16 = 0
    /// The time after which the kernel removes the instance, in seconds; 0 means never.
    public private(set) var timeout: UInt16 = 0
    public private(set) var data: [UInt8] = []
    public private(set) var scanResponse: [UInt8] = []

    /// - Throws: ``HCIParameterError`` for an instance outside 1...254, or more than 255 bytes of data or scan
    ///   response. The kernel's own limit is lower.
    public init(
        instance: UInt8, flags: ManagementAdvertisingFlags = [], duration: UInt16 = 0, timeout: UInt16 = 0,
        data: [UInt8], scanResponse: [UInt8] = []
    ) throws(HCIParameterError) {
        self.instance = instance
        self.flags = flags
        self.duration = duration
        self.timeout = timeout
        self.data = data
        self.scanResponse = scanResponse
        try check()
    }

    public init(placeholder: HCIPlaceholder) {}
    public mutating func layout(_ fields: inout HCIFieldCoder) {
        fields.instance(&instance)
        fields.named("Flags", &flags)
        fields.number("Duration", &duration) { "\($0) s" }
        fields.number("Timeout", &timeout) { "\($0) s" }
        fields.dataAndScanResponse(&data, &scanResponse)
    }
}

/// Remove Advertising.
public struct RemoveAdvertising: ManagementCommand {
    public typealias ReturnParameters = ManagementInstance
    public static let opcode: UInt16 = 0x003F
    public static let name = "Remove Advertising"

    /// The number of the instance; 0 means all instances of all programs.
    public private(set) var instance: UInt8 = 0

    /// - Throws: ``HCIParameterError`` for 0, which would remove the instances of other programs, and for 255.
    public init(instance: UInt8) throws(HCIParameterError) {
        self.instance = instance
        try check()
    }

    public init(placeholder: HCIPlaceholder) {}
    public mutating func layout(_ fields: inout HCIFieldCoder) {
        fields.instance(&instance)
    }
}

// The commands of Linux 5.11 and later. The first command sets the parameters of an instance, the second command sets
// its data.

/// Add Extended Advertising Parameters. The adapter must be powered.
public struct AddExtendedAdvertisingParameters: ManagementCommand {
    public static let opcode: UInt16 = 0x0054
    public static let name = "Add Extended Advertising Parameters"

    /// The host's number of the advertising instance, from 1.
    public private(set) var instance: UInt8 = 0
    public private(set) var flags: ManagementAdvertisingFlags = []
    /// The time for which the instance is sent before the kernel switches to the next instance, in seconds. Used only
    /// with ``ManagementAdvertisingFlags/useDuration``.
    public private(set) var duration: UInt16 = 0
    /// The time after which the kernel removes the instance, in seconds. Used only with
    /// ``ManagementAdvertisingFlags/useTimeout``.
    public private(set) var timeout: UInt16 = 0
    /// The shortest interval, in units of 0.625 ms. Used only with ``ManagementAdvertisingFlags/useIntervals``.
    public private(set) var intervalMinimum = AdvertisingInterval(rawValue: 0)
    /// The longest interval, in units of 0.625 ms. Used only with ``ManagementAdvertisingFlags/useIntervals``.
    public private(set) var intervalMaximum = AdvertisingInterval(rawValue: 0)
    /// The requested power. Used only with ``ManagementAdvertisingFlags/useTxPower``.
    public private(set) var power = RadioPower.noPreference

    /// - Throws: ``HCIParameterError`` for an instance outside 1...254. If the flags say that the intervals are used,
    ///   also for intervals outside 0x20...0xFFFFFF and for a minimum above the maximum.
    public init(
        instance: UInt8, flags: ManagementAdvertisingFlags, duration: UInt16 = 0, timeout: UInt16 = 0,
        intervalMinimum: AdvertisingInterval = AdvertisingInterval(rawValue: 0),
        intervalMaximum: AdvertisingInterval = AdvertisingInterval(rawValue: 0), power: RadioPower = .noPreference
    ) throws(HCIParameterError) {
        self.instance = instance
        self.flags = flags
        self.duration = duration
        self.timeout = timeout
        self.intervalMinimum = intervalMinimum
        self.intervalMaximum = intervalMaximum
        self.power = power
        try check()
    }

    public init(placeholder: HCIPlaceholder) {}
    public mutating func layout(_ fields: inout HCIFieldCoder) {
        fields.instance(&instance)
        fields.named("Flags", &flags)
        fields.number("Duration", &duration) { "\($0) s" }
        fields.number("Timeout", &timeout) { "\($0) s" }
        fields.intervals(
            "Min_Interval", &intervalMinimum, "Max_Interval", &intervalMaximum, bytesPerInterval: 4,
            in: flags.contains(.useIntervals) ? AdvertisingInterval.extendedRange : nil)
        fields.power("TX_Power", &power)
    }

    /// The power that the controller has selected, and the limits for the data.
    public struct ReturnParameters: HCIReturnParameters {
        /// The host's number of the advertising instance, from 1.
        public private(set) var instance: UInt8 = 0
        /// The selected power; `RadioPower.noPreference` if the controller does not report it.
        public private(set) var power = RadioPower.noPreference
        /// The largest length of the data, in bytes.
        public private(set) var maximumDataLength: UInt8 = 0
        /// The largest length of the scan response, in bytes.
        public private(set) var maximumScanResponseLength: UInt8 = 0

        public init(placeholder: HCIPlaceholder) {}
        public mutating func layout(_ fields: inout HCIFieldCoder) {
            fields.instance(&instance)
            fields.power("TX_Power", &power)
            fields.number("Max_Adv_Data_Len", &maximumDataLength)
            fields.number("Max_Scan_Rsp_Len", &maximumScanResponseLength)
        }
    }
}

/// Add Extended Advertising Data: sets or replaces the data of an instance.
///
/// Some kernels of 2025 refuse a message that is one byte longer than its length field states.
public struct AddExtendedAdvertisingData: ManagementCommand {
    public typealias ReturnParameters = ManagementInstance
    public static let opcode: UInt16 = 0x0055
    public static let name = "Add Extended Advertising Data"

    /// The host's number of the advertising instance, from 1.
    public private(set) var instance: UInt8 = 0
    public private(set) var data: [UInt8] = []
    public private(set) var scanResponse: [UInt8] = []

    /// - Throws: ``HCIParameterError`` for an instance outside 1...254, or more than 255 bytes of data or scan
    ///   response.
    public init(instance: UInt8, data: [UInt8], scanResponse: [UInt8] = []) throws(HCIParameterError) {
        self.instance = instance
        self.data = data
        self.scanResponse = scanResponse
        try check()
    }

    public init(placeholder: HCIPlaceholder) {}
    public mutating func layout(_ fields: inout HCIFieldCoder) {
        fields.instance(&instance)
        fields.dataAndScanResponse(&data, &scanResponse)
    }
}

extension HCIFieldCoder {
    /// Visits a field that contains the number of an advertising instance.
    fileprivate mutating func instance(_ instance: inout UInt8) {
        number("Instance", &instance, in: 1...254)
    }

    /// Visits four fields: the lengths of the data and of the scan response, then the bytes of both.
    fileprivate mutating func dataAndScanResponse(_ data: inout [UInt8], _ scanResponse: inout [UInt8]) {
        let dataCount = count("Adv_Data_Len", of: data.count, in: 0...255, unit: "bytes")
        let responseCount = count("Scan_Rsp_Len", of: scanResponse.count, in: 0...255, unit: "bytes")
        bytes("Adv_Data", &data, count: dataCount)
        bytes("Scan_Rsp", &scanResponse, count: responseCount)
    }
}
