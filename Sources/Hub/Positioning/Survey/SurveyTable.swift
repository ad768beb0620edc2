internal import Airtime
internal import Configuration

/// Surveys as tables: one row a reading, one column a beacon, and the files of the signal-mapping tool.
public enum SurveyTable {
    /// The columns of the long form.
    public static let columns = ["session", "place", "x", "y", "floor", "heading", "time", "beacon", "rssi"]
    private static let stayColumns = Array(columns.prefix(7))

    // MARK: Writing

    /// One row a reading; a row without beacon and level for a second in which nothing was heard.
    public static func long(_ survey: Survey) -> String {
        var text = columns.joined(separator: ",") + "\n"
        for stay in survey.stays where !stay.isDropped {
            for vector in stay.vectors {
                let start = head(stay, survey.vector(vector).seconds)
                let packets = survey.packets(vector)
                let readings = survey.vector(vector).readings
                if readings.isEmpty { text += start + ",,\n" }
                for (index, reading) in readings.enumerated() {
                    for level in packets[index] {
                        text += start + "," + cell(survey.beacons[reading.beacon].text) + "," + number(level) + "\n"
                    }
                }
            }
        }
        return text
    }

    /// One row a vector, one column a beacon with the second's mean; empty where it was not heard.
    public static func wide(_ survey: Survey) -> String {
        var text = (stayColumns + survey.beacons.map { cell($0.text) }).joined(separator: ",") + "\n"
        for stay in survey.stays where !stay.isDropped {
            for vector in stay.vectors {
                var cells = [String](repeating: "", count: survey.beacons.count)
                for reading in survey.vector(vector).readings { cells[reading.beacon] = number(reading.level) }
                text += ([head(stay, survey.vector(vector).seconds)] + cells).joined(separator: ",") + "\n"
            }
        }
        return text
    }

    /// The signal-mapping tool's dump: every reading behind the number of its measurement, separated by tabs.
    public static func dump(_ survey: Survey) -> String {
        var text = ""
        for stay in survey.stays where !stay.isDropped {
            for vector in stay.vectors {
                let packets = survey.packets(vector)
                for (index, reading) in survey.vector(vector).readings.enumerated() {
                    for level in packets[index] {
                        text += "\(stay.number)\t\(word(survey.beacons[reading.beacon].text))\t\(number(level))\n"
                    }
                }
            }
        }
        return text
    }

    /// The signal-mapping tool's node medians: one row a measurement, one column a beacon by key, separated by tabs.
    public static func nodeMedians(_ survey: Survey) -> String {
        let order = survey.beacons.indices.sorted { survey.beacons[$0] < survey.beacons[$1] }
        var text = (["measurement"] + order.map { word(survey.beacons[$0].text) }).joined(separator: "\t") + "\n"
        for stay in survey.stays where !stay.isDropped {
            var levels = [[Double]](repeating: [], count: survey.beacons.count)
            for vector in stay.vectors {
                let packets = survey.packets(vector)
                for (index, reading) in survey.vector(vector).readings.enumerated() {
                    levels[reading.beacon] += packets[index]
                }
            }
            let medians = order.map { Percentiles(levels[$0]).value(at: 50).map(number) ?? "" }
            text += (["\(stay.number)"] + medians).joined(separator: "\t") + "\n"
        }
        return text
    }

    private static func head(_ stay: Survey.Stay, _ seconds: Double) -> String {
        [
            cell(stay.session ?? ""), cell(stay.place ?? ""), stay.position.map { number($0.x) } ?? "",
            stay.position.map { number($0.y) } ?? "", cell(stay.floor ?? ""), stay.heading.map(number) ?? "",
            number(seconds),
        ].joined(separator: ",")
    }

    static func number(_ value: Double) -> String { Int(exactly: value).map { "\($0)" } ?? "\(value)" }

    /// Text as a cell: plain where nothing in it means anything else.
    static func cell(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { octet in
            octet >= 0x20 && octet != UInt8(ascii: ",") && octet != UInt8(ascii: "\"") && octet != UInt8(ascii: ";")
        }
        guard let first = text.first, isPlain, !"=+-@".contains(first), first != " ", text.last != " " else {
            return text.isEmpty ? "" : SpreadsheetText.text(text)
        }
        return text
    }

    /// Text between tabs.
    static func word(_ text: String) -> String { String(text.map { $0 == "\t" ? " " : $0 }) }
}
