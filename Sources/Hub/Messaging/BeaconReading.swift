public import BluetoothTypes
public import Sightings

/// Measurements of one known beacon by one receiver, for message formats that contain measurements instead of rooms.
public struct BeaconReading: Hashable, Sendable {
    /// The name of the beacon in the configuration files.
    public var name: String
    /// The identity that was received last; `nil` if the beacon was identified only by the key of its addresses.
    public var identity: BeaconIdentity?
    public var address: DeviceAddress?
    public var isRandomAddress: Bool
    /// The level of the last report, in dBm.
    public var lastLevel: Int?
    /// The mean level, in dBm.
    public var meanLevel: Double?
    /// The variance of the levels, in dB².
    public var levelVariance: Double
    /// The number of reports that were measured.
    public var reports: Int
    public var distance: DistanceEstimate?
    /// The expected level at 1 m, in dBm.
    public var powerAtOneMeter: Int?
    /// The time between two advertisements, in milliseconds.
    public var intervalMilliseconds: Int?

    /// Returns the address as twelve hexadecimal digits, most significant byte first; `nil` if there is no address.
    func addressDigits(isUppercase: Bool) -> String? {
        let digits = address.map { $0.description.filter { $0 != ":" } }
        return isUppercase ? digits?.uppercased() : digits?.lowercased()
    }
}
