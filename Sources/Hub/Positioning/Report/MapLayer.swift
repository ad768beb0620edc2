internal import Airtime
internal import Planner

/// One way to colour a floor: a value for each cell of a picture.
public struct MapLayer: Sendable {
    /// What is drawn.
    public enum Subject: Hashable, Sendable {
        /// How far off answers are to be expected.
        case expectedError
        /// How many beacons are heard.
        case heard
        /// The field of the beacon with this number.
        case beacon(Int)
    }

    /// What it shows.
    public let subject: Subject
    /// For a heading.
    public let name: String
    let unit: String
    let caption: String
    let shades: MapShades
    /// By cell.
    let values: [Double]

    /// - Returns: `nil` for a picture without a floor, and for a beacon that it does not have.
    public init?(_ subject: Subject, of picture: MapPicture) {
        guard picture.step != nil else { return nil }
        self.subject = subject
        switch subject {
        case .expectedError:
            name = "Expected error"
            unit = "m"
            caption =
                picture.map.evaluation?.mean == nil
                ? "How far off answers are to be expected, by the map's own field."
                : "How far off answers are to be expected: by the map's field, scaled to what leaving visits out has shown."
            values = picture.expectedErrors
            shades = MapShades(of: values, isHigherBetter: false)
        case .heard:
            name = "Beacons heard"
            unit = "beacons"
            caption =
                "How many beacons are heard as a rule. With fewer than \(MapAdvice.fewestBeacons) a place is not told "
                + "reliably: these are the coverage gaps."
            values = picture.heard.map(Double.init)
            shades = MapShades(of: values, isHigherBetter: true, target: Double(MapAdvice.fewestBeacons))
        case .beacon(let number):
            guard picture.map.beacons.indices.contains(number) else { return nil }
            name = picture.map.beacons[number].key.text
            unit = "dBm"
            caption =
                picture.map.modelSite == nil
                ? "The mean level that the field expects, beside what was measured at the places."
                : "The mean level that the planner expects by path loss and walls."
            values = picture.cells.indices.map { picture.level(beacon: number, cell: $0) }
            shades = .levels
        }
    }

    /// What stands beside a place: the value there.
    func text(place: Int, of picture: MapPicture) -> String {
        switch subject {
        case .expectedError: picture.placeErrors[place].map { NumberText.fixed($0, 1) } ?? ""
        case .heard: picture.heard(at: place).map { "\($0)" } ?? ""
        case .beacon(let number):
            picture.map.statistics[place].first { $0.beacon == number }.map { NumberText.fixed($0.mean, 0) } ?? ""
        }
    }
}

/// Which of eight colours a value has: green for what is good, red for what is bad.
struct MapShades: Sendable {
    static let count = 8

    /// Where one shade ends and the next begins, from the best value to the worst; one more than there are shades.
    let bounds: [Double]
    let isHigherBetter: Bool

    /// Levels that receivers tell apart, in dBm.
    static let levels = MapShades(
        bounds: [-40, -55, -62, -69, -76, -82, -87, -92, -100], isHigherBetter: true)

    private init(bounds: [Double], isHigherBetter: Bool) {
        self.bounds = bounds
        self.isHigherBetter = isHigherBetter
    }

    /// - Parameter target: What is good enough: half of the shades are on either side of it. Without one they lie evenly.
    init(of values: [Double], isHigherBetter: Bool, target: Double? = nil) {
        let found = values.filter(\.isFinite)
        let (low, high) = (found.min() ?? 0, max(found.max() ?? 1, (found.min() ?? 0) + 1e-6))
        var (best, worst) = isHigherBetter ? (high, low) : (low, high)
        let middle = target ?? (best + worst) / 2
        if target != nil {
            best = isHigherBetter ? max(best, middle + 4) : min(best, middle)
            worst = isHigherBetter ? min(worst, 0) : max(worst, middle)
        }
        let half = Self.count / 2
        self.isHigherBetter = isHigherBetter
        bounds =
            (0..<half).map { best + (middle - best) * Double($0) / Double(half) }
            + (0...half).map { middle + (worst - middle) * Double($0) / Double(half) }
    }

    /// 0 for the best, `count - 1` for the worst.
    func shade(_ value: Double) -> Int {
        let worse = bounds.dropFirst().dropLast().prefix { isHigherBetter ? value < $0 : value > $0 }
        return worse.count
    }

    /// What each shade stands for.
    func names(unit: String) -> [String] {
        (0..<Self.count).map { index in
            let ends = [bounds[index], bounds[index + 1]].sorted().map { NumberText.significant($0) }
            return "\(ends[0]) to \(ends[1]) \(unit)"
        }
    }
}
