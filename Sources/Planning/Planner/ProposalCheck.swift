internal import Airtime
internal import BluetoothTypes
internal import Sites

/// The results of a proposal at more places than the search for the proposal used: the places of a finer grid.
struct ProposalCheck: Sendable {
    /// The number of checked places.
    let places: Int
    /// The share of these places that reach the target.
    let holdingShare: Double
    /// The probability at the weakest place that the target's beacons are found in time.
    let weakestShare: Double
    /// The places that miss the target.
    let missed: [FloorPosition]
    /// The number of beacons that were added because an earlier check found places that miss the target.
    var added = 0

    /// The largest number of times that beacons are added after a check.
    static let repairLimit = 3
    /// `density` is the ratio of the number of places in a check to the number of places in the search. `limit` is the
    /// largest number of places in a check.
    private static let (density, limit) = (4, 60_000)

    /// Returns the approximate number of places to check, for a proposal from a search over `places` places.
    static func places(ofProposalFor places: Int) -> Int { min(density * places, limit) }

    /// - Parameters:
    ///   - points: The results at these positions, in the same order; at least one.
    ///   - target: The target of the site.
    init(_ points: [SiteCoverage.Point], at positions: [FloorPosition], target: SiteCoverage.Target) {
        places = points.count
        missed = zip(points, positions).compactMap { $0.detectedShare < target.probability ? $1 : nil }
        holdingShare = 1 - Double(missed.count) / Double(max(1, points.count))
        weakestShare = points.reduce(1) { min($0, $1.detectedShare) }
    }

    /// The result as one or more sentences. The text begins with a space, because it follows another sentence.
    var sentence: String {
        let grid = "\(places) places on a finer grid"
        let beacons = added == 1 ? "1 of the beacons was" : "\(added) of the beacons were"
        guard !missed.isEmpty else {
            return added == 0
                ? " The target is also reached at all \(grid)."
                : " \(beacons) added after a check on a finer grid. The target is now reached at all \(grid)."
        }
        return (added == 0 ? "" : " \(beacons) added after a check on a finer grid.")
            + " A check at \(grid) shows that \(NumberFormat.percent(holdingShare)) of them reach the target; at the weakest "
            + "place, a beacon is found in \(NumberFormat.percent(weakestShare)) of the cases. A larger value of `--places` makes the "
            + "proposal denser."
    }
}
