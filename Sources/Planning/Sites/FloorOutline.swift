public import Airtime

/// The outline of a floor: a polygon whose last corner is joined to the first.
public struct FloorOutline: Hashable, Sendable {
    /// The corners in order. The first corner is not repeated at the end.
    public let corners: [FloorPosition]

    /// The reasons for which a list of corners is not an outline.
    public enum Fault: Error, Hashable, Sendable {
        /// Fewer than three corners, or all corners on one line.
        case noArea
        /// Two sides that cross: the sides that begin at the corners with these indices.
        case crossing(Int, Int)
    }

    /// Creates an outline. The first corner may be repeated at the end, as in GeoJSON.
    ///
    /// Throws for corners that enclose no area, and for sides that cross.
    public init(corners: [FloorPosition]) throws(Fault) {
        let isClosed = corners.count > 1 && corners.first == corners.last
        let corners = isClosed ? Array(corners.dropLast()) : corners
        self.corners = corners
        guard corners.count >= 3 else { throw .noArea }
        for first in corners.indices {
            for second in corners.indices.dropFirst(first + 1) {
                // Neighbors share a corner.
                if second == first + 1 || first == 0 && second == corners.count - 1 { continue }
                if side(first).crosses(side(second)) { throw .crossing(first, second) }
            }
        }
        guard abs(Self.area(corners)) > 1e-6 else { throw .noArea }
    }

    /// The area in m².
    public var area: Double { abs(Self.area(corners)) }

    /// Returns true if a position is inside the outline or on it.
    public func contains(_ position: FloorPosition) -> Bool {
        var isInside = false
        for index in corners.indices {
            let side = side(index)
            if side.distance(to: position) < 1e-9 { return true }
            guard (side.from.y > position.y) != (side.to.y > position.y) else { continue }
            let share = (position.y - side.from.y) / (side.to.y - side.from.y)
            if position.x < side.from.x + share * (side.to.x - side.from.x) { isInside.toggle() }
        }
        return isInside
    }

    /// The distance outside the outline, in m, that is tolerated because drawings are not exact.
    private static let tolerance = 0.1

    /// Returns the first corner of another outline that is outside this outline; nil if all corners are inside.
    func firstCornerOutside(of other: FloorOutline) -> FloorPosition? {
        other.corners.first { isOutside($0) }
    }

    /// Returns true if a position is more than 0.1 m outside the outline.
    package func isOutside(_ position: FloorPosition) -> Bool {
        !contains(position) && corners.indices.allSatisfy { side($0).distance(to: position) > Self.tolerance }
    }

    private func side(_ index: Int) -> FloorSegment {
        FloorSegment(from: corners[index], to: corners[index + 1 < corners.count ? index + 1 : 0])
    }

    /// The area in m² by the shoelace formula; negative if the corners are in clockwise order.
    private static func area(_ corners: [FloorPosition]) -> Double {
        guard var last = corners.last else { return 0 }
        var sum = 0.0
        for corner in corners {
            sum += last.x * corner.y - corner.x * last.y
            last = corner
        }
        return sum / 2
    }
}

/// A straight line between two places.
struct FloorSegment {
    let from: FloorPosition
    let to: FloorPosition

    /// The share of this segment's length at which it meets another segment; `nil` if the segments do not meet or are
    /// parallel. A meeting point at the end of this segment does not count, but a meeting point at its start does. So
    /// if two joined segments touch a wall at their common corner, only one crossing is counted.
    func meeting(_ other: FloorSegment) -> Double? {
        let (ax, ay) = (to.x - from.x, to.y - from.y)
        let (bx, by) = (other.to.x - other.from.x, other.to.y - other.from.y)
        let cross = ax * by - ay * bx
        guard cross != 0 else { return nil }
        let (cx, cy) = (other.from.x - from.x, other.from.y - from.y)
        let share = (cx * by - cy * bx) / cross
        let otherShare = (cx * ay - cy * ax) / cross
        return share >= 0 && share < 1 && otherShare >= 0 && otherShare <= 1 ? share : nil
    }

    func crosses(_ other: FloorSegment) -> Bool { meeting(other) != nil }

    func distance(to position: FloorPosition) -> Double {
        let (dx, dy) = (to.x - from.x, to.y - from.y)
        let length = dx * dx + dy * dy
        guard length > 0 else { return from.distance(to: position) }
        let share = ((position.x - from.x) * dx + (position.y - from.y) * dy) / length
        return from.toward(to, share: min(max(share, 0), 1)).distance(to: position)
    }
}

/// A straight wall that weakens signals that pass through it.
public struct Wall: Hashable, Sendable {
    public let from: FloorPosition
    public let to: FloorPosition
    /// The loss of one crossing in dB.
    public let attenuation: Double

    public init(from: FloorPosition, to: FloorPosition, attenuation: Double) {
        self.from = from
        self.to = to
        self.attenuation = attenuation
    }
}

/// The rectangle around some positions.
public struct FloorBounds: Hashable, Sendable {
    public private(set) var low: FloorPosition
    public private(set) var high: FloorPosition

    /// Returns `nil` if there are no positions.
    public init?(_ positions: some Sequence<FloorPosition>) {
        var low = FloorPosition(x: .infinity, y: .infinity)
        var high = FloorPosition(x: -.infinity, y: -.infinity)
        for position in positions {
            low = FloorPosition(x: min(low.x, position.x), y: min(low.y, position.y))
            high = FloorPosition(x: max(high.x, position.x), y: max(high.y, position.y))
        }
        guard low.x.isFinite, low.y.isFinite, high.x.isFinite, high.y.isFinite else { return nil }
        self.low = low
        self.high = high
    }

    /// The size from west to east in m.
    public var width: Double { high.x - low.x }
    /// The size from south to north in m.
    public var height: Double { high.y - low.y }
}

extension FloorPosition {
    /// Returns the position at a share of the way (0...1) to another position.
    func toward(_ other: FloorPosition, share: Double) -> FloorPosition {
        FloorPosition(x: x + (other.x - x) * share, y: y + (other.y - y) * share)
    }
}
