/// Readings of one instant: which beacons were heard in one second, each with the mean of that second's packets.
///
/// A beacon that is not in it was not heard. An empty vector says that somebody listened and heard nothing.
public struct SignalVector: Hashable, Sendable {
    /// Seconds since the start of the stay or of the run.
    public var seconds: Double
    /// By beacon number, ascending, each once.
    public private(set) var readings: [Reading]

    /// One beacon's level.
    public struct Reading: Hashable, Sendable {
        /// The beacon's number in its survey or map.
        public let beacon: Int
        /// The mean of the second's packets, in dBm.
        public let level: Double

        /// - Parameters are as the properties of the same names.
        public init(beacon: Int, level: Double) {
            self.beacon = beacon
            self.level = level
        }
    }

    /// In any order; of two readings of one beacon the mean counts. Levels that are no numbers are left out.
    public init(seconds: Double, readings: [Reading]) {
        self.seconds = seconds
        let sorted = readings.filter(\.level.isFinite).enumerated().sorted {
            ($0.element.beacon, $0.offset) < ($1.element.beacon, $1.offset)
        }
        var merged: [Reading] = []
        var count = 0.0
        for (_, reading) in sorted {
            if let last = merged.last, last.beacon == reading.beacon {
                let mean = (last.level * count + reading.level) / (count + 1)
                merged[merged.count - 1] = Reading(beacon: reading.beacon, level: mean)
                count += 1
            } else {
                merged.append(reading)
                count = 1
            }
        }
        self.readings = merged
    }
}

/// Many vectors in few arrays, in the order in which they were taken.
struct VectorTable: Sendable {
    /// Seconds since the start of the stay.
    private(set) var times: [Double] = []
    /// The readings of vector v stand from `starts[v]` to before `starts[v + 1]`, by beacon number.
    private(set) var starts: [Int] = [0]
    private(set) var beacons: [Int32] = []
    private(set) var levels: [Double] = []
    /// How many packets each reading is the mean of; what they said stands in ``packets`` where there are several.
    private var packetCounts: [UInt16] = []
    private var packets: [Int8] = []
    /// Where the packets of each vector begin.
    private var packetStarts: [Int] = [0]

    var count: Int { times.count }

    mutating func append(_ vector: SignalVector) {
        for reading in vector.readings {
            beacons.append(Int32(truncatingIfNeeded: reading.beacon))
            levels.append(reading.level)
            packetCounts.append(1)
        }
        close(vector.seconds)
    }

    /// One reading of the vector that ``close(_:)`` ends; by beacon number, ascending.
    mutating func append(beacon: Int, level: Double, packets: ArraySlice<Int8>) {
        beacons.append(Int32(truncatingIfNeeded: beacon))
        levels.append(level)
        let isKept = packets.count > 1 && packets.count <= Int(UInt16.max)
        packetCounts.append(isKept ? UInt16(packets.count) : 1)
        if isKept { self.packets += packets }
    }

    mutating func close(_ seconds: Double) {
        times.append(seconds)
        starts.append(beacons.count)
        packetStarts.append(packets.count)
    }

    /// The readings of vector `index`, as places in ``beacons`` and ``levels``.
    func range(_ index: Int) -> Range<Int> { starts[index]..<starts[index + 1] }

    func vector(_ index: Int) -> SignalVector {
        SignalVector(
            seconds: times[index],
            readings: range(index).map { .init(beacon: Int(beacons[$0]), level: levels[$0]) })
    }

    /// What the packets of each reading of a vector said, in the order of the readings.
    func packets(_ index: Int) -> [[Double]] {
        var next = packetStarts[index]
        return range(index).map { place in
            let count = Int(packetCounts[place])
            guard count > 1 else { return [levels[place]] }
            defer { next += count }
            return packets[next..<next + count].map(Double.init)
        }
    }
}
