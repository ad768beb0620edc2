/// Losses come in runs: who collides once is likely to collide again, because both advertisers keep the same interval
/// and only advDelay moves them apart.
///
/// Valid for advertisers of one interval and one airtime, which start independently of each other. A run of K losses
/// has the probability Q_K = Σ_{S ⊆ [K]} (-1)^|S| P(one interferer hits nothing of S)^(N-1), averaged over our own
/// delays. Runs longer than `exactLength` continue at the pace of the last exact ones.
public struct RunsModel: Sendable {
    /// Runs up to this length are computed by inclusion and exclusion.
    public static let exactLength = 10

    /// Runs up to this length are extrapolated from the exact ones; longer ones keep the last pace.
    static let longest = 64
    /// Below this the alternating sum is not told from zero: its bins are wrong by the third power of a loss, its last
    /// digits by the first.
    private static func smallest(_ loss: Double) -> Double { 1e-5 * loss * loss * loss + 1e-11 * loss }

    /// The fleet, the asked advertiser included.
    public let group: AdvertiserGroup
    /// Q_0, Q_1, … as far as they are exact and large enough to be told from zero.
    private let runs: [Double]

    /// `otherClearProbability`: the probability that nothing but the fleet spoils a packet (strangers, a busy scanner),
    /// independent from packet to packet. Refuses a fleet of none, an airtime above 5 ms (half of advDelay), an
    /// interval that two packets fill, and a probability outside 0...1.
    public init(group: AdvertiserGroup, otherClearProbability: Double = 1) throws(AirtimeError) {
        try self.init(
            group: group, otherClearProbability: otherClearProbability,
            patterns: HitPatterns(width: group.airtimeMicroseconds / AdvertisingDelay.maximumMicroseconds))
    }

    /// With a table that is used for several fleets of the same airtime.
    package init(group: AdvertiserGroup, otherClearProbability: Double, patterns: @autoclosure () -> HitPatterns)
        throws(AirtimeError)
    {
        guard group.count >= 1 else { throw .count(group.count) }
        guard group.airtimeMicroseconds <= AdvertisingDelay.meanMicroseconds else {
            throw .airtime(group.airtimeMicroseconds)
        }
        guard group.intervalMicroseconds > 2 * group.airtimeMicroseconds else {
            throw .interval(group.intervalMicroseconds)
        }
        guard otherClearProbability >= 0, otherClearProbability <= 1 else { throw .share(otherClearProbability) }
        self.group = group
        let hit = 2 * group.airtimeMicroseconds / group.meanPeriodMicroseconds
        if group.count == 1 {
            runs = [1, 1 - otherClearProbability]
        } else {
            let all = patterns().lossRuns(interferers: group.count - 1, hit: hit, clear: otherClearProbability)
            let exact = Array(all.prefix(2) + all.dropFirst(2).prefix { $0 > Self.smallest(all[1]) })
            runs = Self.extended(exact, meanPeriod: group.meanPeriodMicroseconds)
        }
    }

    /// Longer runs. The hazard of being clear goes on falling with the logarithm of the run, as it does over the exact
    /// ones, until advDelay has moved a pair apart by about half a period; from there on it stays.
    private static func extended(_ exact: [Double], meanPeriod: Double) -> [Double] {
        guard exact.count > exactLength else { return exact }
        let hazards = (0..<exactLength).map { 1 - exact[$0 + 1] / exact[$0] }
        let last = hazards[exactLength - 1]
        let middle = exactLength / 2
        let slope = max(0, hazards[middle] - last) / log(Double(exactLength - 1) / Double(middle))
        // The difference of two delays has a standard deviation of J/√6.
        let events = meanPeriod / 2 / (AdvertisingDelay.maximumMicroseconds / 6.0.squareRoot())
        var runs = exact
        for length in exactLength..<longest {
            let reach = min(Double(length), max(Double(exactLength), events * events))
            let hazard = max(last / 2, last - slope * log(reach / Double(exactLength - 1)))
            runs.append(runs[length] * (1 - hazard))
        }
        return runs
    }

    /// 1 - Q_1: the probability that a packet is clear.
    public var collisionFreeProbability: Double { 1 - runs[1] }

    /// The probability that a pair that collided collides again in its next events: (2·tau/J)·(1 - 2·tau/(3·J)),
    /// whatever the interval is.
    public var recollisionProbability: Double {
        let reach = 2 * group.airtimeMicroseconds / AdvertisingDelay.maximumMicroseconds
        return reach * (1 - reach / 3)
    }

    /// The probability of a loss right after a loss; nil for a single advertiser, which has no one to collide with.
    public var lossAfterLossProbability: Double? {
        group.count > 1 ? 1 - clearAfterLosses(1) : nil
    }

    /// Q_K: the probability that `length` packets in a row are lost. One for a length of zero or less.
    public func lossRunProbability(length: Int) -> Double {
        guard length > 0 else { return 1 }
        guard length >= runs.count else { return runs[length] }
        return runs[runs.count - 1] * pow(1 - clearAfterLosses(length - 1), Double(length - runs.count + 1))
    }

    /// 1 - Q_{k+1}/Q_k: the probability that a packet is clear after k losses in a row.
    public func clearAfterLosses(_ losses: Int) -> Double {
        let last = min(max(0, losses), runs.count - 2)
        return runs[last] > 0 ? min(1, max(0, 1 - runs[last + 1] / runs[last])) : 1
    }

    /// The probability that a packet is clear after a clear one and then k losses in a row.
    func clearAfterReceivedAndLosses(_ losses: Int) -> Double {
        guard losses < runs.count else { return clearAfterLosses(losses) }
        // P(clear, then k lost) = Q_k - Q_{k+1}, because the sequence is stationary.
        let run = (0...2).map { lossRunProbability(length: losses + $0) }
        let before = run[0] - run[1]
        return before > 0 ? min(1, max(0, 1 - (run[1] - run[2]) / before)) : clearAfterLosses(losses)
    }
}

/// How likely a covered event is to be received, by what happened just before it, as states to walk through.
///
/// A path begins right after a received event. As long as its events stay in reach of the scanner and are lost, it
/// moves from state to state; an event outside the windows lets it start anew in `fresh`.
struct LossChain: Sendable {
    /// The probability of being received, by state.
    let hazards: [Double]
    /// The state after a loss within reach, by state.
    let successors: [Int]
    /// The state after an event out of the scanner's reach.
    let fresh = 0
    /// The state after a received event.
    let afterReceived: Int
    /// The share of all covered events that are received.
    let received: Double

    /// Losses that know nothing of each other.
    init(independent probability: Double) {
        hazards = [probability]
        successors = [0]
        afterReceived = 0
        received = probability
    }

    private init(hazards: [Double], successors: [Int], afterReceived: Int, received: Double) {
        self.hazards = hazards
        self.successors = successors
        self.afterReceived = afterReceived
        self.received = received
    }

    /// With one more reason to be lost, of its own for each event.
    func scaled(by share: Double) -> LossChain {
        LossChain(
            hazards: hazards.map { $0 * share }, successors: successors, afterReceived: afterReceived,
            received: received * share)
    }

    /// Losses in runs: hazards 1 - Q_{k+1}/Q_k after k losses, and the same counted from a received event.
    ///
    /// After `limit` losses the hazard stays. Runs that began with a received event join the others there: that is
    /// what keeps the mean wait at E/p when the hazard of both stays the same.
    init(runs: RunsModel, limit: Int) {
        hazards =
            (0...limit).map { runs.clearAfterLosses($0) }
            + (0..<limit).map { runs.clearAfterReceivedAndLosses($0) }
        successors = (0...limit).map { min($0 + 1, limit) } + (1..<limit).map { limit + 1 + $0 } + [limit]
        afterReceived = limit + 1
        received = runs.collisionFreeProbability
    }
}

/// How likely an interferer that met one of our packets meets a later one as well, given our own delays in between.
///
/// Entry (d, z): the interferer hit d events ago, our own delays since then add up to z, its own are d draws of
/// U(0, J). It hits again when the difference stays within tau on either side: 2·tau times the density of its sum at
/// z, averaged over the offsets of both hits (a triangle of half width 2·tau).
struct RecollisionTable: Sendable {
    private static let nodesPerDelay = 256
    /// By lag from 1 on, at z = i·J/256.
    private let nodes: [[Double]]

    /// `width`: tau/J, at most 1/2.
    init(width: Double, lags: Int) {
        let perDelay = Self.nodesPerDelay
        var density = Array(repeating: 1.0, count: perDelay)
        var nodes: [[Double]] = []
        for lag in 1...max(1, lags) {
            if lag > 1 { density = Self.spread(density, over: perDelay) }
            nodes.append(Self.averaged(density, halfWidth: 2 * width, perDelay: perDelay))
        }
        self.nodes = nodes
    }

    /// At `sum` in units of J.
    func probability(lag: Int, sum: Double) -> Double {
        let table = nodes[lag - 1]
        let place = min(max(0, sum * Double(Self.nodesPerDelay)), Double(table.count - 1))
        let index = min(Int(place), table.count - 2)
        let part = place - Double(index)
        return table[index] + part * (table[index + 1] - table[index])
    }

    /// The density of one more delay: a box of one unit, on cells; each cell gives half a cell to either side.
    private static func spread(_ density: [Double], over count: Int) -> [Double] {
        var result = Array(repeating: 0.0, count: density.count + count)
        var sum = 0.0
        for index in result.indices {
            let entering = index < density.count ? density[index] : 0
            let leaving = index >= count ? density[index - count] : 0
            // The mean over the cell of the sliding integral, which is linear within it.
            result[index] = (sum + (entering - leaving) / 2) / Double(count)
            sum += entering - leaving
        }
        return result
    }

    /// `halfWidth`·(density ⋆ triangle) at the nodes, from its second antiderivative.
    private static func averaged(_ density: [Double], halfWidth: Double, perDelay: Int) -> [Double] {
        let cell = 1 / Double(perDelay)
        var first = [0.0]
        var second = [0.0]
        for (index, value) in density.enumerated() {
            second.append(second[index] + first[index] * cell + value * cell * cell / 2)
            first.append(first[index] + value * cell)
        }
        func antiderivative(_ z: Double) -> Double {
            guard z > 0 else { return 0 }
            let index = min(Int(z / cell), density.count)
            let rest = z - Double(index) * cell
            let value = index < density.count ? density[index] : 0
            return second[index] + first[index] * rest + value * rest * rest / 2
        }
        return (0...density.count).map { index in
            let z = Double(index) * cell
            let sum = antiderivative(z + halfWidth) - 2 * antiderivative(z) + antiderivative(z - halfWidth)
            return sum / halfWidth
        }
    }
}
