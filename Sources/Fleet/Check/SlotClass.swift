internal import Configuration

/// Sorts a slot's values into classes within which all are good or none is, so that a million beacons are checked by
/// looking at one of each kind. Values of no class stand for themselves.
enum SlotClass {
    /// Appends the class of a value to a key.
    static func append(
        _ kind: SlotKind, _ type: BeaconPlan.ValueType, _ text: [UInt8], _ range: Range<Int>, to key: inout [UInt8]
    ) {
        if let (mark, size) = known(kind, type, text, range) {
            key.append(mark)
            key.append(size)
            return
        }
        key.append(0)
        key.append(type.rawValue)
        for shift in stride(from: 0, to: 32, by: 8) { key.append(UInt8(truncatingIfNeeded: range.count >> shift)) }
        key.append(contentsOf: text[range])
    }

    /// Whether the value is of a class, so that other beacons of the same shape may have another.
    static func isGeneral(
        _ kind: SlotKind, _ type: BeaconPlan.ValueType, _ text: [UInt8], _ range: Range<Int>
    ) -> Bool {
        known(kind, type, text, range) != nil
    }

    private static func known(
        _ kind: SlotKind, _ type: BeaconPlan.ValueType, _ text: [UInt8], _ range: Range<Int>
    ) -> (UInt8, UInt8)? {
        switch kind {
        case .name, .allocated: return (1, 0)
        case .integer16:
            guard type == .number, let value = PlainNumber.whole(text, range), value <= 65_535 else { return nil }
            return (2, 0)
        case .hexadecimal:
            guard type == .string, let digits = digits(text, range) else { return nil }
            return (3, digits)
        case .url:
            guard type == .string, let length = URLLength.encoded(text, range) else { return nil }
            return (4, length)
        case .sizedText:
            guard type == .string, (1...255).contains(range.count) else { return nil }
            return (5, UInt8(truncatingIfNeeded: range.count))
        case .keyFile:
            // 32 octets may be a key that somebody took for a file.
            guard type == .string, !range.isEmpty, range.count != 32 else { return nil }
            let span = text.span
            for index in range where span[index] == 0 { return nil }
            return (6, 0)
        case .number, .boolean, .text: return nil
        }
    }

    /// How many hexadecimal digits the text is made of, and nothing else; a UUID's dashes do not count.
    private static func digits(_ text: [UInt8], _ range: Range<Int>) -> UInt8? {
        guard range.count <= 62 else { return nil }
        let span = text.span
        let isDashed = range.count == 36
        for index in range {
            let place = index - range.lowerBound
            if isDashed, place == 8 || place == 13 || place == 18 || place == 23 {
                guard span[index] == UInt8(ascii: "-") else { return nil }
            } else if TextCursor.digit(span[index]) == nil {
                return nil
            }
        }
        let count = isDashed ? 32 : range.count
        return count % 2 == 0 && count > 0 ? UInt8(truncatingIfNeeded: count) : nil
    }
}

/// How many octets a URL takes as Eddystone-URL sends it, without making them.
enum URLLength {
    /// Octets after the scheme, 1...17; `nil` for whatever cannot be sent, and for what needs a closer look.
    static func encoded(_ text: [UInt8], _ range: Range<Int>) -> UInt8? {
        let span = text.span
        guard let start = schemeEnd(span, range) else { return nil }
        let count = range.upperBound - start
        guard (1...Self.longest).contains(count) else { return nil }
        for index in start..<range.upperBound where span[index] < 0x21 || span[index] > 0x7E { return nil }
        // From the end: the fewest octets for what begins at each place.
        var costs = InlineArray<128, UInt8>(repeating: 0)
        for place in stride(from: count - 1, through: 0, by: -1) {
            var cost = costs[place + 1] + 1
            let index = start + place
            if span[index] == UInt8(ascii: "."), let domain = domainLength(span, index + 1, range.upperBound) {
                let end = place + 1 + domain
                cost = min(cost, costs[end] + 1)
                if end < count, span[start + end] == UInt8(ascii: "/") { cost = min(cost, costs[end + 1] + 1) }
            }
            costs[place] = cost
        }
        var best = costs[0]
        if count > 4, has(span, start, range.upperBound, "www.") { best = min(best, costs[4]) }
        return (1...17).contains(best) ? best : nil
    }

    /// 17 octets of the longest code, and the longest scheme's part of the host.
    private static let longest = 110

    private static func schemeEnd(_ span: Span<UInt8>, _ range: Range<Int>) -> Int? {
        if has(span, range.lowerBound, range.upperBound, "http://") { return range.lowerBound + 7 }
        if has(span, range.lowerBound, range.upperBound, "https://") { return range.lowerBound + 8 }
        return nil
    }

    private static func domainLength(_ span: Span<UInt8>, _ start: Int, _ end: Int) -> Int? {
        for name: StaticString in ["com", "org", "edu", "net", "biz", "gov"] where has(span, start, end, name) {
            return 3
        }
        return has(span, start, end, "info") ? 4 : nil
    }

    @inline(__always)
    private static func has(_ span: Span<UInt8>, _ start: Int, _ end: Int, _ text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard end - start >= count else { return false }
        return text.withUTF8Buffer { wanted in
            for index in 0..<count where unsafe wanted[index] != span[start + index] { return false }
            return true
        }
    }
}
