import BluetoothTypes

// Legacy scanning: Core Specification 5.4, Vol 4 Part E 7.8.10, 7.8.11. Of the legacy family.

/// LE Set Scan Parameters (7.8.10). Refused (0x0C) while scanning is enabled.
public struct LESetScanParameters: HCICommand {
    /// The status, and nothing behind it.
    public typealias ReturnParameters = HCINoReturnParameters
    public static let opcode = HCIOpcode(rawValue: 0x200B)
    public static let name = "LE Set Scan Parameters"

    public let type: ScanType
    /// Units of 0.625 ms, 0x0004...0x4000: how often the channel changes.
    public let interval: UInt16
    /// Units of 0.625 ms, at most the interval: how long is listened after each change.
    public let window: UInt16
    public let ownAddressType: OwnAddressType
    public let filterPolicy: ScanFilterPolicy

    /// - Throws: ``HCIParameterError`` for an interval outside 2.5 ms...10.24 s, a window over it, reserved values.
    public init(
        type: ScanType, interval: UInt16, window: UInt16, ownAddressType: OwnAddressType = .publicDevice,
        filterPolicy: ScanFilterPolicy = .all
    ) throws(HCIParameterError) {
        try HCIParameterError.check("LE_Scan_Type", type.rawValue, in: 0...1)
        try HCIParameterError.check("LE_Scan_Interval", interval, in: 0x0004...0x4000, unit: "(units of 0.625 ms)")
        try HCIParameterError.check("LE_Scan_Window", window, in: 0x0004...Int(interval), unit: "(units of 0.625 ms)")
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
        interval = octets.uint16LittleEndian(at: 1)
        window = octets.uint16LittleEndian(at: 3)
        ownAddressType = OwnAddressType(rawValue: octets[5])
        filterPolicy = ScanFilterPolicy(rawValue: octets[6])
    }

    public var parameters: [UInt8] {
        var octets = [type.rawValue]
        octets.append(littleEndian: interval)
        octets.append(littleEndian: window)
        return octets + [ownAddressType.rawValue, filterPolicy.rawValue]
    }

    public var fields: [HCIField] {
        [
            HCIField("LE_Scan_Type", type),
            HCIField("LE_Scan_Interval", interval: AdvertisingInterval(rawValue: UInt32(interval))),
            HCIField("LE_Scan_Window", interval: AdvertisingInterval(rawValue: UInt32(window))),
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
