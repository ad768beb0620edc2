public import BluetoothTypes

/// The probability that a packet does not collide on its channel: exact, for any mix of independent advertisers.
///
/// Symbols: tau_i the airtime of the target packet, tau_j and E_j = T_j + J/2 airtime and mean period of another
/// advertiser; p_i = Π_{j≠i} [1 - (tau_i + tau_j)/E_j], times the background's exp(-λ_b·(tau_i + tau_b)).
///
/// Assumptions: the advertisers' phases are independent and stationary (they were not started together). Packets that
/// touch end to end do not collide. Packets that overlap are both lost (see ``CaptureModel`` for a receiver that keeps the
/// stronger one). Every event uses the channel. T_j ≥ tau_i + tau_j, so that one advertiser hits a packet at most once.
/// Then the formula is exact: an advertiser's events have the density 1/E_j, and at most one of them falls into a window
/// shorter than T_j.
///
/// Products are computed as sums of log1p, so small probabilities keep their digits, and the logarithm remains exact if
/// the probability is too small for Double.
public struct CollisionModel: Hashable, Sendable {
    /// Equal advertisers, and the scan requests and responses after their packets.
    public struct Source: Hashable, Sendable {
        /// The target beacon is counted in its group.
        public let group: AdvertiserGroup
        /// SCAN_REQ and SCAN_RSP after each packet; nil for non-scannable advertising and passive scanners.
        public let answer: ScanAnswer?

        public init(_ group: AdvertiserGroup, answer: ScanAnswer? = nil) {
            self.group = group
            self.answer = answer
        }

        /// The mean vulnerable window over the mean period: the probability that one advertiser of this source hits a
        /// packet of `wanted` µs.
        func hitProbability(of wanted: Double) -> Double {
            let airtime = group.airtimeMicroseconds
            let window =
                answer?.meanWindowMicroseconds(of: wanted, againstPacketOf: airtime) ?? (wanted + airtime)
            return min(1, window / group.meanPeriodMicroseconds)
        }
    }

    public let sources: [Source]
    public let background: BackgroundLoad

    /// A mixed fleet.
    ///
    /// Throws for a fleet without a beacon, and for beacons that send so often that one of them could hit a packet twice
    /// (``AirtimeError/saturated(intervalMicroseconds:windowMicroseconds:)``).
    public init(sources: [Source], background: BackgroundLoad = .none) throws(AirtimeError) {
        var total = 0
        var longest = 0.0
        for source in sources where source.group.count > 0 {
            let (sum, overflow) = total.addingReportingOverflow(source.group.count)
            guard !overflow else { throw .count(source.group.count) }
            total = sum
            longest = max(longest, source.group.airtimeMicroseconds)
        }
        guard total > 0 else { throw .count(total) }
        for source in sources where source.group.count > 0 && total > 1 {
            let group = source.group
            let span = source.answer?.spanMicroseconds(afterPacketOf: group.airtimeMicroseconds)
            let window = longest + (span ?? group.airtimeMicroseconds)
            guard group.intervalMicroseconds >= window else {
                throw .saturated(intervalMicroseconds: group.intervalMicroseconds, windowMicroseconds: window)
            }
        }
        self.sources = sources
        self.background = background
    }

    /// A mixed fleet of non-scannable beacons, or under passive scanners.
    public init(groups: [AdvertiserGroup], background: BackgroundLoad = .none) throws(AirtimeError) {
        try self.init(sources: groups.map { Source($0) }, background: background)
    }

    /// N equal beacons, including the target beacon, with T, and tau in µs.
    public init(
        beacons: Int, interval: AdvertisingInterval, airtimeMicroseconds: Double, background: BackgroundLoad = .none
    ) throws(AirtimeError) {
        try self.init(
            beacons: beacons, intervalMicroseconds: Double(interval.microseconds),
            airtimeMicroseconds: airtimeMicroseconds, background: background)
    }

    /// Equal beacons with an interval in µs that controllers need not support.
    package init(
        beacons: Int, intervalMicroseconds: Double, airtimeMicroseconds: Double, background: BackgroundLoad = .none
    ) throws(AirtimeError) {
        let group = try AdvertiserGroup(
            count: beacons, intervalMicroseconds: intervalMicroseconds, airtimeMicroseconds: airtimeMicroseconds)
        try self.init(groups: [group], background: background)
    }

    /// N over all sources.
    public var beaconCount: Int { sources.reduce(0) { $0 + $1.group.count } }

    /// Σ tau/E of the fleet: the share of time on one channel that its packets, laid end to end, would fill. Answers to
    /// active scanners count. Over 1 is possible on paper: overlapping packets count twice.
    public var fleetLoad: Double {
        sources.reduce(0) { sum, source in
            let airtime = source.group.airtimeMicroseconds
            let busy = source.answer?.meanBusyMicroseconds(afterPacketOf: airtime) ?? airtime
            return sum + Double(source.group.count) * busy / source.group.meanPeriodMicroseconds
        }
    }

    /// Σ tau/E of the fleet, plus the background's share.
    public var channelLoad: Double { fleetLoad + background.share }

    /// True if the fleet's load is more than half of a channel. Then one more beacon, or a shorter interval, lowers the
    /// number of packets that arrive in all. Exact for equal beacons (E < 2·tau·N, see ``BestInterval``).
    public var isSaturated: Bool { fleetLoad > 0.5 }
}

extension CollisionModel {
    /// ln p of a packet of each source, in the order of ``sources``. Work: sources × different airtimes.
    ///
    /// For a source without beacons, the value is that of one additional beacon.
    public var logCollisionFreeProbabilities: [Double] {
        let isAlone = beaconCount == 1
        var products: [Double: Double] = [:]
        return sources.map { source in
            let airtime = source.group.airtimeMicroseconds
            if isAlone && source.group.count > 0 { return background.logClearProbability(forPacketOf: airtime) }
            let all = products[airtime] ?? logProduct(of: airtime)
            products[airtime] = all
            return source.group.count > 0 ? all - log1p(-source.hitProbability(of: airtime)) : all
        }
    }

    /// p of a packet of each source, in the order of ``sources``.
    public var collisionFreeProbabilities: [Double] { logCollisionFreeProbabilities.map { min(1, exp($0)) } }

    /// ln of the share of all packets of the fleet that are clear. Sources weigh by their packets, count/E.
    public var logCollisionFreeProbability: Double {
        let logs = logCollisionFreeProbabilities
        var highest = -Double.infinity
        for (source, log) in zip(sources, logs) where source.group.count > 0 { highest = max(highest, log) }
        guard highest.isFinite else { return highest }
        // The largest is taken out before the sum, so that a fleet whose every p is below what Double holds still
        // has a finite logarithm.
        var clear = 0.0
        var offered = 0.0
        for (source, log) in zip(sources, logs) where source.group.count > 0 {
            let weight = Double(source.group.count) / source.group.meanPeriodMicroseconds
            clear += weight * exp(log - highest)
            offered += weight
        }
        return min(0, highest + naturalLogarithm(clear / offered))
    }

    /// The share of all packets of the fleet that are clear; for an equal fleet (1 - 2·tau/E)^(N-1).
    ///
    /// 0 only if the share is below 10⁻³⁰⁸; ``log10CollisionFreeProbability`` has the value then.
    public var collisionFreeProbability: Double { exp(logCollisionFreeProbability) }

    /// The decimal logarithm of ``collisionFreeProbability``: -3 is one packet of a thousand.
    public var log10CollisionFreeProbability: Double { logCollisionFreeProbability / lnOfTen }

    /// Clear packets a second on one channel, of an average beacon: Σ count·p/E over N.
    public var arrivalsPerSecondPerBeacon: Double {
        var arrivals = 0.0
        for (source, probability) in zip(sources, collisionFreeProbabilities) {
            arrivals += Double(source.group.count) * probability / source.group.meanPeriodMicroseconds
        }
        return arrivals * 1_000_000 / Double(beaconCount)
    }

    /// The Poisson approximation exp(-Σ_{j≠i} (tau_i + tau_j)/E_j) for the first source's packet, background included;
    /// for an equal fleet exp(-2·(N-1)·tau/E).
    ///
    /// Above the exact value, and close to it while each window is far shorter than its period: 0.4922 in place of
    /// 0.4909 at N = 100, T = 100 ms, 376 µs. For comparison with other programs; no other model uses it.
    public var poissonApproximation: Double {
        guard let asked = sources.first(where: { $0.group.count > 0 }) else { return 1 }
        let airtime = asked.group.airtimeMicroseconds
        var exponent = background.logClearProbability(forPacketOf: airtime) + asked.hitProbability(of: airtime)
        for source in sources { exponent -= Double(source.group.count) * source.hitProbability(of: airtime) }
        return min(1, exp(exponent))
    }

    /// The largest number of equal beacons at which a packet is clear with `probability`, including the target beacon; nil
    /// if a single beacon does not reach it, because of the background.
    ///
    /// Throws for a probability outside 0<..<1 (every number of beacons reaches 0; only a single beacon reaches 1).
    public static func largestFleet(
        holding probability: Double, interval: AdvertisingInterval, airtimeMicroseconds: Double,
        background: BackgroundLoad = .none
    ) throws(AirtimeError) -> Int? {
        try largestFleet(
            holding: probability, intervalMicroseconds: Double(interval.microseconds),
            airtimeMicroseconds: airtimeMicroseconds, background: background)
    }

    /// The largest number of equal beacons for an interval in µs that controllers need not support.
    package static func largestFleet(
        holding probability: Double, intervalMicroseconds: Double, airtimeMicroseconds: Double,
        background: BackgroundLoad = .none
    ) throws(AirtimeError) -> Int? {
        guard probability > 0, probability < 1 else { throw .share(probability) }
        let group = try AdvertiserGroup(
            count: 2, intervalMicroseconds: intervalMicroseconds, airtimeMicroseconds: airtimeMicroseconds)
        _ = try CollisionModel(groups: [group], background: background)
        let room =
            naturalLogarithm(probability) - background.logClearProbability(forPacketOf: airtimeMicroseconds)
        guard room <= 0 else { return nil }
        let perBeacon = log1p(-Source(group).hitProbability(of: airtimeMicroseconds))
        guard perBeacon < 0 else { return Int(countLimit) }
        // Rounds slightly upwards, so that the probability of N beacons gives N beacons again.
        let others = (room / perBeacon * (1 + 1e-12)).rounded(.down)
        return Int(min(others, countLimit)) + 1
    }

    /// More beacons than there can be, and few enough for Int.
    private static var countLimit: Double { 1e15 }

    /// ln of the product of (1 - hit probability) over all beacons and the background, for a packet of another beacon.
    private func logProduct(of airtime: Double) -> Double {
        var sum = background.logClearProbability(forPacketOf: airtime)
        for source in sources where source.group.count > 0 {
            sum += Double(source.group.count) * log1p(-source.hitProbability(of: airtime))
        }
        return sum
    }
}

/// The probability that at least one of the three copies of an event is clear, for a receiver of three channels at once.
///
/// Symbols: o_j(c) the offset of box j's copy on channel c from the start of its event. B destroys copy c of A if B's
/// event starts, after A's, within (o_A(c) - o_B(c) - tau_B, o_A(c) - o_B(c) + tau_A). All copies of a set C are clear
/// with probability Π_B (1 - |∪_{c∈C} window_c(B)| / E_B), and at least one of three by inclusion and exclusion.
///
/// Assumptions as in ``CollisionModel``; exact as long as one interferer's windows together span less than its T. Other
/// devices' packets hit each channel independently. A scanner with one radio listens on one channel at a time: see
/// ``CollisionModel``. With identical firmware the three windows coincide and three copies are worth one: 0.491 for 100
/// beacons at 100 ms, while 1 - (1 - p)³ would give 0.868.
public struct AnyOfThreeModel: Hashable, Sendable {
    public let groups: [AdvertiserGroup]
    /// Each box has its own c of this range.
    public let spacing: CopySpacing
    public let background: BackgroundLoad

    /// Throws for a fleet without a beacon, and with
    /// ``AirtimeError/saturated(intervalMicroseconds:windowMicroseconds:)`` for intervals that are shorter than the
    /// windows of one box.
    public init(
        groups: [AdvertiserGroup], spacing: CopySpacing, background: BackgroundLoad = .none
    ) throws(AirtimeError) {
        let fleet = try CollisionModel(groups: groups, background: background)
        let longest = groups.reduce(0) { max($0, $1.count > 0 ? $1.airtimeMicroseconds : 0) }
        for group in groups where group.count > 0 && fleet.beaconCount > 1 {
            let span =
                longest + group.airtimeMicroseconds + 2 * (spacing.highMicroseconds - spacing.lowMicroseconds)
            guard group.intervalMicroseconds >= span else {
                throw .saturated(intervalMicroseconds: group.intervalMicroseconds, windowMicroseconds: span)
            }
        }
        self.groups = groups.filter { $0.count > 0 }
        self.spacing = spacing
        self.background = background
    }

    /// The share of all events of the fleet that have at least one clear copy.
    public var atLeastOneProbability: Double {
        var clear = 0.0
        var offered = 0.0
        for (index, asked) in groups.enumerated() {
            let weight = Double(asked.count) / asked.meanPeriodMicroseconds
            clear += weight * atLeastOneProbability(ofGroup: index)
            offered += weight
        }
        return min(1, clear / offered)
    }

    /// The probability for an event of one of ``groups``, averaged over the target box's own spacing by Simpson's rule: the
    /// integrand has a kink in no more than its second derivative.
    private func atLeastOneProbability(ofGroup asked: Int) -> Double {
        let width = spacing.highMicroseconds - spacing.lowMicroseconds
        guard width > 0 else { return atLeastOneProbability(ofGroup: asked, spacing: spacing.lowMicroseconds) }
        let panels = 512
        var sum = 0.0
        for step in 0...panels {
            let own = spacing.lowMicroseconds + width * Double(step) / Double(panels)
            let weight = step == 0 || step == panels ? 1.0 : (step.isMultiple(of: 2) ? 2 : 4)
            sum += weight * atLeastOneProbability(ofGroup: asked, spacing: own)
        }
        return sum / Double(3 * panels)
    }

    /// Given the target box's c: with separations d and 2d of the windows, one channel has the window L, a pair of
    /// neighbors L + min(d, L), the outer pair L + min(2d, L), all three L + 2·min(d, L).
    private func atLeastOneProbability(ofGroup asked: Int, spacing own: Double) -> Double {
        var one = 0.0
        var neighbors = 0.0
        var outer = 0.0
        var all = 0.0
        let airtime = groups[asked].airtimeMicroseconds
        for (index, group) in groups.enumerated() {
            let others = Double(index == asked ? group.count - 1 : group.count)
            guard others > 0 else { continue }
            let window = airtime + group.airtimeMicroseconds
            let near = spacing.meanSeparation(from: own, multiple: 1, limit: window)
            let far = spacing.meanSeparation(from: own, multiple: 2, limit: window)
            let period = group.meanPeriodMicroseconds
            one += others * log1p(-window / period)
            neighbors += others * log1p(-(window + near) / period)
            outer += others * log1p(-(window + far) / period)
            all += others * log1p(-(window + 2 * near) / period)
        }
        let clear = background.clearProbabilities(forPacketOf: airtime)
        let (first, middle, last) = (clear[0], clear[1], clear[2])
        return (first + middle + last) * exp(one) - (first + last) * middle * exp(neighbors)
            - first * last * exp(outer) + first * middle * last * exp(all)
    }
}
