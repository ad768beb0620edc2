/// The last vectors of a run, which are located together. Beacons have the map's numbers.
struct SampleWindow: Sendable {
    /// The last vectors, oldest first, including empty ones.
    private(set) var vectors: [SignalVector] = []
    /// If there is no limit: the last levels of each beacon of the run.
    private var run: [Int: [Double]] = [:]
    private let length: Int?

    /// The number of a beacon's last levels that make its histogram.
    static let historyLength = 5

    /// - Parameter length: The number of vectors; `nil` to keep one vector and the history of the whole run.
    init(length: Int?) {
        self.length = length
    }

    mutating func append(_ vector: SignalVector) {
        vectors.append(vector)
        if vectors.count > length ?? 1 { vectors.removeFirst() }
        if length == nil { Self.append(vector, to: &run) }
    }

    /// The number of beacons that were received.
    var beaconCount: Int { Set(vectors.flatMap { $0.readings.map(\.beacon) }).count }

    /// The mean of each beacon over the vectors in which it was received, sorted by beacon number.
    var means: [SignalVector.Reading] { SignalVector(seconds: 0, readings: vectors.flatMap(\.readings)).readings }

    /// The last levels of each beacon within the window, oldest first, up to ``historyLength``.
    var history: [Int: [Double]] {
        guard length != nil else { return run }
        var history: [Int: [Double]] = [:]
        for vector in vectors { Self.append(vector, to: &history) }
        return history
    }

    private static func append(_ vector: SignalVector, to history: inout [Int: [Double]]) {
        for reading in vector.readings {
            let levels = history[reading.beacon, default: []] + [reading.level]
            history[reading.beacon] = levels.suffix(historyLength)
        }
    }
}
