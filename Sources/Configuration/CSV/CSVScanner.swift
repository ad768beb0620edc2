/// One cell of a CSV text: where its contents stand, without the quotes around them.
package struct CSVCell: Hashable, Sendable {
    package var start: UInt32
    package var end: UInt32
    /// Two quotes stand for one in it.
    package var hasEscapes = false

    package var isEmpty: Bool { start == end }
    package var range: Range<Int> { Int(start)..<Int(max(start, end)) }
}

/// One row of a CSV text.
package struct CSVRow: Hashable, Sendable {
    package var cells: [CSVCell] = []
    /// Octets before the row.
    package var start = 0
    /// The line on which it begins, from 1.
    package var line = 1
    /// What is wrong with its quotes.
    package var fault: CSVFault?

    package init() {}

    /// Nothing but separators, as spreadsheets leave them below a table.
    package var isBlank: Bool { cells.allSatisfy(\.isEmpty) }
}

/// What is wrong with the form of a row.
package struct CSVFault: Hashable, Sendable {
    package enum Reason: Hashable, Sendable {
        /// A quoted cell does not end before the text does.
        case openQuote
        /// Something stands between a closing quote and the separator.
        case textAfterQuote
        /// A quote within a cell that has none around it.
        case quoteInside
    }

    package var reason: Reason
    package var offset: Int

    package var message: String {
        switch reason {
        case .openQuote: "a cell begins with a double quote here that is never closed"
        case .textAfterQuote:
            "after the closing double quote comes neither a separator nor the end of the line; a double quote within "
                + "a cell is written twice"
        case .quoteInside:
            "a cell with a double quote in it stands in double quotes, and the one within is written twice"
        }
    }
}

/// Walks over the rows of a CSV text (RFC 4180): lines end with LF, CR LF or CR; spaces around a cell do not count.
package struct CSVScanner: Sendable {
    package let octets: [UInt8]
    package let separator: UInt8
    /// Where the next row begins.
    package private(set) var offset: Int
    /// The line of the next row, from 1.
    package private(set) var line: Int

    /// - Parameter offset: Where a row begins, on which line.
    package init(_ octets: [UInt8], separator: UInt8, offset: Int = 0, line: Int = 1) {
        self.octets = octets
        self.separator = separator
        self.offset = offset
        self.line = line
    }

    /// Reads the next row into `row`; `false` at the end. Blank lines are passed over.
    package mutating func next(_ row: inout CSVRow) -> Bool {
        repeat {
            guard offset < octets.count else { return false }
            read(&row)
        } while row.isBlank && row.fault == nil
        return true
    }

    private mutating func read(_ row: inout CSVRow) {
        row.cells.removeAll(keepingCapacity: true)
        row.start = offset
        row.line = line
        row.fault = nil
        // A copy of the reference, so that the span does not hold the scanner.
        let octets = octets
        let span = octets.span
        let count = span.count
        var index = offset
        while true {
            while index < count, Self.isSpace(span[index], separator) { index += 1 }
            var cell = CSVCell(start: UInt32(truncatingIfNeeded: index), end: UInt32(truncatingIfNeeded: index))
            if index < count, span[index] == UInt8(ascii: "\"") {
                index = Self.readQuoted(span, from: index, separator, &cell, &row, &line)
            } else {
                var end = index
                while index < count {
                    let octet = span[index]
                    if octet == separator { break }
                    // Nearly all are letters and digits, which need no closer look.
                    if octet <= UInt8(ascii: "\"") {
                        if octet == 0x0A || octet == 0x0D { break }
                        if octet == UInt8(ascii: "\""), row.fault == nil {
                            row.fault = CSVFault(reason: .quoteInside, offset: index)
                        }
                        if Self.isSpace(octet, separator) {
                            index += 1
                            continue
                        }
                    }
                    index += 1
                    end = index
                }
                cell.end = UInt32(truncatingIfNeeded: end)
            }
            row.cells.append(cell)
            guard index < count, span[index] == separator else { break }
            index += 1
        }
        if index < count {
            let isPair = span[index] == 0x0D && index + 1 < count && span[index + 1] == 0x0A
            index += isPair ? 2 : 1
            line += 1
        }
        offset = index
    }

    /// From the opening quote to the separator or the line's end after the cell.
    private static func readQuoted(
        _ span: Span<UInt8>, from opening: Int, _ separator: UInt8, _ cell: inout CSVCell, _ row: inout CSVRow,
        _ line: inout Int
    ) -> Int {
        let count = span.count
        var index = opening + 1
        cell.start = UInt32(truncatingIfNeeded: index)
        while true {
            guard index < count else {
                cell.end = UInt32(truncatingIfNeeded: count)
                if row.fault == nil { row.fault = CSVFault(reason: .openQuote, offset: opening) }
                return count
            }
            let octet = span[index]
            if octet == UInt8(ascii: "\"") {
                guard index + 1 < count, span[index + 1] == UInt8(ascii: "\"") else { break }
                cell.hasEscapes = true
                index += 2
                continue
            }
            if octet == 0x0A || octet == 0x0D && !(index + 1 < count && span[index + 1] == 0x0A) { line += 1 }
            index += 1
        }
        cell.end = UInt32(truncatingIfNeeded: index)
        index += 1
        while index < count, span[index] != separator, span[index] != 0x0A, span[index] != 0x0D {
            if !isSpace(span[index], separator), row.fault == nil {
                row.fault = CSVFault(reason: .textAfterQuote, offset: index)
            }
            index += 1
        }
        return index
    }

    @inline(__always)
    private static func isSpace(_ octet: UInt8, _ separator: UInt8) -> Bool {
        octet == 0x20 || octet == 0x09 && separator != 0x09
    }
}

extension CSVCell {
    /// The contents, two quotes made one.
    package func octets(in text: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        append(to: &result, from: text)
        return result
    }

    package func string(in text: [UInt8]) -> String { String(decoding: octets(in: text), as: UTF8.self) }

    /// Appends the contents, two quotes made one.
    package func append(to result: inout [UInt8], from text: [UInt8]) {
        guard Int(end) <= text.count, start <= end else { return }
        guard hasEscapes else {
            let range = range
            unsafe text.withUnsafeBufferPointer {
                unsafe result.append(contentsOf: UnsafeBufferPointer(rebasing: $0[range]))
            }
            return
        }
        var afterQuote = false
        for octet in text[range] {
            if octet == UInt8(ascii: "\""), afterQuote {
                afterQuote = false
                continue
            }
            afterQuote = octet == UInt8(ascii: "\"")
            result.append(octet)
        }
    }
}
