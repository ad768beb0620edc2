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

/// Many vectors in few arrays, in the order in which they were taken: six octets a reading.
struct VectorTable: Sendable {
    /// Seconds since the start of the stay.
    private(set) var times: [Double] = []
    /// The readings of vector v stand from `starts[v]` to before `starts[v + 1]`, by beacon number.
    private var starts: [UInt32] = [0]
    private var beacons: [UInt16] = []
    /// A reading's level: the sum of its packets, 20 bits, and how many there are, 11 bits, where all are whole; else the
    /// highest bit and its place in ``fractions``.
    private var levels: [UInt32] = []
    private var fractions: [Double] = []
    /// What the packets of readings with several said, for whoever wants them.
    private var packets: [Int8] = []
    /// Where the packets of each vector begin; empty where they are not kept.
    private var packetStarts: [UInt32] = []

    private static let isFraction: UInt32 = 1 << 31
    private static let sumBits: UInt32 = 20
    private static let mostPackets = (1 << 11) - 1

    /// - Parameter keepsPackets: Whether single packets count, and not only the mean of a second's.
    init(keepsPackets: Bool = false) {
        if keepsPackets { packetStarts = [0] }
    }

    var keepsPackets: Bool { !packetStarts.isEmpty }

    var count: Int { times.count }
    /// Of all vectors.
    var readingCount: Int { beacons.count }

    mutating func append(_ vector: SignalVector) {
        for reading in vector.readings { append(beacon: reading.beacon, level: reading.level) }
        close(vector.seconds)
    }

    private mutating func append(beacon: Int, level: Double) {
        // Less than this no level is, and a sum of one is itself.
        if let whole = Int(exactly: level), abs(whole) < 1000, !(whole == 0 && level.sign == .minus) {
            append(beacon: beacon, sum: whole, count: 1)
        } else {
            beacons.append(UInt16(clamping: beacon))
            levels.append(Self.isFraction | UInt32(clamping: fractions.count))
            fractions.append(level)
        }
    }

    private mutating func append(beacon: Int, sum: Int, count: Int) {
        beacons.append(UInt16(clamping: beacon))
        let bits = UInt32(truncatingIfNeeded: sum) & ((1 << Self.sumBits) - 1)
        levels.append(UInt32(count) << Self.sumBits | bits)
    }

    /// One reading of the vector that ``close(_:)`` ends; by beacon number, ascending.
    ///
    /// - Parameter packets: At least one.
    mutating func append(beacon: Int, packets: [Double]) {
        guard packets.count <= Self.mostPackets, packets.allSatisfy({ Int8(exactly: $0) != nil }) else {
            append(beacon: beacon, level: packets.reduce(0, +) / Double(packets.count))
            return
        }
        append(beacon: beacon, sum: packets.reduce(0) { $0 + Int($1) }, count: packets.count)
        if keepsPackets, packets.count > 1 { self.packets += packets.lazy.map { Int8($0) } }
    }

    mutating func close(_ seconds: Double) {
        times.append(seconds)
        starts.append(UInt32(clamping: beacons.count))
        if keepsPackets { packetStarts.append(UInt32(clamping: packets.count)) }
    }

    /// The same vector as in another table, without its packets.
    ///
    /// - Parameter numbers: By the other's beacon number the one here; `nil` for those that are left out.
    mutating func append(_ vector: Int, of other: VectorTable, numbers: [Int?]) {
        let first = beacons.count
        var isAscending = true
        for entry in other.range(vector) {
            guard let beacon = numbers[other.beacon(entry)] else { continue }
            if beacons.count > first, let last = beacons.last, last > beacon { isAscending = false }
            beacons.append(UInt16(clamping: beacon))
            if other.levels[entry] & Self.isFraction == 0 {
                levels.append(other.levels[entry])
            } else {
                levels.append(Self.isFraction | UInt32(clamping: fractions.count))
                fractions.append(other.level(entry))
            }
        }
        if !isAscending { sort(first..<beacons.count) }
        close(other.times[vector])
    }

    private mutating func sort(_ range: Range<Int>) {
        let order = range.sorted { beacons[$0] < beacons[$1] }
        (beacons[range], levels[range]) = (
            ArraySlice(order.map { beacons[$0] }), ArraySlice(order.map { levels[$0] })
        )
    }

    /// Gives every beacon another number, where no packets are kept.
    ///
    /// - Parameter numbers: By the number that it has; each once.
    mutating func renumber(_ numbers: [Int]) {
        for vector in 0..<count {
            let range = range(vector)
            var isAscending = true
            for entry in range {
                beacons[entry] = UInt16(clamping: numbers[Int(beacons[entry])])
                if entry > range.lowerBound, beacons[entry - 1] > beacons[entry] { isAscending = false }
            }
            if !isAscending { sort(range) }
        }
    }

    /// Makes room for so many vectors and readings at once, so that growing takes no more.
    mutating func reserve(vectors: Int, readings: Int) {
        times.reserveCapacity(vectors)
        starts.reserveCapacity(vectors + 1)
        beacons.reserveCapacity(readings)
        levels.reserveCapacity(readings)
    }

    /// The places of the readings of vector `index`.
    func range(_ index: Int) -> Range<Int> { Int(starts[index])..<Int(starts[index + 1]) }

    /// Whose the reading at a place is.
    func beacon(_ entry: Int) -> Int { Int(beacons[entry]) }

    /// The mean of its packets, in dBm.
    func level(_ entry: Int) -> Double {
        let level = levels[entry]
        if level & Self.isFraction != 0 { return fractions[Int(level & ~Self.isFraction)] }
        let sum = Int32(bitPattern: level << (32 - Self.sumBits)) >> Int32(32 - Self.sumBits)
        let count = level >> Self.sumBits
        return count == 1 ? Double(sum) : Double(sum) / Double(count)
    }

    func vector(_ index: Int) -> SignalVector {
        SignalVector(
            seconds: times[index], readings: range(index).map { .init(beacon: beacon($0), level: level($0)) })
    }

    /// What the packets of each reading of a vector said, in the order of the readings; their means where they are not
    /// kept.
    func packets(_ index: Int) -> [[Double]] {
        var next = keepsPackets ? Int(packetStarts[index]) : 0
        return range(index).map { entry in
            let count = levels[entry] & Self.isFraction == 0 ? Int(levels[entry] >> Self.sumBits) : 1
            guard keepsPackets, count > 1 else { return [level(entry)] }
            defer { next += count }
            return packets[next..<next + count].map(Double.init)
        }
    }
}
