internal import Glibc

/// How likely a packet meets no other packet on its channel: exact, for any mix of independent advertisers.
///
/// Symbols: tau_i the airtime of the asked packet, tau_j and E_j = T_j + J/2 airtime and mean period of another
/// advertiser; p_i = Π_{j≠i} [1 - (tau_i + tau_j)/E_j], times the background's exp(-λ_b·(tau_i + tau_b)).
///
/// Assumptions: the advertisers' phases are independent and stationary (they were not started together, see
/// ``SimultaneousStart``), packets that touch end to end do not collide, packets that overlap are both lost (see
/// ``CaptureModel`` for the receiver that keeps the stronger), every event uses the channel, and T_j ≥ tau_i + tau_j, so
/// that one advertiser hurts a packet at most once. Then the formula is exact, not an approximation: an advertiser's
/// events have the density 1/E_j, and at most one of them falls into a window shorter than T_j.
///
/// Products are sums of log1p, so a tiny probability keeps its digits; where it is smaller than what Double holds,
/// its logarithm still tells it.
public struct CollisionModel: Hashable, Sendable {
    /// Equal advertisers, and what follows their packets.
    public struct Source: Hashable, Sendable {
        /// The asked beacon is counted in its group.
        public let group: AdvertiserGroup
        /// SCAN_REQ and SCAN_RSP behind each packet; `nil` for non-scannable advertising and passive scanners.
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
    /// Refuses a fleet without a beacon, and, with ``AirtimeError/saturated(intervalMicroseconds:windowMicroseconds:)``,
    /// beacons that send so often that one of them could hit a packet twice.
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

    /// N equal beacons, the asked one included; T and tau in µs.
    public init(
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

    /// Whether the fleet asks for more than half of a channel: from there on one more beacon, or a shorter interval,
    /// lowers the number of packets that arrive in all. Exact for equal beacons (E < 2·tau·N, see ``BestInterval``).
    public var isSaturated: Bool { fleetLoad > 0.5 }
}
