internal import Glibc

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
