public import BluetoothTypes

// Legacy scanning: Core Specification 5.4, Vol 4 Part E 7.8.10, 7.8.11. Of the legacy family.

/// LE Set Scan Parameters (7.8.10). Refused (0x0C) while scanning is enabled.
public struct LESetScanParameters: HCICommand {
    /// The status, and nothing behind it.
    public typealias ReturnParameters = HCINoReturnParameters
    public static let opcode = HCIOpcode(rawValue: 0x200B)
    public static let name = "LE Set Scan Parameters"

    public let type: ScanType
    /// How often the channel changes: `ScanInterval.legacyRange`.
    public let interval: ScanInterval
    /// How long the controller listens after each change: 2.5 ms to the interval.
    public let window: ScanInterval
    public let ownAddressType: OwnAddressType
    public let filterPolicy: ScanFilterPolicy

    /// - Throws: ``HCIParameterError`` for an interval outside 2.5 ms...10.24 s, a window over it, reserved values.
    public init(
        type: ScanType, interval: ScanInterval, window: ScanInterval, ownAddressType: OwnAddressType = .publicDevice,
        filterPolicy: ScanFilterPolicy = .all
    ) throws(HCIParameterError) {
        try HCIParameterError.check("LE_Scan_Type", type.rawValue, in: 0...1)
        try HCIParameterError.checkScan(
            "LE_Scan", interval: interval, window: window, in: ScanInterval.legacyRange)
        try HCIParameterError.check("Own_Address_Type", ownAddressType.rawValue, in: 0...3)
        try HCIParameterError.check("Scanning_Filter_Policy", filterPolicy.rawValue, in: 0...3)
        self.type = type
        self.interval = interval
        self.window = window
        self.ownAddressType = ownAddressType
        self.filterPolicy = filterPolicy
    }

    /// Reads exactly 7 octets; `nil` for another number. Reserved values are kept.
    public init?(parameters octets: Span<UInt8>) {
        guard octets.count == 7 else { return nil }
        type = ScanType(rawValue: octets[0])
        interval = ScanInterval(rawValue: octets.uint16LittleEndian(at: 1))
        window = ScanInterval(rawValue: octets.uint16LittleEndian(at: 3))
        ownAddressType = OwnAddressType(rawValue: octets[5])
        filterPolicy = ScanFilterPolicy(rawValue: octets[6])
    }

    public var parameters: [UInt8] {
        var octets = [type.rawValue]
        octets.append(littleEndian: interval.rawValue)
        octets.append(littleEndian: window.rawValue)
        return octets + [ownAddressType.rawValue, filterPolicy.rawValue]
    }

    public var fields: [HCIField] {
        [
            HCIField("LE_Scan_Type", type),
            HCIField("LE_Scan_Interval", scan: interval),
            HCIField("LE_Scan_Window", scan: window),
            HCIField("Own_Address_Type", ownAddressType),
            HCIField("Scanning_Filter_Policy", filterPolicy),
        ]
    }
}

/// LE Set Scan Enable (7.8.11).
public struct LESetScanEnable: HCICommand {
    /// The status, and nothing behind it.
    public typealias ReturnParameters = HCINoReturnParameters
    public static let opcode = HCIOpcode(rawValue: 0x200C)
    public static let name = "LE Set Scan Enable"

    /// 1 on, 0 off; what else a host may send is invalid.
    public let enable: UInt8
    public let filterDuplicates: DuplicateFilter

    /// Turns scanning on or off; with `filterDuplicates` each advertiser is reported once.
    public init(_ enable: Bool, filterDuplicates: Bool = false) {
        self.enable = enable ? 1 : 0
        self.filterDuplicates = filterDuplicates ? .on : .off
    }

    /// Reads exactly 2 octets; `nil` for another number. Reserved values are kept.
    public init?(parameters octets: Span<UInt8>) {
        guard octets.count == 2 else { return nil }
        enable = octets[0]
        filterDuplicates = DuplicateFilter(rawValue: octets[1])
    }

    public var parameters: [UInt8] { [enable, filterDuplicates.rawValue] }

    public var fields: [HCIField] {
        [HCIField("LE_Scan_Enable", onOff: enable), HCIField("Filter_Duplicates", filterDuplicates)]
    }
}

// Extended scanning: Core Specification 5.4, Vol 4 Part E 7.8.64, 7.8.65.

/// LE Set Extended Scan Parameters (7.8.64). Refused (0x0C) while scanning is enabled.
public struct LESetExtendedScanParameters: HCICommand {
    /// The status, and nothing behind it.
    public typealias ReturnParameters = HCINoReturnParameters
    public static let opcode = HCIOpcode(rawValue: 0x2041)
    public static let name = "LE Set Extended Scan Parameters"

    /// How one physical layer is listened on.
    public struct Entry: Hashable, Sendable {
        public let type: ScanType
        /// How often the channel changes: `ScanInterval.extendedRange`.
        public let interval: ScanInterval
        /// How long the controller listens after each change: 2.5 ms to the interval.
        public let window: ScanInterval

        /// How one physical layer is listened on. Nothing is checked here, but by the command that takes it.
        public init(type: ScanType, interval: ScanInterval, window: ScanInterval) {
            self.type = type
            self.interval = interval
            self.window = window
        }
    }

    public let ownAddressType: OwnAddressType
    public let filterPolicy: ScanFilterPolicy
    public let phys: ScanningPHYs
    /// One for each bit of `phys`, lowest bit first.
    public let entries: [Entry]

    /// Listens on one or both primary physical layers; `nil` leaves one out.
    ///
    /// - Throws: ``HCIParameterError`` for none at all, intervals under 2.5 ms, windows over them, reserved values.
    public init(
        le1M: Entry?, leCoded: Entry? = nil, ownAddressType: OwnAddressType = .publicDevice,
        filterPolicy: ScanFilterPolicy = .all
    ) throws(HCIParameterError) {
        var phys: ScanningPHYs = []
        if le1M != nil { phys.insert(.le1M) }
        if leCoded != nil { phys.insert(.leCoded) }
        try HCIParameterError.check("Scanning_PHYs", phys.rawValue, in: 1...5)
        let entries = [le1M, leCoded].compactMap { $0 }
        for entry in entries {
            try HCIParameterError.check("Scan_Type", entry.type.rawValue, in: 0...1)
            try HCIParameterError.checkScan(
                "Scan", interval: entry.interval, window: entry.window, in: ScanInterval.extendedRange)
        }
        try HCIParameterError.check("Own_Address_Type", ownAddressType.rawValue, in: 0...3)
        try HCIParameterError.check("Scanning_Filter_Policy", filterPolicy.rawValue, in: 0...3)
        self.ownAddressType = ownAddressType
        self.filterPolicy = filterPolicy
        self.phys = phys
        self.entries = entries
    }

    /// Reads 3 octets, then 5 for each physical layer that they name; `nil` for another number.
    public init?(parameters octets: Span<UInt8>) {
        guard octets.count >= 3, octets.count == 3 + 5 * octets[2].nonzeroBitCount else { return nil }
        ownAddressType = OwnAddressType(rawValue: octets[0])
        filterPolicy = ScanFilterPolicy(rawValue: octets[1])
        phys = ScanningPHYs(rawValue: octets[2])
        var entries: [Entry] = []
        for offset in stride(from: 3, to: octets.count, by: 5) {
            entries.append(
                Entry(
                    type: ScanType(rawValue: octets[offset]),
                    interval: ScanInterval(rawValue: octets.uint16LittleEndian(at: offset + 1)),
                    window: ScanInterval(rawValue: octets.uint16LittleEndian(at: offset + 3))))
        }
        self.entries = entries
    }

    public var parameters: [UInt8] {
        var octets = [ownAddressType.rawValue, filterPolicy.rawValue, phys.rawValue]
        for entry in entries {
            octets.append(entry.type.rawValue)
            octets.append(littleEndian: entry.interval.rawValue)
            octets.append(littleEndian: entry.window.rawValue)
        }
        return octets
    }

    public var fields: [HCIField] {
        var fields = [
            HCIField("Own_Address_Type", ownAddressType),
            HCIField("Scanning_Filter_Policy", filterPolicy),
            HCIField("Scanning_PHYs", phys),
        ]
        for entry in entries {
            fields.append(HCIField("Scan_Type", entry.type))
            fields.append(HCIField("Scan_Interval", scan: entry.interval))
            fields.append(HCIField("Scan_Window", scan: entry.window))
        }
        return fields
    }
}

/// LE Set Extended Scan Enable (7.8.65).
public struct LESetExtendedScanEnable: HCICommand {
    /// The status, and nothing behind it.
    public typealias ReturnParameters = HCINoReturnParameters
    public static let opcode = HCIOpcode(rawValue: 0x2042)
    public static let name = "LE Set Extended Scan Enable"

    /// 1 on, 0 off; what else a host may send is invalid.
    public let enable: UInt8
    public let filterDuplicates: DuplicateFilter
    /// Units of 10 ms; 0 goes on until disabled.
    public let duration: UInt16
    /// Units of 1.28 s; 0 scans once.
    public let period: UInt16

    /// - Throws: ``HCIParameterError`` for a duration that is not shorter than the period, and for a filter that
    ///   starts anew with each period where there is none.
    public init(
        _ enable: Bool, filterDuplicates: DuplicateFilter = .off, duration: UInt16 = 0, period: UInt16 = 0
    ) throws(HCIParameterError) {
        try HCIParameterError.check("Filter_Duplicates", filterDuplicates.rawValue, in: 0...2)
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
        self.enable = enable ? 1 : 0
        self.filterDuplicates = filterDuplicates
        self.duration = duration
        self.period = period
    }

    /// Reads exactly 6 octets; `nil` for another number. Reserved values are kept.
    public init?(parameters octets: Span<UInt8>) {
        guard octets.count == 6 else { return nil }
        enable = octets[0]
        filterDuplicates = DuplicateFilter(rawValue: octets[1])
        duration = octets.uint16LittleEndian(at: 2)
        period = octets.uint16LittleEndian(at: 4)
    }

    public var parameters: [UInt8] {
        var octets = [enable, filterDuplicates.rawValue]
        octets.append(littleEndian: duration)
        octets.append(littleEndian: period)
        return octets
    }

    public var fields: [HCIField] {
        [
            HCIField("Enable", onOff: enable),
            HCIField("Filter_Duplicates", filterDuplicates),
            HCIField("Duration", duration == 0 ? "until disabled" : "\(Int(duration) * 10) ms"),
            HCIField("Period", period == 0 ? "scan once" : "\(Int(period) * 1280) ms"),
        ]
    }
}
