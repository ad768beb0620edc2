/// The probability that a packet does not collide on its channel if boxes send several advertisements: exact, for any
/// mix of boxes.
///
/// Like ``CollisionModel``, but a box never collides with itself: it has one radio, which sends one packet after the
/// other. So p_i = Π [1 - (tau_i + tau_j)/E_j] over the advertisements j of all *other* boxes, times the background's
/// part. If they counted as independent advertisers, the advertisements of a single box would collide with each other,
/// which they cannot.
public struct BoxCollisionModel: Hashable, Sendable {
    /// Kinds of boxes; none without a box.
    public let boxes: [AdvertisingBoxes]
    public let background: BackgroundLoad
    /// ln p of each advertisement of each kind.
    public let logCollisionFreeProbabilities: [[Double]]

    /// Refuses a site without a box, and, with ``AirtimeError/saturated(intervalMicroseconds:windowMicroseconds:)``, boxes
    /// that send so often that one of their advertisements could hit a packet twice.
    ///
    /// Work: different airtimes × different pairs of interval and airtime.
    public init(boxes: [AdvertisingBoxes], background: BackgroundLoad = .none) throws(AirtimeError) {
        let boxes = boxes.filter { $0.count > 0 }
        var total = 0
        var longest = 0.0
        for kind in boxes {
            let (sum, overflow) = total.addingReportingOverflow(kind.count)
            guard !overflow else { throw .count(kind.count) }
            total = sum
            longest = kind.advertisements.reduce(longest) { max($0, $1.airtimeMicroseconds) }
        }
        guard total > 0 else { throw .count(total) }
        for group in boxes.flatMap(\.advertisements) where total > 1 {
            let window = longest + group.airtimeMicroseconds
            guard group.intervalMicroseconds >= window else {
                throw .saturated(intervalMicroseconds: group.intervalMicroseconds, windowMicroseconds: window)
            }
        }
        self.boxes = boxes
        self.background = background
        let traffic = total > 1 ? Self.merged(boxes) : []
        var products: [Double: Double] = [:]
        logCollisionFreeProbabilities = boxes.map { kind in
            kind.advertisements.map { asked in
                let airtime = asked.airtimeMicroseconds
                let strangers = background.logClearProbability(forPacketOf: airtime)
                guard total > 1 else { return strangers }
                let all =
                    products[airtime]
                    ?? traffic.reduce(0) { $0 + Double($1.count) * $1.logSparing(packetOf: airtime) }
                products[airtime] = all
                return min(0, all - kind.logSparing(packetOf: airtime)) + strangers
            }
        }
    }

    /// The different advertisements of all kinds, in a fixed order, so that rounding errors are the same in each run.
    private static func merged(_ boxes: [AdvertisingBoxes]) -> [AdvertiserGroup] {
        struct Kind: Hashable { var interval, airtime: Double }
        var counts: [Kind: Int] = [:]
        for group in boxes.flatMap(\.advertisements) {
            counts[Kind(interval: group.intervalMicroseconds, airtime: group.airtimeMicroseconds), default: 0] +=
                group.count
        }
        let ordered = counts.sorted { ($0.key.interval, $0.key.airtime) < ($1.key.interval, $1.key.airtime) }
        return ordered.compactMap { kind, count in
            try? AdvertiserGroup(
                count: count, intervalMicroseconds: kind.interval, airtimeMicroseconds: kind.airtime)
        }
    }

    /// p of each advertisement of each kind.
    public var collisionFreeProbabilities: [[Double]] { logCollisionFreeProbabilities.map { $0.map { exp($0) } } }

    /// The share of the packets of one kind of box that are clear; 1 for a kind that does not exist.
    public func collisionFreeProbability(ofBox kind: Int) -> Double {
        guard boxes.indices.contains(kind) else { return 1 }
        var (clear, offered) = (0.0, 0.0)
        for (group, log) in zip(boxes[kind].advertisements, logCollisionFreeProbabilities[kind]) {
            clear += exp(log) / group.meanPeriodMicroseconds
            offered += 1 / group.meanPeriodMicroseconds
        }
        return clear / offered
    }

    /// N: the number of boxes.
    public var boxCount: Int { boxes.reduce(0) { $0 + $1.count } }

    /// ln of the share of all packets that are clear. Advertisements weigh by their packets, count/E.
    public var logCollisionFreeProbability: Double {
        let highest = logCollisionFreeProbabilities.joined().max() ?? 0
        guard highest.isFinite else { return highest }
        // The largest is taken out before the sum, so that a tiny share still has a finite logarithm.
        let clear = sum { group, log in Double(group.count) / group.meanPeriodMicroseconds * exp(log - highest) }
        let offered = sum { group, _ in Double(group.count) / group.meanPeriodMicroseconds }
        return min(0, highest + naturalLogarithm(clear / offered))
    }

    /// The share of all packets that are clear.
    public var collisionFreeProbability: Double { exp(logCollisionFreeProbability) }

    /// The decimal logarithm of ``collisionFreeProbability``: -3 is one packet of a thousand.
    public var log10CollisionFreeProbability: Double { logCollisionFreeProbability / lnOfTen }

    /// Packets a second that an average box sends on one channel.
    public var offeredPerSecondPerBox: Double {
        sum { group, _ in Double(group.count) / group.meanPeriodMicroseconds } * 1_000_000 / Double(boxCount)
    }

    /// Clear packets a second on one channel, of an average box.
    public var arrivalsPerSecondPerBox: Double {
        sum { group, log in Double(group.count) / group.meanPeriodMicroseconds * exp(log) } * 1_000_000
            / Double(boxCount)
    }

    /// Σ tau/E of all boxes: the share of time on one channel that their packets, laid end to end, would fill.
    public var fleetLoad: Double {
        sum { group, _ in Double(group.count) * group.airtimeMicroseconds / group.meanPeriodMicroseconds }
    }

    /// Σ tau/E, plus the background's share.
    public var channelLoad: Double { fleetLoad + background.share }

    private func sum(_ value: (AdvertiserGroup, Double) -> Double) -> Double {
        var sum = 0.0
        for (kind, logs) in zip(boxes, logCollisionFreeProbabilities) {
            for (group, log) in zip(kind.advertisements, logs) { sum += value(group, log) }
        }
        return sum
    }
}
