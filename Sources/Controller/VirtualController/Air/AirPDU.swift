public import BluetoothTypes
public import HCI

/// One packet on a primary advertising channel.
///
/// For an extended advertisement, only the ADV_EXT_IND is simulated. A scanner that receives it is assumed to receive
/// the auxiliary packets on the secondary channels too. ``extendedEvent`` has the airtimes of these packets.
public struct AirPDU: Hashable, Sendable {
    /// The controller that sends the PDU.
    public var sender: VirtualController.ID
    /// The time at which the first bit of the PDU is sent.
    public var start: HCIInstant
    /// The number of the advertising channel: 37, 38 or 39.
    public var channel: Int
    /// The properties of the PDU. One of them is set if it is a legacy PDU.
    public var properties: AdvertisingEventProperties
    /// `true` if this PDU is a scan response (SCAN_RSP or AUX_SCAN_RSP), `false` if it is an advertisement.
    public var isScanResponse: Bool
    public var addressType: AddressType
    public var address: DeviceAddress
    /// The target of a directed advertisement.
    public var target: DeviceIdentity?
    /// The data of the PDU: AdvData or ScanRspData.
    public var data: [UInt8]
    /// The radiated power in dBm.
    public var power: RadioPower
    /// The transmit power that an extended PDU contains; `nil` if it contains none.
    public var announcedPower: RadioPower?
    public var primaryPHY: AdvertisingPHY
    /// The rate on the primary channels. On LE Coded, it also determines the coding.
    public var rate: PacketRate
    /// `true` if the auxiliary packets are on LE Coded with S=2.
    public var isSecondaryS2: Bool
    /// The PHY of the auxiliary packets; `.none` for legacy PDUs.
    public var secondaryPHY: AdvertisingPHY
    /// Advertising SID, 0...15; `nil` for legacy PDUs.
    public var setID: UInt8?
    /// Advertising DID, which changes with the data of an extended advertisement.
    public var dataID: UInt16

    public var isLegacy: Bool { properties.contains(.legacyPDU) }

    /// The specification's name, such as `ADV_NONCONN_IND` (Core Specification 5.4, Vol 6 Part B 2.3).
    public var name: String {
        guard isLegacy else { return isScanResponse ? "AUX_SCAN_RSP" : "ADV_EXT_IND" }
        if isScanResponse { return "SCAN_RSP" }
        if properties.contains(.directed) { return "ADV_DIRECT_IND" }
        if properties.contains(.connectable) { return "ADV_IND" }
        return properties.contains(.scannable) ? "ADV_SCAN_IND" : "ADV_NONCONN_IND"
    }

    /// The time that the PDU takes on the air, in microseconds.
    ///
    /// The payload of a legacy PDU is an address of 6 bytes and the data, or two addresses. An ADV_EXT_IND has 7 bytes
    /// of extended header instead (Core Specification 5.4, Vol 6 Part B 2.3.1, 2.3.4).
    public var airtimeMicroseconds: Int {
        rate.microseconds(payload: isLegacy ? 6 + (properties.contains(.directed) ? 6 : data.count) : 7)
    }

    /// The packets of the advertising event of an ADV_EXT_IND, with their airtimes; `nil` for legacy PDUs.
    public var extendedEvent: ExtendedEvent? {
        let phy: ExtendedPHY
        switch secondaryPHY {
        case .le1M: phy = .le1M
        case .le2M: phy = .le2M
        case .leCoded: phy = isSecondaryS2 ? .codedS2 : .codedS8
        default: return nil
        }
        return ExtendedEvent(phy, octets: data.count, headerOctets: announcedPower == nil ? 0 : 1)
    }

    /// The time at which the last bit of the PDU has been sent.
    public var end: HCIInstant { start.advanced(byMicroseconds: airtimeMicroseconds) }
}

/// An address and its type, which together identify a device.
public struct DeviceIdentity: Hashable, Sendable {
    public var type: AddressType
    public var address: DeviceAddress

    /// The device with this address and this type of address.
    public init(_ type: AddressType, _ address: DeviceAddress) {
        self.type = type
        self.address = address
    }
}

/// Creates the reports of a received PDU that the scanner's controller sends to its host.
extension AirPDU {
    /// The maximum number of data bytes in an extended report: 255 minus the 26 bytes of the subevent code, the number
    /// of reports and the fixed fields.
    private static let fragmentLimit = 229

    /// Returns the LE Advertising Report of this PDU (Core Specification 5.4, Vol 4 Part E 7.7.65.2).
    package func legacyReport(rssi: Int8) -> HCIEvent {
        .advertisingReports([
            AdvertisingReport(
                type: .legacy(legacyReportType), addressType: addressType, address: address, rssi: rssi,
                data: AdvertisingData(octets: Array(data.prefix(AdvertisingData.legacyLimit))))
        ])
    }

    private var legacyReportType: UInt8 {
        if isScanResponse { return 4 }
        if properties.contains(.directed) { return 1 }
        if properties.contains(.connectable) { return 0 }
        return properties.contains(.scannable) ? 2 : 3
    }

    /// Returns the LE Extended Advertising Reports of this PDU (7.7.65.13): one report, or several consecutive reports
    /// if the data is long.
    ///
    /// - Parameter withCoding: `true` if the host can decode S=2 in reports.
    package func extendedReports(rssi: Int8, withCoding: Bool) -> [HCIEvent] {
        // The bits for connectable, scannable, directed and legacy are the same in reports as in the properties. Bit 3
        // has a different meaning.
        let type = properties.rawValue & 0x17 | (isScanResponse ? 0x08 : 0)
        let isAnonymous = properties.contains(.anonymous)
        let noAddress = DeviceAddress(FixedOctets())
        var report = AdvertisingReport(
            type: .extended(type), addressType: isAnonymous ? .anonymous : addressType,
            address: isAnonymous ? noAddress : address, rssi: rssi, data: AdvertisingData(octets: []),
            primaryPHY: withCoding && rate == .codedS2 ? .leCodedS2 : primaryPHY,
            secondaryPHY: withCoding && isSecondaryS2 ? .leCodedS2 : secondaryPHY, setIdentifier: setID,
            power: announcedPower,
            directAddressType: target?.type ?? .publicDevice, directAddress: target?.address ?? noAddress)
        var events: [HCIEvent] = []
        var remainingData = data[...]
        repeat {
            report.data = AdvertisingData(octets: Array(remainingData.prefix(Self.fragmentLimit)))
            remainingData = remainingData.dropFirst(Self.fragmentLimit)
            // Bits 5 and 6 are the data status: 0x20 means that more data follows.
            report.type = .extended(remainingData.isEmpty ? type : type | 0x20)
            events.append(.extendedAdvertisingReports([report]))
        } while !remainingData.isEmpty
        return events
    }
}
