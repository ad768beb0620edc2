import Airtime

/// The places that each candidate (a possible position of a beacon) covers, and the search for a small set of
/// candidates that covers all places. Each place states how many candidates must cover it.
///
/// No fast algorithm finds the minimum exactly. So candidates are chosen greedily, and then exchanged for better
/// candidates. A lower bound shows how close the result is to the minimum: if the places have prices such that no
/// candidate's places cost more than 1 in total, then the sum of the prices, each times the need of its place, cannot
/// exceed the number of candidates of any cover. If a candidate's places cost more than 1, the excess is subtracted
/// from the sum, because a candidate is chosen at most once. The prices are improved step by step (Held and Karp's
/// subgradients).
struct CoverTable {
    /// By candidate: the places that it covers, in ascending order.
    private let coveredPlaces: [[Int32]]
    /// By place: the candidates that cover it.
    private let candidates: [[Int32]]
    /// By place: the number of candidates that have to cover it.
    private let needs: [Int]
    /// The places that can be covered by as many candidates as they need.
    let satisfiable: [Int]

    /// - Parameters:
    ///   - places: By candidate: the places that it covers, in ascending order.
    ///   - placeCount: The number of places. Places that no candidate covers are ignored.
    ///   - needs: By place: the number of candidates that have to cover it, at least 1; nil if every place needs 1. If
    ///     fewer candidates than needed cover a place, all of them must be chosen.
    init(places: [[Int32]], placeCount: Int, needs: [Int]? = nil) {
        coveredPlaces = places
        var candidates = [[Int32]](repeating: [], count: placeCount)
        for (candidate, covered) in places.enumerated() {
            for place in covered { candidates[Int(place)].append(Int32(candidate)) }
        }
        self.candidates = candidates
        let needs = needs ?? [Int](repeating: 1, count: placeCount)
        self.needs = zip(needs, candidates).map { min($0, $1.count) }
        satisfiable = candidates.indices.filter { !candidates[$0].isEmpty && candidates[$0].count >= needs[$0] }
    }

    /// The places that at least one candidate covers.
    var coverable: [Int] { candidates.indices.filter { !candidates[$0].isEmpty } }

    /// Returns a small set of candidates that covers every place that can be covered; the candidates are in ascending
    /// order. Also returns a lower bound for the number of candidates.
    ///
    /// - Parameter isStopped: Called from time to time. When it returns true, the search ends with the best cover so
    ///   far.
    func fewest(isStopped: () -> Bool = { false }) -> (chosen: [Int], least: Int) {
        guard !coverable.isEmpty else { return ([], 0) }
        var best = exchanged(greedy(prices: nil))
        guard !isStopped() else { return (best, 1) }
        let (least, prices) = bound(above: best.count, isStopped)
        if best.count > least, !isStopped() {
            let other = exchanged(greedy(prices: prices))
            if other.count < best.count { best = other }
        }
        return (best, least)
    }

    // MARK: - Choosing

    /// Repeatedly chooses the candidate whose remaining places have the highest total price. If `prices` is nil, every
    /// place has the price 1.
    private func greedy(prices: [Double]?) -> [Int] {
        // A place with the price 0 gets a small worth, so that it is covered too.
        let worth = (prices ?? candidates.map { _ in 1 }).map { max($0, 1e-3) }
        var gains = coveredPlaces.map { $0.reduce(0) { $0 + worth[Int($1)] } }
        var missing = needs
        var lackingCount = missing.count { $0 > 0 }
        var chosen: [Int] = []
        while lackingCount > 0, let next = gains.indices.max(by: { gains[$0] < gains[$1] }), gains[next] > 0 {
            chosen.append(next)
            for place in coveredPlaces[next].map(Int.init) where missing[place] > 0 {
                missing[place] -= 1
                guard missing[place] == 0 else { continue }
                lackingCount -= 1
                for candidate in candidates[place] { gains[Int(candidate)] -= worth[place] }
            }
            // No candidate is chosen twice.
            gains[next] = -.infinity
        }
        return chosen
    }

    /// Removes candidates that are not needed, replaces candidates by candidates that cover more, and replaces two
    /// candidates by one, as long as any of these steps helps.
    private func exchanged(_ first: [Int]) -> [Int] {
        var cover = Cover(self, first)
        for _ in 0..<Self.rounds {
            cover.removeUnneeded()
            let before = cover.chosen.count
            cover.moveEach()
            cover.replacePairs()
            if cover.chosen.count == before { break }
        }
        return cover.chosen.sorted()
    }

    /// The largest number of rounds of exchanges.
    private static let rounds = 20

    /// A cover that is being changed.
    private struct Cover {
        let table: CoverTable
        private(set) var chosen: [Int]
        /// By place: the number of chosen candidates that cover it.
        private var counts: [Int]

        init(_ table: CoverTable, _ chosen: [Int]) {
            self.table = table
            self.chosen = chosen
            counts = table.candidates.map { _ in 0 }
            for candidate in chosen { change(candidate, by: 1) }
        }

        private mutating func change(_ candidate: Int, by step: Int) {
            for place in table.coveredPlaces[candidate] { counts[Int(place)] += step }
        }

        /// Returns the places that would have too few candidates if this candidate were removed.
        private func neededPlaces(_ candidate: Int) -> [Int32] {
            table.coveredPlaces[candidate].filter { counts[Int($0)] <= table.needs[Int($0)] }
        }

        /// Returns the places of a candidate that have too few chosen candidates now.
        private func lackingPlaces(_ candidate: Int) -> [Int32] {
            table.coveredPlaces[candidate].filter { counts[Int($0)] < table.needs[Int($0)] }
        }

        mutating func removeUnneeded() {
            // The candidates with the fewest places that only they cover come first.
            for candidate in chosen.sorted(by: { (neededPlaces($0).count, $0) < (neededPlaces($1).count, $1) })
            where neededPlaces(candidate).isEmpty {
                remove(candidate)
            }
        }

        private mutating func remove(_ candidate: Int) {
            change(candidate, by: -1)
            chosen.removeAll { $0 == candidate }
        }

        private mutating func add(_ candidate: Int) {
            change(candidate, by: 1)
            chosen.append(candidate)
        }

        /// Replaces each chosen candidate by a candidate that covers the same needed places, and additional places.
        mutating func moveEach() {
            for candidate in chosen {
                let needed = neededPlaces(candidate)
                guard let best = others(covering: needed).max(by: { size($0) < size($1) }),
                    size(best) > table.coveredPlaces[candidate].count
                else { continue }
                remove(candidate)
                add(best)
            }
            removeUnneeded()
        }

        private func size(_ candidate: Int) -> Int { table.coveredPlaces[candidate].count }

        /// Returns the candidates that are not chosen and cover all these places.
        private func others(covering needed: [Int32]) -> [Int] {
            guard let rarest = needed.min(by: { table.candidates[Int($0)].count < table.candidates[Int($1)].count })
            else { return [] }
            return table.candidates[Int(rarest)].map(Int.init).filter { other in
                !chosen.contains(other) && Self.containsAll(table.coveredPlaces[other], needed)
            }
        }

        /// Returns true if an ascending list contains all elements of another ascending list, `part`.
        private static func containsAll(_ list: [Int32], _ part: [Int32]) -> Bool {
            var next = part.startIndex
            for element in list where next < part.endIndex && element >= part[next] {
                guard element == part[next] else { return false }
                next += 1
            }
            return next == part.endIndex
        }

        mutating func replacePairs() {
            var first = 0
            while first < chosen.count {
                if let (other, single) = replacement(for: first) {
                    let (one, two) = (chosen[first], chosen[other])
                    remove(one)
                    remove(two)
                    add(single)
                } else {
                    first += 1
                }
            }
        }

        /// Returns a candidate (`single`) that can replace two chosen candidates: the candidate at the index `first`
        /// and a candidate at a greater index `other`. Returns nil if no candidate can replace two.
        private mutating func replacement(for first: Int) -> (other: Int, single: Int)? {
            let candidate = chosen[first]
            change(candidate, by: -1)
            defer { change(candidate, by: 1) }
            let needed = lackingPlaces(candidate)
            guard !needed.isEmpty else { return nil }
            let reachable = others(covering: needed)
            guard !reachable.isEmpty else { return nil }
            for other in chosen.indices.dropFirst(first + 1) {
                change(chosen[other], by: -1)
                defer { change(chosen[other], by: 1) }
                let both = lackingPlaces(chosen[other])
                // One candidate cannot replace two candidates at a place that needs both.
                if both.contains(where: { counts[Int($0)] < table.needs[Int($0)] - 1 }) { continue }
                if let single = reachable.first(where: { Self.containsAll(table.coveredPlaces[$0], both) }) {
                    return (other, single)
                }
            }
            return nil
        }
    }

    // MARK: - The bound

    /// Returns a lower bound for the number of candidates in a cover, limited to `count`, and the prices that give this
    /// bound.
    private func bound(above count: Int, _ isStopped: () -> Bool) -> (least: Int, prices: [Double]) {
        var prices = candidates.map { covering in
            covering.map { 1 / Double(coveredPlaces[Int($0)].count) }.min() ?? 0
        }
        var best = (value: 0.0, prices: prices)
        var (stepFactor, stepsWithoutGain) = (1.0, 0)
        let links = coveredPlaces.reduce(0) { $0 + $1.count }
        for _ in 0..<max(20, min(400, Self.work / max(1, links))) {
            if isStopped() { break }
            var value = zip(prices, needs).reduce(0) { $0 + $1.0 * Double($1.1) }
            var slopes = needs.map { Double($0) }
            for covered in coveredPlaces {
                let slack = covered.reduce(1) { $0 - prices[Int($1)] }
                guard slack < 0 else { continue }
                value += slack
                for place in covered { slopes[Int(place)] -= 1 }
            }
            if value > best.value {
                best = (value, prices)
                stepsWithoutGain = 0
            } else {
                stepsWithoutGain += 1
                if stepsWithoutGain == 12 { (stepFactor, stepsWithoutGain) = (stepFactor / 2, 0) }
            }
            if (best.value - Self.roundingReserve).rounded(.up) >= Double(count) { break }
            let length = slopes.reduce(0) { $0 + $1 * $1 }
            guard length > 0, stepFactor > 1e-3 else { break }
            let step = stepFactor * (1.02 * Double(count) - value) / length
            for place in prices.indices { prices[place] = max(0, prices[place] + step * slopes[place]) }
        }
        return (min(count, max(1, Int((best.value - Self.roundingReserve).rounded(.up)))), best.prices)
    }

    /// To compute the bound, pairs of a candidate and a place that it covers are visited. This is the largest number of
    /// visits; they take a few tenths of a second.
    private static let work = 60_000_000
    /// A reserve for rounding errors of a sum of prices.
    private static let roundingReserve = 1e-6
}
