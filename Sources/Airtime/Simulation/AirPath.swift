/// Where a receiver is: at one place, or walking from point to point at an even speed and staying at the last.
public struct AirPath: Hashable, Sendable {
    public let points: [FloorPosition]
    public let metersPerSecond: Double
    /// Meters walked at each point.
    private let walked: [Double]

    public init(standingAt position: FloorPosition) {
        points = [position]
        metersPerSecond = 0
        walked = [0]
    }

    /// The walk begins at the first point with the beginning of each batch.
    ///
    /// Refuses a path without points, points that are no numbers, and a speed outside 0...100 m/s.
    public init(walking points: [FloorPosition], metersPerSecond: Double) throws(AirtimeError) {
        guard !points.isEmpty else { throw .quantity(name: "a number of points of a path", value: 0) }
        guard metersPerSecond >= 0, metersPerSecond <= 100 else {
            throw .quantity(name: "a speed in m/s", value: metersPerSecond)
        }
        var walked = [0.0]
        for (from, to) in zip(points, points.dropFirst()) {
            walked.append(walked[walked.count - 1] + from.distance(to: to))
        }
        guard let length = walked.last, length.isFinite, points[0].isFinite else {
            throw .quantity(name: "the length of a path in m", value: walked.last ?? 0)
        }
        self.points = points
        self.metersPerSecond = metersPerSecond
        self.walked = walked
    }

    var moves: Bool { metersPerSecond > 0 && points.count > 1 }

    /// Where the receiver is after so much time; before the beginning at the first point.
    public func position(afterMicroseconds time: Double) -> FloorPosition {
        let distance = max(0, time) * metersPerSecond * 1e-6
        guard moves, let end = walked.firstIndex(where: { $0 > distance }), end > 0 else {
            return moves && distance > 0 ? points[points.count - 1] : points[0]
        }
        let (from, to) = (points[end - 1], points[end])
        let share = (distance - walked[end - 1]) / (walked[end] - walked[end - 1])
        return FloorPosition(x: from.x + share * (to.x - from.x), y: from.y + share * (to.y - from.y))
    }
}
