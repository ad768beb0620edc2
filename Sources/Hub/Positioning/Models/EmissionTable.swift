public import Airtime

/// Somewhere a receiver can be: a surveyed place or a cell of a grid.
public struct Cell: Hashable, Sendable {
    /// Its middle.
    public let position: FloorPosition
    /// The floor's name; `nil` on sites with one floor.
    public let floor: String?
    /// In m².
    public let area: Double

    /// - Parameters are as the properties of the same names.
    public init(position: FloorPosition, floor: String? = nil, area: Double) {
        self.position = position
        self.floor = floor
        self.area = area
    }
}

/// How likely a vector is at each of many cells: for each beacon a level that scatters with Student's t distribution of
/// five degrees of freedom where it is heard, and a chance not to be heard.
///
/// ln L = Σ over heard beacons (ln p - ln σ - 3·ln(1 + z²/5)) + Σ over the others ln(1 - p), z the level's difference
/// from the mean in σ, constants left out. Absence counts as a chance, never as a level.
public struct EmissionTable: Sendable {
    /// How many cells there are.
    public let cellCount: Int
    /// How many beacons there are.
    public let beaconCount: Int
    /// By beacon, then by cell: the mean in dBm.
    private var means: [Double]
    /// 1/(5·σ²).
    private var scales: [Double]
    /// ln p - ln σ - ln(1 - p): what being heard is worth beside not being heard.
    private var gains: [Double]
    /// By cell: Σ ln(1 - p) over all beacons.
    private var silence: [Double]

    /// The chance to be heard is kept within these.
    public static let chances = 0.02...0.98
    static let degreesOfFreedom = 5.0
    /// Products of this many factors stay far below the largest number.
    private static let factors = 48

    /// Nothing known of any beacon: every vector is equally likely everywhere.
    public init(cells: Int, beacons: Int) {
        cellCount = cells
        beaconCount = beacons
        means = [Double](repeating: ReceivedLevel.floor, count: cells * beacons)
        scales = [Double](repeating: 0, count: cells * beacons)
        gains = [Double](repeating: 0, count: cells * beacons)
        silence = [Double](repeating: 0, count: cells)
    }

    /// Says what is heard of a beacon at a cell; once for each pair.
    ///
    /// - Parameters:
    ///   - variance: σ² in dB², at least 1 counts.
    ///   - chance: p, to be heard in a second; kept within ``chances``.
    public mutating func set(beacon: Int, cell: Int, mean: Double, variance: Double, chance: Double) {
        let index = beacon * cellCount + cell
        let variance = max(1, variance)
        let chance = min(max(chance, Self.chances.lowerBound), Self.chances.upperBound)
        means[index] = mean
        scales[index] = 1 / (Self.degreesOfFreedom * variance)
        let silent = log1p(-chance)
        gains[index] = log(chance) - 0.5 * log(variance) - silent
        silence[cell] += silent
    }

    /// The mean level of a beacon at a cell, in dBm.
    public func mean(beacon: Int, cell: Int) -> Double { means[beacon * cellCount + cell] }

    /// The standard deviation at a cell, in dB; infinite where nothing is known.
    public func deviation(beacon: Int, cell: Int) -> Double {
        let scale = scales[beacon * cellCount + cell]
        return scale > 0 ? (1 / (Self.degreesOfFreedom * scale)).squareRoot() : .infinity
    }

    /// The chance to hear a beacon at a cell in a second; 0 where nothing is known of it.
    public func chance(beacon: Int, cell: Int) -> Double {
        let index = beacon * cellCount + cell
        guard scales[index] > 0 else { return 0 }
        return 1 / (1 + exp(-(gains[index] - 0.5 * log(Self.degreesOfFreedom * scales[index]))))
    }

    /// How well each cell explains, on average, a second of somebody who is at another: the log-likelihoods at the mean
    /// levels and spreads of `truth`, by cell, each with the receiver's offset that suits it best.
    ///
    /// - Parameter offsetVariance: How far off receivers are, in dB²; 0 where the receiver is the surveyor's.
    func expectedLogLikelihoods(at truth: Int, offsetVariance: Double) -> [Double] {
        var result = silence
        var weights = [Double](repeating: offsetVariance > 0 ? 1 / offsetVariance : .infinity, count: cellCount)
        var offsets = [Double](repeating: 0, count: cellCount)
        let heard = (0..<beaconCount).map { chance(beacon: $0, cell: truth) }
        let certain = heard.indices.filter { heard[$0] > Self.chances.lowerBound * 1.001 }
        for beacon in certain {
            let start = beacon * cellCount
            for cell in 0..<cellCount {
                let weight = heard[beacon] * scales[start + cell]
                weights[cell] += weight * Self.degreesOfFreedom
                offsets[cell] += weight * Self.degreesOfFreedom * (means[start + truth] - means[start + cell])
            }
        }
        for cell in 0..<cellCount {
            offsets[cell] /= weights[cell]
            if offsetVariance > 0 { result[cell] -= offsets[cell] * offsets[cell] / (2 * offsetVariance) }
        }
        for beacon in certain {
            let start = beacon * cellCount
            let spread = 1 / (Self.degreesOfFreedom * scales[start + truth])
            for cell in 0..<cellCount {
                let difference = means[start + truth] - means[start + cell] - offsets[cell]
                let misfit = log1p((difference * difference + spread) * scales[start + cell])
                result[cell] += heard[beacon] * (gains[start + cell] - (Self.degreesOfFreedom + 1) / 2 * misfit)
            }
        }
        return result
    }

    /// The log-likelihoods of one vector for a receiver that hears so many dB more than the surveyor's: by offset, then
    /// by cell.
    public func logLikelihoods(of vector: SignalVector, offsets: [Double]) -> [Double] {
        var result = [Double](repeating: 0, count: offsets.count * cellCount)
        write(vector, offsets, to: &result)
        return result
    }

    /// So many cells are looked at together, with every offset: what is known of them stays in the fastest memory.
    private static let block = 128

    /// The same into an array that is there: by offset, then by cell.
    func write(_ vector: SignalVector, _ offsets: [Double], to result: inout [Double]) {
        let readings = vector.readings.filter { $0.beacon < beaconCount && $0.beacon >= 0 }
        unsafe result.withUnsafeMutableBufferPointer { result in
            unsafe means.withUnsafeBufferPointer { means in
                unsafe scales.withUnsafeBufferPointer { scales in
                    guard let result = result.baseAddress, let means = means.baseAddress,
                        let scales = scales.baseAddress
                    else { return }
                    unsafe write(readings, offsets, to: result, means, scales)
                }
            }
        }
    }

    /// Plain pointers, which need no look at each index: the loops over cells then take several at a time.
    private func write(
        _ readings: [SignalVector.Reading], _ offsets: [Double], to result: UnsafeMutablePointer<Double>,
        _ means: UnsafePointer<Double>, _ scales: UnsafePointer<Double>
    ) {
        var base = [Double](repeating: 0, count: Self.block)
        let products = UnsafeMutablePointer<Double>.allocate(capacity: offsets.count * Self.block)
        defer { unsafe products.deallocate() }
        for first in stride(from: 0, to: cellCount, by: Self.block) {
            let count = min(Self.block, cellCount - first)
            for cell in 0..<count { base[cell] = silence[first + cell] }
            for reading in readings {
                let start = reading.beacon * cellCount + first
                for cell in 0..<count { base[cell] += gains[start + cell] }
            }
            for number in offsets.indices {
                let own = unsafe result + (number * cellCount + first)
                for cell in 0..<count { unsafe own[cell] = base[cell] }
            }
            for start in stride(from: 0, to: readings.count, by: Self.factors) {
                for index in 0..<offsets.count * Self.block { unsafe products[index] = 1 }
                // What is known of four beacons is fetched once for all offsets, and each product once for the four.
                let end = min(start + Self.factors, readings.count)
                for next in stride(from: start, to: end, by: 4) {
                    let places = (next..<min(next + 4, end)).map { readings[$0].beacon * cellCount + first }
                    for (number, offset) in offsets.enumerated() {
                        let own = unsafe products + number * Self.block
                        guard places.count == 4 else {
                            for (index, place) in places.enumerated() {
                                let level = readings[next + index].level - offset
                                unsafe Self.multiply(own, level, means + place, scales + place, count)
                            }
                            continue
                        }
                        let levels = SIMD4(
                            readings[next].level, readings[next + 1].level, readings[next + 2].level,
                            readings[next + 3].level)
                        unsafe Self.multiply(
                            own, levels - offset, (places[0], places[1], places[2], places[3]), means, scales, count)
                    }
                }
                for number in offsets.indices {
                    let own = unsafe result + (number * cellCount + first)
                    let product = unsafe products + number * Self.block
                    for cell in 0..<count {
                        unsafe own[cell] -= (Self.degreesOfFreedom + 1) / 2 * log(product[cell])
                    }
                }
            }
        }
    }

    /// Multiplies 1 + z²/5 of one beacon onto the product of each cell: one logarithm for many beacons.
    private static func multiply(
        _ products: UnsafeMutablePointer<Double>, _ level: Double, _ means: UnsafePointer<Double>,
        _ scales: UnsafePointer<Double>, _ count: Int
    ) {
        for cell in 0..<count { unsafe products[cell] *= factor(level, means[cell], scales[cell]) }
    }

    /// The same of four beacons, one after the other, so that the numbers are the same.
    private static func multiply(
        _ products: UnsafeMutablePointer<Double>, _ levels: SIMD4<Double>, _ places: (Int, Int, Int, Int),
        _ means: UnsafePointer<Double>, _ scales: UnsafePointer<Double>, _ count: Int
    ) {
        let (a, b, c, d) = unsafe (means + places.0, means + places.1, means + places.2, means + places.3)
        let (e, f, g, h) = unsafe (scales + places.0, scales + places.1, scales + places.2, scales + places.3)
        for cell in 0..<count {
            var product = unsafe products[cell]
            product *= unsafe factor(levels.x, a[cell], e[cell])
            product *= unsafe factor(levels.y, b[cell], f[cell])
            product *= unsafe factor(levels.z, c[cell], g[cell])
            product *= unsafe factor(levels.w, d[cell], h[cell])
            unsafe products[cell] = product
        }
    }

    @inline(__always)
    private static func factor(_ level: Double, _ mean: Double, _ scale: Double) -> Double {
        let difference = level - mean
        return 1 + difference * difference * scale
    }
}
