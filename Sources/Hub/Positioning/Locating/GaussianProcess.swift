internal import Airtime

/// The Cholesky factor of a symmetric positive definite matrix A: the lower triangle L with A = L·Lᵀ.
struct CholeskyFactor: Sendable {
    let size: Int
    /// L by rows; only the lower triangle is used.
    private var rows: [Double]

    /// Computes the factor of a matrix that is given row by row. Reads only the lower triangle of the matrix. `nil` if
    /// the matrix is not positive definite.
    init?(_ matrix: [Double], size: Int) {
        guard size > 0, matrix.count == size * size else { return nil }
        self.size = size
        rows = matrix
        for row in 0..<size {
            for column in 0...row {
                var sum = rows[row * size + column]
                for index in 0..<column { sum -= rows[row * size + index] * rows[column * size + index] }
                if column < row {
                    rows[row * size + column] = sum / rows[column * size + column]
                } else {
                    guard sum > 0, sum.isFinite else { return nil }
                    rows[row * size + row] = sum.squareRoot()
                }
            }
        }
    }

    /// An entry of the lower triangle.
    subscript(row: Int, column: Int) -> Double { rows[row * size + column] }

    /// Solves L·X = B in place.
    ///
    /// - Parameters:
    ///   - right: B by rows.
    ///   - width: The number of columns of B.
    func solve(_ right: inout [Double], width: Int) {
        for row in 0..<size {
            let diagonal = 1 / rows[row * size + row]
            let factors = rows[row * size..<row * size + row]
            // This loop takes most of the time of a fit. With pointers, the compiler vectorises it.
            unsafe right.withUnsafeMutableBufferPointer { right in
                guard let start = right.baseAddress else { return }
                let target = unsafe start + row * width
                for (earlier, factor) in factors.enumerated() where factor != 0 {
                    let source = unsafe start + earlier * width
                    for column in 0..<width { unsafe target[column] -= factor * source[column] }
                }
                for column in 0..<width { unsafe target[column] *= diagonal }
            }
        }
    }
}

/// A Gaussian process with mean zero, fitted to noisy values at some places. It predicts the values at other places.
struct GaussianProcess {
    /// The factor L of the covariance of the values.
    private let factor: CholeskyFactor
    /// The solution x of L·x = values.
    private let whitened: [Double]
    /// The variance of the process.
    private let variance: Double

    /// - Parameters:
    ///   - kernel: The correlations of the places with each other, by rows, 0...1.
    ///   - noise: The variance of the noise of each value.
    ///   - variance: The variance of the process.
    init?(values: [Double], kernel: [Double], noise: [Double], variance: Double) {
        let size = values.count
        var matrix = kernel.map { $0 * variance }
        for place in 0..<size { matrix[place * size + place] += noise[place] }
        guard let factor = CholeskyFactor(matrix, size: size) else { return nil }
        var whitened = values
        factor.solve(&whitened, width: 1)
        self.factor = factor
        self.whitened = whitened
        self.variance = variance
    }

    /// The logarithm of the probability density of each value, given all other values. Constant terms are omitted.
    ///
    /// Let C be the covariance of the values v. Then a value differs from its expectation by (C⁻¹·v)ᵢ/(C⁻¹)ᵢᵢ, and the
    /// variance of this difference is 1/(C⁻¹)ᵢᵢ (Rasmussen and Williams, Gaussian Processes for Machine Learning,
    /// section 5.4.2).
    var leaveOneOutDensities: [Double] {
        let size = factor.size
        var inverse = [Double](repeating: 0, count: size * size)
        for place in 0..<size { inverse[place * size + place] = 1 }
        factor.solve(&inverse, width: size)
        var precisions = [Double](repeating: 0, count: size)
        var products = [Double](repeating: 0, count: size)
        for row in 0..<size {
            for place in 0...row {
                let entry = inverse[row * size + place]
                precisions[place] += entry * entry
                products[place] += entry * whitened[row]
            }
        }
        return zip(precisions, products).map { 0.5 * (log($0) - $1 * $1 / $0) }
    }

    /// Returns the expected values at other places, and their variances.
    ///
    /// - Parameters:
    ///   - cross: The correlations of the known places with the other places: the elements of the first known place,
    ///     then of the second, and so on.
    ///   - count: The number of other places.
    func predict(_ cross: [Double], count: Int) -> (means: [Double], variances: [Double]) {
        var right = cross.map { $0 * variance }
        factor.solve(&right, width: count)
        var means = [Double](repeating: 0, count: count)
        var variances = [Double](repeating: variance, count: count)
        for place in 0..<factor.size {
            for other in 0..<count {
                let value = right[place * count + other]
                means[other] += value * whitened[place]
                variances[other] -= value * value
            }
        }
        return (means, variances.map { max(0.1, $0) })
    }
}
