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
