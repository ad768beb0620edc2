internal import BluetoothTypes

/// The probability that a packet does not collide on its channel if machines send several advertisements: exact, for
/// any mix of machines.
///
/// Like ``CollisionModel``, but a machine never collides with itself: it has one radio, which sends one packet after
/// the other. So p_i = Π [1 - (tau_i + tau_j)/E_j] over the advertisements j of all *other* machines, times the
/// probability that no packet of the background hits the packet. A model of independent advertisers would count
/// collisions between the advertisements of one machine, which cannot happen.
public struct MachineCollisionModel: Hashable, Sendable {
    /// The kinds of machines; kinds with a count of 0 are left out.
    public let machines: [AdvertisingMachines]
    public let background: BackgroundLoad
    /// ln p of a packet of each advertisement. The outer index is the kind of machine.
    public let logCollisionFreeProbabilities: [[Double]]

    /// Throws if there is no machine. Throws ``AirtimeError/saturated(intervalMicroseconds:windowMicroseconds:)`` for
    /// machines that send so often that one of their advertisements could hit a packet twice.
    ///
    /// The computing time is proportional to the number of different airtimes times the number of different pairs of
    /// interval and airtime.
    public init(machines: [AdvertisingMachines], background: BackgroundLoad = .none) throws(AirtimeError) {
        let machines = machines.filter { $0.count > 0 }
        var total = 0
        for kind in machines {
            let (sum, overflow) = total.addingReportingOverflow(kind.count)
            guard !overflow else { throw .count(kind.count) }
            total = sum
        }
        guard total > 0 else { throw .count(total) }
        let traffic = Self.merged(machines)
        for group in traffic where total > 1 {
            let window = traffic.reduce(0) { max($0, $1.windowMicroseconds(against: group)) }
            guard group.intervalMicroseconds >= window else {
                throw .saturated(intervalMicroseconds: group.intervalMicroseconds, windowMicroseconds: window)
            }
        }
        self.machines = machines
        self.background = background
        var products: [Packet: Double] = [:]
        logCollisionFreeProbabilities = machines.map { kind in
            kind.advertisements.map { target in
                let packet = Packet(airtime: target.airtimeMicroseconds, extended: target.extended)
                let logBackground = background.logClearProbability(ofEventOf: target)
                guard total > 1 else { return logBackground }
                let logOfAll =
                    products[packet]
                    ?? traffic.reduce(0) { $0 + Double($1.count) * $1.logClearProbability(ofEventOf: target) }
                products[packet] = logOfAll
                return min(0, logOfAll - kind.logClearProbability(ofEventOf: target)) + logBackground
            }
        }
    }

    /// The packets of an event, as a dictionary key: advertisements with equal packets share one computed product.
    private struct Packet: Hashable {
        let airtime: Double
        let extended: ExtendedTraffic?
    }

    /// Returns the different advertisements of all kinds, each with its total count. The order is fixed, so that
    /// rounding errors are the same in each run of the program.
    private static func merged(_ machines: [AdvertisingMachines]) -> [AdvertiserGroup] {
        var counts: [AdvertiserGroup: Int] = [:]
        for group in machines.flatMap(\.advertisements) {
            guard let single = try? group.counting(1) else { continue }
            counts[single, default: 0] += group.count
        }
        func sortKey(_ group: AdvertiserGroup) -> (Double, Double, Double) {
            (group.intervalMicroseconds, group.airtimeMicroseconds, group.extended?.auxiliaryMicroseconds ?? 0)
        }
        return counts.sorted { sortKey($0.key) < sortKey($1.key) }.compactMap { try? $0.key.counting($0.value) }
    }

    /// p of a packet of each advertisement. The outer index is the kind of machine.
    public var collisionFreeProbabilities: [[Double]] { logCollisionFreeProbabilities.map { $0.map { exp($0) } } }

    /// The share of the packets of one kind of machine that are clear; 1 for a kind that does not exist.
    public func collisionFreeProbability(ofKind kind: Int) -> Double {
        guard machines.indices.contains(kind) else { return 1 }
        var (clear, offered) = (0.0, 0.0)
        for (group, log) in zip(machines[kind].advertisements, logCollisionFreeProbabilities[kind]) {
            clear += exp(log) / group.meanPeriodMicroseconds
            offered += 1 / group.meanPeriodMicroseconds
        }
        return clear / offered
    }

    /// N: the number of machines.
    public var machineCount: Int { machines.reduce(0) { $0 + $1.count } }

    /// ln of the share of all packets that are clear. Each advertisement is weighted with its packet rate, count/E.
    public var logCollisionFreeProbability: Double {
        let highest = logCollisionFreeProbabilities.joined().max() ?? 0
        guard highest.isFinite else { return highest }
        // The largest probability is factored out before the sum, so that a tiny share still has a finite logarithm.
        let clear = sum { group, log in Double(group.count) / group.meanPeriodMicroseconds * exp(log - highest) }
        let offered = sum { group, _ in Double(group.count) / group.meanPeriodMicroseconds }
        return min(0, highest + naturalLogarithm(clear / offered))
    }

    /// The share of all packets that are clear.
    public var collisionFreeProbability: Double { exp(logCollisionFreeProbability) }

    /// The decimal logarithm of ``collisionFreeProbability``: -3 is one packet of a thousand.
    public var log10CollisionFreeProbability: Double { logCollisionFreeProbability / lnOfTen }

    /// The number of packets per second that an average machine sends on one channel.
    public var offeredPerSecondPerMachine: Double {
        sum { group, _ in Double(group.count) / group.meanPeriodMicroseconds } * 1_000_000 / Double(machineCount)
    }

    /// The number of clear packets per second of an average machine on one channel.
    public var arrivalsPerSecondPerMachine: Double {
        sum { group, log in Double(group.count) / group.meanPeriodMicroseconds * exp(log) } * 1_000_000
            / Double(machineCount)
    }

    /// Σ tau/E of all machines: the share of time on one channel that their packets, laid end to end, would fill.
    public var fleetLoad: Double {
        sum { group, _ in Double(group.count) * group.airtimeMicroseconds / group.meanPeriodMicroseconds }
    }

    /// Σ tau/E, plus the background's share.
    public var channelLoad: Double { fleetLoad + background.share }

    /// The share of time on one of the 37 secondary channels that the auxiliary packets, laid end to end, would fill.
    public var secondaryLoad: Double {
        sum { group, _ in
            Double(group.count) * (group.extended?.auxiliaryMicroseconds ?? 0) / group.meanPeriodMicroseconds
        } / Double(ExtendedEvent.secondaryChannels)
    }

    private func sum(_ value: (AdvertiserGroup, Double) -> Double) -> Double {
        var sum = 0.0
        for (kind, logs) in zip(machines, logCollisionFreeProbabilities) {
            for (group, log) in zip(kind.advertisements, logs) { sum += value(group, log) }
        }
        return sum
    }
}
