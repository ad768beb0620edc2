/// A text table with aligned columns.
public struct Table: Sendable {
    /// The side of a column at which its cells are aligned.
    public enum Alignment: Sendable {
        case left
        case right
    }

    private let header: [String]
    private let alignment: [Alignment]
    private var rows: [[String]] = []

    /// Creates a table without rows.
    ///
    /// - Parameters:
    ///   - header: The title of each column, with its unit. A header of empty texts is not printed.
    ///   - alignment: The alignment of each column; columns beyond the end of the list are aligned left.
    public init(_ header: [String], alignment: [Alignment] = []) {
        self.header = header
        self.alignment = alignment
    }

    /// Adds a row. Cells beyond the last column are ignored.
    public mutating func add(_ row: [String]) {
        rows.append(row)
    }

    /// The whole table. Each row ends with a line feed, and columns are two spaces apart.
    public var text: String {
        let lines = header.contains { !$0.isEmpty } ? [header] + rows : rows
        var widths = [Int](repeating: 0, count: header.count)
        for line in lines {
            for (column, cell) in line.enumerated() where column < widths.count {
                widths[column] = max(widths[column], TerminalText.columns(of: cell))
            }
        }
        return lines.map { line(of: $0, widths) + "\n" }.joined()
    }

    private func line(of cells: [String], _ widths: [Int]) -> String {
        var result = ""
        for (column, cell) in cells.enumerated() where column < widths.count {
            let padding = String(repeating: " ", count: widths[column] - TerminalText.columns(of: cell))
            let isRight = column < alignment.count && alignment[column] == .right
            result += (column == 0 ? "" : "  ") + (isRight ? padding + cell : cell + padding)
        }
        while result.last == " " { result.removeLast() }
        return result
    }
}
