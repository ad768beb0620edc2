/// Starts that lie close together: all paths from received events of one short stretch of a window, followed until
/// their next received event.
struct GapTile: Sendable {
    /// The middle of the starts: the wait of a path at step x is x - center.
    var center: Double
    /// The last of the starts.
    var end: Int
    var lanes: [Lane]

    var mass: Double { lanes.reduce(0) { $0 + $1.mass } }

    /// One tile of two neighbors.
    mutating func merge(_ other: GapTile) {
        center = (center + other.center) / 2
        end = max(end, other.end)
        for index in lanes.indices { lanes[index].add(other.lanes[index]) }
    }
}
