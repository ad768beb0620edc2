internal import Airtime

/// Computes the likelihood of a vector at each of many cells.
///
/// A beacon is received in a second with a probability p. The level of a received beacon follows Student's t
/// distribution with five degrees of freedom around a mean. Let z be the difference of the level from the mean in units
/// of σ. Then, without constant terms, the logarithm of the likelihood is
/// ln L = Σ over received beacons (ln p - ln σ - 3·ln(1 + z²/5)) + Σ over the other beacons ln(1 - p).
public struct ReceptionTable: Sendable {
    /// The number of cells.
    public let cellCount: Int
    /// The number of beacons.
    public let beaconCount: Int
    /// The mean level in dBm, by beacon, then by cell.
    private var means: [Double]
    /// The factor 1/(5·σ²) of the squared difference from the mean, by beacon, then by cell; 0 if there is no data.
    private var scales: [Double]
    /// ln p - ln σ - ln(1 - p), by beacon, then by cell. This is the change of ln L if the beacon is received, without
    /// the term that depends on the level.
    private var logReceptionRatios: [Double]
    /// Σ ln(1 - p) over all beacons, by cell.
    private var logNoReception: [Double]

    /// The smallest and the largest probability of reception, p.
    public static let probabilityRange = 0.02...0.98
    private static let degreesOfFreedom = 5.0
    /// The largest number of factors 1 + z²/5 whose product cannot overflow.
    private static let factorLimit = 48

    /// Creates a table without data. Every vector is then equally likely at every cell.
    public init(cells: Int, beacons: Int) {
        cellCount = cells
        beaconCount = beacons
        means = [Double](repeating: ReceivedLevel.notReceived, count: cells * beacons)
        scales = [Double](repeating: 0, count: cells * beacons)
        logReceptionRatios = [Double](repeating: 0, count: cells * beacons)
        logNoReception = [Double](repeating: 0, count: cells)
    }

    /// Sets the reception of a beacon at a cell. Call it once for each pair.
    ///
    /// - Parameters:
    ///   - mean: The mean level, in dBm.
    ///   - variance: σ² in dB², at least 1.
    ///   - probability: p, the probability of reception in a second. A value outside ``probabilityRange`` is replaced
    ///     by the nearer limit.
    public mutating func set(beacon: Int, cell: Int, mean: Double, variance: Double, probability: Double) {
        let index = beacon * cellCount + cell
        let variance = max(1, variance)
        let probability = min(max(probability, Self.probabilityRange.lowerBound), Self.probabilityRange.upperBound)
        means[index] = mean
        scales[index] = 1 / (Self.degreesOfFreedom * variance)
        let logMiss = log1p(-probability)
        logReceptionRatios[index] = log(probability) - 0.5 * log(variance) - logMiss
        logNoReception[cell] += logMiss
    }

    /// Returns the mean level of a beacon at a cell, in dBm.
    public func mean(beacon: Int, cell: Int) -> Double { means[beacon * cellCount + cell] }

    /// Returns the standard deviation of a beacon's level at a cell, in dB; infinite if the table has no data for them.
    public func deviation(beacon: Int, cell: Int) -> Double {
        let scale = scales[beacon * cellCount + cell]
        return scale > 0 ? (1 / (Self.degreesOfFreedom * scale)).squareRoot() : .infinity
    }

    /// Returns the probability of receiving a beacon at a cell in a second; 0 if the table has no data for them.
    public func receptionProbability(beacon: Int, cell: Int) -> Double {
        let index = beacon * cellCount + cell
        guard scales[index] > 0 else { return 0 }
        return 1 / (1 + exp(-(logReceptionRatios[index] - 0.5 * log(Self.degreesOfFreedom * scales[index]))))
    }

    /// Returns the log-likelihoods of a vector, by offset, then by cell.
    ///
    /// - Parameter offsets: The possible differences between the levels of the receiver and of the surveyor's receiver,
    ///   in dB.
    public func logLikelihoods(of vector: SignalVector, offsets: [Double]) -> [Double] {
        let readings = vector.readings.filter { (0..<beaconCount).contains($0.beacon) }
        var base = logNoReception
        for reading in readings {
            let start = reading.beacon * cellCount
            for cell in 0..<cellCount { base[cell] += logReceptionRatios[start + cell] }
        }
        return offsets.flatMap { offset in
            var result = base
            for start in stride(from: 0, to: readings.count, by: Self.factorLimit) {
                // The logarithm of a product takes less time than the sum of the logarithms.
                var products = [Double](repeating: 1, count: cellCount)
                for reading in readings[start..<min(start + Self.factorLimit, readings.count)] {
                    multiply(&products, by: reading, offset: offset)
                }
                for cell in 0..<cellCount { result[cell] -= (Self.degreesOfFreedom + 1) / 2 * log(products[cell]) }
            }
            return result
        }
    }

    /// Multiplies the product of each cell by 1 + z²/5 of a reading.
    private func multiply(_ products: inout [Double], by reading: SignalVector.Reading, offset: Double) {
        let start = reading.beacon * cellCount
        let level = reading.level - offset
        for cell in 0..<cellCount {
            let difference = level - means[start + cell]
            products[cell] *= 1 + difference * difference * scales[start + cell]
        }
    }

    /// Returns the expected log-likelihood of each cell for a receiver that is at the cell `truth`. For each cell, uses
    /// the receiver offset that fits this cell best.
    ///
    /// - Parameter offsetVariance: The variance of receiver offsets in dB²; 0 if the receiver is the surveyor's
    ///   receiver.
    func expectedLogLikelihoods(at truth: Int, offsetVariance: Double) -> [Double] {
        var result = logNoReception
        var weights = [Double](repeating: offsetVariance > 0 ? 1 / offsetVariance : .infinity, count: cellCount)
        var offsets = [Double](repeating: 0, count: cellCount)
        let probabilities = (0..<beaconCount).map { receptionProbability(beacon: $0, cell: truth) }
        let received = probabilities.indices.filter { probabilities[$0] > Self.probabilityRange.lowerBound * 1.001 }
        for beacon in received {
            let start = beacon * cellCount
            for cell in 0..<cellCount {
                let weight = probabilities[beacon] * scales[start + cell] * Self.degreesOfFreedom
                weights[cell] += weight
                offsets[cell] += weight * (means[start + truth] - means[start + cell])
            }
        }
        for cell in 0..<cellCount {
            offsets[cell] /= weights[cell]
            if offsetVariance > 0 { result[cell] -= offsets[cell] * offsets[cell] / (2 * offsetVariance) }
        }
        for beacon in received {
            let start = beacon * cellCount
            let variance = 1 / (Self.degreesOfFreedom * scales[start + truth])
            for cell in 0..<cellCount {
                let difference = means[start + truth] - means[start + cell] - offsets[cell]
                let misfit = log1p((difference * difference + variance) * scales[start + cell])
                result[cell] +=
                    probabilities[beacon]
                    * (logReceptionRatios[start + cell] - (Self.degreesOfFreedom + 1) / 2 * misfit)
            }
        }
        return result
    }
}
