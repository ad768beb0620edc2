internal import Glibc

// The functions of the C library that the planner's modules use. Only this file calls the C library.

@inline(__always) package func exp(_ value: Double) -> Double { Glibc.exp(value) }
@inline(__always) package func expm1(_ value: Double) -> Double { Glibc.expm1(value) }
@inline(__always) package func log(_ value: Double) -> Double { Glibc.log(value) }
@inline(__always) package func log1p(_ value: Double) -> Double { Glibc.log1p(value) }
@inline(__always) package func log10(_ value: Double) -> Double { Glibc.log10(value) }
@inline(__always) package func pow(_ base: Double, _ exponent: Double) -> Double { Glibc.pow(base, exponent) }
@inline(__always) package func erfc(_ value: Double) -> Double { Glibc.erfc(value) }
/// The natural logarithm under another name, for scopes in which a variable or a member named `log` hides `log(_:)`.
@inline(__always) func naturalLogarithm(_ value: Double) -> Double { Glibc.log(value) }
@inline(__always) package func sin(_ angle: Double) -> Double { Glibc.sin(angle) }
@inline(__always) package func cos(_ angle: Double) -> Double { Glibc.cos(angle) }
@inline(__always) package func atan2(_ y: Double, _ x: Double) -> Double { Glibc.atan2(y, x) }
/// ln 10.
let lnOfTen = M_LN10

/// The standard normal distribution, which describes shadowing: its integral Φ, its density φ, and its quantiles.
package enum NormalDistribution {
    /// Φ(x), computed by erfc so that small values of the lower tail keep their precision.
    package static func cumulative(_ x: Double) -> Double { 0.5 * erfc(-x / 2.squareRoot()) }

    /// φ(x), the density.
    static func density(_ x: Double) -> Double { exp(-x * x / 2) / (2 * Double.pi).squareRoot() }

    /// The x with Φ(x) = `probability`, computed by bisection; -∞ for 0 and ∞ for 1.
    package static func quantile(_ probability: Double) -> Double {
        guard probability > 0 else { return -.infinity }
        guard probability < 1 else { return .infinity }
        var low = -39.0
        var high = 39.0
        for _ in 0..<80 {
            let middle = (low + high) / 2
            if cumulative(middle) < probability { low = middle } else { high = middle }
        }
        return (low + high) / 2
    }

    /// The values of z and their weights for averages over z ~ N(0,1), by the trapezoidal rule on -8...8 in steps of
    /// 0.05. For smooth integrands the average is exact to ten digits, because the weights fall to nearly 0 at both
    /// ends.
    static let nodes: [(z: Double, weight: Double)] = {
        let step = 0.05
        return (-160...160).map { index in
            let z = step * Double(index)
            return (z, step * density(z))
        }
    }()
}
