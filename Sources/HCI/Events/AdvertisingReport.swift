public import BluetoothTypes

/// One advertisement that a controller heard, by a legacy or an extended report.
///
/// What legacy reports do not tell has the value with which extended ones say "not there".
public struct AdvertisingReport: Hashable, Sendable {
    public var type: AdvertisingReportType
    public var addressType: AddressType
    public var address: DeviceAddress
    public var primaryPHY: AdvertisingPHY
    public var secondaryPHY: AdvertisingPHY
    /// Advertising_SID; 0xFF when there is none.
    public var setIdentifier: UInt8
    /// What the advertisement itself says of its transmitter; `RadioPower.noPreference`, 127, when it says nothing.
    public var power: RadioPower
    /// dBm; 127 when not available.
    public var rssi: Int8
    /// Units of 1.25 ms; 0 without periodic advertising.
    public var periodicInterval: UInt16
    public var directAddressType: AddressType
    public var directAddress: DeviceAddress
    public var data: [UInt8]

    public init(
        type: AdvertisingReportType, addressType: AddressType, address: DeviceAddress, rssi: Int8, data: [UInt8],
        primaryPHY: AdvertisingPHY = .le1M, secondaryPHY: AdvertisingPHY = .none, setIdentifier: UInt8 = 0xFF,
        power: RadioPower = .noPreference, periodicInterval: UInt16 = 0,
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

    /// Copies a report out of the span in which it was found.
    public init(_ element: AdvertisingReportElement, in octets: Span<UInt8>) {
        self.init(
            type: element.type, addressType: element.addressType, address: element.address(in: octets),
            rssi: element.rssi, data: octets.array(element.data), primaryPHY: element.primaryPHY,
            secondaryPHY: element.secondaryPHY, setIdentifier: element.setIdentifier, power: element.power)
        if let tail = element.tailOffset, let direct = DeviceAddress(littleEndian: octets, at: tail + 3) {
            periodicInterval = octets.uint16LittleEndian(at: tail)
            directAddressType = AddressType(rawValue: octets[tail + 2])
            directAddress = direct
        }
    }

    /// All reports of an LE Meta event's parameters.
    static func all(_ octets: Span<UInt8>, _ range: Range<Int>) throws(HCIEventError) -> [AdvertisingReport] {
        guard var cursor = try AdvertisingReportCursor(parameters: octets, in: range) else { return [] }
        var reports: [AdvertisingReport] = []
        while let element = try cursor.next(in: octets) {
            reports.append(AdvertisingReport(element, in: octets))
        }
        return reports
    }

    /// The report in a legacy event; `nil` when it does not fit in there.
    var legacyOctets: [UInt8]? {
        guard let number = type.legacyNumber, data.count <= 255 - 12 else { return nil }
        var octets = [number, addressType.rawValue]
        octets += address.littleEndian
        octets.append(UInt8(data.count))
        octets += data
        octets.append(UInt8(bitPattern: rssi))
        return octets
    }

    /// The report in an extended event; `nil` when it does not fit in there.
    var extendedOctets: [UInt8]? {
        guard let bits = type.bits, data.count <= 255 - 26 else { return nil }
        var octets: [UInt8] = []
        octets.append(littleEndian: bits)
        octets.append(addressType.rawValue)
        octets += address.littleEndian
        octets += [primaryPHY.rawValue, secondaryPHY.rawValue, setIdentifier, power.octet, UInt8(bitPattern: rssi)]
        octets.append(littleEndian: periodicInterval)
        octets.append(directAddressType.rawValue)
        octets += directAddress.littleEndian
        octets.append(UInt8(data.count))
        return octets + data
    }

    /// The parameters of an LE Meta event with as many of `reports` as fit, up to the first one that does not.
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
