internal import Airtime
internal import Positioning

/// How loud each receiver hears a beacon in each cell, less the level at 1 m, in 128ths of a decibel: a thousand
/// receivers on twenty thousand cells are 40 MB.
struct LevelTable: Sendable {
    /// Of a decibel.
    static let unit = 128.0
    /// Receiver by receiver, each with all cells.
    private(set) var levels: [Int16] = []
    /// Where each receiver's cells begin; `nil` for a receiver without a place.
    private(set) var rows: [Int?] = []
    /// By receiver, then by floor: the highest level there.
    private(set) var loudest: [[Int]] = []
    /// By floor.
    let floors: [Range<Int>]

    /// - Parameter floors: The cells of each, in their order.
    init(floors: [Range<Int>]) { self.floors = floors }

    /// Adds a receiver; `nil` where it has no place.
    ///
    /// - Parameter new: In dB.
    mutating func add(_ new: [Double]?) {
        rows.append(new == nil ? nil : levels.count)
        let first = levels.count
        levels += (new ?? []).map { Int16(($0 * Self.unit).rounded()) }
        loudest.append(
            new == nil ? [] : floors.map { floor in floor.reduce(Int(Int16.min)) { max($0, Int(levels[first + $1])) } })
    }

    /// In 128ths of a decibel.
    static func units(_ decibels: Double) -> Int { Int((decibels * unit).rounded()) }
}

/// What hearing and not hearing say of a cell of one floor, by 128ths of a decibel.
struct HearingTable: Sendable {
    /// What a level tells: by how much louder it is than expected.
    private let byError: [Float]
    private let errorRange: Range<Int>
    /// The errors of levels that tell at least minus so many quarters.
    private let ranges: [Range<Int>]
    private static let limits = 4.0
    /// What silence tells, a packet: by how much above the sensitivity it is expected.
    private let byMargin: [Float]
    /// Below it silence tells nothing.
    let leastMargin: Int
    /// What a level at least and at most tells.
    let least: Double
    let most: Double

    /// So many deviations below the sensitivity nothing is heard.
    static let deviations = 4.0

    /// - Parameter spread: Of levels, in dB, at least 1.
    init(spread: Double) {
        let (shadow, scale) = (BeaconTrail.shadowed, -1 / (2 * spread * spread))
        func value(_ error: Double) -> Double {
            let body = error + shadow.decibels
            return log(
                (1 - shadow.share) * exp(error * error * scale) + shadow.share * exp(body * body * scale) + 1e-12)
        }
        // From here on only the last term counts.
        let end = LevelTable.units(7.5 * spread + shadow.decibels)
        errorRange = -end..<end + 1
        let (first, values) = (-end, errorRange.map { Float(value(Double($0) / LevelTable.unit)) })
        byError = values
        least = log(1e-12)
        most = Double(values.max() ?? 0)
        ranges = (0..<Int(-least * Self.limits)).map { step in
            func tells(_ value: Float) -> Bool { Double(value) >= -Double(step) / Self.limits }
            guard let low = values.firstIndex(where: tells), let high = values.lastIndex(where: tells) else {
                return 0..<0
            }
            return first + low..<first + high + 1
        }
        let margin = LevelTable.units(Self.deviations * spread)
        leastMargin = -margin
        byMargin = (-margin...margin).map {
            let audible = 0.5 * erfc(-Double($0) / LevelTable.unit / spread / 2.0.squareRoot())
            return Float(log1p(-BeaconTrail.delivered * audible))
        }
    }

    /// The log-likelihood of a level.
    ///
    /// - Parameter error: What it is more than expected.
    func hearing(_ error: Int) -> Float {
        errorRange.contains(error) ? byError[error - errorRange.lowerBound] : Float(least)
    }

    /// The log-likelihood of each packet that was not heard.
    ///
    /// - Parameter margin: What is expected less the sensitivity.
    func silence(_ margin: Int) -> Float {
        guard margin > leastMargin else { return 0 }
        return byMargin[min(margin - leastMargin, byMargin.count - 1)]
    }

    /// The errors of levels that tell at least so much, or a little less; `nil` for all.
    func errors(from limit: Double) -> Range<Int>? {
        let step = max(0, Int((-limit * Self.limits).rounded(.up)))
        return step < ranges.count ? ranges[step] : nil
    }
}
