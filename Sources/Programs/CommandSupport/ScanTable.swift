internal import Configuration

/// The beacons of a scan as lines of text.
package enum ScanTable {
    /// Returns the lines of a table with a header.
    ///
    /// - Parameters:
    ///   - width: The largest width of a line, in characters. If the table with all cells is wider, only the essential
    ///     cells and the details are shown. If the smaller table is too wide as well, each beacon has two lines, and
    ///     the first of them has only the beacon's title.
    ///   - limit: The largest number of lines. Beacons that do not fit are left out.
    package static func lines(_ rows: [ScanRow], width: Int, limit: Int) -> Layout {
        let whole = Table(ScanRow.header + ["details"], alignment: ScanRow.alignment)
        let wholeLines = lines(rows.prefix(limit - 1), whole) { $0.cells + [$0.details] }
        if fits(wholeLines, width) { return Layout(lines: wholeLines, beaconCount: min(rows.count, limit - 1)) }
        let essential = Table(
            ScanRow.essential.map { ScanRow.header[$0] } + ["details"],
            alignment: ScanRow.essential.map { ScanRow.alignment[$0] })
        let essentialLines = lines(rows.prefix(limit - 1), essential) { row in
            ScanRow.essential.map { row.cells[$0] } + [row.details]
        }
        if fits(essentialLines, width) { return Layout(lines: essentialLines, beaconCount: min(rows.count, limit - 1)) }
        let shown = rows.prefix(max(1, (limit - 1) / 2))
        let secondTable = Table(
            ScanRow.essential.dropFirst().map { ScanRow.header[$0] } + ["details"],
            alignment: ScanRow.essential.dropFirst().map { ScanRow.alignment[$0] })
        let secondLines = lines(shown, secondTable) { row in
            ScanRow.essential.dropFirst().map { row.cells[$0] } + [row.details]
        }
        let titles = shown.map { narrowed($0.cells[0], to: width) }
        let pairs = zip(titles, secondLines.dropFirst()).flatMap { [$0, "  " + $1] }
        return Layout(lines: ["  " + secondLines[0]] + pairs, beaconCount: shown.count)
    }

    /// The lines of a table, and the number of beacons in them.
    package struct Layout {
        package let lines: [String]
        package let beaconCount: Int
    }

    private static func lines(
        _ rows: ArraySlice<ScanRow>, _ table: Table, _ cells: (ScanRow) -> [String]
    ) -> [String] {
        var table = table
        for row in rows { table.add(cells(row)) }
        return table.text.split(separator: "\n").map(String.init)
    }

    private static func fits(_ lines: [String], _ width: Int) -> Bool {
        lines.allSatisfy { TerminalText.columns(of: $0) <= width }
    }

    /// Returns the text, without its middle if it is too long: identities often differ only at their ends.
    private static func narrowed(_ text: String, to width: Int) -> String {
        text.count <= width ? text : "\(text.prefix(width / 2))…\(text.suffix((width - 1) / 2))"
    }
}
