public import BluetoothTypes

/// An AltBeacon (github AltBeacon/spec): manufacturer data of any company with code BE AC.
///
/// `1B FF | company id LE | BE AC | beacon id[20] | reference RSSI s8 at 1 m | manufacturer reserved u8`: 28 octets.
public struct AltBeacon: Hashable, Sendable {
    public var companyID: UInt16
    public var beaconID: FixedOctets<20>
    public var measuredPower: MeasuredPowerAtOneMeter
    public var reserved: UInt8

    public init(
        companyID: UInt16, beaconID: FixedOctets<20>, measuredPower: MeasuredPowerAtOneMeter, reserved: UInt8 = 0
    ) {
        self.companyID = companyID
        self.beaconID = beaconID
        self.measuredPower = measuredPower
        self.reserved = reserved
    }
}

extension AltBeacon {
    /// Octets of manufacturer data: company, code, id, power and the reserved octet.
    static let manufacturerDataLength = 26

    /// From manufacturer data; `nil` unless it is exactly an AltBeacon's.
    @inline(__always)
    init?(manufacturerData data: Span<UInt8>) {
        guard data.count == Self.manufacturerDataLength, data.uint16BigEndian(at: 2) == 0xBEAC,
            let beaconID = FixedOctets<20>(data, at: 4)
        else { return nil }
        self.init(
            companyID: data.uint16LittleEndian(at: 0), beaconID: beaconID,
            measuredPower: MeasuredPowerAtOneMeter(octet: data[24]), reserved: data[25])
    }

    /// The manufacturer data alone, without Flags, whatever the power.
    public var adStructures: [ADStructure] {
        [.manufacturerData(companyID, [0xBE, 0xAC] + beaconID.octets + [measuredPower.octet, reserved])]
    }

    /// The payload, 31 octets with Flags and 28 without.
    ///
    /// - Throws: ``BeaconFrameError`` for a measured power outside -127...0 dBm.
    public func advertisingData(flags: ADFlags? = .beacon) throws(BeaconFrameError) -> AdvertisingData {
        try .checked(adStructures, power: measuredPower, flags: flags)
    }
}
