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
    ///
    /// Asked eight times a code and looking at every module four times: plain loops, which stay quick in debug builds.
    var penalty: Int {
        var (penalty, dark, corner) = (0, 0, 0)
        for index in 0..<size {
            penalty += linePenalty(from: index * size, step: 1) + linePenalty(from: index, step: size)
        }
        for row in 0..<size {
            for column in 0..<size {
                let isDark = modules[corner]
                if isDark { dark += 1 }
                if row + 1 < size, column + 1 < size, modules[corner + 1] == isDark,
                    modules[corner + size] == isDark, modules[corner + size + 1] == isDark
                {
                    penalty += 3
                }
                corner += 1
            }
        }
        // Ten for every full 5 % away from one half.
        return penalty + 10 * (abs(20 * dark - 10 * modules.count) / modules.count)
    }

    /// Runs of five and more of one color, and whatever looks like a finder pattern with four light modules on one side;
    /// the quiet zone counts as light.
    private func linePenalty(from start: Int, step: Int) -> Int {
        // Four modules before, seven in question, four behind.
        var (penalty, run, window, place) = (0, 0, 0, start)
        for index in 0..<size + 4 {
            let isDark = index < size && modules[place]
            if index < size {
                run = index > 0 && (window & 1 == 1) == isDark ? run + 1 : 1
                if run >= 5 { penalty += run == 5 ? 3 : 1 }
                place += step
            }
            window = (window << 1 | (isDark ? 1 : 0)) & 0x7FFF
            if window >> 4 & 0x7F == 0b101_1101, window >> 11 == 0 || window & 0xF == 0 { penalty += 40 }
        }
        return penalty
    }
}
