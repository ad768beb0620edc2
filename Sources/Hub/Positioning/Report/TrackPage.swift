internal import Airtime
internal import Planner

/// A run over the plan as one self-contained page, or as one drawing for print.
public struct TrackPage {
    private let track: LocatedTrack
    private let command: String

    /// Octets that no page may reach.
    private static let limit = 500_000

    /// - Parameter command: The command line that made it.
    public init(_ track: LocatedTrack, command: String) {
        self.track = track
        self.command = command
    }

    private var title: String { track.map.site.map { "A way in \($0)" } ?? "A way" }

    /// The whole page. It has no script and asks no network.
    public var html: String {
        var page = ""
        for rows in [2000, 1000, 500, 100, 20] {
            page = text(rows)
            if page.utf8.count < Self.limit { break }
        }
        return page
    }

    private func text(_ rows: Int) -> String {
        let title = HTMLEscaping.text(HTMLEscaping.shortened(title, to: 160))
        let legend = HTML.legend(
            [
                .init("links", "where it was found"), .init("fill", "95 % regions"), .init("place", "start and end"),
                .init("beacon", "beacon"),
            ] + (track.points.contains { $0.truth != nil } ? [.init("way", "where it really was")] : []))
        let figures = track.floors.enumerated().map { index, floor in
            HTML.figure(
                id: "floor\(index)", title: floor ?? "The floor",
                drawing: track.drawing(floor).element(label: track.label(floor)), caption: "", legend: legend)
        }
        return "<!doctype html>\n<html lang=\"en\">\n"
            + PageShell.head(
                title: title,
                styles: [(PageStyle.text, PageStyle.source), (MapStyle.text, MapStyle.source)], script: "'none'")
            + "<body>\n<header>\(PageShell.brand("Pharos, the way"))\n<h1>\(title)</h1>\n"
            + "<p class=\"answer\">\(HTMLEscaping.text(track.answer))</p>\n"
            + "<div class=\"command\"><code>\(HTMLEscaping.text(HTMLEscaping.shortened(command, to: 2000)))</code></div>"
            + "</header>\n<main>\n" + figures.joined() + table(rows) + "</main>\n"
            + PageShell.footer(notes: notes) + "</body>\n</html>\n"
    }

    private var notes: [String] {
        var notes = [
            "Found by \(track.map.settings.algorithm.rawValue). A region holds the truth in 95 % of the cases; where it is "
                + "larger than a quarter of the floor, or fewer than three beacons of the map are heard, the place is poor."
        ]
        if track.leftOut > 0 { notes.append("\(track.leftOut) more seconds are not shown.") }
        return notes
    }

    private func table(_ limit: Int) -> String {
        let header = ["time (s)", "state", "place", "x (m)", "y (m)", "region (m)", "beacons", "off by (m)", "session"]
        let rows = track.points.prefix(limit).map { point in
            let answer = point.answer
            return [
                NumberText.trimmed(NumberText.fixed(point.seconds, 1)),
                answer.reason?.rawValue ?? answer.state.rawValue,
                answer.place.map { HTMLEscaping.shortened(track.map.places[$0].name, to: 40) } ?? NumberText.none,
                NumberText.fixed(answer.position?.x, 1), NumberText.fixed(answer.position?.y, 1),
                NumberText.fixed(answer.region95?.radius, 1), "\(answer.used)", NumberText.fixed(point.error, 1),
                HTMLEscaping.shortened(point.session ?? NumberText.none, to: 40),
            ]
        }
        let count = track.points.count
        let caption = count > limit ? "The seconds: the first \(limit) of \(count)" : "The seconds"
        return "<section class=\"card\">\(HTML.table(caption: caption, header: header, rows: Array(rows)))</section>\n"
    }

    // MARK: For print

    /// All floors below each other as one SVG file, in colours for paper.
    public var svg: String {
        let row = 22.0
        var body = ""
        var top = 64.0
        for floor in track.floors {
            let drawing = track.drawing(floor)
            if let floor {
                body += text(floor, top + 4)
                top += row
            }
            body +=
                "<svg y=\"\(SVG.number(top))\" width=\"\(SVG.number(drawing.width))\" "
                + "height=\"\(SVG.number(drawing.height))\""
                + drawing.element(label: track.label(floor)).dropFirst("<svg".count)
            top += drawing.height + row
        }
        let width = SVG.number(FloorPlanFigure.Frame.width)
        return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"\(width)\" height=\"\(SVG.number(top))\" "
            + "viewBox=\"0 0 \(width) \(SVG.number(top))\"><title>\(HTMLEscaping.text(title))</title>"
            + "<style>\(MapDrawing.style)</style><rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>"
            + text(title, 28) + text(track.answer, 50) + body + "</svg>\n"
    }

    private func text(_ raw: String, _ y: Double) -> String {
        "<text x=\"16\" y=\"\(SVG.number(y))\">\(HTMLEscaping.text(HTMLEscaping.shortened(raw, to: 90)))</text>"
    }
}
