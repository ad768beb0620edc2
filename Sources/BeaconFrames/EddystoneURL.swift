public import BluetoothTypes

/// Eddystone-URL: `10 | power at 0 m | scheme | encoded URL of 1...17 octets`.
public struct EddystoneURL: Hashable, Sendable {
    /// The URL in Eddystone's compressed form.
    public var url: CompressedURL
    public var measuredPower: MeasuredPowerAtZeroMeters

    public init(url: CompressedURL, measuredPower: MeasuredPowerAtZeroMeters) {
        self.url = url
        self.measuredPower = measuredPower
    }
}
