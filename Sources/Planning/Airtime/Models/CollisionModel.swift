public import BluetoothTypes

/// The probability that a packet does not collide on its channel: exact, for any mix of independent advertisers.
///
/// Symbols: tau_i the airtime of the target packet, tau_j and E_j = T_j + J/2 airtime and mean period of another
/// advertiser; p_i = Π_{j≠i} [1 - (tau_i + tau_j)/E_j], times the background's exp(-λ_b·(tau_i + tau_b)).
///
/// Assumptions: the advertisers' phases are independent and stationary (they were not started together). Packets that
/// touch end to end do not collide. Packets that overlap are both lost (see ``CaptureModel`` for a receiver that keeps
/// the stronger one). Every event uses the channel. T_j ≥ tau_i + tau_j, so one advertiser hits a packet at most once.
/// With these assumptions the formula is exact: an advertiser's events have the density 1/E_j, and at most one of them
/// falls into a window shorter than T_j.
///
/// Products are computed as sums of log1p, so small probabilities keep their digits, and the logarithm remains exact if
/// the probability is too small for Double.
public struct CollisionModel: Hashable, Sendable {
    /// The groups of equal advertisers, including the target beacon.
    public let groups: [AdvertiserGroup]
    public let background: BackgroundLoad

    /// Creates the model of a mixed fleet.
    ///
    /// Throws for a fleet without a beacon, and for beacons that send so often that one of them could hit a packet
    /// twice (``AirtimeError/saturated(intervalMicroseconds:windowMicroseconds:)``).
    public init(groups: [AdvertiserGroup], background: BackgroundLoad = .none) throws(AirtimeError) {
        var total = 0
        var longestAirtime = 0.0
        for group in groups where group.count > 0 {
            let (sum, overflow) = total.addingReportingOverflow(group.count)
            guard !overflow else { throw .count(group.count) }
            total = sum
            longestAirtime = max(longestAirtime, group.airtimeMicroseconds)
        }
        guard total > 0 else { throw .count(total) }
        for group in groups where group.count > 0 && total > 1 {
            let window = longestAirtime + group.airtimeMicroseconds
            guard group.intervalMicroseconds >= window else {
                throw .saturated(intervalMicroseconds: group.intervalMicroseconds, windowMicroseconds: window)
            }
        }
        self.groups = groups
        self.background = background
    }

    /// Creates the model of N = `beacons` equal beacons, including the target beacon.
    public init(
        beacons: Int, interval: AdvertisingInterval, airtimeMicroseconds: Double, background: BackgroundLoad = .none
    ) throws(AirtimeError) {
        try self.init(
            beacons: beacons, intervalMicroseconds: Double(interval.microseconds),
            airtimeMicroseconds: airtimeMicroseconds, background: background)
    }

    /// Creates the model of equal beacons with any interval in µs, even if no controller supports it.
    package init(
        beacons: Int, intervalMicroseconds: Double, airtimeMicroseconds: Double, background: BackgroundLoad = .none
    ) throws(AirtimeError) {
        let group = try AdvertiserGroup(
            count: beacons, intervalMicroseconds: intervalMicroseconds, airtimeMicroseconds: airtimeMicroseconds)
        try self.init(groups: [group], background: background)
    }

    /// N, the number of beacons in all groups.
    public var beaconCount: Int { groups.reduce(0) { $0 + $1.count } }

    /// Σ tau/E of the fleet: the share of time on one channel that its packets, laid end to end, would fill. The value
    /// can exceed 1, because overlapping packets count twice.
    public var fleetLoad: Double {
        groups.reduce(0) { $0 + Double($1.count) * $1.airtimeMicroseconds / $1.meanPeriodMicroseconds }
    }

    /// Σ tau/E of the fleet, plus the background's share.
    public var channelLoad: Double { fleetLoad + background.share }
}

extension CollisionModel {
    /// ln p for a packet of each group, in the order of ``groups``. The computing time is proportional to the number of
    /// groups times the number of different airtimes.
    ///
    /// For a group without beacons, the value applies to one additional beacon.
    public var logCollisionFreeProbabilities: [Double] {
        let isAlone = beaconCount == 1
        var products: [Double: Double] = [:]
        return groups.map { group in
            let airtime = group.airtimeMicroseconds
            if isAlone && group.count > 0 { return background.logClearProbability(forPacketOf: airtime) }
            let logOfAll = products[airtime] ?? logProduct(of: airtime)
            products[airtime] = logOfAll
            return group.count > 0 ? logOfAll - group.logClearProbability(forPacketOf: airtime) : logOfAll
        }
    }

    /// p of a packet of each group, in the order of ``groups``.
    public var collisionFreeProbabilities: [Double] { logCollisionFreeProbabilities.map { min(1, exp($0)) } }

    /// ln of the share of all packets of the fleet that are clear. Each group is weighted with its packet rate,
    /// count/E.
    public var logCollisionFreeProbability: Double {
        let logs = logCollisionFreeProbabilities
        var highest = -Double.infinity
        for (group, log) in zip(groups, logs) where group.count > 0 { highest = max(highest, log) }
        guard highest.isFinite else { return highest }
        // The largest probability is factored out before the sum, so that the logarithm is finite even if each p is too
        // small for Double.
        var clear = 0.0
        var offered = 0.0
        for (group, log) in zip(groups, logs) where group.count > 0 {
            let weight = Double(group.count) / group.meanPeriodMicroseconds
            clear += weight * exp(log - highest)
            offered += weight
        }
        return min(0, highest + naturalLogarithm(clear / offered))
    }

    /// The share of all packets of the fleet that are clear; for an equal fleet (1 - 2·tau/E)^(N-1).
    ///
    /// The value is 0 if the share is too small for Double (about 10⁻³⁰⁸); ``logCollisionFreeProbability`` is exact
    /// then.
    public var collisionFreeProbability: Double { exp(logCollisionFreeProbability) }

    /// The number of clear packets per second of an average beacon on one channel: Σ count·p/E, divided by N.
    public var arrivalsPerSecondPerBeacon: Double {
        var arrivals = 0.0
        for (group, probability) in zip(groups, collisionFreeProbabilities) {
            arrivals += Double(group.count) * probability / group.meanPeriodMicroseconds
        }
        return arrivals * 1_000_000 / Double(beaconCount)
    }

    /// ln of the product of (1 - hit probability) over all beacons and the background, for a packet of an additional
    /// beacon.
    private func logProduct(of airtime: Double) -> Double {
        var sum = background.logClearProbability(forPacketOf: airtime)
        for group in groups where group.count > 0 {
            sum += Double(group.count) * group.logClearProbability(forPacketOf: airtime)
        }
        return sum
    }
}

/// The probability that at least one of the three copies of an event is clear, for a receiver that listens on all three
/// channels at once.
///
/// Symbols: o_j(c) the offset of beacon j's copy on channel c from the start of its event. Beacon B destroys copy c of
/// beacon A if the time from the start of A's event to the start of B's event is in window_c(B) = (o_A(c) - o_B(c) -
/// tau_B, o_A(c) - o_B(c) + tau_A). All copies of a set C are clear with probability Π_B (1 - |∪_{c∈C} window_c(B)| /
/// E_B). The probability of at least one clear copy follows by inclusion and exclusion.
///
/// Assumptions as in ``CollisionModel``; exact if the windows of each interferer together span less than its T. Other
/// devices' packets hit each channel independently. For a scanner with one radio, which listens on one channel at a
/// time, use ``CollisionModel``.
///
/// If all beacons have identical firmware, the three windows of a beacon coincide, so three copies are no better than
/// one: the probability is 0.491 for 100 beacons at 100 ms. With independent copies it would be 1 - (1 - p)³ = 0.868.
public struct AnyOfThreeModel: Hashable, Sendable {
    public let groups: [AdvertiserGroup]
    /// The range of the copy spacing c. Each beacon has its own c in this range.
    public let spacing: CopySpacing
    public let background: BackgroundLoad

    /// Throws for a fleet without a beacon. Throws ``AirtimeError/saturated(intervalMicroseconds:windowMicroseconds:)``
    /// for an interval that is shorter than the span of all windows of one beacon.
    public init(
        groups: [AdvertiserGroup], spacing: CopySpacing, background: BackgroundLoad = .none
    ) throws(AirtimeError) {
        let fleet = try CollisionModel(groups: groups, background: background)
        let longestAirtime = groups.reduce(0) { max($0, $1.count > 0 ? $1.airtimeMicroseconds : 0) }
        for group in groups where group.count > 0 && fleet.beaconCount > 1 {
            let span =
                longestAirtime + group.airtimeMicroseconds + 2 * (spacing.highMicroseconds - spacing.lowMicroseconds)
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
        for (index, target) in groups.enumerated() {
            let weight = Double(target.count) / target.meanPeriodMicroseconds
            clear += weight * atLeastOneProbability(ofGroup: index)
            offered += weight
        }
        return min(1, clear / offered)
    }

    /// Returns the probability for an event of the group with the index `target`, averaged over the spacing of the
    /// target beacon. Simpson's rule is accurate enough, because the integrand and its first derivative are continuous.
    private func atLeastOneProbability(ofGroup target: Int) -> Double {
        let width = spacing.highMicroseconds - spacing.lowMicroseconds
        guard width > 0 else { return atLeastOneProbability(ofGroup: target, spacing: spacing.lowMicroseconds) }
        let panels = 512
        var sum = 0.0
        for step in 0...panels {
            let targetSpacing = spacing.lowMicroseconds + width * Double(step) / Double(panels)
            let weight = step == 0 || step == panels ? 1.0 : (step.isMultiple(of: 2) ? 2 : 4)
            sum += weight * atLeastOneProbability(ofGroup: target, spacing: targetSpacing)
        }
        return sum / Double(3 * panels)
    }

    /// Returns the probability for a target beacon with the spacing `targetSpacing`, in µs.
    ///
    /// The window of one channel has the length L, and the windows of neighboring channels are d apart. So the union of
    /// two neighboring windows has the length L + min(d, L), that of the outer two L + min(2d, L), and that of all
    /// three L + 2·min(d, L).
    private func atLeastOneProbability(ofGroup target: Int, spacing targetSpacing: Double) -> Double {
        var logOne = 0.0
        var logNeighbors = 0.0
        var logOuter = 0.0
        var logAll = 0.0
        let airtime = groups[target].airtimeMicroseconds
        for (index, group) in groups.enumerated() {
            let others = Double(index == target ? group.count - 1 : group.count)
            guard others > 0 else { continue }
            let window = airtime + group.airtimeMicroseconds
            let near = spacing.meanSeparation(from: targetSpacing, multiple: 1, limit: window)
            let far = spacing.meanSeparation(from: targetSpacing, multiple: 2, limit: window)
            let period = group.meanPeriodMicroseconds
            logOne += others * log1p(-window / period)
            logNeighbors += others * log1p(-(window + near) / period)
            logOuter += others * log1p(-(window + far) / period)
            logAll += others * log1p(-(window + 2 * near) / period)
        }
        let clear = background.clearProbabilities(forPacketOf: airtime)
        let (first, middle, last) = (clear[0], clear[1], clear[2])
        return (first + middle + last) * exp(logOne) - (first + last) * middle * exp(logNeighbors)
            - first * last * exp(logOuter) + first * middle * last * exp(logAll)
    }
}
