/// A message in one of two modes (7.4): 45 characters in five and a half bits each, or octets.
struct QRSegment {
    private enum Mode {
        case alphanumeric
        case octets

        var indicator: Int { self == .alphanumeric ? 0b0010 : 0b0100 }

        /// Bits of the count that stands before the message (Table 3).
        func countBits(in version: QRVersion) -> Int {
            let row = version.number < 10 ? 0 : version.number < 27 ? 1 : 2
            return self == .alphanumeric ? 9 + 2 * row : row == 0 ? 8 : 16
        }
    }

    private let mode: Mode
    /// Values of characters (Table 5), or octets.
    private let values: [UInt8]

    init(_ text: String) {
        let octets = Array(text.utf8)
        let numbers = octets.compactMap { Self.alphabet.firstIndex(of: $0) }.map(UInt8.init)
        if !octets.isEmpty, numbers.count == octets.count {
            (mode, values) = (.alphanumeric, numbers)
        } else {
            (mode, values) = (.octets, octets)
        }
    }

    init(octets: [UInt8]) {
        (mode, values) = (.octets, octets)
    }

    /// Characters, or octets.
    var count: Int { values.count }

    func bitCount(in version: QRVersion) -> Int {
        let message = mode == .octets ? 8 * count : 11 * (count / 2) + 6 * (count % 2)
        return 4 + mode.countBits(in: version) + message
    }

    /// How many characters, or octets, fit.
    func limit(in version: QRVersion, _ level: QRCode.Level) -> Int {
        let bits = 8 * version.dataCodewordCount(level) - 4 - mode.countBits(in: version)
        return mode == .octets ? bits / 8 : 2 * (bits / 11) + (bits % 11 >= 6 ? 1 : 0)
    }

    /// The message with all that fills the version up (7.4.9 and 7.4.10). It has to fit.
    func codewords(in version: QRVersion, _ level: QRCode.Level) -> [UInt8] {
        let capacity = version.dataCodewordCount(level)
        var bits = QRBits()
        bits.append(mode.indicator, 4)
        bits.append(count, mode.countBits(in: version))
        switch mode {
        case .octets:
            for value in values { bits.append(Int(value), 8) }
        case .alphanumeric:
            for index in stride(from: 0, to: count, by: 2) {
                if index + 1 < count {
                    bits.append(45 * Int(values[index]) + Int(values[index + 1]), 11)
                } else {
                    bits.append(Int(values[index]), 6)
                }
            }
        }
        bits.append(0, min(4, 8 * capacity - bits.count))
        var octets = bits.octets
        for pad: UInt8 in [0xEC, 0x11] where octets.count < capacity {
            octets.append(pad)
        }
        while octets.count < capacity { octets.append(octets[octets.count - 2]) }
        return octets
    }

    private static let alphabet = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:".utf8)
}

/// Bits in a row, the most significant of each number first.
struct QRBits {
    private(set) var count = 0
    /// The last octet is filled up with zeros.
    private(set) var octets: [UInt8] = []

    mutating func append(_ value: Int, _ width: Int) {
        for shift in (0..<max(0, width)).reversed() {
            if count % 8 == 0 { octets.append(0) }
            octets[count / 8] |= UInt8(value >> shift & 1) << UInt8(7 - count % 8)
            count += 1
        }
    }
}
