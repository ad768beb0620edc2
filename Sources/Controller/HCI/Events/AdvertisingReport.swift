public import BluetoothTypes

/// An advertisement that a controller received. It is read from a legacy or an extended advertising report.
///
/// An optional value is `nil` if legacy reports do not contain it, or if an extended report marks it as not available
/// (Core Specification 5.4, Vol 4 Part E 7.7.65.2, 7.7.65.13).
public struct AdvertisingReport: Hashable, Sendable {
    /// Event_Type: the PDU that was received.
    public var type: AdvertisingReportType
    /// The type of the advertiser's address.
    public var addressType: AddressType
    /// The advertiser's address; all zero if ``addressType`` is ``AddressType/anonymous``.
    public var address: DeviceAddress
    /// The PHY of the advertising packet: ``AdvertisingPHY/le1M`` or ``AdvertisingPHY/leCoded``.
    public var primaryPHY: AdvertisingPHY
    /// The PHY of the packet with the data; ``AdvertisingPHY/none`` for legacy PDUs.
    public var secondaryPHY: AdvertisingPHY
    /// Advertising_SID, 0...15; `nil` when the PDU has none.
    public var setIdentifier: UInt8?
    /// TX_Power: the transmit power that the PDU contains; `nil` if it contains none.
    public var power: RadioPower?
    /// Received signal strength in dBm, -127...20; `nil` when not available.
    public var rssi: Int8?
    /// Periodic_Advertising_Interval in units of 1.25 ms; 0 without periodic advertising.
    public var periodicInterval: UInt16
    /// The type of ``directAddress``. Ignore it if the advertisement is not directed.
    public var directAddressType: AddressType
    /// The target of a directed advertisement; all zero for other advertisements.
    public var directAddress: DeviceAddress
    /// The advertising data, or the part of it in this report: see ``AdvertisingReportType/dataStatus``.
    public var data: AdvertisingData

    /// A report with these values. The default values are those of a legacy report.
    public init(
        type: AdvertisingReportType, addressType: AddressType, address: DeviceAddress, rssi: Int8?,
        data: AdvertisingData, primaryPHY: AdvertisingPHY = .le1M, secondaryPHY: AdvertisingPHY = .none,
        setIdentifier: UInt8? = nil, power: RadioPower? = nil, periodicInterval: UInt16 = 0,
        directAddressType: AddressType = .publicDevice, directAddress: DeviceAddress = DeviceAddress(FixedOctets())
    ) {
        self.type = type
        self.addressType = addressType
        self.address = address
        self.primaryPHY = primaryPHY
        self.secondaryPHY = secondaryPHY
        self.setIdentifier = setIdentifier
        self.power = power
        self.rssi = rssi
        self.periodicInterval = periodicInterval
        self.directAddressType = directAddressType
        self.directAddress = directAddress
        self.data = data
    }

    /// The bytes that mean "not available" in reports.
    enum NotAvailable {
        static let rssi: Int8 = 127
        static let setIdentifier: UInt8 = 0xFF
    }

    /// Copies the report `element` from the bytes that contain it.
    public init(_ element: AdvertisingReportElement, in octets: Span<UInt8>) {
        self.init(
            type: element.type, addressType: element.addressType, address: element.address(in: octets),
            rssi: element.rssi,
            data: AdvertisingData(octets: octets.array(element.data)), primaryPHY: element.primaryPHY,
            secondaryPHY: element.secondaryPHY, setIdentifier: element.setIdentifier, power: element.power)
        if let tail = element.tailOffset, let direct = DeviceAddress(littleEndian: octets, at: tail + 3) {
            periodicInterval = octets.uint16LittleEndian(at: tail)
            directAddressType = AddressType(rawValue: octets[tail + 2])
            directAddress = direct
        }
    }

    /// Returns all reports in the parameters of an LE Meta event; empty if the event contains no advertising reports.
    static func all(_ octets: Span<UInt8>, _ range: Range<Int>) throws(HCIEventError) -> [AdvertisingReport] {
        guard var cursor = try AdvertisingReportCursor(parameters: octets, in: range) else { return [] }
        var reports: [AdvertisingReport] = []
        while let element = try cursor.next(in: octets) {
            reports.append(AdvertisingReport(element, in: octets))
        }
        return reports
    }

    /// The bytes of the report in a legacy event; `nil` if a legacy event cannot contain it.
    var legacyOctets: [UInt8]? {
        guard let number = type.legacyNumber, data.octets.count <= 255 - 12 else { return nil }
        var octets = [number, addressType.rawValue]
        octets += address.littleEndian
        octets.append(UInt8(data.octets.count))
        octets += data.octets
        octets.append(UInt8(bitPattern: rssi ?? NotAvailable.rssi))
        return octets
    }

    /// The bytes of the report in an extended event; `nil` if an extended event cannot contain it.
    var extendedOctets: [UInt8]? {
        guard let bits = type.bits, data.octets.count <= 255 - 26 else { return nil }
        var octets: [UInt8] = []
        octets.append(littleEndian: bits)
        octets.append(addressType.rawValue)
        octets += address.littleEndian
        octets += [primaryPHY.rawValue, secondaryPHY.rawValue, setIdentifier ?? NotAvailable.setIdentifier]
        octets += [(power ?? .noPreference).octet, UInt8(bitPattern: rssi ?? NotAvailable.rssi)]
        octets.append(littleEndian: periodicInterval)
        octets.append(directAddressType.rawValue)
        octets += directAddress.littleEndian
        octets.append(UInt8(data.octets.count))
        return octets + data.octets
    }

    /// Returns the parameters of an LE Meta event with the first reports of `reports`, as many as fit.
    static func parameters(_ subevent: UInt8, _ reports: [[UInt8]?]) -> [UInt8] {
        var octets = [subevent, 0]
        for report in reports {
            guard let report, octets.count + report.count <= 255 else { break }
            octets += report
            octets[1] += 1
        }
        return octets
    }
}

/// Event_Type of an advertising report: a number in legacy reports, bits in extended reports.
///
/// Core Specification 5.4, Vol 4 Part E 7.7.65.2 and 7.7.65.13.
public enum AdvertisingReportType: Hashable, Sendable {
    case legacy(UInt8)
    case extended(UInt16)

    /// Data_Status of extended reports; legacy reports are always complete.
    public enum DataStatus: UInt8, Hashable, Sendable {
        case complete = 0
        /// The next reports contain more data of the same advertisement.
        case incomplete = 1
        /// The rest of the data was lost.
        case truncated = 2
        case reserved = 3
    }

    /// The Event_Type bits of an extended report, or the bits that correspond to the legacy number; `nil` for reserved
    /// legacy numbers. The bits of a legacy scan response do not include connectable, because its report does not
    /// contain this information.
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

    /// The number in a legacy report; `nil` for bits that no legacy report can express.
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

    /// `true` if the PDU is a legacy PDU. Both legacy and extended reports can contain legacy PDUs.
    public var isLegacyPDU: Bool { has(0x10) }
    public var isConnectable: Bool { has(0x01) }
    public var isScannable: Bool { has(0x02) }
    public var isScanResponse: Bool { has(0x08) }

    public var dataStatus: DataStatus {
        guard case .extended(let bits) = self else { return .complete }
        return DataStatus(rawValue: UInt8(bits >> 5 & 3)) ?? .reserved
    }

    private func has(_ bit: UInt16) -> Bool {
        switch self {
        case .extended(let bits): bits & bit != 0
        // A reserved legacy number means a legacy PDU with unknown properties.
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

/// The fixed fields of an advertising report in a span, and the offsets of its data. The value contains no copy of the
/// data.
public struct AdvertisingReportElement: Hashable, Sendable {
    /// Event_Type: the PDU that was received.
    public let type: AdvertisingReportType
    /// The type of the advertiser's address.
    public let addressType: AddressType
    /// Offset of the address's least significant byte.
    public let addressOffset: Int
    /// The PHY of the advertising packet.
    public let primaryPHY: AdvertisingPHY
    /// The PHY of the packet with the data; ``AdvertisingPHY/none`` for legacy PDUs.
    public let secondaryPHY: AdvertisingPHY
    /// Advertising_SID, 0...15; `nil` when the PDU has none.
    public let setIdentifier: UInt8?
    /// TX_Power: the transmit power that the PDU contains; `nil` if it contains none.
    public let power: RadioPower?
    /// Received signal strength in dBm; `nil` when not available.
    public let rssi: Int8?
    /// Offset of Periodic_Advertising_Interval and the direct address in extended reports.
    let tailOffset: Int?
    /// Offsets of the advertising data.
    public let data: Range<Int>

    /// The advertiser's address, read from the same span.
    public func address(in octets: Span<UInt8>) -> DeviceAddress {
        DeviceAddress(littleEndian: octets, at: addressOffset) ?? DeviceAddress(FixedOctets())
    }
}

/// Reads the reports of an LE Advertising Report or LE Extended Advertising Report event without allocating.
///
/// An event may contain several reports one after the other (Core Specification 5.4, Vol 4 Part E 7.7.65.2,
/// 7.7.65.13).
public struct AdvertisingReportCursor: Sendable {
    /// The offset of the next report, or the offset at which reading stopped.
    public private(set) var offset: Int
    /// The number of reports that are not read yet.
    public private(set) var remaining: Int
    public let isExtended: Bool
    /// The offset at which the event ends.
    private let end: Int

    /// A cursor that reads the event packet (without the H4 type byte) in `range` of `octets`; `nil` for events without
    /// advertising reports.
    ///
    /// - Throws: ``HCIEventError`` if the packet is truncated.
    public init?(event octets: Span<UInt8>, in range: Range<Int>) throws(HCIEventError) {
        let header = try HCIEventHeader(octets, in: range)
        guard header.code == HCIEventCode.leMeta else { return nil }
        try self.init(parameters: octets, in: header.parameters)
    }

    /// A cursor that reads the parameters of an LE Meta event, which start with the subevent code; `nil` for events
    /// without advertising reports.
    init?(parameters octets: Span<UInt8>, in range: Range<Int>) throws(HCIEventError) {
        guard let code = range.first.map({ octets[$0] }) else { return nil }
        guard code == LESubevent.advertisingReport || code == LESubevent.extendedAdvertisingReport else { return nil }
        guard range.count >= 2 else {
            throw HCIEventError(.truncated(field: .reportCount, needed: 1, left: 0), at: range.upperBound)
        }
        isExtended = code == LESubevent.extendedAdvertisingReport
        remaining = Int(octets[range.lowerBound + 1])
        offset = range.lowerBound + 2
        end = range.upperBound
    }

    /// Returns the next report, or `nil` after the last report.
    ///
    /// - Parameter octets: The span that was passed to the initialiser.
    /// - Throws: ``HCIEventError`` if the report extends beyond the end of the event, or if bytes follow the last
    ///   report. Further calls return `nil`.
    public mutating func next(in octets: Span<UInt8>) throws(HCIEventError) -> AdvertisingReportElement? {
        guard remaining > 0 else {
            guard offset < end else { return nil }
            let trailing = HCIEventError(.trailing(end - offset), at: offset)
            offset = end
            throw trailing
        }
        do throws(HCIEventError) {
            let element = try isExtended ? extended(octets) : legacy(octets)
            remaining -= 1
            return element
        } catch {
            remaining = 0
            offset = end
            throw error
        }
    }

    /// Reads a legacy report. The fields, with their sizes in bytes: Event_Type (1), Address_Type (1), Address (6),
    /// Data_Length (1), Data, RSSI (1).
    private mutating func legacy(_ octets: Span<UInt8>) throws(HCIEventError) -> AdvertisingReportElement {
        try need(10, .report)
        let length = Int(octets[offset + 8])
        try need(10 + length, .reportData)
        defer { offset += 10 + length }
        return AdvertisingReportElement(
            type: .legacy(octets[offset]), addressType: AddressType(rawValue: octets[offset + 1]),
            addressOffset: offset + 2, primaryPHY: .le1M, secondaryPHY: .none, setIdentifier: nil,
            power: nil, rssi: Self.rssi(octets[offset + 9 + length]), tailOffset: nil,
            data: offset + 9..<offset + 9 + length)
    }

    /// Reads an extended report. The fields, with their sizes in bytes: Event_Type (2), Address_Type (1), Address (6),
    /// Primary_PHY (1), Secondary_PHY (1), Advertising_SID (1), TX_Power (1), RSSI (1), Periodic_Advertising_Interval
    /// (2), Direct_Address_Type (1), Direct_Address (6), Data_Length (1), Data.
    private mutating func extended(_ octets: Span<UInt8>) throws(HCIEventError) -> AdvertisingReportElement {
        try need(24, .report)
        let length = Int(octets[offset + 23])
        try need(24 + length, .reportData)
        defer { offset += 24 + length }
        let identifier = octets[offset + 11]
        let power = RadioPower(octet: octets[offset + 12])
        return AdvertisingReportElement(
            type: .extended(octets.uint16LittleEndian(at: offset)),
            addressType: AddressType(rawValue: octets[offset + 2]), addressOffset: offset + 3,
            primaryPHY: AdvertisingPHY(rawValue: octets[offset + 9]),
            secondaryPHY: AdvertisingPHY(rawValue: octets[offset + 10]),
            setIdentifier: identifier == AdvertisingReport.NotAvailable.setIdentifier ? nil : identifier,
            power: power == .noPreference ? nil : power, rssi: Self.rssi(octets[offset + 13]),
            tailOffset: offset + 14, data: offset + 24..<offset + 24 + length)
    }

    private static func rssi(_ octet: UInt8) -> Int8? {
        let value = Int8(bitPattern: octet)
        return value == AdvertisingReport.NotAvailable.rssi ? nil : value
    }

    private func need(_ count: Int, _ field: HCIEventFault.Field) throws(HCIEventError) {
        guard end - offset >= count else {
            throw HCIEventError(.truncated(field: field, needed: count, left: end - offset), at: offset)
        }
    }
}
