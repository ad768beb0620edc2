/// Reads the lines that a survey has by the million, `{"t":1.0,"rssi":{"KEY":[-71,-73],…}}`, from their octets.
///
/// It says yes to the plain form only, as ``SurveyWriter`` writes it: everything else is looked at by those who know all
/// of JSON.
struct VectorLineScanner: Sendable {
    /// One beacon of the line.
    struct Entry: Sendable {
        /// Where the key's octets stand in the line.
        var key: Range<Int>
        /// Where its packets stand in ``VectorLineScanner/packets``.
        var packets: Range<Int>
    }

    private(set) var entries: [Entry] = []
    /// What the line says, valid or not, in dBm.
    private(set) var packets: [Int] = []
    private var index = 0

    /// The line's time in seconds; `nil` where it is not of the plain form.
    mutating func scan(_ line: Span<UInt8>) -> Double? {
        entries.removeAll(keepingCapacity: true)
        packets.removeAll(keepingCapacity: true)
        index = 0
        guard take("{\"t\":", line), let seconds = decimal(line), take(",\"rssi\":{", line) else { return nil }
        if !take("}}", line) {
            repeat {
                guard entry(line) else { return nil }
            } while take(",", line)
            guard take("}}", line) else { return nil }
        }
        return index == line.count ? seconds : nil
    }

    private mutating func entry(_ line: Span<UInt8>) -> Bool {
        guard take("\"", line) else { return false }
        let start = index
        while index < line.count, line[index] != UInt8(ascii: "\"") {
            // Escapes, control characters and all but ASCII take the long way.
            guard line[index] >= 0x20, line[index] < 0x7F, line[index] != UInt8(ascii: "\\") else { return false }
            index += 1
        }
        let key = start..<index
        guard !key.isEmpty, take("\":[", line) else { return false }
        let first = packets.count
        repeat {
            guard let level = integer(line) else { return false }
            packets.append(level)
        } while take(",", line)
        entries.append(Entry(key: key, packets: first..<packets.count))
        return take("]", line)
    }

    private mutating func take(_ text: StaticString, _ line: Span<UInt8>) -> Bool {
        let count = text.utf8CodeUnitCount
        guard index + count <= line.count else { return false }
        let start = index
        let isThere = text.withUTF8Buffer { octets in
            for place in 0..<count where unsafe octets[place] != line[start + place] { return false }
            return true
        }
        if isThere { index += count }
        return isThere
    }

    /// At most four digits, without leading zeros.
    private mutating func integer(_ line: Span<UInt8>) -> Int? {
        let isNegative = take("-", line)
        guard let number = digits(line, atMost: 4) else { return nil }
        return isNegative ? -number : number
    }

    /// At most nine digits before the point and six behind it: exact as a quotient.
    private mutating func decimal(_ line: Span<UInt8>) -> Double? {
        guard let whole = digits(line, atMost: 9) else { return nil }
        guard take(".", line) else { return Double(whole) }
        var (fraction, scale) = (0, 1)
        while index < line.count, let digit = digit(line), scale < 1_000_000 {
            (fraction, scale) = (fraction * 10 + digit, scale * 10)
            index += 1
        }
        return scale > 1 ? Double(whole * scale + fraction) / Double(scale) : nil
    }

    private mutating func digits(_ line: Span<UInt8>, atMost limit: Int) -> Int? {
        let start = index
        var number = 0
        while index < line.count, index - start < limit, let digit = digit(line) {
            number = number * 10 + digit
            index += 1
        }
        guard index > start, index == start + 1 || line[start] != UInt8(ascii: "0") else { return nil }
        return number
    }

    private func digit(_ line: Span<UInt8>) -> Int? {
        let octet = line[index]
        return octet >= UInt8(ascii: "0") && octet <= UInt8(ascii: "9") ? Int(octet - UInt8(ascii: "0")) : nil
    }
}
