internal import Airtime

/// A model of a beacon's level: A - 10·n·log10 d, where d is the distance in metres. Distances below 1 m count as 1 m.
struct BeaconTrend: Sendable {
    /// The beacon's position, or an estimate of it.
    let centre: FloorPosition
    /// The level A at 1 m, in dBm.
    let levelAtOneMetre: Double
    /// The exponent n.
    let exponent: Double
    /// The variance of the mean levels around the trend in dB², without the part caused by errors of measurement.
    let variance: Double

    /// The mean level at a place where the beacon was received.
    struct Point {
        let position: FloorPosition
        /// The mean level in dBm.
        let level: Double
        /// The variance of the level, in dB².
        let variance: Double
    }

    /// The smallest and the largest exponent n.
    private static let exponents = 0.5...4.0
    /// The exponent n if the positions of the places do not determine it.
    private static let usualExponent = 2.0

    /// Fits the trend to some levels by weighted least squares. `nil` if there are no levels.
    ///
    /// - Parameter position: The beacon's position. If `nil`, the beacon is assumed to be between the three places with
    ///   the highest levels.
    init?(_ points: [Point], position: FloorPosition?) {
        guard !points.isEmpty else { return nil }
        let centre = position ?? Self.centre(points)
        let logarithms = points.map { Self.logarithm($0.position, centre) }
        let weights = points.map { 1 / $0.variance }
        let sum = weights.reduce(0, +)
        let meanLogarithm = zip(weights, logarithms).reduce(0) { $0 + $1.0 * $1.1 } / sum
        let meanLevel = zip(weights, points).reduce(0) { $0 + $1.0 * $1.1.level } / sum
        var (squares, products) = (0.0, 0.0)
        for (index, point) in points.enumerated() {
            squares += weights[index] * (logarithms[index] - meanLogarithm) * (logarithms[index] - meanLogarithm)
            products += weights[index] * (logarithms[index] - meanLogarithm) * (point.level - meanLevel)
        }
        let fitted = squares > 1e-9 ? -products / squares / 10 : Self.usualExponent
        let exponent = min(max(fitted, Self.exponents.lowerBound), Self.exponents.upperBound)
        let levelAtOneMetre = meanLevel + 10 * exponent * meanLogarithm
        var excessSquares = 0.0
        for (index, point) in points.enumerated() {
            let difference = point.level - (levelAtOneMetre - 10 * exponent * logarithms[index])
            excessSquares += difference * difference - point.variance
        }
        self.centre = centre
        self.exponent = exponent
        self.levelAtOneMetre = levelAtOneMetre
        variance = max(FieldModel.leastVariance, excessSquares / Double(points.count))
    }

    /// The level at a position, in dBm.
    func level(at position: FloorPosition) -> Double {
        levelAtOneMetre - 10 * exponent * Self.logarithm(position, centre)
    }

    private static func logarithm(_ position: FloorPosition, _ centre: FloorPosition) -> Double {
        log10(max(1, position.distance(to: centre)))
    }

    private static func centre(_ points: [Point]) -> FloorPosition {
        let strongest = points.enumerated().sorted { ($0.element.level, $1.offset) > ($1.element.level, $0.offset) }
        var (x, y, total) = (0.0, 0.0, 0.0)
        for (_, point) in strongest.prefix(3) {
            let weight = pow(10, (point.level - strongest[0].element.level) / 20)
            (x, y, total) = (x + weight * point.position.x, y + weight * point.position.y, total + weight)
        }
        return FloorPosition(x: x / total, y: y / total)
    }
}

extension SignalMap {
    /// The trend of each beacon over all places; `nil` for a beacon that was not received at any place with a position.
    var trends: [BeaconTrend?] {
        trends(over: Array(places.indices), LevelSpread(self, places: Array(places.indices)))
    }

    /// Returns the trend of each beacon over some places.
    func trends(over places: [Int], _ spread: LevelSpread) -> [BeaconTrend?] {
        var points = [[BeaconTrend.Point]](repeating: [], count: beacons.count)
        for place in places {
            guard let position = self.places[place].position else { continue }
            for entry in statistics[place] {
                points[entry.beacon].append(
                    .init(position: position, level: entry.mean, variance: spread.varianceOfMean(entry)))
            }
        }
        return zip(points, beacons).map { BeaconTrend($0, position: $1.position) }
    }
}
