/// A CSV text whose header row has been read.
package final class CSVTable: Sendable {
    /// The name of the file as the user wrote it.
    package let file: String
    package let octets: [UInt8]
    package let separator: UInt8
    /// The texts of the header's cells, in order.
    package let header: [String]
    /// The position of each cell of the header.
    package let headerPositions: [JSONPosition]
    /// The offset of the first row after the header, in bytes.
    package let rowsOffset: Int
    /// The line of the first row after the header, from 1.
    package let rowsLine: Int

    private init(
        file: String, octets: [UInt8], separator: UInt8, header: [String], headerPositions: [JSONPosition],
        rowsOffset: Int, rowsLine: Int
    ) {
        self.file = file
        self.octets = octets
        self.separator = separator
        self.header = header
        self.headerPositions = headerPositions
        self.rowsOffset = rowsOffset
        self.rowsLine = rowsLine
    }

    /// Reads the header row of a table.
    ///
    /// - Returns: The table, `nil` if the text cannot be read as a table; and the problems of the encoding and of the
    ///   header row.
    package static func open(_ octets: [UInt8], file: String) -> (table: CSVTable?, problems: [FileProblem]) {
        var problems: [FileProblem] = []
        let start = JSONPosition(line: 1, column: 1)
        if let encoding = TextEncoding.wideUnits(octets) {
            return (nil, [.init("this file is \(encoding); save it as UTF-8", at: start, kind: .malformed)])
        }
        if octets.starts(with: zipStart) {
            let message =
                "this is a workbook such as Excel's .xlsx, not a CSV file; save the sheet as CSV in UTF-8, and name that "
                + "file"
            return (nil, [.init(message, at: start, kind: .malformed)])
        }
        let illFormed = TextEncoding.illFormed(octets, limit: octets.count)
        if let firstOffset = illFormed.first {
            let more = illFormed.count - 1
            problems.append(
                .init(
                    "the byte 0x\(String(octets[firstOffset], radix: 16, uppercase: true)) is not UTF-8"
                        + (more == 0 ? "" : ", and \(more) more \(more == 1 ? "byte is" : "bytes are") not either")
                        + "; save the file as UTF-8",
                    at: position(of: firstOffset, in: octets), kind: .malformed))
        }
        let markLength = octets.starts(with: TextEncoding.byteOrderMark) ? TextEncoding.byteOrderMark.count : 0
        let stated = statedSeparator(octets, from: markLength)
        let headerOffset = stated?.end ?? markLength
        let separator = stated?.separator ?? separator(octets, from: headerOffset)
        var scanner = CSVScanner(octets, separator: separator, offset: headerOffset, line: stated == nil ? 1 : 2)
        var row = CSVRow()
        guard scanner.next(&row) else {
            problems.append(
                .init("the file is empty; a header row with names is expected", at: start, kind: .malformed))
            return (nil, problems)
        }
        let names = row.cells.map { $0.string(in: octets) }
        let positions = row.cells.map { position(of: $0.start, in: octets) }
        if let fault = row.fault {
            problems.append(.init(fault.message, at: position(of: fault.offset, in: octets), kind: .malformed))
        }
        var indices: [String: Int] = [:]
        for (index, name) in names.enumerated() where !name.isEmpty {
            if let firstIndex = indices.updateValue(index, forKey: name) {
                problems.append(
                    .init(
                        "the column \(ProblemText.quoted(name)) appears twice; the first is at \(positions[firstIndex])",
                        at: positions[index], path: JSONPath([.key(name)]), kind: .malformed))
            }
        }
        let table = CSVTable(
            file: file, octets: octets, separator: separator, header: names, headerPositions: positions,
            rowsOffset: scanner.offset, rowsLine: scanner.line)
        return (table, problems)
    }

    /// The first bytes of a ZIP file. The workbooks of Excel and LibreOffice are ZIP files.
    private static let zipStart: [UInt8] = [0x50, 0x4B, 0x03, 0x04]

    /// Returns true if a text begins like a table: with a header and a row that have the same number of cells. JSON
    /// texts do not begin like this.
    package static func isTable(_ octets: [UInt8]) -> Bool {
        let markLength = octets.starts(with: TextEncoding.byteOrderMark) ? TextEncoding.byteOrderMark.count : 0
        let stated = statedSeparator(octets, from: markLength)
        let start = stated?.end ?? markLength
        guard let first = octets[start...].first(where: { $0 > 0x20 }), !"{[/#".utf8.contains(first) else {
            return false
        }
        var scanner = CSVScanner(octets, separator: stated?.separator ?? separator(octets, from: start), offset: start)
        var (header, row) = (CSVRow(), CSVRow())
        guard scanner.next(&header), header.fault == nil, header.cells.count > 1 else { return false }
        let hasNames = header.cells.allSatisfy { cell in
            !cell.isEmpty && !octets[cell.range].contains { "{}[]:#".utf8.contains($0) }
        }
        return hasNames && scanner.next(&row) && row.cells.count == header.cells.count
    }

    /// Returns a number with a decimal comma in the form with a decimal point, and any other text unchanged. In a table
    /// with commas between its cells, a comma is never a decimal comma.
    package func withDecimalPoint(_ text: String) -> String {
        guard separator != UInt8(ascii: ",") else { return text }
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[1].isEmpty, parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            JSONNumber(parts.joined(separator: ".")) != nil
        else { return text }
        return parts.joined(separator: ".")
    }

    /// Returns advice for a text that is not a number, as the end of a sentence; empty if there is none.
    package func numberHint(_ text: String) -> String {
        let commas = text.count { $0 == "," }
        if commas > 0, separator == UInt8(ascii: ",") { return "; write a decimal point, not a comma" }
        if commas > 1 || text.contains("."), commas > 0 || text.count(where: { $0 == "." }) > 1 {
            return "; write it without separators between thousands"
        }
        return ""
    }

    /// A scanner at the first row after the header.
    package var rows: CSVScanner { CSVScanner(octets, separator: separator, offset: rowsOffset, line: rowsLine) }

    /// Reads the row at `offset`, which is on `line`, into `row`.
    package func row(at offset: Int, line: Int, _ row: inout CSVRow) {
        var scanner = CSVScanner(octets, separator: separator, offset: offset, line: line)
        _ = scanner.next(&row)
    }

    /// Returns the position of a byte of a row. Columns are counted in Unicode scalars.
    package func position(of offset: Int, in row: CSVRow) -> JSONPosition {
        Self.position(of: offset, in: octets, from: row.start, line: row.line)
    }

    /// Returns the position of a byte of a text. Lines and columns are counted from the offset `start`, at which `line`
    /// begins.
    package static func position(
        of offset: Int, in octets: [UInt8], from start: Int = 0, line: Int = 1
    ) -> JSONPosition {
        var position = JSONPosition(line: line, column: 1)
        let hasMark = start == 0 && octets.starts(with: TextEncoding.byteOrderMark)
        var index = hasMark ? TextEncoding.byteOrderMark.count : start
        while index < offset, index < octets.count {
            let octet = octets[index]
            if octet == 0x0A || octet == 0x0D && !(index + 1 < octets.count && octets[index + 1] == 0x0A) {
                position.line += 1
                position.column = 1
            } else if octet != 0x0D, octet & 0xC0 != 0x80 {
                position.column += 1
            }
            index += 1
        }
        return position
    }

    /// If the first line states the separator, such as `sep=;`, returns the separator and the offset of the next line;
    /// otherwise returns `nil`. Spreadsheets write and read such lines.
    private static func statedSeparator(_ octets: [UInt8], from start: Int) -> (separator: UInt8, end: Int)? {
        let line = octets[start...].prefix { $0 != 0x0A && $0 != 0x0D }
        let text = String(decoding: line, as: UTF8.self).lowercased()
        guard text.utf8.count == 5, text.hasPrefix("sep="), let separator = line.last else { return nil }
        var end = line.endIndex
        if end < octets.count {
            end += octets[end] == 0x0D && end + 1 < octets.count && octets[end + 1] == 0x0A ? 2 : 1
        }
        return (separator, end)
    }

    /// Returns the separator: a comma, or a semicolon or a tab if the first line has no commas outside of quotes.
    /// Spreadsheets of many countries write semicolons.
    private static func separator(_ octets: [UInt8], from start: Int) -> UInt8 {
        var isQuoted = false
        var unquotedOctets: Set<UInt8> = []
        for octet in octets[start...] {
            if octet == UInt8(ascii: "\"") { isQuoted.toggle() }
            if isQuoted { continue }
            if octet == 0x0A || octet == 0x0D { break }
            unquotedOctets.insert(octet)
        }
        return [UInt8(ascii: ","), UInt8(ascii: ";"), 0x09].first(where: unquotedOctets.contains) ?? UInt8(ascii: ",")
    }
}

/// Checks whether bytes are text in UTF-8.
package enum TextEncoding {
    /// The byte order mark U+FEFF in UTF-8, which some spreadsheets write at the start of a file.
    package static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// Returns `UTF-16` or `UTF-32` if the byte order mark or the zero bytes of the text indicate one of these
    /// encodings; otherwise `nil`.
    package static func wideUnits(_ octets: [UInt8]) -> String? {
        let start = Array(octets.prefix(4))
        if start.starts(with: [0xFF, 0xFE, 0, 0]) || start.starts(with: [0, 0, 0xFE, 0xFF]) { return "UTF-32" }
        if start.starts(with: [0xFF, 0xFE]) || start.starts(with: [0xFE, 0xFF]) { return "UTF-16" }
        guard start.count == 4 else { return nil }
        return (start[0] == 0) != (start[1] == 0) && (start[2] == 0) != (start[3] == 0) ? "UTF-16" : nil
    }

    /// Returns the offsets of the first bytes, at most `limit`, that are not UTF-8 (RFC 3629).
    package static func illFormed(_ octets: [UInt8], limit: Int) -> [Int] {
        var offsets: [Int] = []
        var index = 0
        while index < octets.count, offsets.count < limit {
            let length = sequenceLength(octets, at: index)
            if length == 0 { offsets.append(index) }
            index += max(1, length)
        }
        return offsets
    }

    /// Returns the number of bytes of the character at `index`; 0 if no valid UTF-8 character begins there.
    private static func sequenceLength(_ octets: [UInt8], at index: Int) -> Int {
        func isIn(_ distance: Int, _ range: ClosedRange<UInt8>) -> Bool {
            index + distance < octets.count && range.contains(octets[index + distance])
        }
        let continuation: ClosedRange<UInt8> = 0x80...0xBF
        switch octets[index] {
        case 0...0x7F: return 1
        case 0xC2...0xDF: return isIn(1, continuation) ? 2 : 0
        case 0xE0: return isIn(1, 0xA0...0xBF) && isIn(2, continuation) ? 3 : 0
        case 0xED: return isIn(1, 0x80...0x9F) && isIn(2, continuation) ? 3 : 0
        case 0xE1...0xEF: return isIn(1, continuation) && isIn(2, continuation) ? 3 : 0
        case 0xF0: return isIn(1, 0x90...0xBF) && isIn(2, continuation) && isIn(3, continuation) ? 4 : 0
        case 0xF4: return isIn(1, 0x80...0x8F) && isIn(2, continuation) && isIn(3, continuation) ? 4 : 0
        case 0xF1...0xF3: return isIn(1, continuation) && isIn(2, continuation) && isIn(3, continuation) ? 4 : 0
        default: return 0
        }
    }
}
