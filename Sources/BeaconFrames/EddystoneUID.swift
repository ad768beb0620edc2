public import BluetoothTypes

/// Eddystone-UID: `00 | power at 0 m | namespace[10] | instance[6] | RFU 00 00`.
public struct EddystoneUID: Hashable, Sendable {
    public var namespace: FixedOctets<10>
    public var instance: FixedOctets<6>
    public var measuredPower: MeasuredPowerAtZeroMeters

    public init(
        namespace: FixedOctets<10>, instance: FixedOctets<6>, measuredPower: MeasuredPowerAtZeroMeters
    ) {
        self.namespace = namespace
        self.instance = instance
        self.measuredPower = measuredPower
    }
}
