/// How likely at least one of an event's three copies is clear, for a receiver that hears three channels at once.
///
/// Symbols: o_j(c) the offset of device j's copy on channel c from the start of its event. Copy c of A dies by B when
/// B's event starts, after A's, within (o_A(c) - o_B(c) - tau_B, o_A(c) - o_B(c) + tau_A). All copies of a set C are
/// clear with probability Π_B (1 - |∪_{c∈C} window_c(B)| / E_B), and at least one of three by inclusion and exclusion.
///
/// Assumptions as in ``CollisionModel``; exact as long as one interferer's windows together span less than its T.
/// Strangers' packets hit each channel independently. A scanner with one radio hears one channel at a time: ask
/// ``CollisionModel`` for it. With identical firmware the three windows coincide and three copies are worth one:
/// 0.491 for 100 beacons at 100 ms, where 1 - (1 - p)³ would promise 0.868.
public struct AnyOfThreeModel: Hashable, Sendable {
    public let groups: [AdvertiserGroup]
    /// Each device has its own c of this range.
    public let spacing: CopySpacing
    public let background: BackgroundLoad

    /// Refuses a fleet without a beacon, and with
    /// ``AirtimeError/saturated(intervalMicroseconds:windowMicroseconds:)`` intervals that the windows of one device
    /// outlast.
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

    /// The same for an event of one of ``groups``, averaged over the asked device's own spacing by Simpson's rule: the
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

    /// Given the asked device's c: with separations d and 2d of the windows, one channel has the window L, a pair of
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
        let strangers = background.logClearProbability(forPacketOf: airtime)
        return 3 * exp(one + strangers) - 2 * exp(neighbors + 2 * strangers) - exp(outer + 2 * strangers)
            + exp(all + 3 * strangers)
    }
}
