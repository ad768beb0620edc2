public import BluetoothTypes

/// The parameter of the two legacy data commands: a length and always 31 octets, what is not significant being zero.
///
/// Core Specification 5.4, Vol 4 Part E 7.8.7 and 7.8.8.
public struct LegacyDataParameter: Hashable, Sendable {
    /// Significant octets as claimed; over 31 only in what others sent.
    public let length: UInt8
    /// All 31 octets.
    public let padded: FixedOctets<31>

    init(_ data: [UInt8], field: String) throws(HCIParameterError) {
        try HCIParameterError.check(field, data.count, in: 0...AdvertisingData.legacyLimit, unit: "octets")
        var padded = FixedOctets<31>()
        for (index, octet) in zip(0..<31, data) { padded[index] = octet }
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

    var octets: [UInt8] { [length] + padded.octets }
}

/// LE Set Advertising Data (7.8.7). Allowed at any time; used from the next advertising event on.
public struct LESetAdvertisingData: HCICommand {
    /// The status, and nothing behind it.
    public typealias ReturnParameters = HCINoReturnParameters
    public static let opcode = HCIOpcode(rawValue: 0x2008)
    public static let name = "LE Set Advertising Data"

    public let parameter: LegacyDataParameter

    /// - Throws: ``HCIParameterError`` for more than 31 octets.
    public init(_ data: [UInt8]) throws(HCIParameterError) {
        parameter = try LegacyDataParameter(data, field: "Advertising_Data_Length")
    }

    /// Reads the length and the 31 octets of data that always follow it; `nil` for another number of octets.
    public init?(parameters octets: Span<UInt8>) {
        guard let parameter = LegacyDataParameter(octets) else { return nil }
        self.parameter = parameter
    }

    /// The significant octets.
    public var data: [UInt8] { parameter.data }
    public var parameters: [UInt8] { parameter.octets }

    public var fields: [HCIField] {
        [HCIField("Advertising_Data_Length", parameter.length), HCIField("Advertising_Data", octets: data)]
    }
}

/// LE Set Scan Response Data (7.8.8). Allowed at any time.
public struct LESetScanResponseData: HCICommand {
    /// The status, and nothing behind it.
    public typealias ReturnParameters = HCINoReturnParameters
    public static let opcode = HCIOpcode(rawValue: 0x2009)
    public static let name = "LE Set Scan Response Data"

    public let parameter: LegacyDataParameter

    /// - Throws: ``HCIParameterError`` for more than 31 octets.
    public init(_ data: [UInt8]) throws(HCIParameterError) {
        parameter = try LegacyDataParameter(data, field: "Scan_Response_Data_Length")
    }

    /// Reads the length and the 31 octets of data that always follow it; `nil` for another number of octets.
    public init?(parameters octets: Span<UInt8>) {
        guard let parameter = LegacyDataParameter(octets) else { return nil }
        self.parameter = parameter
    }

    /// The significant octets.
    public var data: [UInt8] { parameter.data }
    public var parameters: [UInt8] { parameter.octets }

    public var fields: [HCIField] {
        [HCIField("Scan_Response_Data_Length", parameter.length), HCIField("Scan_Response_Data", octets: data)]
    }
}
