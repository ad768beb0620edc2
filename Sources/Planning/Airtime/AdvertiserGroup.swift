public import BluetoothTypes

/// Equal advertisers within range of one receiver: their number, their interval, and the airtime of their packets.
///
/// Symbols as in the models: N advertisers, T the advertising interval, tau the airtime of one packet,
/// E = T + J/2 the mean period between advertising events, where advDelay ~ U(0, J) and J = 10 ms
/// (Core Specification 5.4, Vol 6 Part B 4.4.2.2.1). Every probability uses E, not T.
public struct AdvertiserGroup: Hashable, Sendable {
    /// N: the advertisers of this group within range of the receiver.
    public let count: Int
    /// T, the advertising interval in µs. It need not be a multiple of 0.625 ms, the unit of controllers: the
    /// closed-form models take any interval.
    public let intervalMicroseconds: Double
    /// tau, the airtime of one packet in µs.
    public let airtimeMicroseconds: Double
    /// The auxiliary packets of extended PDUs; nil for legacy PDUs.
    public let extended: ExtendedTraffic?

    /// Creates a group of N = `count` advertisers with the interval T and the airtime tau.
    ///
    /// Throws for a negative count, an airtime that is not a positive number, and an interval that does not exceed the
    /// airtime (otherwise packets of the same advertiser would overlap).
    public init(count: Int, interval: AdvertisingInterval, airtimeMicroseconds: Double) throws(AirtimeError) {
        try self.init(
            count: count, intervalMicroseconds: Double(interval.microseconds), airtimeMicroseconds: airtimeMicroseconds)
    }

    /// Creates a group with any interval in µs, even if no controller supports it.
    package init(
        count: Int, intervalMicroseconds: Double, airtimeMicroseconds: Double, extended: ExtendedTraffic? = nil
    ) throws(AirtimeError) {
        guard count >= 0 else { throw .count(count) }
        guard airtimeMicroseconds > 0, airtimeMicroseconds.isFinite else { throw .airtime(airtimeMicroseconds) }
        guard intervalMicroseconds > airtimeMicroseconds, intervalMicroseconds.isFinite else {
            throw .interval(intervalMicroseconds)
        }
        self.count = count
        self.intervalMicroseconds = intervalMicroseconds
        self.airtimeMicroseconds = airtimeMicroseconds
        self.extended = extended
    }

    /// Returns a group of `count` advertisers that is otherwise equal to this group.
    package func counting(_ count: Int) throws(AirtimeError) -> AdvertiserGroup {
        try AdvertiserGroup(
            count: count, intervalMicroseconds: intervalMicroseconds, airtimeMicroseconds: airtimeMicroseconds,
            extended: extended)
    }

    /// E, the mean period between advertising events in µs.
    public var meanPeriodMicroseconds: Double {
        intervalMicroseconds + AdvertisingDelay.meanMicroseconds
    }
}

/// advDelay, the random time that the link layer adds to each interval: uniform over 0...10 ms.
/// Core Specification 5.4, Vol 6 Part B 4.4.2.2.1.
public enum AdvertisingDelay {
    /// J, the upper end of the range, in µs.
    public static let maximumMicroseconds = 10_000.0
    /// J/2, the mean of advDelay, in µs: the mean period E is longer than the interval T by this time.
    public static let meanMicroseconds = maximumMicroseconds / 2
}

/// The time that a legacy advertising packet is on the air on LE 1M.
///
/// One octet takes 8 µs. In addition to the advertising data a packet has a preamble (1 octet), an access address (4),
/// a PDU header (2), the advertiser's address (6) and a CRC (3): 16 octets. Core Specification 5.4, Vol 6 Part B 2.1,
/// 2.3.1.
public enum PacketTiming {
    /// The number of bytes of advertising data that a legacy packet can carry.
    public static let payloadRange = 0...31

    /// Returns tau, the airtime of a packet with n bytes, in µs: 8·(16 + n). An empty packet takes 128 µs, a packet
    /// with 31 bytes 376 µs.
    public static func airtimeMicroseconds(payloadOctets: Int) throws(AirtimeError) -> Double {
        guard payloadRange.contains(payloadOctets) else { throw .payload(payloadOctets) }
        return Double(8 * (16 + payloadOctets))
    }

    /// Returns n, the number of bytes of advertising data in a packet with this airtime in µs, rounded and limited to
    /// 0...31.
    public static func payloadOctets(airtimeMicroseconds: Double) -> Int {
        let octets = (airtimeMicroseconds / 8).rounded() - 16
        return Int(min(max(octets, Double(payloadRange.lowerBound)), Double(payloadRange.upperBound)))
    }
}

/// Equal machines, each of which sends one or several advertisements from its one radio.
///
/// Each advertisement has its own period T + advDelay, whether it has its own advertising set or takes turns with other
/// advertisements in one set. The models compute with these periods.
public struct AdvertisingMachines: Hashable, Sendable {
    /// The number of machines of this kind within range.
    public let count: Int
    /// The advertisements of each machine; their ``AdvertiserGroup/count`` is the number of machines.
    public let advertisements: [AdvertiserGroup]

    /// Creates `count` machines, each of which sends all `advertisements`. The counts of the given advertisements are
    /// ignored.
    ///
    /// Throws for a negative count and machines without advertisements.
    public init(count: Int, advertisements: [AdvertiserGroup]) throws(AirtimeError) {
        guard !advertisements.isEmpty else {
            throw .quantity(name: "a number of advertisements per machine", value: 0)
        }
        self.count = count
        self.advertisements = try advertisements.map { group throws(AirtimeError) in try group.counting(count) }
    }

    /// The index in ``advertisements`` of the advertisement with the shortest interval; among equal intervals, of the
    /// advertisement with the fewest bytes.
    public var fastest: Int {
        advertisements.indices.min { sortKey(advertisements[$0]) < sortKey(advertisements[$1]) } ?? 0
    }

    private func sortKey(_ group: AdvertiserGroup) -> (Double, Int, Double) {
        // On the primary channels, packets of extended PDUs have the same airtime for every payload. So the number of
        // bytes is compared before the airtime.
        let octets =
            group.extended?.payloadOctets ?? PacketTiming.payloadOctets(airtimeMicroseconds: group.airtimeMicroseconds)
        return (group.intervalMicroseconds, octets, group.airtimeMicroseconds)
    }

    /// Returns ln of the probability that no advertisement of one machine hits an event of `target`: for legacy PDUs Σ
    /// ln(1 - (tau + tau_k)/E_k). The sum includes only advertisements for which `isIncluded` returns true.
    func logClearProbability(
        ofEventOf target: AdvertiserGroup, where isIncluded: (AdvertiserGroup) -> Bool = { _ in true }
    ) -> Double {
        advertisements.reduce(0) { isIncluded($1) ? $0 + $1.logClearProbability(ofEventOf: target) : $0 }
    }
}

extension AdvertiserGroup {
    /// ln(1 - (tau + tau_k)/E_k): ln of the probability that one of these advertisers does not hit a packet of
    /// `airtime` µs.
    func logClearProbability(forPacketOf airtime: Double) -> Double {
        let hitProbability = (airtime + airtimeMicroseconds) / meanPeriodMicroseconds
        return hitProbability < 1 ? log1p(-hitProbability) : -.infinity
    }
}

/// The collisions of one advertisement, the target, with the advertisements of other machines. Each machine may send
/// several advertisements at different intervals. ``fleet(ofMachines:)`` replaces the machines by a fleet of equal
/// advertisers, for the models of equal fleets.
///
/// Advertisers with the target's interval form an equal fleet, because collisions with them come in runs (see
/// ``RunsModel``); advertisers with other intervals destroy packets independently of each other. The number of
/// advertisers in the equal fleet is rounded down. The collisions that this rounding loses are added to the collisions
/// with other intervals, so the probability that a packet is clear remains exact.
public struct TargetCollisions: Hashable, Sendable {
    /// T, the interval of the target advertisement in µs.
    public let intervalMicroseconds: Double
    /// tau, the airtime of the target advertisement in µs.
    public let airtimeMicroseconds: Double
    /// The auxiliary packets of the target advertisement; nil for legacy PDUs.
    public let extended: ExtendedTraffic?
    /// ln of the probability that an average other machine hits no packet of the target with its advertisements that
    /// have the target's interval.
    public let logEqualClearProbability: Double
    /// ln of the probability that an average other machine hits no packet of the target with its advertisements that
    /// have other intervals.
    public let logOtherClearProbability: Double

    /// Creates the collisions among machines that send only the target advertisement, with T and tau in µs.
    ///
    /// - Throws: An ``AirtimeError`` if the interval or the airtime is out of range.
    init(intervalMicroseconds: Double, airtimeMicroseconds: Double) throws(AirtimeError) {
        let group = try AdvertiserGroup(
            count: 1, intervalMicroseconds: intervalMicroseconds, airtimeMicroseconds: airtimeMicroseconds)
        self.intervalMicroseconds = intervalMicroseconds
        self.airtimeMicroseconds = airtimeMicroseconds
        extended = nil
        logEqualClearProbability = group.logClearProbability(forPacketOf: airtimeMicroseconds)
        logOtherClearProbability = 0
    }

    /// Creates the collisions of one advertisement of one of the machines.
    ///
    /// - Parameters:
    ///   - kind: The index of the target machine's kind in `machines`.
    ///   - advertisement: The index of the target advertisement in the advertisements of this kind.
    ///   - isAmongMore: False if the target machine is one of `machines`; true if `machines` lists only the other
    ///     machines.
    ///
    /// Throws for indices that do not exist, and for a kind without a machine.
    public init(
        kind: Int, advertisement: Int, in machines: [AdvertisingMachines], isAmongMore: Bool = false
    ) throws(AirtimeError) {
        guard machines.indices.contains(kind), machines[kind].count > 0,
            machines[kind].advertisements.indices.contains(advertisement)
        else { throw .quantity(name: "an index of an advertisement", value: Double(advertisement)) }
        let target = machines[kind].advertisements[advertisement]
        let airtime = target.airtimeMicroseconds
        var (equal, other, count) = (0.0, 0.0, 0.0)
        for (index, others) in machines.enumerated() {
            let machineCount = Double(others.count - (index == kind && !isAmongMore ? 1 : 0))
            let logEqual = others.logClearProbability(ofEventOf: target) {
                $0.intervalMicroseconds == target.intervalMicroseconds
            }
            equal += machineCount * logEqual
            other += machineCount * (others.logClearProbability(ofEventOf: target) - logEqual)
            count += machineCount
        }
        intervalMicroseconds = target.intervalMicroseconds
        airtimeMicroseconds = airtime
        extended = target.extended
        logEqualClearProbability = count > 0 ? equal / count : 0
        logOtherClearProbability = count > 0 ? min(0, other / count) : 0
    }

    /// Returns ln of the probability that an average machine does not hit an event of `target`, if the machine's most
    /// frequent advertisement is left out. Returns 0 if there is no machine.
    public static func logCompanionClearProbability(
        in machines: [AdvertisingMachines], ofEventOf target: AdvertiserGroup
    ) -> Double {
        var (sum, count) = (0.0, 0.0)
        for kind in machines {
            let fastest = kind.fastest
            for (index, group) in kind.advertisements.enumerated() where index != fastest {
                sum += Double(kind.count) * group.logClearProbability(ofEventOf: target)
            }
            count += Double(kind.count)
        }
        return count > 0 ? sum / count : 0
    }

    /// ln of the probability that an average other machine does not hit a packet.
    public var logClearProbability: Double { logEqualClearProbability + logOtherClearProbability }

    /// Returns a fleet of equal advertisers, and the probability that no other advertisement destroys a packet.
    /// Together they give the loss of the target advertisement among `machines` machines, including its own machine.
    public func fleet(ofMachines machines: Int) throws(AirtimeError) -> (group: AdvertiserGroup, otherClear: Double) {
        guard machines >= 1 else { throw .count(machines) }
        let one = try AdvertiserGroup(
            count: 1, intervalMicroseconds: intervalMicroseconds, airtimeMicroseconds: airtimeMicroseconds,
            extended: extended)
        let logClearOfOne = one.logClearProbability(ofEventOf: one)
        let others = Double(machines - 1)
        // A millionth is added to the number of advertisers before it is rounded down, so that a rounding error does
        // not remove a whole advertiser.
        let equals =
            logClearOfOne < 0
            ? min(others * logEqualClearProbability / logClearOfOne + 1e-6, 1e9).rounded(.down) : 0
        let group = try one.counting(1 + Int(max(0, equals)))
        let logOtherClear = others * logClearProbability - max(0, equals) * logClearOfOne
        return (group, logOtherClear < -1e-9 ? exp(logOtherClear) : 1)
    }
}
