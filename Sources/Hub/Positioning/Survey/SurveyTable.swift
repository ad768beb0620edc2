internal import Airtime
internal import Configuration

/// Writes surveys and maps as tables.
public enum SurveyTable {
    /// The columns of the long form.
    public static let columns = ["session", "place", "x", "y", "floor", "heading", "time", "beacon", "rssi"]

    // MARK: Surveys

    /// Returns the long form: one row for each packet. A second without packets has one row without beacon and level.
    public static func long(_ survey: Survey) -> String {
        var text = columns.joined(separator: ",") + "\n"
        for stay in survey.stays where !stay.isCancelled {
            for index in stay.vectors {
                let vector = survey.vector(index)
                let start = stayCells(stay, vector.seconds)
                if vector.readings.isEmpty { text += start + ",,\n" }
                for (reading, levels) in zip(vector.readings, survey.packets(index)) {
                    let key = cell(survey.beacons[reading.beacon].text)
                    for level in levels { text += "\(start),\(key),\(number(level))\n" }
                }
            }
        }
        return text
    }

    /// Returns the wide form: one row for each vector, and one column for each beacon with the mean level of the
    /// second. A cell is empty if the beacon was not received.
    public static func wide(_ survey: Survey) -> String {
        var text = (columns.prefix(7) + survey.beacons.map { cell($0.text) }).joined(separator: ",") + "\n"
        for stay in survey.stays where !stay.isCancelled {
            for index in stay.vectors {
                let vector = survey.vector(index)
                var cells = [String](repeating: "", count: survey.beacons.count)
                for reading in vector.readings { cells[reading.beacon] = number(reading.level) }
                text += ([stayCells(stay, vector.seconds)] + cells).joined(separator: ",") + "\n"
            }
        }
        return text
    }

    /// Returns the dump format of the signal-mapping tool of a thesis of 2013. Each line has the number of the
    /// measurement (the stay), the beacon and the level of one packet, separated by tabs.
    public static func dump(_ survey: Survey) -> String {
        var text = ""
        for stay in survey.stays where !stay.isCancelled {
            for index in stay.vectors {
                for (reading, levels) in zip(survey.vector(index).readings, survey.packets(index)) {
                    let key = tabCell(survey.beacons[reading.beacon].text)
                    for level in levels { text += "\(stay.number)\t\(key)\t\(number(level))\n" }
                }
            }
        }
        return text
    }

    /// Returns the node medians, another format of the tool that ``dump(_:)`` mentions: one row for each measurement
    /// (stay), and one column for each beacon with its median level, separated by tabs.
    public static func nodeMedians(_ survey: Survey) -> String {
        let order = survey.beacons.indices.sorted { survey.beacons[$0] < survey.beacons[$1] }
        var text = (["measurement"] + order.map { tabCell(survey.beacons[$0].text) }).joined(separator: "\t") + "\n"
        for stay in survey.stays where !stay.isCancelled {
            var received = [[Double]](repeating: [], count: survey.beacons.count)
            for index in stay.vectors {
                for (reading, levels) in zip(survey.vector(index).readings, survey.packets(index)) {
                    received[reading.beacon] += levels
                }
            }
            let medians = order.map { Percentiles(received[$0]).value(at: 50).map(number) ?? "" }
            text += (["\(stay.number)"] + medians).joined(separator: "\t") + "\n"
        }
        return text
    }

    // MARK: Maps

    /// Returns the statistics of a map: one row for each place and beacon.
    public static func statistics(_ map: SignalMap) -> String {
        var text = "place,x,y,floor,seconds,beacon,heard,mean,median,min,max,sd\n"
        for (place, statistics) in zip(map.places, map.statistics) {
            let start = [
                cell(place.name), place.position.map { number($0.x) } ?? "", place.position.map { number($0.y) } ?? "",
                cell(place.floor ?? ""), "\(place.seconds)",
            ]
            for entry in statistics {
                let levels: [Double?] = [
                    entry.mean, entry.median, entry.minimum, entry.maximum, entry.standardDeviation,
                ]
                let cells = levels.map { $0.map { number(($0 * 1000).rounded() / 1000) } ?? "" }
                let beacon = [cell(map.beacons[entry.beacon].key.text), "\(entry.seconds)"]
                text += (start + beacon + cells).joined(separator: ",") + "\n"
            }
        }
        return text
    }

    /// Returns the node medians of a map: one row for each place, and one column for each beacon with its median level,
    /// separated by tabs.
    public static func nodeMedians(_ map: SignalMap) -> String {
        var text = (["measurement"] + map.beacons.map { tabCell($0.key.text) }).joined(separator: "\t") + "\n"
        for (place, statistics) in zip(map.places, map.statistics) {
            var cells = [String](repeating: "", count: map.beacons.count)
            for entry in statistics { cells[entry.beacon] = number(entry.median) }
            text += ([tabCell(place.name)] + cells).joined(separator: "\t") + "\n"
        }
        return text
    }

    // MARK: Cells

    private static func stayCells(_ stay: Survey.Stay, _ seconds: Double) -> String {
        [
            cell(stay.session ?? ""), cell(stay.place ?? ""), stay.position.map { number($0.x) } ?? "",
            stay.position.map { number($0.y) } ?? "", cell(stay.floor ?? ""), stay.heading.map(number) ?? "",
            number(seconds),
        ].joined(separator: ",")
    }

    private static func number(_ value: Double) -> String { Int(exactly: value).map { "\($0)" } ?? "\(value)" }

    /// Returns a cell of a CSV table, with quotes if the text needs them.
    private static func cell(_ text: String) -> String {
        let isPlain = text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !",\";".unicodeScalars.contains($0) }
        guard let first = text.first, isPlain, !"=+-@ ".contains(first), text.last != " " else {
            return text.isEmpty ? "" : SpreadsheetText.text(text)
        }
        return text
    }

    private static func tabCell(_ text: String) -> String { String(text.map { $0 == "\t" ? " " : $0 }) }
}
