internal import Airtime
internal import Positioning

/// The expected level of a beacon in each cell at each receiver, relative to the level at 1 m, in 128ths of a decibel.
/// A thousand receivers and 20,000 cells take 40 MB.
struct LevelTable: Sendable {
    /// The number of units in a decibel.
    static let unit = 128.0
    /// The levels in all cells at the first receiver, then in all cells at the second receiver, and so on.
    private(set) var levels: [Int16] = []
    /// The index in ``levels`` at which the levels of each receiver start; `nil` for a receiver without a position.
    private(set) var rows: [Int?] = []
    /// The highest level of each receiver on each floor, indexed by receiver and then by floor.
    private(set) var loudest: [[Int]] = []
    /// The range of the cells of each floor.
    let floors: [Range<Int>]

    /// Creates a table that contains no receivers.
    ///
    /// - Parameter floors: The range of the cells of each floor.
    init(floors: [Range<Int>]) { self.floors = floors }

    /// Adds a receiver.
    ///
    /// - Parameter receiverLevels: The level from each cell, in dB; `nil` for a receiver without a position.
    mutating func add(_ receiverLevels: [Double]?) {
        let row = levels.count
        rows.append(receiverLevels == nil ? nil : row)
        levels += (receiverLevels ?? []).map { Int16(($0 * Self.unit).rounded()) }
        loudest.append(
            receiverLevels == nil
                ? [] : floors.map { floor in floor.reduce(Int(Int16.min)) { max($0, Int(levels[row + $1])) } })
    }

    /// Converts decibels into 128ths of a decibel.
    static func units(_ decibels: Double) -> Int { Int((decibels * unit).rounded()) }
}

/// The log-likelihoods of received levels and of missed packets on one floor. Differences of levels are in 128ths of a
/// decibel.
struct LikelihoodTable: Sendable {
    /// The log-likelihood of a level. Indexed by the difference from the expected level, starting at ``errorRange``.
    private let byError: [Float]
    /// The differences that ``byError`` covers.
    private let errorRange: Range<Int>
    /// The range at index n contains the differences whose log-likelihood is at least -n/4.
    private let ranges: [Range<Int>]
    /// The number of elements of ``ranges`` for each unit of log-likelihood.
    private static let stepsPerUnit = 4.0
    /// The log-likelihood of a missed packet. Indexed by the margin, which is the expected level minus the sensitivity.
    private let byMargin: [Float]
    /// The margin up to which nothing is received, so that silence is no evidence.
    let leastMargin: Int
    /// The smallest log-likelihood of a level.
    let least: Double
    /// The largest log-likelihood of a level.
    let most: Double

    /// The number of standard deviations below the sensitivity at which nothing is received.
    static let deviations = 4.0

    /// - Parameter spread: The standard deviation of levels in dB, at least 1.
    init(spread: Double) {
        let (shadow, scale) = (BeaconTrail.bodyShadow, -1 / (2 * spread * spread))
        func logLikelihood(_ error: Double) -> Double {
            let body = error + shadow.decibels
            return log(
                (1 - shadow.share) * exp(error * error * scale) + shadow.share * exp(body * body * scale) + 1e-12)
        }
        // From this difference on, the first terms of the sum are negligible compared with its last term, 1e-12.
        let end = LevelTable.units(7.5 * spread + shadow.decibels)
        errorRange = -end..<end + 1
        let values = errorRange.map { Float(logLikelihood(Double($0) / LevelTable.unit)) }
        byError = values
        least = log(1e-12)
        most = Double(values.max() ?? 0)
        ranges = (0..<Int(-least * Self.stepsPerUnit)).map { step in
            func isLikely(_ value: Float) -> Bool { Double(value) >= -Double(step) / Self.stepsPerUnit }
            guard let low = values.firstIndex(where: isLikely), let high = values.lastIndex(where: isLikely) else {
                return 0..<0
            }
            return -end + low..<high + 1 - end
        }
        let margin = LevelTable.units(Self.deviations * spread)
        leastMargin = -margin
        byMargin = (-margin...margin).map {
            let strongEnough = 0.5 * erfc(-Double($0) / LevelTable.unit / spread / 2.0.squareRoot())
            return Float(log1p(-BeaconTrail.deliveredShare * strongEnough))
        }
    }

    /// The log-likelihood of a level.
    ///
    /// - Parameter error: The level minus the expected level.
    func reception(_ error: Int) -> Float {
        errorRange.contains(error) ? byError[error - errorRange.lowerBound] : Float(least)
    }

    /// The log-likelihood of a missed packet.
    ///
    /// - Parameter margin: The expected level minus the sensitivity.
    func silence(_ margin: Int) -> Float {
        guard margin > leastMargin else { return 0 }
        return byMargin[min(margin - leastMargin, byMargin.count - 1)]
    }

    /// Returns the range of the differences whose log-likelihood is at least `limit`; `nil` if this is true of all
    /// differences. The range may also contain a few differences with a slightly lower log-likelihood.
    func errors(from limit: Double) -> Range<Int>? {
        let step = max(0, Int((-limit * Self.stepsPerUnit).rounded(.up)))
        return step < ranges.count ? ranges[step] : nil
    }
}
