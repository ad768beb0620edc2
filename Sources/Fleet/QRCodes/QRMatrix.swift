/// The square of modules, and which of them are patterns of the code's own that no mask touches.
struct QRMatrix {
    let version: QRVersion
    let size: Int
    private(set) var modules: [Bool]
    private var isPattern: [Bool]

    /// With all patterns, and room kept for the format information.
    init(_ version: QRVersion) {
        self.version = version
        size = version.size
        modules = [Bool](repeating: false, count: size * size)
        isPattern = modules
        addTiming()
        addAlignment()
        for (row, column) in [(3, 3), (3, size - 4), (size - 4, 3)] { addFinder(row, column) }
        addFormat(0)
        addVersion()
    }

    /// The format information says which level and mask this is (7.9): five bits and ten of a BCH code, twice.
    private mutating func addFormat(_ value: Int) {
        let format = Self.withRemainder(value, bits: 10, generator: 0x537) ^ 0x5412
        // Around the upper left finder, past the timing patterns.
        let around = [0, 1, 2, 3, 4, 5, 7, 8].map { ($0, 8) } + [7, 5, 4, 3, 2, 1, 0].map { (8, $0) }
        // Half beside the upper right finder, half beside the lower left one.
        let beside = (1...8).map { (8, size - $0) } + (1...7).reversed().map { (size - $0, 8) }
        for places in [around, beside] {
            for (bit, place) in places.enumerated() { set(place.0, place.1, format >> bit & 1 == 1) }
        }
        set(size - 8, 8, true)
    }

    /// The version, six bits and twelve of a Golay code, twice (7.10).
    private mutating func addVersion() {
        guard version.hasVersionInformation else { return }
        let information = Self.withRemainder(version.number, bits: 12, generator: 0x1F25)
        for bit in 0..<18 {
            let (along, across) = (bit / 3, size - 11 + bit % 3)
            set(along, across, information >> bit & 1 == 1)
            set(across, along, information >> bit & 1 == 1)
        }
    }

    private static func withRemainder(_ value: Int, bits: Int, generator: Int) -> Int {
        var remainder = value
        for _ in 0..<bits { remainder = remainder << 1 ^ (remainder >> (bits - 1)) * generator }
        return value << bits | remainder
    }

    private mutating func addTiming() {
        for index in 0..<size {
            set(6, index, index % 2 == 0)
            set(index, 6, index % 2 == 0)
        }
    }

    /// A finder pattern around its center, with the light separator where the code goes on.
    private mutating func addFinder(_ row: Int, _ column: Int) {
        for down in -4...4 {
            for right in -4...4 where (0..<size).contains(row + down) && (0..<size).contains(column + right) {
                let ring = max(abs(down), abs(right))
                set(row + down, column + right, ring != 2 && ring != 4)
            }
        }
    }

    private mutating func addAlignment() {
        let centers = version.alignmentCenters
        for row in centers {
            for column in centers where !isFinderCorner(row, column) {
                for down in -2...2 {
                    for right in -2...2 { set(row + down, column + right, max(abs(down), abs(right)) != 1) }
                }
            }
        }
    }

    private func isFinderCorner(_ row: Int, _ column: Int) -> Bool {
        (row == 6 && (column == 6 || column == size - 7)) || (row == size - 7 && column == 6)
    }

    private mutating func set(_ row: Int, _ column: Int, _ isDark: Bool) {
        modules[row * size + column] = isDark
        isPattern[row * size + column] = true
    }

    /// Lays codewords into what is free, in columns of two from the right, upwards and downwards by turns, past the
    /// upright timing pattern (7.7.3). Bits that are left over stay light.
    mutating func place(_ codewords: [UInt8]) {
        var bit = 0
        for (turn, pair) in (0..<size / 2).enumerated() {
            let last = size - 1 - 2 * pair
            let right = last <= 6 ? last - 1 : last
            for step in 0..<size {
                let row = turn % 2 == 0 ? size - 1 - step : step
                for column in [right, right - 1] where !isPattern[row * size + column] {
                    guard bit < 8 * codewords.count else { return }
                    modules[row * size + column] = codewords[bit / 8] >> UInt8(7 - bit % 8) & 1 == 1
                    bit += 1
                }
            }
        }
    }

    /// With a mask over the data, and the format information that names it.
    func masked(_ mask: Int, _ level: QRCode.Level) -> QRMatrix {
        var result = self
        var place = 0
        for row in 0..<size {
            for column in 0..<size {
                if !isPattern[place], QRMask.inverts(mask, row, column) { result.modules[place].toggle() }
                place += 1
            }
        }
        let levelBits = [0b01, 0b00, 0b11, 0b10][level.rawValue]
        result.addFormat(levelBits << 3 | mask)
        return result
    }
}

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
