internal import Airtime
internal import BluetoothTypes

/// Draws curves for a terminal, in braille characters or in plain ASCII. A number that is not finite leaves a gap in
/// its curve.
public struct TextChart: Sendable {
    /// The width of a chart in columns, including its labels; at least 24.
    public let width: Int
    /// True to use ASCII characters only.
    public let isPlain: Bool
    /// True to colour the lines with SGR sequences.
    public let isColored: Bool

    /// - Parameter width: The width in columns. Values outside 24...400 are changed to the nearest end of this range.
    public init(width: Int = 80, isPlain: Bool = false, isColored: Bool = false) {
        self.width = min(400, max(24, width))
        self.isPlain = isPlain
        self.isColored = isColored
    }

    private static func padded(_ text: String, to width: Int, isRight: Bool = false) -> String {
        let padding = String(repeating: " ", count: max(0, width - text.count))
        return isRight ? padding + text : text + padding
    }

    /// Replaces control characters, and shortens the text.
    private static func shortened(_ text: String, to width: Int) -> String {
        let clean = String(text.map { $0.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F } ? "?" : $0 })
        return clean.count <= width ? clean : String(clean.prefix(max(0, width - 1))) + "~"
    }

    /// Returns the cells as a line, with a space between two cells and without spaces at the end.
    private static func line(_ cells: [String]) -> String {
        var line = cells.joined(separator: " ")
        while line.last == " " { line.removeLast() }
        return line + "\n"
    }
}

extension TextChart {
    /// Returns a chart with curves over a common x axis in a frame with labels. The x axis and a legend are below the
    /// frame. Where two curves meet, the earlier curve is visible.
    ///
    /// Each character cell has two by four dots; in plain ASCII, one character. `height` is the number of rows of the
    /// frame, 4...60.
    public func curve(_ curve: PlanPageContent.Curve, height: Int = 12) -> String {
        let rows = min(60, max(4, height))
        let series = Array(curve.series.prefix(Self.signs.count))
        let points = series.flatMap(\.points)
        let dots = isPlain ? (across: 1, down: 1) : (across: 2, down: 4)
        let y = Scale(
            of: points.map(\.y), from: Double(rows * dots.down) - 1, to: 0, isLogarithmic: curve.y.isLogarithmic,
            includesZero: true)
        let ticks = y.ticks.map { (row: Int(y($0).rounded()) / dots.down, text: NumberFormat.significant($0)) }
        let labelWidth = min(10, ticks.map(\.text.count).max() ?? 1)
        let columns = width - labelWidth - 2
        let x = Scale(
            of: points.map(\.x), from: 0, to: Double(columns * dots.across) - 1, isLogarithmic: curve.x.isLogarithmic)
        var canvas = Canvas(columns: columns, rows: rows, dots: dots)
        for (index, oneSeries) in series.enumerated().reversed() {
            canvas.draw(oneSeries.points.map { (x($0.x), y($0.y)) }, sign: index)
        }
        for marker in curve.markers where x(marker.x) >= 0 && x(marker.x) < Double(columns * dots.across) {
            canvas.mark(column: Int(x(marker.x)) / dots.across)
        }
        var text = Self.line([Self.shortened(Self.title(curve.y), to: width)])
        for row in 0..<rows {
            let label = ticks.first { $0.row == row }?.text ?? ""
            let edge = isPlain ? "|" : label.isEmpty ? "│" : "┤"
            text += Self.line([
                Self.padded(label, to: labelWidth, isRight: true) + " " + edge + canvas.text(row, isPlain, isColored)
            ])
        }
        return text + axis(x, labelWidth: labelWidth, columns: columns, dots: dots.across) + legend(curve, series.count)
    }

    private func axis(_ x: Scale, labelWidth: Int, columns: Int, dots: Int) -> String {
        var rule = Array(repeating: isPlain ? Character("-") : "─", count: columns)
        var labels = Array(repeating: Character(" "), count: columns + labelWidth + 2)
        var free = 0
        for tick in x.ticks {
            let place = x(tick)
            guard place.isFinite, place > -1, Int(place) / dots < columns else { continue }
            let column = max(0, Int(place)) / dots
            rule[column] = isPlain ? "+" : "┬"
            let text = Array(NumberFormat.significant(tick))
            let start = max(0, min(labels.count - text.count, column + labelWidth + 2 - text.count / 2))
            guard start >= free, start + text.count <= labels.count else { continue }
            labels.replaceSubrange(start..<start + text.count, with: text)
            free = start + text.count + 1
        }
        let corner = isPlain ? "+" : "└"
        return Self.line([String(repeating: " ", count: labelWidth + 1) + corner + String(rule)])
            + Self.line([String(labels)])
    }

    /// Returns the lines of the legend: the name of the x axis, the name of each curve and of each vertical line, and
    /// the meaning of gaps.
    private func legend(_ curve: PlanPageContent.Curve, _ count: Int) -> String {
        let names = curve.series.prefix(count).map(\.name)
        var entries = [Self.shortened(Self.title(curve.x), to: width)]
        if count > 1, isColored {
            entries += names.enumerated().map { index, name in
                let sign = isPlain ? String(Self.signs[index]) : "━━"
                return Self.colored(sign, index) + " "
                    + Self.shortened("\(Self.colors[index].name): \(name)", to: width - 3)
            }
        } else if count > 1, isPlain {
            entries += names.enumerated().map { Self.shortened("\(Self.signs[$0]) \($1)", to: width) }
        } else if count > 1 {
            let order = Self.fromTheTop(Array(curve.series.prefix(count))).map { names[$0] }
            entries.append(Self.shortened("lines from the top: " + order.joined(separator: ", "), to: width))
        }
        for marker in curve.markers {
            let text = "\(isPlain ? ":" : "┊") \(marker.name) \(NumberFormat.significant(marker.x, 6))"
            entries.append(Self.shortened(text, to: width))
        }
        if !curve.gapMeaning.isEmpty {
            entries.append(Self.shortened("an interrupted line means: " + curve.gapMeaning, to: width))
        }
        return entries.map { Self.line([$0]) }.joined()
    }

    /// Returns the indices of the series in descending order of their mean values.
    private static func fromTheTop(_ series: [PlanPageContent.Curve.Series]) -> [Int] {
        let heights = series.map { one in
            let values = one.points.map(\.y).filter(\.isFinite)
            return values.isEmpty ? -.infinity : values.reduce(0, +) / Double(values.count)
        }
        return series.indices.sorted { heights[$0] > heights[$1] }
    }

    private static func colored(_ text: String, _ index: Int) -> String {
        "\u{1B}[\(colors[index].code)m\(text)\u{1B}[0m"
    }

    private static func title(_ axis: PlanPageContent.Curve.Axis) -> String {
        axis.unit.isEmpty ? axis.name : "\(axis.name) (\(axis.unit))"
    }

    private static let signs: [Character] = ["*", "o", "x", "+", "@", "%"]
    /// SGR colours that differ on dark and on light backgrounds.
    private static let colors: [(code: Int, name: String)] = [
        (36, "cyan"), (33, "yellow"), (35, "magenta"), (32, "green"), (31, "red"), (34, "blue"),
    ]

    /// The area of a chart: character cells, each of which has one or more dots.
    private struct Canvas {
        let columns: Int
        let rows: Int
        let dots: (across: Int, down: Int)
        private var cells: [UInt8]
        private var signs: [Int?]
        private var marks: Set<Int> = []

        init(columns: Int, rows: Int, dots: (across: Int, down: Int)) {
            self.columns = columns
            self.rows = rows
            self.dots = dots
            cells = Array(repeating: 0, count: columns * rows)
            signs = Array(repeating: nil, count: columns * rows)
        }

        mutating func mark(column: Int) { marks.insert(column) }

        /// Draws lines between neighboring points, dot by dot.
        mutating func draw(_ points: [(x: Double, y: Double)], sign: Int) {
            var last: (x: Double, y: Double)?
            for point in points {
                guard point.x.isFinite, point.y.isFinite, abs(point.x) < 1e6, abs(point.y) < 1e6 else {
                    last = nil
                    continue
                }
                let from = last ?? point
                let steps = Int(max(abs(point.x - from.x), abs(point.y - from.y)).rounded(.up))
                for step in 0...max(1, min(4000, steps)) {
                    let fraction = Double(step) / Double(max(1, min(4000, steps)))
                    set(from.x + (point.x - from.x) * fraction, from.y + (point.y - from.y) * fraction, sign)
                }
                last = point
            }
        }

        private mutating func set(_ x: Double, _ y: Double, _ sign: Int) {
            let (column, row) = (Int(x.rounded()), Int(y.rounded()))
            guard column >= 0, column < columns * dots.across, row >= 0, row < rows * dots.down else { return }
            let cell = row / dots.down * columns + column / dots.across
            // The bits of a braille cell are in this order: the upper three dots of the left column, those of the right
            // column, then the last row.
            let (left, down) = (column % dots.across == 0, row % dots.down)
            cells[cell] |= down == 3 ? (left ? 0x40 : 0x80) : 1 << UInt8(down + (left ? 0 : 3))
            signs[cell] = sign
        }

        func text(_ row: Int, _ isPlain: Bool, _ isColored: Bool) -> String {
            var text = ""
            var current: Int?
            for column in 0..<columns {
                let cell = row * columns + column
                if isColored, signs[cell] != current {
                    current = signs[cell]
                    text += "\u{1B}[\(current.map { TextChart.colors[$0].code } ?? 0)m"
                }
                if let sign = signs[cell] {
                    text.append(isPlain ? TextChart.signs[sign] : Self.braille(cells[cell]))
                } else {
                    text.append(marks.contains(column) ? (isPlain ? ":" : "┊") : " ")
                }
            }
            return current == nil ? text : text + "\u{1B}[0m"
        }

        private static func braille(_ dots: UInt8) -> Character {
            Unicode.Scalar(0x2800 + UInt32(dots)).map(Character.init) ?? " "
        }
    }
}
