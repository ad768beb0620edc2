internal import Airtime

/// The possible movements of a receiver during a window of seconds: it stands, or it walks straight in one of eight
/// directions.
///
/// A walking receiver receives the levels of the places that it passes. If these levels counted for the place where it
/// is now, its position would lag behind by half of the window, and its region would be too small.
struct WindowMotion: Sendable {
    /// The logarithm of the probability of each movement. Movement 0 is standing.
    let logPriors: [Double]
    /// The cell in which the receiver was, or -1 if it was outside the grid. Indexed by the movement (without
    /// standing), then by the age of the second, then by the cell in which the receiver is now.
    private let sources: [[[Int32]]]

    /// The probability that a receiver stands.
    private static let standing = 0.6
    /// The number of directions of a walk. All directions are equally likely.
    private static let directions = 8
    /// The assumed speed of a walk in m/s. A single speed is enough: over a few seconds, slower and faster walks differ
    /// from it by less than the error of a position.
    private static let speed = 1.0
    /// The longest time in seconds for which a walk is assumed to be straight.
    private static let longest = 5

    /// Computes the movements between the cells of a grid.
    ///
    /// - Parameter window: The number of seconds from which a position is computed.
    init(_ grid: CellGrid, window: Int) {
        guard window > 1 else {
            (logPriors, sources) = ([0], [])
            return
        }
        let share = (1 - Self.standing) / Double(Self.directions)
        logPriors = [log(Self.standing)] + [Double](repeating: log(share), count: Self.directions)
        let cellAt = Dictionary(uniqueKeysWithValues: zip(grid.spots, grid.cells.indices))
        let ages = 0...min(window - 1, Self.longest)
        sources = (0..<Self.directions).map { direction in
            let angle = 2 * Double.pi * Double(direction) / Double(Self.directions)
            return ages.map { age in
                let cells = Self.speed * Double(age) / grid.step
                let (columns, rows) = (Int((cells * cos(angle)).rounded()), Int((cells * sin(angle)).rounded()))
                return grid.spots.map { spot in
                    let past = CellGrid.Spot(floor: spot.floor, column: spot.column - columns, row: spot.row - rows)
                    return Int32(cellAt[past] ?? -1)
                }
            }
        }
    }

    /// Adds the log-likelihoods of a second to the sums of a movement.
    ///
    /// - Parameters:
    ///   - sums: The sums, by the cell in which the receiver is now.
    ///   - logLikelihoods: The log-likelihoods of the second, by the cell in which the receiver was.
    ///   - movement: The index of the movement, at least 1. Index 0 means standing.
    ///   - age: The number of seconds since that second.
    func add(_ logLikelihoods: ArraySlice<Double>, to sums: inout [Double], movement: Int, age: Int) {
        let sourcesByAge = sources[movement - 1]
        let source = sourcesByAge[min(max(0, age), sourcesByAge.count - 1)]
        // This loop takes most of the time of locating, so it uses pointers.
        unsafe logLikelihoods.withUnsafeBufferPointer { values in
            unsafe source.withUnsafeBufferPointer { source in
                unsafe sums.withUnsafeMutableBufferPointer { sums in
                    for cell in 0..<sums.count {
                        let past = unsafe Int(source[cell])
                        unsafe sums[cell] += past < 0 ? -.infinity : values[past]
                    }
                }
            }
        }
    }
}

/// The log-likelihoods of a window of seconds, for one receiver offset and one movement.
struct WindowHypothesis: Sendable {
    /// The index of the receiver offset.
    let offset: Int
    /// The logarithm of the prior probability of the movement.
    let logPrior: Double
    /// The log-likelihoods, by the cell in which the receiver is now.
    let logLikelihoods: [Double]
}

/// The log-likelihoods of all cells in the last seconds of a run.
struct CellWindow: Sendable {
    let cells: [Cell]
    /// The movements of the receiver; `nil` if it is assumed to stand.
    private let motion: WindowMotion?
    /// The number of receiver offsets.
    private let offsetCount: Int
    /// The number of seconds from which a position is computed.
    private let length: Int
    /// The log-likelihoods of each second by offset, then by cell; the oldest second first.
    private var seconds: [(seconds: Double, logLikelihoods: [Double])] = []

    /// Movements are computed only for receiver offsets whose log-likelihood is at most this much smaller than the
    /// log-likelihood of the likeliest offset.
    private static let negligible = 9.0

    init(_ cells: [Cell], motion: WindowMotion? = nil, offsets: Int, length: Int) {
        self.cells = cells
        self.motion = motion
        offsetCount = offsets
        self.length = length
    }

    /// Discards the run so far.
    mutating func begin() { seconds = [] }

    /// Adds the next second.
    ///
    /// - Returns: The log-likelihoods of the second that leaves the window; `nil` if no second leaves it.
    mutating func add(_ logLikelihoods: [Double], seconds time: Double) -> [Double]? {
        let oldest = seconds.count == length ? seconds.removeFirst().logLikelihoods : nil
        seconds.append((time, logLikelihoods))
        return oldest
    }

    /// The log-likelihoods of a standing receiver, by offset: the sum over the seconds, divided by the square root of
    /// the number of seconds. The divisor is needed because readings one second apart are not independent.
    var standing: [WindowHypothesis] {
        var sum = [Double](repeating: 0, count: cells.count * offsetCount)
        for second in seconds { for index in sum.indices { sum[index] += second.logLikelihoods[index] } }
        let prior = motion?.logPriors[0] ?? 0
        return (0..<offsetCount).map { offset in
            WindowHypothesis(
                offset: offset, logPrior: prior,
                logLikelihoods: sum[offset * cells.count..<(offset + 1) * cells.count].map { $0 * scale })
        }
    }

    private var scale: Double { 1 / Double(max(1, seconds.count)).squareRoot() }

    /// Returns the log-likelihoods for all offsets and movements. Those of a standing receiver are first.
    ///
    /// - Parameters:
    ///   - temperature: The largest temperature (divisor of the log-likelihoods) for which the result will be used.
    ///   - priors: The logarithm of each offset's prior probability.
    func hypotheses(temperature: Double, priors: [Double]) -> [WindowHypothesis] {
        let standing = standing
        guard let motion, let newest = seconds.last?.seconds, seconds.count > 1 else { return standing }
        let weights = standing.map { ($0.logLikelihoods.max() ?? 0) / temperature + priors[$0.offset] }
        let least = (weights.max() ?? 0) - Self.negligible
        var result = standing
        for offset in 0..<offsetCount where weights[offset] >= least {
            for movement in 1..<motion.logPriors.count {
                var sums = [Double](repeating: 0, count: cells.count)
                for second in seconds {
                    motion.add(
                        second.logLikelihoods[offset * cells.count..<(offset + 1) * cells.count], to: &sums,
                        movement: movement, age: Int(min(1000, max(0, newest - second.seconds)).rounded()))
                }
                for cell in sums.indices { sums[cell] *= scale }
                result.append(
                    WindowHypothesis(offset: offset, logPrior: motion.logPriors[movement], logLikelihoods: sums))
            }
        }
        return result
    }
}
