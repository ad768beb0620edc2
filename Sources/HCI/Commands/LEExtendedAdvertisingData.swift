import BluetoothTypes

// What advertising sets send: Core Specification 5.4, Vol 4 Part E 7.8.54, 7.8.55.

/// The parameters of the two extended data commands: a set, and its data or a fragment of it.
public struct ExtendedDataParameters: Hashable, Sendable {
    /// The host's number of the advertising set, 0x00...0xEF.
    public let handle: UInt8
    public let operation: AdvertisingDataOperation
    /// Fragment_Preference: 0 the controller may fragment, 1 it should not.
    public let fragmentPreference: UInt8
    public let data: [UInt8]

    /// What fits into one command.
    static let maximumLength = 251

    init(
        handle: UInt8, operation: AdvertisingDataOperation, mayFragment: Bool, data: [UInt8], field: String
    ) throws(HCIParameterError) {
        try HCIParameterError.check("Advertising_Handle", handle, in: AdvertisingHandle.range)
        try HCIParameterError.check("Operation", operation.rawValue, in: 0...4)
        // A fragment must not be empty, and "unchanged" carries nothing (7.8.54).
        let lengths =
            switch operation {
            case .complete: 0...Self.maximumLength
            case .unchanged: 0...0
            default: 1...Self.maximumLength
            }
        try HCIParameterError.check(field, data.count, in: lengths, unit: "octets")
        self.handle = handle
        self.operation = operation
        fragmentPreference = mayFragment ? 0 : 1
        self.data = data
    }

    init?(_ octets: Span<UInt8>) {
        guard octets.count >= 4, octets.count == 4 + Int(octets[3]), octets.count <= 255 else { return nil }
        handle = octets[0]
        operation = AdvertisingDataOperation(rawValue: octets[1])
        fragmentPreference = octets[2]
        data = octets.array(4..<octets.count)
    }

    var octets: [UInt8] {
        [handle, operation.rawValue, fragmentPreference, UInt8(truncatingIfNeeded: data.count)] + data
    }

    func fields(data name: String) -> [HCIField] {
        let fragment = fragmentPreference == 0 ? "may fragment" : "should not fragment"
        return [
            HCIField("Advertising_Handle", handle: handle),
            HCIField("Operation", operation),
            HCIField("Fragment_Preference", "\(fragment) (\(Hexadecimal.number(fragmentPreference, width: 2)))"),
            HCIField(name + "_Length", data.count),
            HCIField(name, octets: data),
        ]
    }
}

/// LE Set Extended Advertising Data (7.8.54). While the set is enabled only whole data may be set (0x0C otherwise).
public struct LESetExtendedAdvertisingData: HCICommand {
    /// The status, and nothing behind it.
    public typealias ReturnParameters = HCINoReturnParameters
    public static let opcode = HCIOpcode(rawValue: 0x2037)
    public static let name = "LE Set Extended Advertising Data"

    public let content: ExtendedDataParameters

    /// - Throws: ``HCIParameterError`` for a handle over 0xEF, more than 251 octets, or an empty fragment.
    public init(
        handle: UInt8, operation: AdvertisingDataOperation = .complete, mayFragment: Bool = false, data: [UInt8]
    ) throws(HCIParameterError) {
        content = try ExtendedDataParameters(
            handle: handle, operation: operation, mayFragment: mayFragment, data: data,
            field: "Advertising_Data_Length")
    }

    /// Reads handle, operation, fragment preference, length and data; `nil` where the length is not that of the data.
    public init?(parameters octets: Span<UInt8>) {
        guard let content = ExtendedDataParameters(octets) else { return nil }
        self.content = content
    }

    public var handle: UInt8 { content.handle }
    public var operation: AdvertisingDataOperation { content.operation }
    public var data: [UInt8] { content.data }
    public var parameters: [UInt8] { content.octets }
    public var fields: [HCIField] { content.fields(data: "Advertising_Data") }
}

/// LE Set Extended Scan Response Data (7.8.55).
public struct LESetExtendedScanResponseData: HCICommand {
    /// The status, and nothing behind it.
    public typealias ReturnParameters = HCINoReturnParameters
    public static let opcode = HCIOpcode(rawValue: 0x2038)
    public static let name = "LE Set Extended Scan Response Data"

    public let content: ExtendedDataParameters

    /// - Throws: ``HCIParameterError`` for a handle over 0xEF, more than 251 octets, an empty fragment, or the
    ///   operation "unchanged", which scan responses do not know.
    public init(
        handle: UInt8, operation: AdvertisingDataOperation = .complete, mayFragment: Bool = false, data: [UInt8]
    ) throws(HCIParameterError) {
        try HCIParameterError.check("Operation", operation.rawValue, in: 0...3)
        content = try ExtendedDataParameters(
            handle: handle, operation: operation, mayFragment: mayFragment, data: data,
            field: "Scan_Response_Data_Length")
    }

    /// Reads handle, operation, fragment preference, length and data; `nil` where the length is not that of the data.
    public init?(parameters octets: Span<UInt8>) {
        guard let content = ExtendedDataParameters(octets) else { return nil }
        self.content = content
    }

    public var handle: UInt8 { content.handle }
    public var operation: AdvertisingDataOperation { content.operation }
    public var data: [UInt8] { content.data }
    public var parameters: [UInt8] { content.octets }
    public var fields: [HCIField] { content.fields(data: "Scan_Response_Data") }
}
