internal import Airtime
internal import BluetoothTypes
internal import Configuration
internal import Planner

/// A layer of a map for a terminal. Each floor is a block of characters with the surveyed places. Darker characters
/// mean worse values.
public struct MapHeatMap {
    private let analysis: MapAnalysis
    private let layer: MapLayer
    private let width: Int
    private let isPlain: Bool

    private static let blocks = ["░", "░", "▒", "▒", "▓", "▓", "█", "█"]
    private static let letters = [".", ".", ":", ":", "+", "+", "#", "#"]
    /// The height of a character divided by its width, approximately.
    private static let aspect = 2.0
    /// The largest number of rows of a floor.
    private static let rowLimit = 40

    /// - Parameters:
    ///   - width: The largest number of columns, 20...400.
    ///   - isPlain: True to use only ASCII characters.
    public init(_ analysis: MapAnalysis, layer: MapLayer, width: Int = 80, isPlain: Bool = false) {
        self.analysis = analysis
        self.layer = layer
        self.width = min(400, max(20, width))
        self.isPlain = isPlain
    }

    private var shades: [String] { isPlain ? Self.letters : Self.blocks }

    /// All floors, each with its name, followed by the meaning of the characters.
    public var text: String {
        var text = "\(TerminalText.line(TerminalText.shortened(layer.name, to: 60))) (\(layer.unit))\n"
        for floor in analysis.floors {
            if let floor { text += TerminalText.line(TerminalText.shortened(floor, to: 40)) + "\n" }
            text += block(floor)
        }
        let pairs = stride(from: 0, to: FloorShades.count, by: 2).map { index in
            let ends = [layer.shades.bounds[index], layer.shades.bounds[index + 2]].sorted()
                .map { NumberFormat.significant($0, 2) }
            return "\(shades[index]) \(ends[0])…\(ends[1])"
        }
        let range = isPlain ? pairs.map { $0.replacing("…", with: "...") } : pairs
        return text + range.joined(separator: "   ") + " \(layer.unit)   o place   ^ beacon\n"
    }

    /// Returns one floor, with north at the top.
    private func block(_ floor: String?) -> String {
        let cells = analysis.cells.indices.filter { analysis.cells[$0].floor == floor }
        let xs = cells.map { analysis.cells[$0].position.x }
        let ys = cells.map { analysis.cells[$0].position.y }
        guard let step = analysis.step, let west = xs.min(), let east = xs.max(), let south = ys.min(),
            let north = ys.max()
        else { return "" }
        let (floorWidth, floorHeight) = (east - west + step, north - south + step)
        // The width of a character, in metres. The area of a character is at least the area of a cell.
        let characterWidth = max(
            floorWidth / Double(width), step / Self.aspect, floorHeight / Self.aspect / Double(Self.rowLimit))
        let columns = max(1, Int((floorWidth / characterWidth - 1e-9).rounded(.up)))
        let rows = max(1, Int((floorHeight / characterWidth / Self.aspect - 1e-9).rounded(.up)))
        func spot(_ position: FloorPosition) -> (column: Int, row: Int)? {
            let x = Int(((position.x - west + step / 2) / characterWidth).rounded(.down))
            let y = Int(((north - position.y + step / 2) / characterWidth / Self.aspect).rounded(.down))
            return (0..<columns).contains(x) && (0..<rows).contains(y) ? (x, y) : nil
        }
        var lines = [[String]](repeating: [String](repeating: " ", count: columns), count: rows)
        for row in 0..<rows {
            for column in 0..<columns {
                let middle = FloorPosition(
                    x: west - step / 2 + (Double(column) + 0.5) * characterWidth,
                    y: north + step / 2 - (Double(row) + 0.5) * characterWidth * Self.aspect)
                var nearest: (distance: Double, cell: Int)?
                for cell in cells {
                    let distance = analysis.cells[cell].position.distance(to: middle)
                    if nearest.map({ distance < $0.distance }) ?? true { nearest = (distance, cell) }
                }
                guard let nearest, nearest.distance <= max(step, characterWidth * Self.aspect) * 0.8 else { continue }
                lines[row][column] = shades[layer.shades.shade(layer.values[nearest.cell])]
            }
        }
        for beacon in analysis.map.beacons {
            if let position = beacon.position, let spot = spot(position) { lines[spot.row][spot.column] = "^" }
        }
        for place in analysis.map.places where place.floor == floor && place.seconds > 0 {
            if let position = place.position, let spot = spot(position) { lines[spot.row][spot.column] = "o" }
        }
        return lines.map { Self.trimmed($0.joined()) + "\n" }.joined()
    }

    private static func trimmed(_ line: String) -> String {
        var line = Substring(line)
        while line.last == " " { line.removeLast() }
        return String(line)
    }
}
