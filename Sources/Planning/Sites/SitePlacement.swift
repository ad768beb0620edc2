public import Airtime

/// A proposed placement: few new beacons that, together with the existing beacons, reach the target at all computed
/// places. With a target of several beacons, each possible position gets at most one new beacon.
public struct SitePlacement: Hashable, Sendable {
    /// The reason for which the target is not reached everywhere.
    public enum Shortfall: Hashable, Sendable {
        /// A beacon with this interval and power is not found in time even by a receiver at the beacon.
        case beacon
        /// Some places are too far from all listed mounts.
        case mounts
        /// At some places, a beacon is received too weakly, whichever examined position it has.
        case range
        /// The beacons collide too much.
        case collisions
    }

    /// The positions of the new beacons.
    public let positions: [FloorPosition]
    /// The number of existing beacons that are kept.
    public let kept: Int
    /// A lower bound for the number of new beacons, at the examined mounts, that cover all examined places.
    public let least: Int
    /// The share of the places that reach the target.
    public let holdingShare: Double
    /// The probability at the weakest place that the best beacon is received within the target time.
    public let weakestShare: Double
    /// Nil if the target is reached at all computed places.
    public let shortfall: Shortfall?
    /// The number of computed places.
    public let places: Int

    /// Returns this placement with the positions of another placement added, without duplicates. The other properties
    /// do not change: they do not include the effect of the added beacons.
    public func adding(_ more: SitePlacement) -> SitePlacement {
        SitePlacement(
            positions: positions + more.positions.filter { !positions.contains($0) }, kept: kept, least: least,
            holdingShare: holdingShare, weakestShare: weakestShare, shortfall: shortfall, places: places)
    }

    /// Returns the placement with another ``weakestShare``.
    public func replacing(weakestShare: Double) -> SitePlacement {
        SitePlacement(
            positions: positions, kept: kept, least: least, holdingShare: holdingShare, weakestShare: weakestShare,
            shortfall: shortfall, places: places)
    }
}

/// The search for a ``SitePlacement``, in rounds. Each round assumes a share of packets that collide, chooses few
/// beacons that cover all places, and computes the collisions with these beacons. The next round assumes these
/// collisions. The search ends when no covered place misses the target because of collisions, or after eight rounds.
public struct SitePlacementSearch: Sendable {
    private let site: Site
    /// The existing beacons that are kept.
    private let existingBeacons: [SiteBeacon]
    /// A new beacon, at any position.
    private let newBeacon: SiteBeacon
    private let background: BackgroundLoad
    /// The places that have to reach the target.
    public let places: [FloorPosition]
    /// The possible positions of beacons.
    public let mounts: [FloorPosition]

    /// The largest number of examined places, and of examined mounts. A floor that needs more of either is too large.
    static let limit = 40_000
    private static let rounds = 8

    /// - Parameters:
    ///   - site: The floor with its existing beacons. New beacons have the values of the site's `defaults`.
    ///   - startsAnew: True to plan without the existing beacons.
    ///   - places: The places that must reach the target.
    ///   - spacing: The distance between these places, in m. If this distance is too large for the range of the
    ///     beacons, a finer grid of places is examined.
    ///
    /// - Returns: `nil` for a site without a floor, and for a floor that is too large to examine place by place.
    public init?(
        _ site: Site, startsAnew: Bool, places: [FloorPosition], spacing: Double
    ) throws(AirtimeError) {
        guard let bounds = site.bounds else { return nil }
        self.site = site
        existingBeacons = startsAnew ? [] : site.beacons
        background = try BackgroundLoad(site.backgroundLoad)
        newBeacon = try SiteBeacon(
            name: "proposed", position: bounds.low, intervalMicroseconds: site.defaults.intervalMicroseconds,
            airtimeMicroseconds: PacketTiming.airtimeMicroseconds(payloadOctets: site.defaults.payloadOctets),
            radioPower: site.defaults.radioPower)
        // The longest useful spacing: a third of the distance at which half of the beacons are received.
        let finest = max(
            0.5, site.radio.reach(radioPower: newBeacon.radioPower, limit: SiteModel.reachLimit, deviations: 0) / 3)
        let gridPlaces = max(bounds.width * bounds.height, 1) / (finest * finest)
        guard gridPlaces <= Double(Self.limit), places.count <= Self.limit else { return nil }
        func grid(_ limit: Int) -> [FloorPosition] {
            SiteCoverage.grid(over: bounds, outline: site.outline, limit: limit).positions
        }
        self.places = spacing <= finest ? places : grid(Int(gridPlaces))
        mounts = site.mounts.isEmpty ? grid(max(Self.leastMounts, Int(gridPlaces))) : site.mounts
        guard !self.places.isEmpty, !mounts.isEmpty else { return nil }
    }

    /// The smallest number of possible positions if the file lists no mounts.
    private static let leastMounts = 900

    /// A function that is called with the name of the current step, the number of its parts that are done, and the
    /// total number of its parts if it is known. The function returns false to stop the search.
    public typealias Observer = (_ what: String, _ done: Int, _ total: Int?) -> Bool

    /// Searches for a placement; nil if the search is stopped before the first result.
    ///
    /// - Parameter observe: Called from time to time. The search stops when it returns false.
    public func placement(_ observe: Observer = { _, _, _ in true }) throws(AirtimeError) -> SitePlacement? {
        var isStopped = false
        func continues(_ what: String, _ done: Int, _ total: Int?) -> Bool {
            if !isStopped, !observe(what, done, total) { isStopped = true }
            return !isStopped
        }
        var state = try start(continues)
        guard !isStopped else { return nil }
        var best: SitePlacement?
        for round in 0..<Self.rounds where !isStopped {
            let table = try table(&state)
            let (chosen, least) = table.fewest { !continues("rounds", round, nil) }
            // Only the first round gives a lower bound for every choice. Later rounds assume the collisions of one
            // choice, and other choices may have fewer.
            if round == 0 { state.least = least }
            let (placement, failsByCollisions) = try evaluate(chosen, table, &state)
            if best.map({ placement.holdingShare > $0.holdingShare }) ?? true { best = placement }
            if !failsByCollisions { break }
        }
        return best
    }

    /// The results for each place, which the rounds share.
    private struct State {
        var coverage: SiteCoverage
        /// By place: the mounts from which a beacon may be received well enough to reach the target, with the
        /// probability of reception.
        var audibleMounts: [[(mount: Int32, audible: Double)]] = []
        /// By place, if the target needs several beacons: the existing beacons that may be received with the target's
        /// probability.
        var existing: [[BeaconRanking.Entry]] = []
        /// By place: the strongest existing beacon.
        var best: [SiteReception.Best?] = []
        /// By place: the lowest share of clear packets in all rounds so far.
        var clear: [Double] = []
        /// By place: true if the existing beacons were expected to reach the target in an earlier round, but did not.
        var needsNewBeacon: [Bool] = []
        var least = 0
    }

    private func start(_ continues: Observer) throws(AirtimeError) -> State {
        let existing = SiteModel(beacons: existingBeacons, walls: site.walls, radio: site.radio, background: background)
        var state = State(coverage: SiteCoverage(model: existing, scanners: site.scanners, target: site.target))
        let candidates = try mounts.map { position throws(AirtimeError) in try beacon("", at: position) }
        let model = SiteModel(beacons: candidates, walls: site.walls, radio: site.radio, background: background)
        let clearAlone = background.clearProbability(forPacketOf: newBeacon.airtimeMicroseconds)
        let leastAudibility = try neededAudibility(clear: clearAlone, &state)
        for (index, place) in places.enumerated() {
            guard continues("places", index, places.count) else { break }
            let reception = existing.reception(at: place)
            state.best.append(reception.best)
            state.clear.append(reception.best == nil ? clearAlone : min(clearAlone, reception.collisionFreeProbability))
            if site.target.beacons > 1 { try addExisting(existing, place, clearAlone, &state) }
            state.needsNewBeacon.append(false)
            state.audibleMounts.append(
                leastAudibility > 1
                    ? []
                    : model.near(place).compactMap { mount in
                        let audible = model.link(mount, at: place).audible
                        return audible >= leastAudibility ? (Int32(mount), audible) : nil
                    })
        }
        return state
    }

    private func beacon(_ name: String, at position: FloorPosition) throws(AirtimeError) -> SiteBeacon {
        try SiteBeacon(
            name: name, position: position, intervalMicroseconds: newBeacon.intervalMicroseconds,
            airtimeMicroseconds: newBeacon.airtimeMicroseconds, radioPower: newBeacon.radioPower)
    }

    /// Returns the probability of reception that a new beacon needs to reach the target, if the share `clear` of its
    /// packets does not collide; above 1 if no beacon can reach the target.
    private func neededAudibility(clear: Double, _ state: inout State) throws(AirtimeError) -> Double {
        let share = try state.coverage.received(newBeacon, clear: clear, within: site.target.seconds)
        return share > 0 ? site.target.probability / share : .infinity
    }

    /// Returns a table with one candidate for each mount: a new beacon at this mount. A candidate covers the places
    /// that would come closer to the target with this beacon.
    private func table(_ state: inout State) throws(AirtimeError) -> CoverTable {
        var covered = [[Int32]](repeating: [], count: mounts.count)
        var needs = [Int](repeating: 1, count: places.count)
        for place in places.indices {
            let missing = try missingCount(place, &state)
            if missing == 0 { continue }
            needs[place] = missing
            let needed = try neededAudibility(clear: state.clear[place], &state)
            // With a target of one beacon, only the strongest beacon received at a place counts.
            let strongest = site.target.beacons > 1 ? 0 : state.best[place]?.audible ?? 0
            for (mount, audible) in state.audibleMounts[place] where audible >= max(needed, strongest) {
                covered[Int(mount)].append(Int32(place))
            }
        }
        return CoverTable(places: covered, placeCount: places.count, needs: needs)
    }

    /// Stores the existing beacons that may reach the target's probability at a place. New beacons cause more
    /// collisions, so the stored share of clear packets is at most the largest share among these existing beacons.
    private func addExisting(
        _ model: SiteModel, _ place: FloorPosition, _ clearAlone: Double, _ state: inout State
    ) throws(AirtimeError) {
        var ranking = BeaconRanking(model, at: place)
        let entries = try ranking.best(0, andAllOf: site.target.probability) { entry throws(AirtimeError) in
            entry.audible
        }.map(\.entry)
        state.existing.append(entries)
        state.clear[state.clear.count - 1] = min(clearAlone, entries.map(\.clear).max() ?? clearAlone)
    }

    /// Returns the number of new beacons that a place needs to reach the target.
    private func missingCount(_ place: Int, _ state: inout State) throws(AirtimeError) -> Int {
        guard site.target.beacons > 1 else { return try isEnough(place, &state) ? 0 : 1 }
        var count = 0
        for entry in state.existing[place] {
            let share = try state.coverage.received(
                existingBeacons[entry.beacon], clear: state.clear[place], within: site.target.seconds)
            if entry.audible * share >= site.target.probability { count += 1 }
        }
        return max(0, site.target.beacons - count)
    }

    /// Returns true if the existing beacons reach the target at a place.
    private func isEnough(_ place: Int, _ state: inout State) throws(AirtimeError) -> Bool {
        guard !state.needsNewBeacon[place], let best = state.best[place] else { return false }
        let share = try state.coverage.received(
            existingBeacons[best.beacon], clear: state.clear[place], within: site.target.seconds)
        return best.audible * share >= site.target.probability
    }

    /// Returns the placement for the chosen mounts, computed with all collisions, and stores the collisions for the
    /// next round. `failsByCollisions` is true if places that were expected to reach the target miss it because of
    /// collisions.
    private func evaluate(
        _ chosen: [Int], _ table: CoverTable, _ state: inout State
    ) throws(AirtimeError) -> (placement: SitePlacement, failsByCollisions: Bool) {
        let positions = chosen.map { mounts[$0] }
        let added = try positions.map { position throws(AirtimeError) in try beacon("", at: position) }
        let model = SiteModel(
            beacons: existingBeacons + added, walls: site.walls, radio: site.radio, background: background)
        var coverage = SiteCoverage(model: model, scanners: site.scanners, target: site.target)
        let satisfiable = Set(table.satisfiable)
        var (reachedCount, weakest) = (0, 1.0)
        var failsByCollisions = false
        // The number of places that miss the target because of collisions, and the number of places that miss it
        // because too few beacons can be received.
        var (missedByCollisions, missedByRange) = (0, 0)
        for (index, place) in places.enumerated() {
            let point = try coverage.point(at: place)
            weakest = min(weakest, point.detectedShare)
            if point.detectedShare >= site.target.probability {
                reachedCount += 1
                continue
            }
            let wasEnough = try missingCount(index, &state) == 0
            failsByCollisions = failsByCollisions || wasEnough || satisfiable.contains(index)
            let existingCount = site.target.beacons > 1 ? state.existing[index].count : 0
            if state.audibleMounts[index].count + existingCount < site.target.beacons {
                missedByRange += 1
            } else {
                missedByCollisions += 1
            }
            if wasEnough { state.needsNewBeacon[index] = true }
            state.clear[index] = min(state.clear[index], point.clear)
        }
        let clearAlone = background.clearProbability(forPacketOf: newBeacon.airtimeMicroseconds)
        let shortfall: SitePlacement.Shortfall? =
            if reachedCount == places.count {
                nil
            } else if try neededAudibility(clear: clearAlone, &state) > 1 {
                .beacon
            } else if missedByCollisions > missedByRange {
                .collisions
            } else {
                site.mounts.isEmpty ? .range : .mounts
            }
        let placement = SitePlacement(
            positions: positions, kept: existingBeacons.count, least: state.least,
            holdingShare: Double(reachedCount) / Double(places.count), weakestShare: weakest, shortfall: shortfall,
            places: places.count)
        return (placement, failsByCollisions)
    }
}
