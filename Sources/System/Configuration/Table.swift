/// Rows with aligned columns, for people.
public struct Table: Sendable {
    /// On which side of its column a cell stands.
    public enum Alignment: Sendable {
        case left
        case right
    }

    private let header: [String]
    private let alignment: [Alignment]
    private var rows: [[String]] = []

    /// Units belong in the header; a header of empty texts is not printed. Columns without an alignment are left-aligned.
    public init(_ header: [String], alignment: [Alignment] = []) {
        self.header = header
        self.alignment = alignment
    }

    /// A row; cells beyond the columns are left out.
    public mutating func add(_ row: [String]) {
        rows.append(row)
    }

    /// The whole table, each row ended by a line feed.
    public var text: String {
        let lines = header.contains { !$0.isEmpty } ? [header] + rows : rows
        var widths = [Int](repeating: 0, count: header.count)
        for line in lines {
            for (column, cell) in line.enumerated() where column < widths.count {
                widths[column] = max(widths[column], cell.count)
            }
        }
        return lines.map { line(of: $0, widths) + "\n" }.joined()
    }

    private func line(of cells: [String], _ widths: [Int]) -> String {
        var result = ""
        for (column, cell) in cells.enumerated() where column < widths.count {
            let padding = String(repeating: " ", count: widths[column] - cell.count)
            let isRight = column < alignment.count && alignment[column] == .right
            result += (column == 0 ? "" : "  ") + (isRight ? padding + cell : cell + padding)
        }
        while result.last == " " { result.removeLast() }
        return result
    }
}
