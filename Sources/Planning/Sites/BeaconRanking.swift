internal import Airtime

/// The beacons that a receiver at a place receives, in descending order of the probability of reception. Used for
/// targets that require several beacons at each place.
///
/// Beacon i counts toward the target if it is received within the target's time t with the target's probability p:
/// a_i·F_i(t) ≥ p. Here a_i is the probability that its level is above the sensitivity. F_i is the distribution of the
/// scanner's latency, computed with the share of beacon i's packets that do not collide at this place.
struct BeaconRanking {
    /// A beacon at the place.
    struct Entry {
        /// The index of the beacon among the model's beacons.
        let beacon: Int
        let audible: Double
        /// The share of the beacon's packets that do not collide.
        let clear: Double
    }

    /// The beacons that can be received at the place, in descending order of the probability of reception.
    private var audibleBeacons: [(audible: Double, power: Double, beacon: Int)] = []
    private var entries: [Entry] = []
    private let model: SiteModel

    init(_ model: SiteModel, at position: FloorPosition) {
        self.model = model
        for beaconIndex in model.near(position) {
            let (power, audible) = model.link(beaconIndex, at: position)
            if audible > SiteModel.audibleLimit { audibleBeacons.append((audible, power, beaconIndex)) }
        }
        audibleBeacons.sort { ($0.audible, $0.power, $1.beacon) > ($1.audible, $1.power, $0.beacon) }
    }

    /// Returns the entry with this rank. The beacon with the highest probability of reception has rank 0. Collisions
    /// are computed only for the entries that are requested.
    private mutating func entry(_ rank: Int) -> Entry? {
        while entries.count <= rank, entries.count < audibleBeacons.count {
            let (audible, _, beacon) = audibleBeacons[entries.count]
            let others = audibleBeacons.map { (audible: $0.audible, beacon: $0.beacon) }
            let logClear = model.logClearProbability(of: beacon, among: others)
            entries.append(Entry(beacon: beacon, audible: audible, clear: exp(logClear)))
        }
        return rank < entries.count ? entries[rank] : nil
    }

    /// Returns the beacons with their values, the highest value first: at least the best `count` beacons, and all
    /// beacons whose value is at least `least`.
    ///
    /// - Parameter value: Returns the value of a beacon, which must not be above its `audible`.
    mutating func best(
        _ count: Int, andAllOf least: Double = .infinity, _ value: (Entry) throws(AirtimeError) -> Double
    ) throws(AirtimeError) -> [(entry: Entry, value: Double)] {
        var ranked: [(entry: Entry, value: Double)] = []
        var rank = 0
        while let entry = entry(rank) {
            let isRanked = ranked.count >= count && (count == 0 || ranked[count - 1].value >= entry.audible)
            if isRanked, entry.audible < least { break }
            let new = (entry: entry, value: try value(entry))
            ranked.insert(new, at: ranked.firstIndex { $0.value < new.value } ?? ranked.endIndex)
            rank += 1
        }
        return ranked
    }
}

extension SiteCoverage {
    /// Returns the results at a place for a target that requires several beacons.
    mutating func pointOfSeveral(at position: FloorPosition) throws(AirtimeError) -> Point {
        let (model, target) = (model, target)
        var ranking = BeaconRanking(model, at: position)
        func nthBest(_ list: [(entry: BeaconRanking.Entry, value: Double)]) -> (
            entry: BeaconRanking.Entry, value: Double
        )? {
            list.count >= target.beacons ? list[target.beacons - 1] : nil
        }
        let ranked = try ranking.best(target.beacons, andAllOf: target.probability) { entry throws(AirtimeError) in
            try entry.audible
                * self.received(model.beacons[entry.beacon], clear: entry.clear, within: target.seconds)
        }
        var seconds: Double? = ranked.count >= target.beacons ? 0 : nil
        for (entry, _) in ranked.prefix(target.beacons) {
            guard let longest = seconds else { break }
            let time = try time(model.beacons[entry.beacon], clear: entry.clear, audible: entry.audible)
            seconds = time.map { max($0, longest) }
        }
        var byScanner: [Double] = []
        for scannerIndex in scannerCount == 1 ? [] : Array(0..<scannerCount) {
            let list = try ranking.best(target.beacons) { entry throws(AirtimeError) in
                try entry.audible
                    * self.receivedByScanner(model.beacons[entry.beacon], clear: entry.clear, within: target.seconds)[
                        scannerIndex
                    ]
                    .received
            }
            byScanner.append(nthBest(list)?.value ?? 0)
        }
        let share = nthBest(ranked)?.value ?? 0
        return Point(
            reception: model.reception(at: position), detectionSeconds: seconds, detectedShare: share,
            detectedByScanner: scannerCount == 1 ? [share] : byScanner,
            beaconsInTime: ranked.count { $0.value >= target.probability },
            clear: ranked.prefix(target.beacons).map(\.entry.clear).min() ?? 1)
    }

    /// Returns, for each of `times` in s, the probability that the n-th best beacon at a place is received within this
    /// time. Here n is the number of beacons that the target requires. The probability is 0 if fewer beacons can be
    /// received there.
    mutating func sharesOfSeveral(at position: FloorPosition, within times: [Double]) throws(AirtimeError) -> [Double] {
        let (model, count) = (model, target.beacons)
        var ranking = BeaconRanking(model, at: position)
        var shares: [Double] = []
        for time in times {
            let list = try ranking.best(count) { entry throws(AirtimeError) in
                try entry.audible * self.received(model.beacons[entry.beacon], clear: entry.clear, within: time)
            }
            shares.append(list.count >= count ? list[count - 1].value : 0)
        }
        return shares
    }
}
