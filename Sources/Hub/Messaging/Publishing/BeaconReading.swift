public import BluetoothTypes
public import Sightings

/// What a receiver has measured of one known beacon, for those who want measurements and not places.
public struct BeaconReading: Hashable, Sendable {
    /// As the files call it.
    public var name: String
    /// What it was last known by; `nil` where that is a key alone.
    public var identity: BeaconIdentity?
    public var address: DeviceAddress?
    public var isRandomAddress: Bool
    /// The last level and the mean, in dBm, and the variance of the levels.
    public var lastLevel: Int?
    public var meanLevel: Double?
    public var levelVariance: Double
    public var reports: Int
    public var distance: DistanceEstimate?
    /// What it should show at 1 m, in dBm.
    public var powerAtOneMeter: Int?
    /// Between two advertisements that are sent, in milliseconds.
    public var intervalMilliseconds: Int?

    /// See the properties of the same names.
    public init(
        name: String, identity: BeaconIdentity?, address: DeviceAddress?, isRandomAddress: Bool, lastLevel: Int?,
        meanLevel: Double?, levelVariance: Double, reports: Int, distance: DistanceEstimate?, powerAtOneMeter: Int?,
        intervalMilliseconds: Int?
    ) {
        self.name = name
        self.identity = identity
        self.address = address
        self.isRandomAddress = isRandomAddress
        self.lastLevel = lastLevel
        self.meanLevel = meanLevel
        self.levelVariance = levelVariance
        self.reports = reports
        self.distance = distance
        self.powerAtOneMeter = powerAtOneMeter
        self.intervalMilliseconds = intervalMilliseconds
    }

    /// Twelve hexadecimal digits, most significant octet first.
    func addressDigits(isUppercase: Bool) -> String? {
        let digits = address.map { $0.description.filter { $0 != ":" } }
        return isUppercase ? digits?.uppercased() : digits?.lowercased()
    }
}
