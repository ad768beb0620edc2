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
