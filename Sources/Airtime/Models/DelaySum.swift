internal import Glibc

/// The sum of k independent advDelays, as a distribution around its mean k·J/2 (Irwin and Hall's).
struct DelaySum {
    /// k, at least 0.
    let count: Int

    /// The standard deviation in µs: J·√(k/12).
    var deviation: Double { AdvertisingDelay.maximumMicroseconds * (Double(count) / 12).squareRoot() }

    /// Beyond this distance from the mean, in µs, nothing worth counting lies.
    var halfWidth: Double {
        let support = AdvertisingDelay.maximumMicroseconds * Double(count) / 2
        return count <= Self.exactLimit ? support : min(support, 8 * deviation)
    }

    /// The probability that the sum lies below its mean plus `x` µs.
    func cumulative(_ x: Double) -> Double {
        guard count > 0 else { return x >= 0 ? 1 : 0 }
        return count <= Self.exactLimit ? exact(x) : expanded(x)
    }

    /// Up to here the alternating sum keeps ten digits, and from here on the expansion has five or more.
    private static let exactLimit = 16

    /// 1/k! Σ_{j≤u} (-1)^j C(k,j) (u - j)^k for u in units of J, taken in the lower half where it cancels less.
    private func exact(_ x: Double) -> Double {
        let u = x / AdvertisingDelay.maximumMicroseconds + Double(count) / 2
        guard u > 0 else { return 0 }
        guard u < Double(count) else { return 1 }
        let lower = min(u, Double(count) - u)
        var sum = 0.0
        var coefficient = 1.0
        var sign = 1.0
        for j in 0...Int(lower) {
            sum += sign * coefficient * pow(lower - Double(j), Double(count))
            coefficient *= Double(count - j) / Double(j + 1)
            sign = -sign
        }
        for factor in 1...count { sum /= Double(factor) }
        return u > lower ? 1 - sum : sum
    }

    /// Edgeworth's expansion to the order 1/k², with the cumulants -6/(5·k) and 48/(7·k²) of sums of uniform variables.
    private func expanded(_ x: Double) -> Double {
        let z = x / deviation
        guard abs(z) < 9 else { return z < 0 ? 0 : 1 }
        let fourth = -1.2 / Double(count)
        let sixth = 48 / (7 * Double(count) * Double(count))
        let square = z * z
        let third = z * (square - 3)
        let fifth = z * (square * (square - 10) + 15)
        let seventh = z * (square * (square * (square - 21) + 105) - 105)
        let correction = fourth / 24 * third + sixth / 720 * fifth + fourth * fourth / 1152 * seventh
        return min(1, max(0, NormalDistribution.cumulative(z) - NormalDistribution.density(z) * correction))
    }
}
