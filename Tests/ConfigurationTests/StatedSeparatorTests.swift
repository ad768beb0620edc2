import Testing

@testable import Configuration

@Suite struct StatedSeparatorTests {
    /// A first line such as `sep=;` states the separator. It is counted as a line, so the row is in line 3.
    @Test(
        arguments: [
            ("sep=;\r\na;b\r\n1,5;2\r\n", UInt8(ascii: ";")), ("\u{FEFF}SEP=\t\na\tb\n1,5\t2\n", 0x09),
            ("sep=|\na|b\n1,5|2\n", UInt8(ascii: "|")),
        ])
    func readsTheSeparatorFromASepLine(text: String, separator: UInt8) throws {
        let (found, problems) = CSVTable.open(Array(text.utf8), file: "t.csv")
        let table = try #require(found)
        #expect(problems.isEmpty)
        #expect(table.separator == separator && table.header == ["a", "b"])
        var (rows, row) = (table.rows, CSVRow())
        let hasRow = rows.next(&row)
        #expect(hasRow)
        #expect(row.line == 3 && row.cells.map { $0.string(in: table.octets) } == ["1,5", "2"])
    }
}
