internal import Airtime
internal import BluetoothTypes
internal import Planner

/// A run on the floor plan, as a page in a single file or as a drawing for print.
public struct TrackPage {
    private let track: LocatedTrack
    private let command: String

    /// The largest size of a page, in bytes.
    private static let limit = 500_000

    /// - Parameter command: The command line that made the page.
    public init(_ track: LocatedTrack, command: String) {
        self.track = track
        self.command = command
    }

    private var title: String {
        track.map.site.map { "Positions in \($0)" }
            ?? "Positions over \(MapText.count(track.points.count + track.leftOut, "second"))"
    }

    /// The whole page. It has no script and needs no network.
    public var html: String {
        var page = ""
        for rows in [2000, 1000, 500, 100, 20] {
            page = text(rows)
            if page.utf8.count < Self.limit { break }
        }
        return page
    }

    private func text(_ rows: Int) -> String {
        let legend = HTML.legend(
            [
                .init("track", "computed positions"), .init("region", "95 % regions"), .init("place", "start and end"),
                .init("beacon", "beacon"),
            ] + (track.points.contains { $0.truth != nil } ? [.init("way", "true positions")] : []))
        let figures = track.floors.enumerated().map { index, floor in
            HTML.figure(
                id: "floor\(index)", title: floor ?? "The floor",
                drawing: track.drawing(floor).element(label: track.label(floor)), caption: "", legend: legend)
        }
        return PageShell.page(
            title: title, brand: "Pharos, the run", answer: track.answer, command: command, style: MapStyle.text,
            main: figures.joined() + table(rows), notes: notes)
    }

    private var notes: [String] {
        var notes = [
            "Located by \(track.map.settings.algorithm.rawValue). A 95 % region contains the true position in 95 % of the "
                + "seconds. A position is poor if its region is larger than a quarter of the floor, or if fewer than three "
                + "beacons of the map were received."
        ]
        if track.leftOut > 0 { notes.append("\(track.leftOut) more seconds are not shown.") }
        return notes
    }

    private func table(_ limit: Int) -> String {
        let header = ["time (s)", "state", "place", "x (m)", "y (m)", "region (m)", "beacons", "error (m)", "session"]
        let rows = track.points.prefix(limit).map { point in
            let answer = point.answer
            return [
                NumberFormat.trimmed(NumberFormat.fixed(point.seconds, 1)),
                answer.reason?.rawValue ?? answer.state.rawValue,
                answer.place.map { HTMLEscaping.shortened(track.map.places[$0].name, to: 40) } ?? NumberFormat.none,
                NumberFormat.fixed(answer.position?.x, 1), NumberFormat.fixed(answer.position?.y, 1),
                NumberFormat.fixed(answer.region95?.radius, 1), "\(answer.used)", NumberFormat.fixed(point.error, 1),
                HTMLEscaping.shortened(point.session ?? NumberFormat.none, to: 40),
            ]
        }
        let count = track.points.count
        let caption = count > limit ? "The seconds: the first \(limit) of \(count)" : "The seconds"
        return "<section class=\"card\">\(HTML.table(caption: caption, header: header, rows: Array(rows)))</section>\n"
    }

    /// All floors below each other as one SVG file, in colours for print.
    public var svg: String {
        PaperDrawing(
            title: title, subtitle: track.answer,
            floors: track.floors.map { ($0, track.drawing($0), track.label($0)) }
        ).svg
    }
}
