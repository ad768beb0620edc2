/// The signal-mapping tool's files as tables that ``SurveyTableReader`` reads.
///
/// Its measurements become places with the measurement's number as a name: a later line of the survey moves each to where
/// it was taken.
enum MeasurementTable {
    private static let tab = UInt8(ascii: "\t")
    private static let newline = UInt8(ascii: "\n")

    /// - Returns: `nil` for every other file.
    static func translated(_ octets: [UInt8]) -> [UInt8]? {
        let first = octets.prefix { $0 != newline }
        let cells = first.split(separator: tab, omittingEmptySubsequences: false)
        guard cells.count > 1 else { return nil }
        if cells[0].elementsEqual("measurement".utf8) {
            return Array("place".utf8) + octets.dropFirst("measurement".utf8.count)
        }
        return isRow(cells) ? dump(octets) : nil
    }

    /// A number, a beacon, a level.
    private static func isRow(_ cells: [ArraySlice<UInt8>]) -> Bool {
        guard cells.count == 3, !cells[1].isEmpty else { return false }
        return [cells[0], cells[2]].allSatisfy { cell in
            Double(String(decoding: cell.filter { $0 != UInt8(ascii: "\r") }, as: UTF8.self)) != nil
        }
    }

    /// All readings of one measurement are of one second.
    private static func dump(_ octets: [UInt8]) -> [UInt8] {
        var text = Array("place\tbeacon\trssi\ttime\n".utf8)
        for line in octets.split(separator: newline, omittingEmptySubsequences: false) where !line.isEmpty {
            text += line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            text += Array("\t0\n".utf8)
        }
        return text
    }
}
