internal import Airtime
internal import Sites

/// Draws a floor in a terminal: the surveyed places, the 95 % region, and the position of the receiver.
public enum TerminalFloor {
    /// Returns lines of equal length, with north at the top. Returns an empty text if no place has a position, or if
    /// the size is too small.
    ///
    /// - Parameters:
    ///   - columns: The largest width in characters, at least 10.
    ///   - rows: The largest height in lines, at least 3.
    public static func text(_ instant: LocatedInstant, on map: SignalMap, columns: Int, rows: Int) -> String {
        let floor = instant.answer.floor
        let spots = map.places.filter { instant.answer.state == .none || $0.floor == floor }.compactMap(\.position)
        guard !spots.isEmpty, columns >= 10, rows >= 3,
            let bounds = FloorBounds(spots + [instant.answer.position].compactMap(\.self))
        else { return "" }
        let (low, high) = (bounds.low, bounds.high)
        // A character is about twice as high as it is wide.
        let step = max((high.x - low.x) / Double(columns - 1), (high.y - low.y) / Double(2 * (rows - 1)), 0.05)
        let width = Int((high.x - low.x) / step) + 1
        let height = Int((high.y - low.y) / (2 * step)) + 1
        var cells = [[Character]](repeating: [Character](repeating: " ", count: width), count: height)
        func mark(_ spot: FloorPosition, _ character: Character) {
            let column = min(width - 1, max(0, Int(((spot.x - low.x) / step).rounded())))
            let row = min(height - 1, max(0, Int(((high.y - spot.y) / (2 * step)).rounded())))
            cells[row][column] = character
        }
        if let region = instant.answer.region95 {
            for row in 0..<height {
                for column in 0..<width {
                    let spot = FloorPosition(
                        x: low.x + Double(column) * step, y: high.y - Double(row) * 2 * step)
                    if region.contains(spot) { cells[row][column] = "░" }
                }
            }
        }
        for spot in spots { mark(spot, "·") }
        if let position = instant.answer.position { mark(position, "●") }
        return cells.map { String($0) + "\n" }.joined()
    }
}
