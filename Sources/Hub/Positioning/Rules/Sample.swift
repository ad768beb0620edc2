/// What is to be located: the last vectors of a run, in the map's beacon numbers.
struct Sample: Sendable {
    /// The last vectors, oldest first; those in which nothing was heard included.
    private(set) var vectors: [SignalVector] = []
    /// By beacon number: in how many of ``vectors`` it was heard.
    private var counts: [Int32] = []
    /// How many beacons were heard in them.
    private(set) var heardCount = 0
    /// Without a window: the last levels of each beacon that was heard in the run.
    private var run: [Int: [Double]] = [:]
    private let window: Int?

    /// So many of a beacon's last levels make its histogram.
    static let historyLength = 5

    /// - Parameter window: How many vectors are kept; `nil` for all of the run, of which the newest is kept as a vector.
    init(window: Int?) {
        self.window = window
    }

    mutating func append(_ vector: SignalVector) {
        vectors.append(vector)
        if let last = vector.readings.last, last.beacon >= counts.count {
            counts += [Int32](repeating: 0, count: last.beacon + 1 - counts.count)
        }
        for reading in vector.readings {
            if counts[reading.beacon] == 0 { heardCount += 1 }
            counts[reading.beacon] += 1
        }
        if vectors.count > window ?? 1 {
            for reading in vectors.removeFirst().readings {
                counts[reading.beacon] -= 1
                if counts[reading.beacon] == 0 { heardCount -= 1 }
            }
        }
        if window == nil { Self.remember(vector, &run) }
    }

    /// The last levels of each beacon that was heard in the window, or in the run without one, oldest first, at most
    /// ``historyLength``.
    var history: [Int: [Double]] {
        guard window != nil else { return run }
        var history: [Int: [Double]] = [:]
        for vector in vectors { Self.remember(vector, &history) }
        return history
    }

    private static func remember(_ vector: SignalVector, _ history: inout [Int: [Double]]) {
        for reading in vector.readings {
            history[reading.beacon, default: []].append(reading.level)
            if history[reading.beacon, default: []].count > historyLength {
                history[reading.beacon]?.removeFirst()
            }
        }
    }

    /// The mean of each beacon over the vectors in which it was heard, by beacon number.
    var means: [SignalVector.Reading] {
        if vectors.count == 1 { return vectors[0].readings }
        var sums = [Double](repeating: 0, count: counts.count)
        for vector in vectors { for reading in vector.readings { sums[reading.beacon] += reading.level } }
        return counts.indices.lazy.filter { counts[$0] > 0 }
            .map { .init(beacon: $0, level: sums[$0] / Double(counts[$0])) }
    }
}

/// The survey's vectors, or means of them, with the place of each.
struct PrintTable: Sendable {
    private(set) var table = VectorTable()
    /// By vector: its place; -1 for one that is no print.
    private(set) var places: [Int32] = []

    /// None.
    init() {}

    mutating func append(_ vector: SignalVector, _ place: Int) {
        table.append(vector)
        places.append(Int32(truncatingIfNeeded: place))
    }

    /// Each vector of the map.
    init(_ map: SignalMap) {
        table = map.table
        places = [Int32](repeating: -1, count: table.count)
        for print in map.prints { places[print.vector] = Int32(truncatingIfNeeded: print.place) }
    }

    /// The means of up to `slices` equal slices of each stay: over the vectors of the slice in which a beacon was heard.
    /// Vectors in which nothing was heard make no print.
    init(_ map: SignalMap, slices: Int) {
        var index = 0
        while index < map.prints.count {
            var end = index
            while end < map.prints.count, map.prints[end].stay == map.prints[index].stay { end += 1 }
            let heard = map.prints[index..<end].map(\.vector).filter { !map.table.range($0).isEmpty }
            let count = heard.count
            let parts = min(slices, count)
            var start = 0
            for part in 0..<parts {
                // The first ones take what is left over.
                let length = count / parts + (part < count % parts ? 1 : 0)
                var sample = Sample(window: length)
                for vector in heard[start..<start + length] { sample.append(map.table.vector(vector)) }
                append(
                    SignalVector(seconds: map.table.times[heard[start]], readings: sample.means),
                    map.prints[index].place)
                start += length
            }
            index = end
        }
    }
}
