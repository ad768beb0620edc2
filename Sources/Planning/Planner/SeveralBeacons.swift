internal import Airtime
internal import BluetoothTypes
internal import Sites

/// The words and numbers of an answer about a target that requires several beacons at each place.
extension SiteCoverage.Target {
    /// The target in words: "a beacon within 10 s in 90 % of the cases".
    var phrase: String {
        "\(firstWords) within \(NumberFormat.duration(seconds)) in \(NumberFormat.percent(probability)) of the cases"
    }

    /// The first words of ``phrase``: "a beacon" or "4 beacons, each".
    var firstWords: String { beacons > 1 ? "\(beacons) beacons, each" : "a beacon" }

    /// The beacons by which a place is judged: "the strongest beacon" or "the 4 best beacons".
    var subject: String { beacons > 1 ? "the \(beacons) best beacons" : "the strongest beacon" }

    /// The rank of the beacon whose values a map shows: "a beacon" or "the 4th best beacon".
    var ranked: String { beacons > 1 ? "the \(Self.ordinal(beacons)) best beacon" : "a beacon" }

    private static func ordinal(_ number: Int) -> String {
        let isTeen = (11...13).contains(number % 100)
        let suffix = isTeen ? "th" : [1: "st", 2: "nd", 3: "rd"][number % 10] ?? "th"
        return "\(number)\(suffix)"
    }
}

extension SiteQuestion {
    /// Adds the number of beacons that the target requires, and the numbers of beacons that are found in time.
    ///
    /// - Parameter isBefore: True if a proposal follows. In this case the remarks of the numbers contain "today".
    func stateSeveral(_ points: [SiteCoverage.Point], isBefore: Bool, in answer: inout PlanAnswer) {
        guard site.target.beacons > 1 else { return }
        let counts = points.compactMap(\.beaconsInTime)
        let mean = counts.isEmpty ? 0 : Double(counts.reduce(0, +)) / Double(counts.count)
        answer.add(.targetBeacons, .count(site.target.beacons), remark: "at each place, by the target")
        let today = isBefore ? ", today" : ""
        answer.add(.meanBeaconsInTime, .number(mean), remark: "on average over the places" + today)
        answer.add(.fewestBeaconsInTime, .count(counts.min() ?? 0), remark: "in time, at the weakest place" + today)
    }

    /// The keys for a target that requires several beacons.
    static let keysOfSeveral: [PlanKey] = [
        .targetBeacons, .meanBeaconsInTime, .fewestBeaconsInTime, .spotBeaconsInTime,
    ]
}

extension PlanKey {
    fileprivate static let targetBeacons = PlanKey(
        "targetBeacons", "With a target of several beacons: number of beacons that each place needs.",
        label: "beacons needed")
    fileprivate static let meanBeaconsInTime = PlanKey(
        "meanBeaconsInTime",
        "With a target of several beacons: mean number of beacons found at a place in time with the target's "
            + "probability.",
        label: "beacons found in time")
    fileprivate static let fewestBeaconsInTime = PlanKey(
        "fewestBeaconsInTime",
        "With a target of several beacons: number of beacons found at the weakest place in time with the target's "
            + "probability.",
        label: "fewest beacons found")
    static let spotBeaconsInTime = PlanKey(
        "weakestSpots[].beaconsInTime",
        "With a target of several beacons: number of beacons found at the place in time with the target's probability.")
}
