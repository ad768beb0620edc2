internal import Planner
public import Sites

/// One self-contained page of a map: the floor plan with a layer for each beacon, the error that is to be expected, the
/// places that are taken for each other, coverage gaps, and where one more beacon or stay would help most.
///
/// It is under 500 KB and asks nothing of any network. Of very large maps the beacons that are heard most have layers,
/// and not all places stand in the tables; that is said.
public struct MapPage {
    private let picture: MapPicture
    private let command: String
    private let site: Site?

    /// Octets that no page may reach.
    private static let limit = 500_000

    /// - Parameters:
    ///   - command: The command line that made it.
    ///   - site: Whose walls and outline are drawn; without one those of the map's own site, where it was made from one.
    public init(_ picture: MapPicture, command: String, site: Site? = nil) {
        self.picture = picture
        self.command = command
        self.site = site ?? picture.map.modelSite
    }

    /// The whole page.
    public var html: String {
        var page = ""
        for divisor in [1, 2, 4, 8, 16, 32] {
            page = text(divisor)
            if page.utf8.count < Self.limit { break }
        }
        return page
    }

    private func text(_ divisor: Int) -> String {
        let summary = MapSummary(picture)
        let title = HTMLEscaping.text(HTMLEscaping.shortened(summary.title, to: 160))
        let floors = MapFloor.all(picture, site: site)
        let data = MapPageData(picture, floors, divisor: divisor)
        let first = data.layers.first
        let plan = first.map { explorer(floors, $0, data) } ?? ""
        let script = first == nil ? "" : data.element + "<script>\(MapScript.text)</script>\n"
        return "<!doctype html>\n<html lang=\"en\">\n"
            + PageShell.head(
                title: title,
                styles: [(PageStyle.text, PageStyle.source), (MapStyle.text, MapStyle.source)],
                script: MapScript.source)
            + "<body>\n<header>\(PageShell.brand("Pharos, the map"))\n<h1>\(title)</h1>\n"
            + "<p class=\"answer\">\(HTMLEscaping.text(summary.answer))</p>\n"
            + "<div class=\"command\"><code>\(HTMLEscaping.text(HTMLEscaping.shortened(command, to: 2000)))</code></div>"
            + "</header>\n<main>\n" + plan + help(summary) + tables(summary, divisor) + "</main>\n"
            + PageShell.footer(notes: summary.notes + data.notes) + script + "</body>\n</html>\n"
    }

    /// The floors with what to choose.
    private func explorer(_ floors: [MapFloor], _ layer: MapLayer, _ data: MapPageData) -> String {
        let layers = data.layers.enumerated().map { index, layer in (value: "\(index)", name: layer.name) }
        let places = data.placeNumbers.map { (value: "\($0)", name: picture.map.places[$0].name) }
        let legend = HTML.legend(
            layer.shades.names(unit: layer.unit).enumerated().map { .init("f\($0)", $1, id: "shade\($0)") } + [
                .init("beacon", "beacon"), .init("place", "place of the survey"),
            ]
                + (floors.contains { !($0.site?.walls.isEmpty ?? true) }
                    ? [.init("wall", "wall: the wider, the more it takes")] : []))
        let drawings = floors.map { floor in
            let name = floor.floor.map { "<h3>\(HTMLEscaping.text(HTMLEscaping.shortened($0, to: 60)))</h3>" } ?? ""
            return name + floor.drawing(layer).element(label: floor.label(layer), id: "floor\(floor.number)")
        }
        return "<section class=\"explorer\" aria-labelledby=\"explorerTitle\"><h2 id=\"explorerTitle\">The floor</h2>\n"
            + "<p class=\"hint\">Choose what the colours show. Click a place, or choose it, to see what it is taken for."
            + "</p>\n<form id=\"controls\" class=\"card controls\" autocomplete=\"off\">"
            + select("layer", "The colours show", layers)
            + select(
                "beside", "Beside the places",
                [("value", "the measured value"), ("residual", "measured less field (dB)"), ("name", "the names")])
            + select("place", "What is this place taken for?", [("", "none")] + places) + "</form>\n"
            + "<noscript><p class=\"hint\">The choices need scripts. The tables below hold the same.</p></noscript>\n"
            + "<p id=\"sentence\" role=\"status\" aria-live=\"polite\"></p>\n"
            + "<figure id=\"map\" class=\"card\"><figcaption><h2 id=\"layerName\">"
            + "\(HTMLEscaping.text(layer.name))</h2><p id=\"layerCaption\">\(HTMLEscaping.text(layer.caption))</p>"
            + "</figcaption>\(legend)\(drawings.joined())</figure></section>\n"
    }

    private func select(_ id: String, _ label: String, _ options: [(value: String, name: String)]) -> String {
        let items = options.map {
            "<option value=\"\(HTMLEscaping.text($0.value))\">"
                + "\(HTMLEscaping.text(HTMLEscaping.shortened($0.name, to: 80)))</option>"
        }
        return "<div class=\"control\"><label for=\"\(id)\">\(label)</label>"
            + "<select id=\"\(id)\">\(items.joined())</select></div>"
    }

    /// Where one more beacon or stay helps most, and where too few beacons are heard.
    private func help(_ summary: MapSummary) -> String {
        let items = summary.advice.map { "<li>\(HTMLEscaping.text($0))</li>" }
        let list =
            items.isEmpty
            ? ""
            : "<section class=\"card\" aria-labelledby=\"helpTitle\"><h2 id=\"helpTitle\">What would help most</h2>"
                + "<ul>\(items.joined())</ul></section>\n"
        return list
    }

    private func tables(_ summary: MapSummary, _ divisor: Int) -> String {
        let rows = max(20, 1000 / divisor)
        var tables = [
            HTML.table(
                caption: "The numbers", header: ["what", "value"], rows: summary.figures.map { [$0.name, $0.value] }),
            table("Places", summary.placeHeader, summary.placeRows, rows),
            table("Beacons", summary.beaconHeader, summary.beaconRows, rows),
        ]
        if !summary.gapRows.isEmpty { tables.append(table("Coverage gaps", summary.gapHeader, summary.gapRows, rows)) }
        return tables.map { "<section class=\"card\">\($0)</section>\n" }.joined()
    }

    private func table(_ caption: String, _ header: [String], _ rows: [[String]], _ limit: Int) -> String {
        let caption = rows.count > limit ? "\(caption): the first \(limit) of \(rows.count)" : caption
        return HTML.table(caption: caption, header: header, rows: Array(rows.prefix(limit)))
    }
}

/// The script of a map's page: it redraws the plan when another layer or place is chosen. It asks nothing of a network,
/// keeps nothing, and changes only what has an `id`. Its file stands in `Page`.
enum MapScript {
    static let text = String(decoding: PackageResources.map_js, as: UTF8.self)

    /// What a Content-Security-Policy calls it: the SHA-256 of the text, which a test computes again.
    static let source = "'sha256-1sIsSHL4NebC4HapFIBwGzggVDW/GjYitzfIXIgAd8M='"
}

/// What a map's page has beside the planner's style. Its file stands in `Page`.
enum MapStyle {
    static let text = String(decoding: PackageResources.map_css, as: UTF8.self)

    /// What a Content-Security-Policy calls it: the SHA-256 of the text, which a test computes again.
    static let source = "'sha256-1MkIOk9Emt8Hcj9RPQgUQJuen/1YvQ26TBMWjs7fB2k='"
}
