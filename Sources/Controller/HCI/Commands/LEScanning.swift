public import BluetoothTypes

// Legacy scanning: Core Specification 5.4, Vol 4 Part E 7.8.10, 7.8.11. Between two resets, a host must not use these
// commands together with extended commands.

/// LE Set Scan Parameters (7.8.10). The controller refuses the command (status 0x0C) while scanning is enabled.
public struct LESetScanParameters: HCICommand {
    public static let opcode = HCIOpcode(rawValue: 0x200B)
    public static let name = "LE Set Scan Parameters"

    public private(set) var type = ScanType(rawValue: 0)
    /// The time between two changes of the channel, in the range `ScanInterval.legacyRange`.
    public private(set) var interval = ScanInterval(rawValue: 0)
    /// The time for which the controller listens after each change: from 2.5 ms to the interval.
    public private(set) var window = ScanInterval(rawValue: 0)
    public private(set) var ownAddressType = OwnAddressType(rawValue: 0)
    public private(set) var filterPolicy = ScanFilterPolicy(rawValue: 0)

    /// - Throws: ``HCIParameterError`` for an interval outside 2.5 ms...10.24 s, a window that is shorter than 2.5 ms
    ///   or longer than the interval, and reserved values.
    public init(
        type: ScanType, interval: ScanInterval, window: ScanInterval, ownAddressType: OwnAddressType = .publicDevice,
        filterPolicy: ScanFilterPolicy = .all
    ) throws(HCIParameterError) {
        self.type = type
        self.interval = interval
        self.window = window
        self.ownAddressType = ownAddressType
        self.filterPolicy = filterPolicy
        try check()
    }

    public init(placeholder: HCIPlaceholder) {}
    public mutating func layout(_ fields: inout HCIFieldCoder) {
        fields.named("LE_Scan_Type", &type, in: 0...1)
        fields.scan("LE_Scan_Interval", &interval, "LE_Scan_Window", &window, in: ScanInterval.legacyRange)
        fields.named("Own_Address_Type", &ownAddressType, in: 0...3)
        fields.named("Scanning_Filter_Policy", &filterPolicy, in: 0...3)
    }
}

/// LE Set Scan Enable (7.8.11).
public struct LESetScanEnable: HCICommand {
    public static let opcode = HCIOpcode(rawValue: 0x200C)
    public static let name = "LE Set Scan Enable"

    /// 1 on, 0 off. Other values are invalid, but captured commands can contain them.
    public private(set) var enable: UInt8 = 0
    public private(set) var filterDuplicates = DuplicateFilter.off

    /// Turns scanning on or off. If `filterDuplicates` is true, each advertiser is reported only once.
    public init(_ enable: Bool, filterDuplicates: Bool = false) {
        self.enable = enable ? 1 : 0
        self.filterDuplicates = filterDuplicates ? .on : .off
    }

    public init(placeholder: HCIPlaceholder) {}
    public mutating func layout(_ fields: inout HCIFieldCoder) {
        fields.onOff("LE_Scan_Enable", &enable)
        fields.named("Filter_Duplicates", &filterDuplicates)
    }
}

// Extended scanning: Core Specification 5.4, Vol 4 Part E 7.8.64, 7.8.65.

/// LE Set Extended Scan Parameters (7.8.64). The controller refuses the command (status 0x0C) while scanning is
/// enabled.
public struct LESetExtendedScanParameters: HCICommand {
    public static let opcode = HCIOpcode(rawValue: 0x2041)
    public static let name = "LE Set Extended Scan Parameters"

    /// The parameters for one physical layer.
    public struct Entry: Hashable, Sendable {
        public private(set) var type: ScanType
        /// The time between two changes of the channel, in the range `ScanInterval.extendedRange`.
        public private(set) var interval: ScanInterval
        /// The time for which the controller listens after each change: from 2.5 ms to the interval.
        public private(set) var window: ScanInterval

        /// Creates an entry without checking the values. The command that contains the entry checks them.
        public init(type: ScanType, interval: ScanInterval, window: ScanInterval) {
            self.type = type
            self.interval = interval
            self.window = window
        }

        static let placeholder = Entry(
            type: .passive, interval: ScanInterval(rawValue: 0), window: ScanInterval(rawValue: 0))

        fileprivate mutating func layout(_ fields: inout HCIFieldCoder) {
            fields.named("Scan_Type", &type, in: 0...1)
            fields.scan("Scan_Interval", &interval, "Scan_Window", &window, in: ScanInterval.extendedRange)
        }
    }

    public private(set) var ownAddressType = OwnAddressType(rawValue: 0)
    public private(set) var filterPolicy = ScanFilterPolicy(rawValue: 0)
    public private(set) var phys: ScanningPHYs = []
    /// One entry for each bit of `phys`, lowest bit first.
    public private(set) var entries: [Entry] = []

    /// Creates a command to listen on one or both primary physical layers. If an entry is `nil`, the controller does
    /// not listen on that layer.
    ///
    /// - Throws: ``HCIParameterError`` if both entries are `nil`, and for intervals below 2.5 ms, windows longer than
    ///   their interval, and reserved values.
    public init(
        le1M: Entry?, leCoded: Entry? = nil, ownAddressType: OwnAddressType = .publicDevice,
        filterPolicy: ScanFilterPolicy = .all
    ) throws(HCIParameterError) {
        self.ownAddressType = ownAddressType
        self.filterPolicy = filterPolicy
        if le1M != nil { phys.insert(.le1M) }
        if leCoded != nil { phys.insert(.leCoded) }
        entries = [le1M, leCoded].compactMap { $0 }
        try check()
    }

    public init(placeholder: HCIPlaceholder) {}
    public mutating func layout(_ fields: inout HCIFieldCoder) {
        fields.named("Own_Address_Type", &ownAddressType, in: 0...3)
        fields.named("Scanning_Filter_Policy", &filterPolicy, in: 0...3)
        fields.named("Scanning_PHYs", &phys, in: 1...5)
        fields.each(&entries, count: phys.rawValue.nonzeroBitCount, placeholder: .placeholder) { $0.layout(&$1) }
    }
}

/// LE Set Extended Scan Enable (7.8.65).
public struct LESetExtendedScanEnable: HCICommand {
    public static let opcode = HCIOpcode(rawValue: 0x2042)
    public static let name = "LE Set Extended Scan Enable"

    /// 1 on, 0 off. Other values are invalid, but captured commands can contain them.
    public private(set) var enable: UInt8 = 0
    public private(set) var filterDuplicates = DuplicateFilter.off
    /// The duration of a scan in units of 10 ms; 0 means until disabled.
    public private(set) var duration: UInt16 = 0
    /// The time from the start of a scan to the start of the next scan, in units of 1.28 s; 0 means that there is only
    /// one scan.
    public private(set) var period: UInt16 = 0

    /// - Throws: ``HCIParameterError`` for a duration that is not shorter than the period, and for duplicate filtering
    ///   per period without a duration or a period.
    public init(
        _ enable: Bool, filterDuplicates: DuplicateFilter = .off, duration: UInt16 = 0, period: UInt16 = 0
    ) throws(HCIParameterError) {
        self.enable = enable ? 1 : 0
        self.filterDuplicates = filterDuplicates
        self.duration = duration
        self.period = period
        try check()
        if enable, filterDuplicates == .perPeriod, period == 0 || duration == 0 {
            throw .notAllowed(
                field: "Filter_Duplicates", value: filterDuplicates.description,
                reason: "it needs a duration and a period")
        }
        if enable, duration != 0, period != 0, Int(duration) * 10 >= Int(period) * 1280 {
            throw .notAllowed(
                field: "Duration", value: "\(Int(duration) * 10) ms",
                reason: "it must be shorter than the period of \(Int(period) * 1280) ms")
        }
    }

    public init(placeholder: HCIPlaceholder) {}
    public mutating func layout(_ fields: inout HCIFieldCoder) {
        fields.onOff("Enable", &enable)
        fields.named("Filter_Duplicates", &filterDuplicates, in: 0...2)
        fields.number("Duration", &duration) { $0 == 0 ? "until disabled" : "\(Int($0) * 10) ms" }
        fields.number("Period", &period) { $0 == 0 ? "scan once" : "\(Int($0) * 1280) ms" }
    }
}
