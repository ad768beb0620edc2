public import BluetoothTypes

/// Collisions of equal beacons that were all powered on at the same instant: after a power cut, or by one switch.
///
/// Symbols: f_k the density of a sum of k independent advDelays, which is the time of event k after k·T. Event k of one
/// beacon is clear with probability p_k = E_{x~f_k}[(1 - ∫_{x-tau}^{x+tau} f_k)^(N-1)], the neighboring events k ± m
/// of the others, at m·T + f_{k±m}, included as soon as they reach that far. Exact for equal T and tau and a common
/// start; with k the beacons drift apart until p_k is ``CollisionModel``'s value, after some 3·(E/J)² events: half a
/// minute at 100 ms, eight hours at one second.
///
/// The cure is to start each beacon at a random instant within its first interval. The closed form
/// (1 - 0.0735/√k)^(N-1) that one finds averages before it raises to the power, and is up to fifteen times too low.
public struct SimultaneousStart: Hashable, Sendable {
    /// N beacons with T and tau.
    public let group: AdvertiserGroup

    /// Refuses fewer than one beacon, and T < 2·tau.
    public init(
        beacons: Int, interval: AdvertisingInterval, airtimeMicroseconds: Double
    ) throws(AirtimeError) {
        try self.init(
            beacons: beacons, intervalMicroseconds: Double(interval.microseconds),
            airtimeMicroseconds: airtimeMicroseconds)
    }

    /// The same with an interval in µs that no controller needs to know.
    package init(
        beacons: Int, intervalMicroseconds: Double, airtimeMicroseconds: Double
    ) throws(AirtimeError) {
        let model = try CollisionModel(
            beacons: beacons, intervalMicroseconds: intervalMicroseconds, airtimeMicroseconds: airtimeMicroseconds)
        group = model.sources[0].group
    }

    /// p_k; event 0 is the first packet of all, at the instant of power on.
    ///
    /// Refuses a negative event.
    public func collisionFreeProbability(ofEvent event: Int) throws(AirtimeError) -> Double {
        guard event >= 0 else { throw .quantity(name: "a number of an event (0 or more)", value: Double(event)) }
        guard group.count > 1 else { return 1 }
        guard event > 0 else { return 0 }
        let own = DelaySum(count: event)
        let others = Double(group.count - 1)
        guard own.deviation < 2 * group.meanPeriodMicroseconds else {
            // Events are spread evenly by now: what is left of the start's order is below 10⁻³⁰.
            return exp(others * log1p(-2 * group.airtimeMicroseconds / group.meanPeriodMicroseconds))
        }
        let half = own.halfWidth
        let cells = 4096
        var total = 0.0
        var weights = 0.0
        var below = own.cumulative(-half)
        for cell in 0..<cells {
            let left = -half + 2 * half * Double(cell) / Double(cells)
            let right = -half + 2 * half * Double(cell + 1) / Double(cells)
            let upTo = own.cumulative(right)
            let weight = upTo - below
            below = upTo
            let hit = hitProbability(at: (left + right) / 2, event: event, own: own)
            total += weight * exp(others * log1p(-hit))
            weights += weight
        }
        return total / weights
    }

    /// The probability that one other beacon starts a packet within tau of x, in µs from the mean time of event k.
    private func hitProbability(at x: Double, event: Int, own: DelaySum) -> Double {
        let airtime = group.airtimeMicroseconds
        var hit = own.cumulative(x + airtime) - own.cumulative(x - airtime)
        // A later event spreads wider than an earlier one, and a step further moves it by more than it widens.
        var step = 1
        var distance = group.meanPeriodMicroseconds
        while distance - abs(x) - airtime < DelaySum(count: event + step).halfWidth {
            for (neighbor, shift) in [(event - step, distance), (event + step, -distance)] where neighbor >= 0 {
                let sum = DelaySum(count: neighbor)
                hit += sum.cumulative(x + shift + airtime) - sum.cumulative(x + shift - airtime)
            }
            step += 1
            distance += group.meanPeriodMicroseconds
        }
        return min(1, max(0, hit))
    }
}

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
