import BluetoothTypes
import HCI

/// The reports of one heard PDU, each without its event code.
enum AdvertisingReports {
    /// What an extended report carries at most: 255 octets less the 26 of subevent, number and fixed fields.
    static let fragmentLimit = 229

    /// LE Advertising Report (Core Specification 5.4, Vol 4 Part E 7.7.65.2).
    static func legacy(_ pdu: AirPDU, rssi: Int8) -> [UInt8] {
        let data = pdu.data.prefix(AdvertisingData.legacyLimit)
        var octets: [UInt8] = [0x02, 1, legacyEventType(pdu), pdu.addressType.rawValue]
        octets += pdu.address.littleEndian
        octets.append(UInt8(data.count))
        octets += data
        octets.append(UInt8(bitPattern: rssi))
        return octets
    }

    private static func legacyEventType(_ pdu: AirPDU) -> UInt8 {
        if pdu.isScanResponse { return 4 }
        if pdu.properties.contains(.directed) { return 1 }
        if pdu.properties.contains(.connectable) { return 0 }
        return pdu.properties.contains(.scannable) ? 2 : 3
    }

    /// LE Extended Advertising Reports (7.7.65.13): one, or several in a row for long data.
    static func extended(_ pdu: AirPDU, rssi: Int8) -> [[UInt8]] {
        // Connectable, scannable, directed and legacy have the same bits here as in the properties; bit 3 differs.
        var type = pdu.properties.rawValue & 0x17
        if pdu.isScanResponse { type |= 0x08 }
        var reports: [[UInt8]] = []
        var rest = pdu.data[...]
        repeat {
            let fragment = rest.prefix(fragmentLimit)
            rest = rest.dropFirst(fragmentLimit)
            // Data status in bits 5 and 6: more to come.
            reports.append(extendedReport(pdu, type: rest.isEmpty ? type : type | 0x20, fragment, rssi))
        } while !rest.isEmpty
        return reports
    }

    private static func extendedReport(
        _ pdu: AirPDU, type: UInt16, _ data: ArraySlice<UInt8>, _ rssi: Int8
    ) -> [UInt8] {
        let isAnonymous = pdu.properties.contains(.anonymous)
        let nobody = DeviceAddress(FixedOctets())
        var octets: [UInt8] = [0x0D, 1]
        octets.append(littleEndian: type)
        octets.append(isAnonymous ? AddressType.anonymous.rawValue : pdu.addressType.rawValue)
        octets += (isAnonymous ? nobody : pdu.address).littleEndian
        octets += [pdu.primaryPHY.rawValue, pdu.secondaryPHY.rawValue, pdu.setID]
        octets += [(pdu.announcedPower ?? .noPreference).octet, UInt8(bitPattern: rssi)]
        // No periodic advertising.
        octets.append(littleEndian: UInt16(0))
        octets.append(pdu.target?.type.rawValue ?? 0)
        octets += (pdu.target?.address ?? nobody).littleEndian
        octets.append(UInt8(data.count))
        return octets + data
    }
}
