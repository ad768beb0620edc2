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
