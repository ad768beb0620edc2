/// A cell of a CSV text: the range of its contents, without the quotes around them.
package struct CSVCell: Hashable, Sendable {
    package var start: Int
    package var end: Int
    /// True if the contents contain doubled double quotes.
    package var hasEscapes = false

    package var isEmpty: Bool { start == end }
    package var range: Range<Int> { start..<max(start, end) }

    /// Returns the contents, in which each doubled double quote becomes a single double quote.
    package func octets(in text: [UInt8]) -> [UInt8] {
        guard end <= text.count else { return [] }
        guard hasEscapes else { return Array(text[range]) }
        var result: [UInt8] = []
        var followsQuote = false
        for octet in text[range] {
            let isQuote = octet == UInt8(ascii: "\"")
            if isQuote, followsQuote {
                followsQuote = false
                continue
            }
            followsQuote = isQuote
            result.append(octet)
        }
        return result
    }

    /// Returns the contents as text, in which each doubled double quote becomes a single double quote.
    package func string(in text: [UInt8]) -> String { String(decoding: octets(in: text), as: UTF8.self) }
}

/// A row of a CSV text.
package struct CSVRow: Hashable, Sendable {
    package var cells: [CSVCell] = []
    /// The offset of the row in the text, in bytes.
    package var start = 0
    /// The line on which the row begins, from 1.
    package var line = 1
    /// The first mistake in the quotes of the row; `nil` if there is none.
    package var fault: CSVFault?

    package init() {}

    /// True if the row has only separators. Spreadsheets leave such rows below a table.
    package var isBlank: Bool { cells.allSatisfy(\.isEmpty) }
}

/// A mistake in the quotes of a row.
package struct CSVFault: Hashable, Sendable {
    package enum Reason: Hashable, Sendable {
        /// The text ends inside a quoted cell.
        case openQuote
        /// A closing quote is followed by more text.
        case textAfterQuote
        /// An unquoted cell contains a quote.
        case quoteInside
    }

    package var reason: Reason
    /// The offset in the text, in bytes.
    package var offset: Int

    package var message: String {
        switch reason {
        case .openQuote: "this cell begins with a double quote and has no closing double quote"
        case .textAfterQuote:
            "the closing double quote must be followed by a separator or the end of the line; write a double quote "
                + "within a cell twice"
        case .quoteInside:
            "this cell contains a double quote: put the cell in double quotes, and write the inner double quote "
                + "twice"
        }
    }
}

/// Reads the rows of a CSV text (RFC 4180). Lines end with LF, CR LF or CR; spaces around a cell are ignored.
package struct CSVScanner: Sendable {
    package let octets: [UInt8]
    package let separator: UInt8
    /// The offset of the next row, in bytes.
    package private(set) var offset: Int
    /// The line of the next row, from 1.
    package private(set) var line: Int

    /// Creates a scanner that begins at the row at `offset`, which is on `line`.
    package init(_ octets: [UInt8], separator: UInt8, offset: Int = 0, line: Int = 1) {
        self.octets = octets
        self.separator = separator
        self.offset = offset
        self.line = line
    }

    /// Reads the next row into `row`; returns `false` at the end of the text. Blank rows are skipped.
    package mutating func next(_ row: inout CSVRow) -> Bool {
        repeat {
            guard offset < octets.count else { return false }
            row = CSVRow()
            (row.start, row.line) = (offset, line)
            readCells(&row)
            takeLineEnd()
        } while row.isBlank && row.fault == nil
        return true
    }

    private mutating func readCells(_ row: inout CSVRow) {
        while true {
            while let octet = nextOctet, isSpace(octet) { offset += 1 }
            row.cells.append(nextOctet == UInt8(ascii: "\"") ? readQuoted(&row) : readPlain(&row))
            guard nextOctet == separator else { return }
            offset += 1
        }
    }

    /// Reads a cell up to its separator or the end of the line.
    private mutating func readPlain(_ row: inout CSVRow) -> CSVCell {
        var cell = CSVCell(start: offset, end: offset)
        while let octet = nextOctet, octet != separator, !isLineEnd(octet) {
            if octet == UInt8(ascii: "\""), row.fault == nil {
                row.fault = CSVFault(reason: .quoteInside, offset: offset)
            }
            offset += 1
            if !isSpace(octet) { cell.end = offset }
        }
        return cell
    }

    /// Reads a cell from its opening quote up to its separator or the end of the line.
    private mutating func readQuoted(_ row: inout CSVRow) -> CSVCell {
        let opening = offset
        offset += 1
        var cell = CSVCell(start: offset, end: offset)
        while let octet = nextOctet {
            if octet == UInt8(ascii: "\"") {
                guard peek(1) == UInt8(ascii: "\"") else { break }
                cell.hasEscapes = true
                offset += 2
            } else if isLineEnd(octet) {
                takeLineEnd()
            } else {
                offset += 1
            }
        }
        cell.end = offset
        guard nextOctet != nil else {
            if row.fault == nil { row.fault = CSVFault(reason: .openQuote, offset: opening) }
            return cell
        }
        offset += 1
        while let octet = nextOctet, octet != separator, !isLineEnd(octet) {
            if !isSpace(octet), row.fault == nil {
                row.fault = CSVFault(reason: .textAfterQuote, offset: offset)
            }
            offset += 1
        }
        return cell
    }

    private mutating func takeLineEnd() {
        guard let octet = nextOctet else { return }
        offset += octet == 0x0D && peek(1) == 0x0A ? 2 : 1
        line += 1
    }

    private var nextOctet: UInt8? { peek(0) }

    private func peek(_ distance: Int) -> UInt8? {
        offset + distance < octets.count ? octets[offset + distance] : nil
    }

    private func isLineEnd(_ octet: UInt8) -> Bool { octet == 0x0A || octet == 0x0D }

    private func isSpace(_ octet: UInt8) -> Bool { octet == 0x20 || octet == 0x09 && separator != 0x09 }
}
