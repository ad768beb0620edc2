/// How many octets of advertising data the frames take.
enum PayloadLength {
    static let range = 0...31

    /// The frame's AD structures and flags, in octets; `nil` for types whose every advertisement has a length of its own.
    ///
    /// - Parameter isRotating: Whether there is an identity key: telemetry is then encrypted, and four octets longer.
    static func usual(_ type: String, isRotating: Bool) -> Int? {
        switch type {
        case "ibeacon": flags + 27
        case "altbeacon": flags + 28
        case "eddystone-uid": eddystone + 20
        case "eddystone-tlm": eddystone + (isRotating ? 18 : 14)
        case "eddystone-eid": eddystone + 10
        default: nil
        }
    }

    /// The length of an Eddystone-URL; `nil` for a URL that cannot be sent.
    static func url(_ text: String) -> Int? {
        let octets = Array(text.utf8)
        return URLLength.encoded(octets, 0..<octets.count).map { eddystone + 3 + Int($0) }
    }

    private static let flags = 3
    /// Flags, the list of UUIDs, and what stands before the frame in its service data.
    private static let eddystone = flags + 4 + 4
}

extension FleetManifest.Advertisement {
    /// How many octets of advertising data it sends; 31, the most there are, for what no reader could tell.
    public var payloadOctetCount: Int {
        if let payloadOctets { return payloadOctets }
        if case .eddystoneURL(let text) = identity { return PayloadLength.url(text) ?? PayloadLength.range.upperBound }
        return PayloadLength.usual(type, isRotating: identityKeyFile != nil) ?? PayloadLength.range.upperBound
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
