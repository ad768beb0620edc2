/// The beacons received in one second, each with the mean level of that second's packets.
///
/// A beacon that is not in the vector was not received. An empty vector means that the receiver listened and received
/// nothing.
public struct SignalVector: Hashable, Sendable {
    /// Seconds since the start of the stay or of the run.
    public var seconds: Double
    /// Sorted by beacon number, one reading per beacon.
    public private(set) var readings: [Reading]

    /// The level of one beacon.
    public struct Reading: Hashable, Sendable {
        /// The beacon's number in its survey or map.
        public let beacon: Int
        /// The mean of the second's packets, in dBm.
        public let level: Double

        /// A reading of a beacon, by its number, with a level in dBm.
        public init(beacon: Int, level: Double) {
            self.beacon = beacon
            self.level = level
        }
    }

    /// A vector of readings in any order. Several readings of one beacon are averaged; levels that are not finite are
    /// left out.
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

    /// A vector whose readings are sorted by beacon number, one per beacon.
    init(seconds: Double, sorted readings: [Reading]) {
        self.seconds = seconds
        self.readings = readings
    }

    /// The same vector with other beacon numbers.
    ///
    /// - Parameter numbers: The new number of each beacon, or `nil` to leave the beacon out.
    func renumbered(_ numbers: [Int?]) -> SignalVector {
        let kept = readings.compactMap { reading in
            numbers[reading.beacon].map { Reading(beacon: $0, level: reading.level) }
        }
        return SignalVector(seconds: seconds, sorted: kept.sorted { $0.beacon < $1.beacon })
    }
}

/// The levels of one beacon's packets in one second, in dBm.
typealias BeaconPackets = (beacon: Int, levels: [Double])

/// The vectors of a survey in flat arrays. A survey may have a million vectors, and an array for each of them would take
/// several times the memory.
struct VectorTable: Sendable {
    private var times: [Double] = []
    /// The readings of vector `v` are at `starts[v]..<starts[v + 1]`, sorted by beacon number.
    private var starts: [Int32] = [0]
    private var beacons: [UInt16] = []
    private var levels: [Double] = []
    /// The packets of reading `r` are at `packetStarts[r]..<packetStarts[r + 1]`.
    private var packetStarts: [Int32] = [0]
    private var packets: [Double] = []
    /// Whether the table holds the level of every packet. Otherwise it holds only the mean of each second.
    let keepsPackets: Bool

    init(keepsPackets: Bool) { self.keepsPackets = keepsPackets }

    /// The number of vectors.
    var count: Int { times.count }

    /// Appends a vector.
    ///
    /// - Parameter found: The packets of each beacon, at least one per beacon, sorted by beacon number.
    mutating func append(seconds: Double, _ found: [BeaconPackets]) {
        for (beacon, levels) in found {
            beacons.append(UInt16(clamping: beacon))
            self.levels.append(levels.reduce(0, +) / Double(levels.count))
            guard keepsPackets else { continue }
            packets += levels
            packetStarts.append(Int32(clamping: packets.count))
        }
        times.append(seconds)
        starts.append(Int32(clamping: beacons.count))
    }

    private func range(_ vector: Int) -> Range<Int> { Int(starts[vector])..<Int(starts[vector + 1]) }

    /// Whether nothing was received in a second.
    func isEmpty(_ vector: Int) -> Bool { range(vector).isEmpty }

    func vector(_ index: Int) -> SignalVector {
        SignalVector(
            seconds: times[index], sorted: range(index).map { .init(beacon: Int(beacons[$0]), level: levels[$0]) })
    }

    /// The levels of the packets of each reading of a vector. If packets are not kept, the mean of each reading.
    func packets(_ index: Int) -> [[Double]] {
        range(index).map { reading in
            guard keepsPackets else { return [levels[reading]] }
            return Array(packets[Int(packetStarts[reading])..<Int(packetStarts[reading + 1])])
        }
    }
}
