public import Airtime
internal import BluetoothTypes

/// The reception at each place of a floor with beacons and walls.
///
/// For each beacon j in reach, the mean power is radio power - path loss - loss of the walls in between. a_j = Φ((mean
/// power - sensitivity)/σ) is the probability that beacon j's power is above the sensitivity. Shadowing is log-normal
/// and constant over time, so it decides whether the beacon is received at that place at all. A packet of beacon i is
/// clear with probability b·Π_{j≠i} [1 - a_j·(tau_i + tau_j)/E_j], where b is the probability that no packet of the
/// background hits it. Beacons that are too weak to be received do not collide. If beacon j sends several
/// advertisements, the product has a factor for each, with the same a_j. Between two beacons with extended PDUs,
/// tau_i + tau_j is replaced by the mean window in which one event hits a packet that the other one needs.
public struct SiteModel: Sendable {
    public let beacons: [SiteBeacon]
    public let radio: SiteRadio
    public let background: BackgroundLoad
    private let walls: WallIndex
    private let index: BeaconIndex
    private let reach: Double

    /// The smallest probability of reception that counts. Beacons with a lower probability are ignored, and do not
    /// collide.
    static let audibleLimit = 1e-5

    /// The longest distance at which the model considers a beacon, in m: the longest range of legacy advertising.
    public static let reachLimit = 500.0

    public init(beacons: [SiteBeacon], walls: [Wall], radio: SiteRadio, background: BackgroundLoad = .none) {
        self.beacons = beacons
        self.radio = radio
        self.background = background
        self.walls = WallIndex(walls)
        let highestPower = beacons.lazy.map(\.radioPower).max() ?? 0
        reach = radio.reach(radioPower: highestPower, limit: Self.reachLimit)
        index = BeaconIndex(beacons, reach: reach)
    }

    /// Returns the reception at one place.
    public func reception(at position: FloorPosition) -> SiteReception {
        var receivedBeacons = 0.0
        var best: SiteReception.Best?
        var interferers: [(audible: Double, beacon: Int)] = []
        index.visit(around: position, reach: reach) { beaconIndex in
            let beacon = beacons[beaconIndex]
            guard position.distance(to: beacon.position) <= reach else { return }
            let power = power(of: beacon, at: position)
            let audible = audibility(of: power)
            guard audible > Self.audibleLimit else { return }
            receivedBeacons += audible
            interferers.append((audible, beaconIndex))
            if let strongest = best, (strongest.audible, strongest.power) >= (audible, power) { return }
            best = .init(beacon: beaconIndex, power: power, audible: audible)
        }
        guard let best else {
            return SiteReception(position: position, receivedBeacons: 0, best: nil, collisionFreeProbability: 1)
        }
        return SiteReception(
            position: position, receivedBeacons: receivedBeacons, best: best,
            collisionFreeProbability: exp(logClearProbability(of: best.beacon, among: interferers)))
    }

    /// Returns the mean power of one beacon at a place, in dBm, and the probability that the beacon is received there.
    ///
    /// Walls are added up only until the beacon cannot be received. Then the true power may be lower than the result.
    public func link(_ beaconIndex: Int, at position: FloorPosition) -> (power: Double, audible: Double) {
        let power = power(of: beacons[beaconIndex], at: position)
        return (power, audibility(of: power))
    }

    private func power(of beacon: SiteBeacon, at position: FloorPosition) -> Double {
        let power = beacon.radioPower - radio.meanLoss(position.distance(to: beacon.position))
        // Five deviations below the sensitivity nothing is received, so further walls do not matter.
        let reserve = power - radio.sensitivity + 5 * radio.shadowing
        return power - walls.attenuation(from: beacon.position, to: position, limit: max(0, reserve))
    }

    /// Returns the indices of the beacons that may be received at a place.
    func near(_ position: FloorPosition) -> [Int] {
        var result: [Int] = []
        index.visit(around: position, reach: reach) { beaconIndex in
            if position.distance(to: beacons[beaconIndex].position) <= reach { result.append(beaconIndex) }
        }
        return result
    }

    private func audibility(of power: Double) -> Double {
        let margin = power - radio.sensitivity
        guard radio.shadowing > 0 else { return margin >= 0 ? 1 : 0 }
        return NormalDistribution.cumulative(margin / radio.shadowing)
    }

    /// Returns the natural logarithm of the share of a beacon's packets that do not collide at a place.
    ///
    /// - Parameter interferers: The beacons that the place receives, with their probabilities of reception.
    func logClearProbability(of target: Int, among interferers: [(audible: Double, beacon: Int)]) -> Double {
        let group = beacons[target].group
        var sum = background.logClearProbability(ofEventOf: group)
        func add(_ other: AdvertiserGroup, _ audible: Double) {
            let hitProbability = audible * other.meanWindowMicroseconds(ofEventOf: group) / other.meanPeriodMicroseconds
            sum += hitProbability < 1 ? log1p(-hitProbability) : -.infinity
        }
        for (audible, beaconIndex) in interferers where beaconIndex != target {
            add(beacons[beaconIndex].group, audible)
            for companion in beacons[beaconIndex].companions { add(companion, audible) }
        }
        return sum
    }
}

/// The reception at one place.
public struct SiteReception: Hashable, Sendable {
    public let position: FloorPosition
    /// The mean number of beacons that are received.
    public let receivedBeacons: Double
    /// The strongest beacon; nil if no beacon is in range.
    public let best: Best?
    /// The probability that a packet of the strongest beacon does not collide, on one channel.
    public let collisionFreeProbability: Double

    /// The strongest beacon at a place.
    public struct Best: Hashable, Sendable {
        /// The index of the beacon among the model's beacons.
        public let beacon: Int
        /// The mean power of the beacon at the place, in dBm.
        public let power: Double
        /// The probability that the beacon is above the sensitivity at the place.
        public let audible: Double
    }
}

/// Finds the beacons near a place with a grid: each cell lists the beacons that lie in it.
private struct BeaconIndex {
    private let bounds: FloorBounds?
    private let columns: Int
    private let rows: Int
    private let cell: Double
    /// The beacons of cell c are `members[starts[c]..<starts[c + 1]]`.
    private var starts: [Int]
    private var members: [Int32]

    /// - Parameter reach: The longest distance at which beacons are searched, in m.
    init(_ beacons: [SiteBeacon], reach: Double) {
        let bounds = FloorBounds(beacons.lazy.map(\.position))
        self.bounds = bounds
        let extent = max(bounds?.width ?? 0, bounds?.height ?? 0)
        // A cell is a quarter of the reach wide, or wider if there would be far more cells than beacons.
        let cell = max(reach / 4, extent / max(1, Double(beacons.count).squareRoot() * 2), 1e-6)
        self.cell = cell
        let columns = Int((bounds?.width ?? 0) / cell) + 1
        let rows = Int((bounds?.height ?? 0) / cell) + 1
        self.columns = columns
        self.rows = rows
        let cellIndices = beacons.map { beacon in
            guard let bounds else { return 0 }
            let column = Int((beacon.position.x - bounds.low.x) / cell)
            let row = Int((beacon.position.y - bounds.low.y) / cell)
            return min(row, rows - 1) * columns + min(column, columns - 1)
        }
        starts = [Int](repeating: 0, count: columns * rows + 1)
        for cellIndex in cellIndices { starts[cellIndex + 1] += 1 }
        for index in 1..<starts.count { starts[index] += starts[index - 1] }
        var next = starts
        members = [Int32](repeating: 0, count: beacons.count)
        for (index, cellIndex) in cellIndices.enumerated() {
            members[next[cellIndex]] = Int32(index)
            next[cellIndex] += 1
        }
    }

    /// Calls `visit` with each beacon whose cell is within `reach` of a place: all beacons within `reach`, and some
    /// beacons farther away.
    func visit(around position: FloorPosition, reach: Double, _ visit: (Int) -> Void) {
        guard let bounds else { return }
        let columnRange = range(position.x - bounds.low.x, reach, columns)
        for row in range(position.y - bounds.low.y, reach, rows) {
            for column in columnRange {
                let cellIndex = row * columns + column
                for member in members[starts[cellIndex]..<starts[cellIndex + 1]] { visit(Int(member)) }
            }
        }
    }

    private func range(_ coordinate: Double, _ reach: Double, _ count: Int) -> Range<Int> {
        let low = max(0, ((coordinate - reach) / cell).rounded(.down))
        let high = min(Double(count - 1), ((coordinate + reach) / cell).rounded(.down))
        return low <= high ? Int(low)..<Int(high) + 1 : 0..<0
    }
}

/// The time within which a scanner receives a beacon whose packets are clear with a given probability.
///
/// Any mixture of beacons counts as an equal fleet, with the number of beacons that gives the same probability. Losses
/// to other beacons come in runs, and losses to the background do not, so the background does not count as beacons. The
/// latency of equal fleets is computed for a series of numbers of beacons: each number up to 10, then steps of about a
/// tenth. Between two numbers of the series, the logarithm of the share that is not yet received is interpolated by the
/// share of clear packets, at each time. Percentiles are not interpolated directly, because they jump from one window
/// of the scanner to the next.
public struct DetectionTimes: Sendable {
    private let scanners: ScannerMix
    private let background: BackgroundLoad
    private var curves: [Key: MixLatency] = [:]
    private let horizon: Double

    private struct Key: Hashable {
        let interval: Double
        let pattern: AdvertisingPattern?
        let airtime: Double
        let extended: ExtendedTraffic?
        let beacons: Int
    }

    /// The largest number of beacons whose latency is computed. In larger fleets, almost no packets arrive.
    private static let maximumBeacons = 1_000_000.0

    /// - Parameters:
    ///   - background: The load of the channels. The arguments `clear`, the probabilities that a packet is clear,
    ///     include its effect.
    ///   - horizonSeconds: The longest latency that is computed, in s, limited to 1 s...1 day.
    public init(scanners: ScannerMix, background: BackgroundLoad, horizonSeconds: Double) {
        self.scanners = scanners
        self.background = background
        horizon = min(max(horizonSeconds, 1), LatencyModel.longestHorizonSeconds)
    }

    /// The probability that a visitor in range receives `beacon` within `seconds`.
    public mutating func received(
        _ beacon: SiteBeacon, clear: Double, within seconds: Double
    ) throws(AirtimeError) -> Double {
        guard let nearFleets = try fleets(beacon, clear) else { return 0 }
        return nearFleets.received(within: seconds) { $0.whole }
    }

    /// Returns the probability that a visitor in range receives `beacon` within `seconds`, for each scanner in the
    /// order of the mix.
    public mutating func receivedByScanner(
        _ beacon: SiteBeacon, clear: Double, within seconds: Double
    ) throws(AirtimeError) -> [Double] {
        guard let nearFleets = try fleets(beacon, clear) else { return scanners.parts.map { _ in 0 } }
        return scanners.parts.indices.map { index in
            nearFleets.received(within: seconds) { $0.parts[index].latency }
        }
    }

    /// The time in s by which `share` of the visitors in range have received the beacon; nil beyond the horizon.
    public mutating func time(
        _ beacon: SiteBeacon, clear: Double, share: Double
    ) throws(AirtimeError) -> Double? {
        guard share > 0, share < 1, let nearFleets = try fleets(beacon, clear) else { return nil }
        return nearFleets.time(share, horizon: horizon)
    }

    /// The latencies of the next smaller and the next larger fleet for which they were computed. The latencies of other
    /// fleets are interpolated between them.
    private struct NearFleets {
        let few: MixLatency
        let many: MixLatency
        /// The weight of the larger fleet, 0..<1.
        let weight: Double

        func received(within seconds: Double, _ latency: (MixLatency) -> LatencyDistribution) -> Double {
            func share(_ mix: MixLatency) -> Double {
                let latency = latency(mix)
                // The shares of a mix may add up to slightly more than 1.
                return min(1, latency.received(within: min(seconds, latency.horizonSeconds)) ?? 0)
            }
            guard weight > 0 else { return share(few) }
            return 1 - pow(1 - share(few), 1 - weight) * pow(1 - share(many), weight)
        }

        /// Returns the time by which the share `share` is received, by bisection between the times of the two fleets;
        /// nil beyond the horizon.
        func time(_ share: Double, horizon: Double) -> Double? {
            guard var low = few.whole.percentile(share) else { return nil }
            guard weight > 0 else { return low <= horizon ? low : nil }
            var high = min(horizon, many.whole.percentile(share) ?? horizon)
            guard low <= high, received(within: high, \.whole) >= share else { return nil }
            for _ in 0..<Self.halvings {
                let middle = (low + high) / 2
                if received(within: middle, \.whole) >= share { high = middle } else { low = middle }
            }
            return high
        }

        /// The number of bisection steps, which narrow some minutes to less than a microsecond.
        private static let halvings = 32
    }

    private mutating func fleets(_ beacon: SiteBeacon, _ clear: Double) throws(AirtimeError) -> NearFleets? {
        guard clear > 0 else { return nil }
        let group = beacon.group
        let hitProbability = group.meanWindowMicroseconds(ofEventOf: group) / group.meanPeriodMicroseconds
        guard hitProbability < 1 else { return nil }
        let clearOfBeacons = clear / background.clearProbability(ofEventOf: group)
        let beacons = 1 + log(min(1, clearOfBeacons)) / log1p(-hitProbability)
        guard beacons < Self.maximumBeacons else { return nil }
        let (few, many) = Self.neighbors(of: beacons)
        let low = try curve(beacon, few)
        guard beacons > Double(few) else { return NearFleets(few: low, many: low, weight: 0) }
        // The shares of packets clear of other beacons in the small fleet, this fleet and the large fleet are in the
        // ratio of 1, (1 - p)^(beacons - few) and (1 - p)^(many - few), where p is `hitProbability`.
        let weight =
            expm1((beacons - Double(few)) * log1p(-hitProbability)) / expm1(Double(many - few) * log1p(-hitProbability))
        return NearFleets(few: low, many: try curve(beacon, many), weight: weight)
    }

    /// Returns the two numbers of the series between which a number of beacons lies.
    private static func neighbors(of beacons: Double) -> (Int, Int) {
        var few = 1
        while true {
            let next = few + few / 10 + 1
            if Double(next) > beacons { return (few, next) }
            few = next
        }
    }

    private mutating func curve(_ beacon: SiteBeacon, _ beacons: Int) throws(AirtimeError) -> MixLatency {
        let key = Key(
            interval: beacon.intervalMicroseconds, pattern: beacon.pattern, airtime: beacon.airtimeMicroseconds,
            extended: beacon.group.extended, beacons: beacons)
        if let known = curves[key] { return known }
        let group = try beacon.group.counting(beacons)
        let other = background.clearProbability(ofEventOf: group)
        if let pattern = beacon.pattern {
            // The model of patterns has only the packets on the primary channels.
            let otherClear = other * group.auxiliaryClearProbability
            let curve = try MixLatency(
                scanners, untilSeconds: horizon, horizonSeconds: horizon,
                pattern: { scanner throws(AirtimeError) in
                    try PatternLatencyModel(
                        pattern: pattern, count: beacons, airtimeMicroseconds: beacon.airtimeMicroseconds,
                        scanner: scanner, otherClearProbability: otherClear)
                })
            curves[key] = curve
            return curve
        }
        let curve = try MixLatency(scanners, untilSeconds: horizon, horizonSeconds: horizon) {
            scanner throws(AirtimeError) in
            try LatencyModel(group: group, preset: scanner, otherClearProbability: other)
        }
        curves[key] = curve
        return curve
    }
}
