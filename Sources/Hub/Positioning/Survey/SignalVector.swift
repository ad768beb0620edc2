/// The beacons received in one second. Each has the mean level of its packets in that second.
///
/// A beacon that is not in the vector was not received. An empty vector means that the receiver worked but received no
/// beacon.
public struct SignalVector: Hashable, Sendable {
    /// The time in seconds since the start of the stay or of the run.
    public var seconds: Double
    /// The readings, one for each beacon, sorted by beacon number.
    public private(set) var readings: [Reading]

    /// The level of one beacon.
    public struct Reading: Hashable, Sendable {
        /// The beacon's number in its survey or map.
        public let beacon: Int
        /// The mean level of the second's packets, in dBm.
        public let level: Double

        /// Creates a reading from a beacon's number and a level in dBm.
        public init(beacon: Int, level: Double) {
            self.beacon = beacon
            self.level = level
        }
    }

    /// Creates a vector from readings in any order. Several readings of one beacon are averaged. Levels that are not
    /// finite are left out.
    public init(seconds: Double, readings: [Reading]) {
        var levels: [Int: [Double]] = [:]
        for reading in readings where reading.level.isFinite {
            levels[reading.beacon, default: []].append(reading.level)
        }
        self.seconds = seconds
        self.readings = levels.sorted { $0.key < $1.key }.map { beacon, levels in
            Reading(beacon: beacon, level: levels.reduce(0, +) / Double(levels.count))
        }
    }

    /// Creates a vector from readings that are sorted by beacon number, one for each beacon.
    init(seconds: Double, sorted readings: [Reading]) {
        self.seconds = seconds
        self.readings = readings
    }

    /// Returns a copy whose readings have the beacon numbers of another survey or map.
    ///
    /// - Parameter numbers: The new number of each beacon, in the order of the old numbers; `nil` to leave the beacon
    ///   out.
    func renumbered(_ numbers: [Int?]) -> SignalVector {
        let newReadings = readings.compactMap { reading in
            numbers[reading.beacon].map { Reading(beacon: $0, level: reading.level) }
        }
        return SignalVector(seconds: seconds, sorted: newReadings.sorted { $0.beacon < $1.beacon })
    }
}

/// The levels of one beacon's packets in one second, in dBm.
typealias BeaconPackets = (beacon: Int, levels: [Double])
