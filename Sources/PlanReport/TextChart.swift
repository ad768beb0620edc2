internal import Airtime

/// Small charts for a terminal: lines, bars and heat rows in block characters, or in plain ASCII where a terminal has
/// no others. Numbers that are not finite leave a gap.
public struct TextChart: Hashable, Sendable {
    /// Columns that a chart may take, its labels included; at least 24.
    public let width: Int
    /// Only characters that every terminal has.
    public let isPlain: Bool
    /// Lines in colours (SGR sequences), so that they are told apart where they meet.
    public let isColored: Bool

    /// - Parameter width: Columns, 24...400; what is beyond is taken as the nearest of these.
    public init(width: Int = 80, isPlain: Bool = false, isColored: Bool = false) {
        self.width = min(400, max(24, width))
        self.isPlain = isPlain
        self.isColored = isColored
    }

    /// One bar a row, with its name on the left and its text on the right: as long as its value is of the largest.
    /// Negative values have no bar.
    public func bars(_ rows: [(name: String, value: Double, text: String)]) -> String {
        let names = rows.map { Self.shortened($0.name, to: width / 3) }
        let texts = rows.map { Self.shortened($0.text, to: width / 4) }
        let nameWidth = names.map(\.count).max() ?? 0
        let textWidth = texts.map(\.count).max() ?? 0
        let room = max(4, width - nameWidth - textWidth - 4)
        let largest = rows.map(\.value).filter(\.isFinite).max() ?? 0
        return rows.indices.map { index in
            let share = largest > 0 ? rows[index].value / largest : 0
            let bar = self.bar(share.isFinite ? share : 0, cells: room)
            return Self.line([
                Self.padded(names[index], to: nameWidth), isPlain ? "|" : "▏",
                Self.padded(bar, to: room), Self.padded(texts[index], to: textWidth, isRight: true),
            ])
        }.joined()
    }

    /// Shares of a row's length in eighths of a cell.
    private func bar(_ share: Double, cells: Int) -> String {
        let eighths = Int((min(1, max(0, share)) * Double(cells * 8)).rounded())
        if isPlain { return String(repeating: "#", count: (eighths + 4) / 8) }
        let rest = eighths % 8 == 0 ? "" : String(Self.eighths[eighths % 8 - 1])
        return String(repeating: "█", count: eighths / 8) + rest
    }

    /// Rows × columns, darker where the value is higher, on a logarithmic scale; the value itself stands in the cell.
    /// nil and what is not positive is a dash. A mark follows the cells that are marked.
    public func heat(
        columns: [String], rows: [(name: String, cells: [(value: Double?, isMarked: Bool)])]
    ) -> String {
        let nameWidth = rows.map(\.name.count).max() ?? 0
        let room = columns.isEmpty ? 0 : max(7, min(14, (width - nameWidth) / columns.count - 1))
        let values = rows.flatMap(\.cells).compactMap(\.value).filter { $0.isFinite && $0 > 0 }
        let scale = Scale(of: values, from: 0, to: Double(Self.shades.count), isLogarithmic: true)
        let head = columns.map { Self.padded(Self.shortened($0, to: room), to: room, isRight: true) }
        let body = rows.map { row in
            Self.line(
                [Self.padded(row.name, to: nameWidth, isRight: true)]
                    + row.cells.prefix(columns.count).map { cell($0.value, $0.isMarked, scale, room) })
        }
        return Self.line([Self.padded("", to: nameWidth)] + head) + body.joined()
    }

    private func cell(_ value: Double?, _ isMarked: Bool, _ scale: Scale, _ room: Int) -> String {
        let mark = isMarked ? (isPlain ? "*" : "◆") : ""
        guard let value, value.isFinite, value > 0 else { return Self.padded("-" + mark, to: room, isRight: true) }
        let place = scale(value)
        let shade = place.isFinite ? min(Self.shades.count - 1, max(0, Int(place))) : 0
        let shadow = isPlain ? Self.plainShades[shade] : Self.shades[shade]
        return Self.padded("\(shadow) \(NumberText.significant(value))\(mark)", to: room, isRight: true)
    }

    static let eighths: [Character] = ["▏", "▎", "▍", "▌", "▋", "▊", "▉"]
    private static let shades: [Character] = ["·", "░", "▒", "▓", "█"]
    private static let plainShades: [Character] = [".", ":", "+", "x", "#"]

    static func padded(_ text: String, to width: Int, isRight: Bool = false) -> String {
        let padding = String(repeating: " ", count: max(0, width - text.count))
        return isRight ? padding + text : text + padding
    }

    /// Control characters have no place in a terminal's chart.
    static func shortened(_ text: String, to width: Int) -> String {
        let clean = String(text.map { $0.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F } ? "?" : $0 })
        return clean.count <= width ? clean : String(clean.prefix(max(0, width - 1))) + "~"
    }

    /// Cells with a space between, without spaces at the end.
    static func line(_ cells: [String]) -> String {
        var line = cells.joined(separator: " ")
        while line.last == " " { line.removeLast() }
        return line + "\n"
    }
}
