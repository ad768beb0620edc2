public import BluetoothTypes

/// Eddystone-EID: `30 | power at 0 m | ephemeral id[8]`. The id is made by EddystoneSecurity.
public struct EddystoneEID: Hashable, Sendable {
    public var id: FixedOctets<8>
    public var measuredPower: MeasuredPowerAtZeroMeters

    public init(id: FixedOctets<8>, measuredPower: MeasuredPowerAtZeroMeters) {
        self.id = id
        self.measuredPower = measuredPower
    }
}
