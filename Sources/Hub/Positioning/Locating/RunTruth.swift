public import Airtime
internal import BeaconService
internal import Configuration
public import Listener

/// The true positions of a receiver, from a table. The table has the columns `x` and `y`, and may have the columns
/// `session`, `time`, `floor` and `place`.
public struct RunTruth: Sendable {
    /// A true position.
    public struct Spot: Hashable, Sendable {
        public let position: FloorPosition
        /// The floor's name; `nil` if it is not known.
        public let floor: String?
        public let place: String?

        var json: JSONValue {
            .record([
                ("x", .rounded(position.x, 6)), ("y", .rounded(position.y, 6)), ("floor", .text(floor)),
                ("place", .text(place)),
            ])
        }
    }

    /// The positions of each session in the order of time. A position without a time is valid for the whole session.
    private var spots: [String?: [(time: Double?, spot: Spot)]] = [:]

    /// Reads a table.
    ///
    /// - Throws: If the table is missing, has errors, or does not have the columns `x` and `y`.
    public init(_ path: String) throws(ListenerServiceError) {
        let octets = try MapFile.contents(path, limit: 1 << 28)
        let name = path == "-" ? "standard input" : path
        if let problem = WrongFile.refusal(octets, name, wanted: .truth) { throw problem }
        let (openedTable, problems) = CSVTable.open(octets, file: name)
        guard let table = openedTable, !problems.contains(where: \.isError) else {
            throw .service(.refused(.malformed, SurveyFiles.sentences(problems.map { $0.inFile(name) })))
        }
        let columns = TableColumns(table)
        guard columns.has("x"), columns.has("y") else {
            throw .refused(
                .malformed,
                "\(name):1:1: the table needs the columns x and y, and time and session if the receiver moves")
        }
        var rows = table.rows
        var row = CSVRow()
        while rows.next(&row) {
            do throws(FileProblem) {
                guard let x = try columns.real("x", row), let y = try columns.real("y", row) else { continue }
                let spot = Spot(
                    position: FloorPosition(x: x, y: y), floor: columns.text("floor", row),
                    place: columns.text("place", row))
                spots[columns.text("session", row), default: []].append((try columns.time(row), spot))
            } catch {
                throw .refused(.malformed, "\(error.inFile(name))")
            }
        }
        for session in spots.keys { spots[session]?.sort { ($0.time ?? -.infinity) < ($1.time ?? -.infinity) } }
    }

    /// Returns the position at a time in seconds since the start of the run, interpolated between two rows. Returns
    /// `nil` if the time is more than half a second before the first row or after the last row.
    public func spot(session: String?, seconds: Double) -> Spot? {
        guard let spots = spots[session] ?? spots[nil], let first = spots.first, let last = spots.last else {
            return nil
        }
        guard let start = first.time, let end = last.time else { return first.spot }
        guard seconds > start else { return start - seconds <= 0.5 ? first.spot : nil }
        guard seconds < end else { return seconds - end <= 0.5 ? last.spot : nil }
        let next = spots.firstIndex { ($0.time ?? 0) >= seconds } ?? spots.count - 1
        let (from, to) = (spots[next - 1], spots[next])
        guard let earlier = from.time, let later = to.time, later > earlier else { return to.spot }
        let share = (seconds - earlier) / (later - earlier)
        if share >= 1 { return to.spot }
        return Spot(
            position: FloorPosition(
                x: from.spot.position.x + share * (to.spot.position.x - from.spot.position.x),
                y: from.spot.position.y + share * (to.spot.position.y - from.spot.position.y)),
            floor: share < 0.5 ? from.spot.floor : to.spot.floor, place: nil)
    }
}
