import BluetoothTypes
import HCI

/// A heard PDU as its scanner reports it.
extension AirPDU {
    /// What an extended report carries at most: 255 octets less the 26 of subevent, number and fixed fields.
    private static let fragmentLimit = 229

    /// LE Advertising Report (Core Specification 5.4, Vol 4 Part E 7.7.65.2).
    func legacyReport(rssi: Int8) -> HCIEvent {
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

    /// LE Extended Advertising Reports (7.7.65.13): one, or several in a row for long data.
    func extendedReports(rssi: Int8) -> [HCIEvent] {
        // Connectable, scannable, directed and legacy have the same bits here as in the properties; bit 3 differs.
        let type = properties.rawValue & 0x17 | (isScanResponse ? 0x08 : 0)
        let isAnonymous = properties.contains(.anonymous)
        let nobody = DeviceAddress(FixedOctets())
        var report = AdvertisingReport(
            type: .extended(type), addressType: isAnonymous ? .anonymous : addressType,
            address: isAnonymous ? nobody : address, rssi: rssi, data: AdvertisingData(octets: []),
            primaryPHY: primaryPHY,
            secondaryPHY: secondaryPHY, setIdentifier: setID, power: announcedPower,
            directAddressType: target?.type ?? .publicDevice, directAddress: target?.address ?? nobody)
        var events: [HCIEvent] = []
        var rest = data[...]
        repeat {
            report.data = AdvertisingData(octets: Array(rest.prefix(Self.fragmentLimit)))
            rest = rest.dropFirst(Self.fragmentLimit)
            // Data status in bits 5 and 6: more to come.
            report.type = .extended(rest.isEmpty ? type : type | 0x20)
            events.append(.extendedAdvertisingReports([report]))
        } while !rest.isEmpty
        return events
    }
}
