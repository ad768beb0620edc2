internal import Airtime
internal import BluetoothTypes
internal import Planner

/// A layer of a map: a value for each cell. The colours of a floor show these values.
public struct MapLayer: Sendable {
    /// The kind of the values.
    public enum Subject: Hashable, Sendable {
        /// The expected error.
        case expectedError
        /// The number of beacons received.
        case heard
        /// The mean level of the beacon with this number in the map.
        case beacon(Int)
    }

    public let subject: Subject
    /// The name for a heading.
    public let name: String
    let unit: String
    let caption: String
    let shades: FloorShades
    /// The value of each cell.
    let values: [Double]

    /// Creates a layer; `nil` if the places of the map have no positions, or if the map does not have the beacon.
    public init?(_ subject: Subject, of analysis: MapAnalysis) {
        guard analysis.step != nil else { return nil }
        self.subject = subject
        switch subject {
        case .expectedError:
            name = "Expected error"
            unit = "m"
            caption =
                analysis.map.evaluation?.mean == nil
                ? "The expected error, computed from the levels that the map predicts for each cell."
                : "The expected error, computed from the levels that the map predicts for each cell and scaled to the "
                    + "errors measured by leaving parts of the survey out."
            values = analysis.expectedErrors
            shades = FloorShades(of: values, isHigherBetter: false)
        case .heard:
            name = "Beacons received"
            unit = "beacons"
            caption =
                "The number of beacons that are usually received. With fewer than \(MapAdvice.fewestBeacons), positions are "
                + "unreliable: these areas are the coverage gaps."
            values = analysis.receivedBeacons.map(Double.init)
            shades = FloorShades(of: values, isHigherBetter: true, target: Double(MapAdvice.fewestBeacons))
        case .beacon(let number):
            guard analysis.map.beacons.indices.contains(number) else { return nil }
            name = analysis.map.beacons[number].key.text
            unit = "dBm"
            caption =
                analysis.map.modelSite == nil
                ? "The mean level that the map predicts, with the levels measured at the places."
                : "The mean level, computed by the planner from path loss and walls."
            values = analysis.cells.indices.map { analysis.level(beacon: number, cell: $0) }
            shades = .levels
        }
    }

    /// Returns the value at a place, as text.
    func text(place: Int, of analysis: MapAnalysis) -> String {
        switch subject {
        case .expectedError: analysis.placeErrors[place].map { NumberFormat.fixed($0, 1) } ?? ""
        case .heard: analysis.receivedBeacons(at: place).map { "\($0)" } ?? ""
        case .beacon(let number):
            analysis.map.statistics[place].first { $0.beacon == number }.map { NumberFormat.fixed($0.mean, 0) } ?? ""
        }
    }
}

extension FloorShades {
    /// The shades of levels, in dBm.
    static let levels = FloorShades(bounds: [-40, -55, -62, -69, -76, -82, -87, -92, -100], isHigherBetter: true)

    /// - Parameter target: A value that is good enough. Half of the shades mean better values, and half mean worse
    ///   values. If `nil`, the shades divide the range of the values evenly.
    init(of values: [Double], isHigherBetter: Bool, target: Double? = nil) {
        let finite = values.filter(\.isFinite)
        let (low, high) = (finite.min() ?? 0, max(finite.max() ?? 1, (finite.min() ?? 0) + 1e-6))
        var (best, worst) = isHigherBetter ? (high, low) : (low, high)
        let middle = target ?? (best + worst) / 2
        if target != nil {
            best = isHigherBetter ? max(best, middle + 4) : min(best, middle)
            worst = isHigherBetter ? min(worst, 0) : max(worst, middle)
        }
        self.init(best: best, middle: middle, worst: worst, isHigherBetter: isHigherBetter)
    }

    /// Returns the range of values of each shade as text; empty for a shade without values.
    func names(unit: String) -> [String] { (0..<Self.count).map { isEmpty($0) ? "" : range($0, unit: unit) } }
}
