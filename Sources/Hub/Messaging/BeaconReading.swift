public import BluetoothTypes
public import Sightings

/// Measurements of one known beacon by one receiver, for formats that contain measurements instead of places.
public struct BeaconReading: Hashable, Sendable {
    /// The name of the beacon in the files.
    public var name: String
    /// The identity that was received last; `nil` if only a key identified it.
    public var identity: BeaconIdentity?
    public var address: DeviceAddress?
    public var isRandomAddress: Bool
    /// The last level and the mean, in dBm, and the variance of the levels.
    public var lastLevel: Int?
    public var meanLevel: Double?
    public var levelVariance: Double
    public var reports: Int
    public var distance: DistanceEstimate?
    /// The expected level at 1 m, in dBm.
    public var powerAtOneMeter: Int?
    /// The time between two advertisements, in milliseconds.
    public var intervalMilliseconds: Int?

    /// Twelve hexadecimal digits, most significant byte first.
    func addressDigits(isUppercase: Bool) -> String? {
        let digits = address.map { $0.description.filter { $0 != ":" } }
        return isUppercase ? digits?.uppercased() : digits?.lowercased()
    }
}
