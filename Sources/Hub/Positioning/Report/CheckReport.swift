public import Configuration

/// The problems of surveys, each with its file, line and stay if it has them.
public struct CheckReport: Sendable {
    private struct Row {
        var file: String?
        var line: Int?
        var stay: Int?
        var isError: Bool
        var message: String
        /// The number of problems in the row.
        var count = 1
    }

    private var rows: [Row] = []
    private let summary: String

    /// Checks all surveys together.
    public init(_ files: SurveyFiles) {
        rows = files.problems.map {
            Row(file: $0.file, line: $0.line, stay: nil, isError: $0.isError, message: $0.message)
        }
        if files.isEmpty {
            rows.append(Row(isError: true, message: "no stay of the survey has data of any second"))
        } else {
            for finding in SurveyCheck(files.survey).findings {
                let stay = finding.stay.map { files.survey.stays[$0] }
                rows.append(
                    Row(
                        file: finding.stay.map { files.fileOfStay[$0] }, line: stay?.line, stay: stay?.number,
                        isError: finding.isError, message: finding.message, count: finding.count))
            }
        }
        let stays = files.survey.stays.filter { !$0.isCancelled }
        summary =
            "\(MapText.count(stays.count, "stay")) of \(files.survey.countedVectors) s, "
            + MapText.count(files.survey.beacons.count, "beacon")
    }

    /// True if there are no errors. There may be warnings.
    public var isGood: Bool { !rows.contains(where: \.isError) }

    /// One line for each problem, and a summary.
    public var text: String {
        var text = ""
        for row in rows {
            if let file = row.file { text += "\(file):\(row.line.map { "\($0):" } ?? "") " }
            if !row.isError { text += "warning: " }
            if let stay = row.stay { text += "stay \(stay): " }
            text += row.message + "\n"
        }
        func total(_ rows: [Row]) -> Int { rows.reduce(0) { $0 + $1.count } }
        let errors = total(rows.filter(\.isError))
        return text + "\(summary): \(MapText.count(errors, "error")), "
            + MapText.count(total(rows) - errors, "warning") + "\n"
    }

    /// The problems as one JSON object.
    public var json: JSONValue {
        .record([
            ("good", .boolean(isGood)),
            (
                "problems",
                .array(
                    rows.map { row in
                        .record([
                            ("file", .text(row.file)),
                            ("line", .optional(row.line) { .integer($0) }),
                            ("stay", .optional(row.stay) { .integer($0) }),
                            ("severity", row.isError ? "error" : "warning"), ("message", .string(row.message)),
                        ])
                    })
            ),
        ])
    }
}
