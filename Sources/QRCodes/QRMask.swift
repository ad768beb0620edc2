/// The eight patterns that may be laid over the data (Table 10).
enum QRMask {
    static let range = 0...7

    /// Whether the pattern turns this module's color round.
    static func inverts(_ mask: Int, _ row: Int, _ column: Int) -> Bool {
        let product = row * column
        return switch mask {
        case 0: (row + column) % 2 == 0
        case 1: row % 2 == 0
        case 2: column % 3 == 0
        case 3: (row + column) % 3 == 0
        case 4: (row / 2 + column / 3) % 2 == 0
        case 5: product % 2 + product % 3 == 0
        case 6: (product % 2 + product % 3) % 2 == 0
        default: ((row + column) % 2 + product % 3) % 2 == 0
        }
    }
}

extension QRMatrix {
    /// How much in this picture can irritate a reader (7.8.3); the least is the best.
    var penalty: Int {
        var penalty = 0
        for index in 0..<size {
            penalty += Self.linePenalty((0..<size).map { modules[index * size + $0] })
            penalty += Self.linePenalty((0..<size).map { modules[$0 * size + index] })
        }
        for row in 0..<size - 1 {
            for column in 0..<size - 1 {
                let corner = row * size + column
                let isDark = modules[corner]
                if modules[corner + 1] == isDark, modules[corner + size] == isDark,
                    modules[corner + size + 1] == isDark
                {
                    penalty += 3
                }
            }
        }
        let dark = modules.count { $0 }
        // Ten for every full 5 % away from one half.
        return penalty + 10 * (abs(20 * dark - 10 * modules.count) / modules.count)
    }

    /// Runs of five and more of one color, and whatever looks like a finder pattern with four light modules on one side;
    /// the quiet zone counts as light.
    private static func linePenalty(_ line: [Bool]) -> Int {
        var (penalty, run, window) = (0, 0, 0)
        for (index, isDark) in line.enumerated() {
            run = index > 0 && line[index - 1] == isDark ? run + 1 : 1
            penalty += run == 5 ? 3 : run > 5 ? 1 : 0
        }
        // Four modules before, seven in question, four behind.
        for isDark in line + [false, false, false, false] {
            window = (window << 1 | (isDark ? 1 : 0)) & 0x7FFF
            let hasLightSide = window >> 11 == 0 || window & 0xF == 0
            if window >> 4 & 0x7F == 0b101_1101, hasLightSide { penalty += 40 }
        }
        return penalty
    }
}
