/// What is to be located: the last vectors of a run, in the map's beacon numbers.
struct Sample: Sendable {
    /// The last vectors, oldest first; those in which nothing was heard included.
    private(set) var vectors: [SignalVector] = []
    /// The last levels of each beacon that was heard in the run, oldest first, at most ``historyLength``.
    private(set) var history: [Int: [Double]] = [:]
    private let window: Int?

    /// So many of a beacon's last levels make its histogram.
    static let historyLength = 5

    /// - Parameter window: How many vectors are kept; `nil` for all of the run, of which the newest is kept as a vector.
    init(window: Int?) {
        self.window = window
    }

    mutating func append(_ vector: SignalVector) {
        vectors.append(vector)
        if vectors.count > window ?? 1 { vectors.removeFirst() }
        if let window, window > 0 {
            history.removeAll(keepingCapacity: true)
            for vector in vectors { remember(vector) }
        } else {
            remember(vector)
        }
    }

    private mutating func remember(_ vector: SignalVector) {
        for reading in vector.readings {
            history[reading.beacon, default: []].append(reading.level)
            if history[reading.beacon, default: []].count > Self.historyLength {
                history[reading.beacon]?.removeFirst()
            }
        }
    }

    /// Whether anything was heard within the window.
    var isSilent: Bool { vectors.allSatisfy(\.readings.isEmpty) }

    /// The mean of each beacon over the vectors in which it was heard, by beacon number.
    var means: [SignalVector.Reading] {
        if vectors.count == 1 { return vectors[0].readings }
        var sums: [Int: (sum: Double, count: Double)] = [:]
        for vector in vectors {
            for reading in vector.readings {
                let known = sums[reading.beacon] ?? (0, 0)
                sums[reading.beacon] = (known.sum + reading.level, known.count + 1)
            }
        }
        return sums.sorted { $0.key < $1.key }.map { .init(beacon: $0.key, level: $0.value.sum / $0.value.count) }
    }
}

/// The survey's vectors, or means of them, with the place of each.
struct PrintTable: Sendable {
    private(set) var table = VectorTable()
    private(set) var places: [Int] = []

    /// Each vector of the map.
    init(_ map: SignalMap) {
        table = map.table
        places = map.prints.map(\.place)
    }

    /// The means of up to `slices` equal slices of each stay: over the vectors of the slice in which a beacon was heard.
    /// Vectors in which nothing was heard make no print.
    init(_ map: SignalMap, slices: Int) {
        var index = 0
        while index < map.prints.count {
            var end = index
            while end < map.prints.count, map.prints[end].stay == map.prints[index].stay { end += 1 }
            let heard = (index..<end).filter { !map.table.range($0).isEmpty }
            let count = heard.count
            let parts = min(slices, count)
            var start = 0
            for part in 0..<parts {
                // The first ones take what is left over.
                let length = count / parts + (part < count % parts ? 1 : 0)
                var sample = Sample(window: length)
                for vector in heard[start..<start + length] { sample.append(map.table.vector(vector)) }
                table.append(SignalVector(seconds: map.table.times[heard[start]], readings: sample.means))
                places.append(map.prints[index].place)
                start += length
            }
            index = end
        }
    }
}

/// Squared distances from a sample to many vectors, absence as ``ReceivedLevel/floor``, over all beacons of the map.
struct DistanceTable: Sendable {
    private var levels: [Double]
    private var heard: [Int] = []

    /// - Parameter sample: By beacon number.
    init(_ sample: [SignalVector.Reading], beacons: Int) {
        levels = [Double](repeating: ReceivedLevel.floor, count: beacons)
        for reading in sample {
            levels[reading.beacon] = reading.level
            heard.append(reading.beacon)
        }
    }

    /// By vector. Each is the sum of squares as it stands, nothing is subtracted: exact for whole levels.
    func squared(_ table: VectorTable) -> [Double] {
        var result = [Double](repeating: 0, count: table.count)
        let (starts, beacons, others) = (table.starts.span, table.beacons.span, table.levels.span)
        let levels = levels.span
        let heard = heard.span
        // The last vector that each beacon was found in.
        var found = [Int32](repeating: -1, count: levels.count)
        var marks = found.mutableSpan
        for vector in 0..<table.count {
            var sum = 0.0
            let mark = Int32(truncatingIfNeeded: vector)
            for entry in starts[vector]..<starts[vector + 1] {
                let beacon = Int(beacons[entry])
                let difference = others[entry] - levels[beacon]
                sum += difference * difference
                marks[beacon] = mark
            }
            for place in 0..<heard.count where marks[heard[place]] != mark {
                let difference = levels[heard[place]] - ReceivedLevel.floor
                sum += difference * difference
            }
            result[vector] = sum
        }
        return result
    }
}
