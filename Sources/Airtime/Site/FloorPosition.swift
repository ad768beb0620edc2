/// A place on a floor plan, in metres.
public struct FloorPosition: Hashable, Sendable {
    public let x: Double
    public let y: Double

    /// Any numbers; whoever reads them from outside makes sure that they are finite.
    public init(x: Double, y: Double) {
        self.x = x
        self.y = y
    }

    var isFinite: Bool { x.isFinite && y.isFinite }

    /// Metres as the crow flies.
    public func distance(to other: FloorPosition) -> Double {
        let (dx, dy) = (other.x - x, other.y - y)
        return (dx * dx + dy * dy).squareRoot()
    }

    /// The place at a share of the way to another.
    func toward(_ other: FloorPosition, share: Double) -> FloorPosition {
        FloorPosition(x: x + (other.x - x) * share, y: y + (other.y - y) * share)
    }
}

/// A straight wall that weakens what passes through it.
public struct Wall: Hashable, Sendable {
    public let from: FloorPosition
    public let to: FloorPosition
    /// What one crossing costs, in dB.
    public let attenuation: Double

    public init(from: FloorPosition, to: FloorPosition, attenuation: Double) {
        self.from = from
        self.to = to
        self.attenuation = attenuation
    }
}

/// The rectangle around some places.
public struct FloorBounds: Hashable, Sendable {
    public private(set) var low: FloorPosition
    public private(set) var high: FloorPosition

    /// `nil` around nothing.
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

    /// Metres from west to east.
    public var width: Double { high.x - low.x }
    /// Metres from south to north.
    public var height: Double { high.y - low.y }
}
