/// A QR code of model 2 (ISO/IEC 18004): the squares to print, without the quiet zone of four modules that belongs
/// around them.
public struct QRCode: Hashable, Sendable {
    /// 1...40: how large it is.
    public let version: Int
    public let level: Level
    /// 0...7: which pattern is laid over the data, so that no large even areas are left.
    public let mask: Int
    private let modules: [Bool]

    /// How much of a code may be dirty or torn off before it cannot be read any more.
    public enum Level: Int, CaseIterable, Hashable, Sendable {
        /// About 7 %.
        case low
        /// About 15 %.
        case medium
        /// About 25 %.
        case quartile
        /// About 30 %.
        case high
    }

    /// The versions that there are.
    public static let versionRange = 1...40

    /// A code that holds `text`, in UTF-8 where it has other letters than the 45 of the alphanumeric mode.
    ///
    /// - Parameters:
    ///   - level: How much damage it survives.
    ///   - smallest: Versions below this one are not used, so that all codes of a sheet can have one size; 1...40.
    ///   - mask: 0...7; `nil` takes the one that the standard's rules find best.
    /// - Throws: ``QRCodeError`` for text that fits into no version, and for a version or mask that does not exist.
    public init(
        _ text: String, level: Level = .medium, smallest: Int = 1, mask: Int? = nil
    ) throws(QRCodeError) {
        try self.init(QRSegment(text), level: level, smallest: smallest, mask: mask)
    }

    /// The same with octets, whatever they mean.
    public init(
        octets: [UInt8], level: Level = .medium, smallest: Int = 1, mask: Int? = nil
    ) throws(QRCodeError) {
        try self.init(QRSegment(octets: octets), level: level, smallest: smallest, mask: mask)
    }

    private init(_ segment: QRSegment, level: Level, smallest: Int, mask: Int?) throws(QRCodeError) {
        guard Self.versionRange.contains(smallest) else { throw .noSuchVersion(smallest) }
        if let mask, !QRMask.range.contains(mask) { throw .noSuchMask(mask) }
        guard
            let number = (smallest...Self.versionRange.upperBound).first(where: { number in
                let version = QRVersion(number)
                return segment.bitCount(in: version) <= 8 * version.dataCodewordCount(level)
            })
        else {
            let largest = QRVersion(Self.versionRange.upperBound)
            throw .tooLong(count: segment.count, limit: segment.limit(in: largest, level))
        }
        let version = QRVersion(number)
        let codewords = QRErrorCorrection.interleaved(segment.codewords(in: version, level), version, level)
        var matrix = QRMatrix(version)
        matrix.place(codewords)
        let candidates = (mask.map { $0...$0 } ?? QRMask.range).map { mask in
            let candidate = matrix.masked(mask, level)
            return (mask: mask, modules: candidate.modules, penalty: candidate.penalty)
        }
        guard let best = candidates.min(by: { $0.penalty < $1.penalty }) else { throw .noSuchMask(0) }
        self.version = number
        self.level = level
        self.mask = best.mask
        modules = best.modules
    }

    /// Modules along each side: 21...177.
    public var size: Int { QRVersion(version).size }

    /// Whether the module is dark; everything outside is light, as the quiet zone has to be.
    public func isDark(row: Int, column: Int) -> Bool {
        guard (0..<size).contains(row), (0..<size).contains(column) else { return false }
        return modules[row * size + column]
    }
}

/// Why there is no such code.
public enum QRCodeError: Error, Hashable, Sendable, CustomStringConvertible {
    /// More characters, or octets, than the largest code of this level holds.
    case tooLong(count: Int, limit: Int)
    case noSuchVersion(Int)
    case noSuchMask(Int)

    public var description: String {
        switch self {
        case .tooLong(let count, let limit):
            "\(count) characters are \(count - limit) more than a QR code of this error correction level holds"
        case .noSuchVersion(let version): "QR codes have the versions 1...40, not \(version)"
        case .noSuchMask(let mask): "QR codes have the masks 0...7, not \(mask)"
        }
    }
}

extension QRCode {
    /// The dark modules as the data of an SVG path, one unit a module, from the upper left corner; neighbors in a row are
    /// one bar, so that no printer leaves hairlines between them.
    public var path: String {
        var path = ""
        for row in 0..<size {
            var column = 0
            while column < size {
                let start = column
                while isDark(row: row, column: column) { column += 1 }
                if column > start { path += "M\(start) \(row)h\(column - start)v1h-\(column - start)z" }
                column += 1
            }
        }
        return path
    }
}

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
