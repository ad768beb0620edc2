internal import Configuration

extension [UInt8] {
    /// As a JSON string.
    mutating func append(quoted text: ArraySlice<UInt8>) {
        let isPlain = !text.contains { octet in
            octet < 0x20 || octet == UInt8(ascii: "\"") || octet == UInt8(ascii: "\\") || octet == 0x7F
        }
        if isPlain {
            append(UInt8(ascii: "\""))
            append(contentsOf: text)
            append(UInt8(ascii: "\""))
        } else {
            append(contentsOf: JSONValue.string(String(decoding: text, as: UTF8.self)).line.utf8)
        }
    }

    /// As a cell of a table that spreadsheets take.
    mutating func append(cell text: ArraySlice<UInt8>) {
        // Most need no quotes, and begin with a letter or digit.
        if let first = text.first, NameRule.isLetterOrDigit(first),
            !text.contains(where: { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "\"") || $0 < 0x20 })
        {
            append(contentsOf: text)
        } else {
            append(contentsOf: FleetManifest.cell(String(decoding: text, as: UTF8.self)).utf8)
        }
    }

    mutating func append(staticText: StaticString) {
        staticText.withUTF8Buffer { unsafe self.append(contentsOf: $0) }
    }

    mutating func append(decimal value: Int) {
        if value < 0 { append(UInt8(ascii: "-")) }
        var rest = value.magnitude
        let start = count
        repeat {
            append(UInt8(truncatingIfNeeded: rest % 10) + UInt8(ascii: "0"))
            rest /= 10
        } while rest > 0
        var (low, high) = (start, count - 1)
        while low < high {
            swapAt(low, high)
            low += 1
            high -= 1
        }
    }

    /// Lower-case digits of the lowest octets, the most significant first.
    mutating func append(hexadecimal value: UInt64, octets: Int) {
        for place in stride(from: 8 * octets - 4, through: 0, by: -4) {
            append(Self.digit(value >> UInt64(place) & 0xF, letters: UInt8(ascii: "a")))
        }
    }

    /// Upper-case digits with colons, as ``DeviceAddress`` prints itself.
    mutating func append(address: UInt64) {
        for octet in (0..<6).reversed() {
            let value = address >> UInt64(8 * octet)
            append(Self.digit(value >> 4 & 0xF, letters: UInt8(ascii: "A")))
            append(Self.digit(value & 0xF, letters: UInt8(ascii: "A")))
            if octet > 0 { append(UInt8(ascii: ":")) }
        }
    }

    private static func digit(_ value: UInt64, letters: UInt8) -> UInt8 {
        let value = UInt8(truncatingIfNeeded: value)
        return value < 10 ? value + UInt8(ascii: "0") : value - 10 + letters
    }
}
