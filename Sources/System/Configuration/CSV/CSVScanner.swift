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
                while true {
                    // Nothing that is plain is a space.
                    let plain = Self.endOfPlain(span, from: index, separator)
                    if plain > index { end = plain }
                    index = plain
                    guard index < count else { break }
                    let octet = span[index]
                    if octet == separator || octet == 0x0A || octet == 0x0D { break }
                    if octet == UInt8(ascii: "\""), row.fault == nil {
                        row.fault = CSVFault(reason: .quoteInside, offset: index)
                    }
                    index += 1
                    if !Self.isSpace(octet, separator) { end = index }
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

    /// Where letters, digits and the like end that begin at `start`: at the separator, or at one of the octets up to 0x22,
    /// among which spaces, line ends and quotes are.
    @inline(__always)
    private static func endOfPlain(_ span: Span<UInt8>, from start: Int, _ separator: UInt8) -> Int {
        let each: UInt64 = 0x0101_0101_0101_0101
        let separators = each &* UInt64(separator)
        var index = start
        // Eight octets at a time. The lowest one that is marked is one indeed; a borrow may mark others above it.
        while index + 8 <= span.count {
            let octets = unsafe span.bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self)
            let word = UInt64(littleEndian: octets)
            let differences = word ^ separators
            let low = (word &- each &* 0x23) & ~word
            let marks = (low | (differences &- each) & ~differences) & 0x8080_8080_8080_8080
            if marks != 0 { return index + marks.trailingZeroBitCount / 8 }
            index += 8
        }
        while index < span.count, span[index] > 0x22, span[index] != separator { index += 1 }
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
