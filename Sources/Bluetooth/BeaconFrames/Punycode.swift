/// Converts host names with letters outside ASCII to ASCII (RFC 3492, RFC 5890): `xn--mller-kva.de` for `müller.de`.
enum Punycode {
    /// Returns the ASCII form of a host name; `nil` if the text is not a host name, or if it contains combining
    /// characters. The standard requires composing these first, which this function does not do.
    static func host(_ text: some StringProtocol) -> String? {
        var labels: [String] = []
        for label in text.lowercased().split(separator: ".", omittingEmptySubsequences: false) {
            guard let encoded = Self.label(label) else { return nil }
            labels.append(encoded)
        }
        return labels.joined(separator: ".")
    }

    private static func label(_ text: Substring) -> String? {
        guard !text.isEmpty else { return nil }
        if text.utf8.allSatisfy(CompressedURL.literals.contains) { return String(text) }
        let isHostLabel = text.unicodeScalars.allSatisfy { scalar in
            scalar.properties.isAlphabetic && scalar.properties.canonicalCombiningClass == .notReordered
                || ("0"..."9").contains(scalar) || scalar == "-"
        }
        // A label has at most 63 characters, so no number below can overflow.
        guard isHostLabel, text.unicodeScalars.count <= 63 else { return nil }
        return "xn--" + encoded(text.unicodeScalars.map { Int($0.value) })
    }

    /// Returns the Punycode of a label, as RFC 3492 6.3 describes it.
    private static func encoded(_ scalars: [Int]) -> String {
        var output = scalars.filter { $0 < 0x80 }.map { UInt8(truncatingIfNeeded: $0) }
        let basicCount = output.count
        if basicCount > 0 { output.append(UInt8(ascii: "-")) }
        var (next, delta, bias, handledCount) = (0x80, 0, 72, basicCount)
        while handledCount < scalars.count {
            guard let smallest = scalars.filter({ $0 >= next }).min() else { break }
            delta += (smallest - next) * (handledCount + 1)
            next = smallest
            for scalar in scalars {
                if scalar < next { delta += 1 }
                guard scalar == next else { continue }
                append(delta, bias: bias, to: &output)
                bias = adapted(delta, count: handledCount + 1, isFirst: handledCount == basicCount)
                delta = 0
                handledCount += 1
            }
            delta += 1
            next += 1
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// Appends a number as one or more digits, as RFC 3492 6.3 describes it.
    private static func append(_ number: Int, bias: Int, to output: inout [UInt8]) {
        var (rest, position) = (number, 36)
        while true {
            let threshold = min(max(position - bias, 1), 26)
            guard rest >= threshold else { return output.append(digit(rest)) }
            output.append(digit(threshold + (rest - threshold) % (36 - threshold)))
            rest = (rest - threshold) / (36 - threshold)
            position += 36
        }
    }

    private static func adapted(_ delta: Int, count: Int, isFirst: Bool) -> Int {
        var rest = isFirst ? delta / 700 : delta / 2
        rest += rest / count
        var bias = 0
        while rest > 455 {
            rest /= 35
            bias += 36
        }
        return bias + 36 * rest / (rest + 38)
    }

    /// Returns `a` to `z` for 0...25, and `0` to `9` for 26...35.
    private static func digit(_ value: Int) -> UInt8 {
        UInt8(truncatingIfNeeded: value < 26 ? Int(UInt8(ascii: "a")) + value : Int(UInt8(ascii: "0")) + value - 26)
    }
}
