public import BluetoothTypes

/// An iBeacon: manufacturer data of Apple (0x004C) with type 02, length 15.
///
/// `02 01 06 | 1A FF 4C 00 02 15 | UUID[16] | major u16 BE | minor u16 BE | measured power s8`: 30 octets. The UUID
/// stands in text order. Measured power is the signal strength at 1 m.
public struct IBeacon: Hashable, Sendable {
    /// Most significant octet first, as the UUID is written.
    public var uuid: FixedOctets<16>
    public var major: UInt16
    public var minor: UInt16
    public var measuredPower: MeasuredPowerAtOneMeter

    public init(uuid: FixedOctets<16>, major: UInt16, minor: UInt16, measuredPower: MeasuredPowerAtOneMeter) {
        self.uuid = uuid
        self.major = major
        self.minor = minor
        self.measuredPower = measuredPower
    }
}
