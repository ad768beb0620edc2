internal import Airtime

/// A Cholesky factor: the lower triangle L of a symmetric positive matrix A = L·Lᵀ, by rows.
struct CholeskyFactor: Sendable {
    let size: Int
    private var rows: [Double]

    /// `matrix` holds A by rows, of which the lower triangle counts; `nil` where it is not positive.
    init?(_ matrix: [Double], size: Int) {
        guard size > 0, matrix.count == size * size else { return nil }
        self.size = size
        rows = matrix
        var column = [Double](repeating: 0, count: size)
        let isPositive = unsafe rows.withUnsafeMutableBufferPointer { rows in
            unsafe column.withUnsafeMutableBufferPointer { column in
                guard let rows = rows.baseAddress, let column = column.baseAddress else { return false }
                for pivot in 0..<size {
                    let square = unsafe rows[pivot * size + pivot]
                    guard square > 0, square.isFinite else { return false }
                    let root = square.squareRoot()
                    unsafe rows[pivot * size + pivot] = root
                    let next = pivot + 1
                    for row in next..<max(size, next) {
                        let value = unsafe rows[row * size + pivot] / root
                        unsafe rows[row * size + pivot] = value
                        unsafe column[row] = value
                    }
                    for row in next..<max(size, next) {
                        let factor = unsafe column[row]
                        guard factor != 0 else { continue }
                        unsafe Self.subtract(factor, column + next, from: rows + (row * size + next), row - pivot)
                    }
                }
                return true
            }
        }
        guard isPositive else { return nil }
    }

    /// Plain pointers, which need no look at each index, so that several are taken at a time.
    private static func subtract(
        _ factor: Double, _ values: UnsafePointer<Double>, from own: UnsafeMutablePointer<Double>, _ count: Int
    ) {
        for place in 0..<count { unsafe own[place] -= factor * values[place] }
    }

    /// An entry of the lower triangle.
    subscript(row: Int, column: Int) -> Double { rows[row * size + column] }

    /// Solves L·X = B for many right-hand sides at once, in place: B by rows, `width` columns.
    func solve(_ right: inout [Double], width: Int) {
        unsafe rows.withUnsafeBufferPointer { rows in
            unsafe right.withUnsafeMutableBufferPointer { right in
                guard let rows = rows.baseAddress, let right = right.baseAddress else { return }
                for row in 0..<size {
                    let own = unsafe right + row * width
                    for earlier in 0..<row {
                        let factor = unsafe rows[row * size + earlier]
                        guard factor != 0 else { continue }
                        unsafe Self.subtract(factor, right + earlier * width, from: own, width)
                    }
                    let diagonal = unsafe 1 / rows[row * size + row]
                    for place in 0..<width { unsafe own[place] *= diagonal }
                }
            }
        }
    }
}

/// A Gaussian process of mean zero over places with noisy values: what it expects elsewhere, and how sure it is.
struct GaussianProcess {
    private let factor: CholeskyFactor
    private let whitened: [Double]
    private let variance: Double

    /// - Parameters:
    ///   - kernel: The correlations of the places with each other, by rows, 0...1.
    ///   - noise: The variance of each value.
    ///   - variance: Of the process itself.
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

    /// What is expected at `count` other places, and the variance of that.
    ///
    /// - Parameter cross: Their correlations with the known places: by known place, then by the others.
    func predict(_ cross: [Double], count: Int) -> (means: [Double], variances: [Double]) {
        var right = cross.map { $0 * variance }
        factor.solve(&right, width: count)
        var means = [Double](repeating: 0, count: count)
        var variances = [Double](repeating: variance, count: count)
        for place in 0..<factor.size {
            let weight = whitened[place]
            for other in 0..<count {
                let value = right[place * count + other]
                means[other] += value * weight
                variances[other] -= value * value
            }
        }
        return (means, variances.map { max(0.1, $0) })
    }
}
