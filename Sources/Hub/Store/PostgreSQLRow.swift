/// The beacons that were present at a site after its last event.
public struct PostgreSQLPresence: Hashable, Sendable {
    public var presences: [EventStore.Presence] = []
    /// The time of the last event, in microseconds since 1970; `Int64.min` if there is none.
    public var newest = Int64.min
}

/// Rows of one table in the text format of PostgreSQL's COPY. The outbox stores rows in this format.
public struct PostgreSQLRow: Hashable, Sendable {
    /// The table of the rows.
    public enum Table: String, Hashable, Sendable {
        case sightings, events, runs
    }

    public let table: Table
    /// One line for each row, with the line ends.
    public let text: String

    /// Creates rows from text in the format of COPY.
    public init(_ table: Table, text: String) {
        self.table = table
        self.text = text
    }

    /// Each row on its own. A line end within a value is escaped, so each line of the text is a row.
    public var lines: [PostgreSQLRow] { text.split(separator: "\n").map { PostgreSQLRow(table, text: "\($0)\n") } }

    /// Creates the row of a sighting.
    init(_ sighting: SightingRow, at site: String) {
        let level = sighting.level.map { "\(($0 * 100).rounded() / 100)" }
        self.init(
            .sightings,
            text: Self.line([
                site, sighting.receiver, sighting.batch.boot, "\(sighting.batch.sequence)", sighting.beacon,
                "\(sighting.milliseconds)", "\(min(sighting.reports, 1 << 30))", level, sighting.isLate ? "t" : "f",
            ]))
    }

    /// Creates the row of an event.
    init(_ event: EventStore.Event, at site: String) {
        self.init(
            .events,
            text: Self.line([
                event.id, site, "\((event.time ?? 0) / 1000)", event.kind, event.beacon ?? "", event.zone, event.json,
            ]))
    }

    /// Creates the row of a run of the site's collector.
    init(_ run: ServiceRun, at site: String) {
        self.init(.runs, text: Self.line([site, "\(run.start)", "\(run.end)", run.isOver ? "t" : "f"]))
    }

    /// Returns a row as one line in the text format of COPY.
    private static func line(_ values: [String?]) -> String {
        values.map { value in
            guard let value else { return "\\N" }
            var text = ""
            for scalar in value.unicodeScalars {
                switch scalar {
                case "\\": text += "\\\\"
                case "\t": text += "\\t"
                case "\n": text += "\\n"
                case "\r": text += "\\r"
                case "\0": text += " "
                default: text.unicodeScalars.append(scalar)
                }
            }
            return text
        }.joined(separator: "\t") + "\n"
    }
}
