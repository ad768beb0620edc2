import BluetoothTypes

/// Event_Type of an advertising report, as the controller sent it: an enumeration in legacy reports, bits in extended
/// ones.
///
/// Core Specification 5.4, Vol 4 Part E 7.7.65.2 and 7.7.65.13.
public enum AdvertisingReportType: Hashable, Sendable {
    case legacy(UInt8)
    case extended(UInt16)

    /// Data_Status of extended reports; legacy ones are always complete.
    public enum DataStatus: UInt8, Hashable, Sendable {
        case complete = 0
        /// More data of the same advertisement comes in the next reports.
        case incomplete = 1
        /// The rest was lost.
        case truncated = 2
        case reserved = 3
    }

    /// The Event_Type bits: those of an extended report, or what means the same as the legacy number; `nil` for
    /// reserved legacy numbers. A legacy report does not tell whether a scan response belongs to a connectable
    /// advertiser: it counts as scannable only.
    public var bits: UInt16? {
        switch self {
        case .extended(let bits): bits
        case .legacy(0): 0x13
        case .legacy(1): 0x15
        case .legacy(2): 0x12
        case .legacy(3): 0x10
        case .legacy(4): 0x1A
        case .legacy: nil
        }
    }

    /// The number in a legacy report; `nil` for what only extended reports can tell.
    public var legacyNumber: UInt8? {
        switch self {
        case .legacy(let number): number
        case .extended(0x13): 0
        case .extended(0x15): 1
        case .extended(0x12): 2
        case .extended(0x10): 3
        case .extended(0x1A), .extended(0x1B): 4
        case .extended: nil
        }
    }

    /// Whether a legacy PDU was heard, by whichever event it is reported.
    public var isLegacyPDU: Bool { has(0x10) }
    public var isConnectable: Bool { has(0x01) }
    public var isScannable: Bool { has(0x02) }
    public var isDirected: Bool { has(0x04) }
    public var isScanResponse: Bool { has(0x08) }

    public var dataStatus: DataStatus {
        guard case .extended(let bits) = self else { return .complete }
        return DataStatus(rawValue: UInt8(bits >> 5 & 3)) ?? .reserved
    }

    private func has(_ bit: UInt16) -> Bool {
        switch self {
        case .extended(let bits): bits & bit != 0
        // A reserved legacy number is still a legacy PDU, and nothing else is known of it.
        case .legacy: (bits ?? 0x10) & bit != 0
        }
    }
}

extension AdvertisingReportType: CustomStringConvertible {
    /// The PDU's name in the specification, such as `ADV_NONCONN_IND`.
    public var description: String {
        switch legacyNumber {
        case 0: "ADV_IND"
        case 1: "ADV_DIRECT_IND"
        case 2: "ADV_SCAN_IND"
        case 3: "ADV_NONCONN_IND"
        case 4: "SCAN_RSP"
        case let number?: "reserved type \(Hexadecimal.number(number, width: 2))"
        case nil: isScanResponse ? "AUX_SCAN_RSP" : "ADV_EXT_IND"
        }
    }
}
