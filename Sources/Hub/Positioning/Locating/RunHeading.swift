internal import Airtime
internal import Configuration

/// The direction in which a receiver moves.
public struct Heading: Hashable, Sendable {
    /// Degrees clockwise from north, 0..<360.
    public let degrees: Double
    /// Half of the width of the interval that contains the direction with a probability of 95 %, in degrees.
    public let uncertainty: Double
    /// The speed in metres per second.
    public let speed: Double

    private static let names = [
        "north", "north-east", "east", "south-east", "south", "south-west", "west", "north-west",
    ]

    /// The compass word nearest to a direction in degrees, such as `north-east`.
    static func compass(_ degrees: Double) -> String { names[Int((degrees / 45).rounded()) % names.count] }

    /// The compass word nearest to the direction.
    public var compass: String { Self.compass(degrees) }

    /// The direction as text that can be part of a line.
    var text: String {
        "heading \(compass) (\(Int(degrees.rounded()) % 360) ± \(Int(uncertainty.rounded(.up))) degrees)"
    }

    /// The direction as one JSON object.
    var json: JSONValue {
        .record([
            ("deg", .rounded(degrees, 1)), ("compass", .string(compass)), ("uncertaintyDeg", .rounded(uncertainty, 1)),
            ("speedMps", .rounded(speed, 2)),
        ])
    }
}

/// Computes the direction of a run: the slope of a straight line through its last positions.
///
/// Successive positions are not independent: they are computed from overlapping windows, and the errors of a standing
/// receiver change slowly. This increases the uncertainty of the slope. A slope that such errors could cause is not
/// reported as a direction.
struct RunHeading: Sendable {
    private var positions: [(seconds: Double, position: FloorPosition, floor: String?)] = []
    /// The number of successive seconds whose positions are assumed to have the same error.
    private let dependence: Double

    /// The time that the line covers, in seconds.
    static let lineSeconds = 12.0
    /// The shortest time in seconds, and the smallest number of positions, from which a direction is computed.
    static let minimum = (seconds: 6.0, positions: 6)
    /// The smallest assumed standard deviation of a position, in metres.
    static let deviation = 0.8
    /// A receiver counts as moving if its speed is at least `speed` m/s and at least `errors` times the standard error
    /// of the speed.
    static let movingLimits = (errors: 4.0, speed: 0.25)

    /// - Parameter window: The number of seconds from which each position is computed.
    init(window: Int) { dependence = Double(max(3, min(10, window))) }

    /// Discards the run so far.
    mutating func begin() { positions = [] }

    /// Adds the next answer.
    ///
    /// - Returns: The direction; `nil` if the receiver stands, or if its direction is not known.
    mutating func add(_ answer: LocatorAnswer, seconds: Double) -> Heading? {
        guard answer.state != .none, let position = answer.position else { return nil }
        if let last = positions.last, last.floor != answer.floor || seconds <= last.seconds { begin() }
        positions.append((seconds, position, answer.floor))
        positions.removeAll { $0.seconds < seconds - Self.lineSeconds }
        guard positions.count >= Self.minimum.positions, seconds - positions[0].seconds >= Self.minimum.seconds else {
            return nil
        }
        let count = Double(positions.count)
        func mean(_ value: (FloorPosition, Double) -> Double) -> Double {
            positions.reduce(0) { $0 + value($1.position, $1.seconds) } / count
        }
        let (meanTime, x, y) = (mean { $1 }, mean { place, _ in place.x }, mean { place, _ in place.y })
        var (squaredTimes, east, north) = (0.0, 0.0, 0.0)
        for (seconds, place, _) in positions {
            squaredTimes += (seconds - meanTime) * (seconds - meanTime)
            east += (seconds - meanTime) * (place.x - x)
            north += (seconds - meanTime) * (place.y - y)
        }
        // The components of the velocity.
        (east, north) = (east / squaredTimes, north / squaredTimes)
        let squaredResiduals = positions.reduce(0) { sum, point in
            let time = point.seconds - meanTime
            let (dx, dy) = (point.position.x - x - east * time, point.position.y - y - north * time)
            return sum + dx * dx + dy * dy
        }
        let variance = max(squaredResiduals / (2 * (count - 2)), Self.deviation * Self.deviation)
        let speedError = (variance * dependence / squaredTimes).squareRoot()
        let speed = (east * east + north * north).squareRoot()
        guard speed >= max(Self.movingLimits.speed, Self.movingLimits.errors * speedError) else { return nil }
        let degrees = atan2(east, north) * 180 / .pi
        return Heading(
            degrees: degrees < 0 ? degrees + 360 : degrees,
            uncertainty: min(90, 1.96 * atan2(speedError, speed) * 180 / .pi), speed: speed)
    }
}
