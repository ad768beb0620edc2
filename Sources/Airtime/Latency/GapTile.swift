/// Starts that lie close together: all paths from received events of one short stretch of a window, followed until
/// their next received event.
struct GapTile: Sendable {
    /// The middle of the starts: the wait of a path at step x is x - center.
    var center: Double
    /// The last of the starts.
    var end: Int
    var lanes: [Lane]

    var mass: Double { lanes.reduce(0) { $0 + $1.mass } }

    /// From the first event to come to the last; nil when there is none.
    var pending: Range<Int>? {
        var low = Int.max
        var high = Int.min
        for index in lanes.indices where !lanes[index].isEmpty {
            low = min(low, lanes[index].range.lowerBound)
            high = max(high, lanes[index].range.upperBound)
        }
        return low < high ? low..<high : nil
    }

    /// One tile of two neighbors.
    mutating func merge(_ other: GapTile) {
        center = (center + other.center) / 2
        end = max(end, other.end)
        for index in lanes.indices { lanes[index].add(other.lanes[index]) }
    }
}
