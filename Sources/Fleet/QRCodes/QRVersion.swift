/// What a version of the code settles: its size and how its codewords are divided.
struct QRVersion: Hashable {
    let number: Int

    /// - Parameter number: 1...40.
    init(_ number: Int) {
        self.number = number
    }

    var size: Int { 17 + 4 * number }

    /// The rows, and columns, in whose crossings alignment patterns lie (Annex E): the first beside the timing pattern,
    /// the last seven modules from the edge, even steps between them and the odd one at the start.
    var alignmentCenters: [Int] {
        guard number > 1 else { return [] }
        let gaps = number / 7 + 1
        // The distance in even steps, rounded so that only the first gap differs from the others.
        let step = 2 * ((8 * number + 3 * (gaps + 1) + 5) / (4 * gaps))
        return [6] + (0..<gaps).reversed().map { size - 7 - $0 * step }
    }

    /// All codewords, those of the error correction included (Table 1).
    var codewordCount: Int {
        let centers = alignmentCenters.count
        // Finder patterns with their separators, timing patterns, format information and the dark module.
        var taken = 3 * 64 + 2 * (size - 16) + 31
        if centers > 0 {
            // Three crossings are covered by finder patterns, and twice so many as lie on the timing patterns share
            // five modules with them.
            taken += 25 * (centers * centers - 3) - 5 * 2 * (centers - 2)
        }
        if hasVersionInformation { taken += 36 }
        return (size * size - taken) / 8
    }

    var hasVersionInformation: Bool { number >= 7 }

    /// Codewords that carry data.
    func dataCodewordCount(_ level: QRCode.Level) -> Int {
        codewordCount - blockCount(level) * correctionCount(level)
    }

    /// Into how many blocks the data are divided, each corrected for itself (Table 9).
    func blockCount(_ level: QRCode.Level) -> Int { Self.blockCounts[level.rawValue][number - 1] }

    /// Error correction codewords of each block (Table 9).
    func correctionCount(_ level: QRCode.Level) -> Int { Self.correctionCounts[level.rawValue][number - 1] }

    private static let blockCounts = [
        [
            1, 1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 4, 6, 6, 6, 6, 7, 8,
            8, 9, 9, 10, 12, 12, 12, 13, 14, 15, 16, 17, 18, 19, 19, 20, 21, 22, 24, 25,
        ],
        [
            1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16,
            17, 17, 18, 20, 21, 23, 25, 26, 28, 29, 31, 33, 35, 37, 38, 40, 43, 45, 47, 49,
        ],
        [
            1, 1, 2, 2, 4, 4, 6, 6, 8, 8, 8, 10, 12, 16, 12, 17, 16, 18, 21, 20,
            23, 23, 25, 27, 29, 34, 34, 35, 38, 40, 43, 45, 48, 51, 53, 56, 59, 62, 65, 68,
        ],
        [
            1, 1, 2, 4, 4, 4, 5, 6, 8, 8, 11, 11, 16, 16, 18, 16, 19, 21, 25, 25,
            25, 34, 30, 32, 35, 37, 40, 42, 45, 48, 51, 54, 57, 60, 63, 66, 70, 74, 77, 81,
        ],
    ]

    private static let correctionCounts = [
        [
            7, 10, 15, 20, 26, 18, 20, 24, 30, 18, 20, 24, 26, 30, 22, 24, 28, 30, 28, 28,
            28, 28, 30, 30, 26, 28, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30,
        ],
        [
            10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26,
            26, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28,
        ],
        [
            13, 22, 18, 26, 18, 24, 18, 22, 20, 24, 28, 26, 24, 20, 30, 24, 28, 28, 26, 30,
            28, 30, 30, 30, 30, 28, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30,
        ],
        [
            17, 28, 22, 16, 22, 28, 26, 26, 24, 28, 24, 28, 22, 24, 24, 30, 28, 28, 26, 28,
            30, 24, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30,
        ],
    ]
}

/// Reed-Solomon codes over the field of 256 elements with the polynomial x⁸ + x⁴ + x³ + x² + 1 (7.5.2).
enum QRErrorCorrection {
    /// Data and correction in the order in which they are laid into the code: the first codeword of every block, the
    /// second of every block, and so on; then the corrections alike (7.6).
    static func interleaved(_ data: [UInt8], _ version: QRVersion, _ level: QRCode.Level) -> [UInt8] {
        let blockCount = version.blockCount(level)
        let short = data.count / blockCount
        let shortBlocks = blockCount - data.count % blockCount
        let divisor = generator(version.correctionCount(level))
        var blocks: [(data: ArraySlice<UInt8>, correction: [UInt8])] = []
        var rest = data[...]
        for index in 0..<blockCount {
            let block = rest.prefix(index < shortBlocks ? short : short + 1)
            rest = rest.dropFirst(block.count)
            blocks.append((block, remainder(of: block, divisor)))
        }
        var result: [UInt8] = []
        result.reserveCapacity(version.codewordCount)
        for index in 0...short {
            for block in blocks where index < block.data.count {
                result.append(block.data[block.data.startIndex + index])
            }
        }
        for index in divisor.indices {
            for block in blocks { result.append(block.correction[index]) }
        }
        return result
    }

    /// The product of (x - 2^i) for i below `degree`, its leading 1 left out, highest power first.
    static func generator(_ degree: Int) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: degree)
        guard degree > 0 else { return result }
        result[degree - 1] = 1
        var root: UInt8 = 1
        for _ in 0..<degree {
            for index in 0..<degree {
                result[index] = product(result[index], root) ^ (index + 1 < degree ? result[index + 1] : 0)
            }
            root = product(root, 2)
        }
        return result
    }

    /// What is left of `message`, moved up by the divisor's degree, after division.
    static func remainder(of message: some Sequence<UInt8>, _ divisor: [UInt8]) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: divisor.count)
        guard !divisor.isEmpty else { return result }
        for octet in message {
            let factor = octet ^ result.removeFirst()
            result.append(0)
            guard factor != 0 else { continue }
            for index in divisor.indices { result[index] ^= product(divisor[index], factor) }
        }
        return result
    }

    /// The product of two elements.
    static func product(_ left: UInt8, _ right: UInt8) -> UInt8 {
        var (sum, power, rest) = (UInt8(0), left, right)
        while rest != 0 {
            if rest & 1 != 0 { sum ^= power }
            power = power << 1 ^ (power & 0x80 == 0 ? 0 : 0x1D)
            rest >>= 1
        }
        return sum
    }
}
