public import BluetoothTypes

/// Where an advertising report lies in a span, and its fixed fields; nothing is copied or allocated.
public struct AdvertisingReportElement: Hashable, Sendable {
    /// Event_Type: which PDU was heard.
    public let type: AdvertisingReportType
    /// Which of its addresses the advertiser sent with.
    public let addressType: AddressType
    /// Offset of the address's least significant octet.
    public let addressOffset: Int
    /// Of the advertising packet.
    public let primaryPHY: AdvertisingPHY
    /// Of the packet that carried the data; ``AdvertisingPHY/none`` for legacy PDUs.
    public let secondaryPHY: AdvertisingPHY
    /// Advertising_SID, 0...15; `nil` when the PDU has none.
    public let setIdentifier: UInt8?
    /// What the advertisement itself says of its transmitter; `nil` when it says nothing.
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

/// Walks over the reports of an LE Advertising Report or LE Extended Advertising Report event without allocating.
///
/// Legacy events may hold several reports, each with all its fields before the next one (Core Specification 5.4, Vol 4
/// Part E 7.7.65.2, 7.7.65.13).
public struct AdvertisingReportCursor: Sendable {
    /// The next report, or where reading stopped.
    public private(set) var offset: Int
    /// Reports that are announced and not yet read.
    public private(set) var remaining: Int
    public let isExtended: Bool
    private let end: Int

    /// Takes the whole event packet (without the H4 type octet) in `range` of `octets`; `nil` when it is another
    /// event. Throws when it is cut short.
    public init?(event octets: Span<UInt8>, in range: Range<Int>) throws(HCIEventError) {
        let header = try HCIEventHeader(octets, in: range)
        guard header.code == HCIEventCode.leMeta else { return nil }
        try self.init(parameters: octets, in: header.parameters)
    }

    /// Takes the parameters of an LE Meta event, subevent code first.
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

    /// The next report of the span that was given at the start, or `nil` after the last one.
    ///
    /// - Throws: ``HCIEventError`` when the report runs past the event's end, or octets are left after the last one.
    ///   Nothing is read after that.
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

    /// Event_Type 1, Address_Type 1, Address 6, Data_Length 1, Data, RSSI 1.
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

    /// Event_Type 2, Address_Type 1, Address 6, Primary_PHY 1, Secondary_PHY 1, Advertising_SID 1, TX_Power 1, RSSI 1,
    /// Periodic_Advertising_Interval 2, Direct_Address_Type 1, Direct_Address 6, Data_Length 1, Data.
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
