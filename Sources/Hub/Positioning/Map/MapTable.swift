internal import Airtime

/// What a map says of each beacon at each place, as tables.
public enum MapTable {
    /// The columns of ``statistics(_:)``.
    public static let columns = [
        "place", "x", "y", "floor", "seconds", "beacon", "heard", "mean", "median", "min", "max", "sd",
    ]

    /// One row a beacon at a place, separated by commas.
    public static func statistics(_ map: SignalMap) -> String {
        var text = columns.joined(separator: ",") + "\n"
        for (place, found) in zip(map.places, map.statistics) {
            let start = [
                SurveyTable.cell(place.name), place.position.map { SurveyTable.number($0.x) } ?? "",
                place.position.map { SurveyTable.number($0.y) } ?? "", SurveyTable.cell(place.floor ?? ""),
                "\(place.seconds)",
            ]
            for entry in found {
                let levels: [Double?] = [
                    entry.mean, entry.median, entry.minimum, entry.maximum, entry.standardDeviation,
                ]
                let cells =
                    [SurveyTable.cell(map.beacons[entry.beacon].key.text), "\(entry.seconds)"]
                    + levels.map { $0.map { SurveyTable.number(($0 * 1000).rounded() / 1000) } ?? "" }
                text += (start + cells).joined(separator: ",") + "\n"
            }
        }
        return text
    }

    /// The signal-mapping tool's node medians: one row a place, one column a beacon, separated by tabs.
    public static func nodeMedians(_ map: SignalMap) -> String {
        var text =
            (["measurement"] + map.beacons.map { SurveyTable.word($0.key.text) }).joined(separator: "\t") + "\n"
        for (place, found) in zip(map.places, map.statistics) {
            var cells = [String](repeating: "", count: map.beacons.count)
            for entry in found { cells[entry.beacon] = SurveyTable.number(entry.median) }
            text += ([SurveyTable.word(place.name)] + cells).joined(separator: "\t") + "\n"
        }
        return text
    }
}
