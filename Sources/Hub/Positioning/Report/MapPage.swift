internal import Planner
public import Sites

/// A page about a map, as a single file. It shows the floor plan with a layer for each beacon, the expected errors, the
/// places that are mistaken for each other, the coverage gaps, and the places where another beacon or stay would help
/// most.
///
/// The page is smaller than 500 KB, without the pictures of floors, and needs no network. The page of a very large map
/// has layers only for the beacons that are received most, and its tables contain only the first places. Notes on the
/// page describe the omissions.
public struct MapPage {
    private let analysis: MapAnalysis
    private let command: String
    private let site: Site?

    /// The largest size of a page in bytes, without the pictures of floors.
    private static let limit = 500_000

    /// - Parameters:
    ///   - command: The command line that made the page.
    ///   - site: The site whose walls and outline are drawn; `nil` for the site from which the map was made, if there
    ///     is one.
    public init(_ analysis: MapAnalysis, command: String, site: Site? = nil) {
        self.analysis = analysis
        self.command = command
        self.site = site ?? analysis.map.modelSite
    }

    /// The whole page.
    public var html: String {
        var page = ""
        for divisor in [1, 2, 4, 8, 16, 32] {
            page = text(divisor)
            let pictures = analysis.floors.count * (site?.picture?.image?.dataAddress.utf8.count ?? 0)
            if page.utf8.count - pictures < Self.limit { break }
        }
        return page
    }

    private func text(_ divisor: Int) -> String {
        let summary = MapSummary(analysis)
        let floors = MapFloor.all(analysis, site: site)
        let data = MapPageData(analysis, floors, divisor: divisor)
        let first = data.layers.first
        let floor = first.map { explorer(floors, $0, data) } ?? ""
        return PageShell.page(
            title: summary.title, brand: "Pharos, the map", answer: summary.answer, command: command,
            style: MapStyle.text, main: floor + help(summary) + tables(summary, divisor),
            notes: summary.notes + data.notes,
            scripted: first == nil ? nil : (data.element, MapScript.text))
    }

    /// Returns the drawings of the floors, with the controls.
    private func explorer(_ floors: [MapFloor], _ layer: MapLayer, _ data: MapPageData) -> String {
        let layers = data.layers.enumerated().map { index, layer in (value: "\(index)", name: layer.name) }
        let places = data.placeIndices.map { (value: "\($0)", name: analysis.map.places[$0].name) }
        let hasWalls = floors.contains { !($0.site?.walls.isEmpty ?? true) }
        let legend = HTML.legend(
            layer.shades.names(unit: layer.unit).enumerated().map {
                .init("f\($0)", $1, id: "shade\($0)", isHidden: $1.isEmpty)
            } + [
                .init("beacon", "beacon"), .init("place", "surveyed place"),
                .init("mistakes", "mistakes of the chosen place"),
            ] + (hasWalls ? [.init("wall", "wall: the wider, the more loss")] : []))
        let drawings = floors.map { floor in
            let name = floor.floor.map { "<h3>\(HTMLEscaping.text(HTMLEscaping.shortened($0, to: 60)))</h3>" } ?? ""
            return name + floor.drawing(layer).element(label: floor.label(layer), id: "floor\(floor.number)")
        }
        return "<section class=\"explorer\" aria-labelledby=\"explorerTitle\"><h2 id=\"explorerTitle\">The floor</h2>\n"
            + "<p class=\"hint\">Choose what the colours show. Click a place, or choose it, to see which places it is "
            + "mistaken for.</p>\n<form id=\"controls\" class=\"card controls\" autocomplete=\"off\">"
            + select("layer", "The colours show", layers)
            + select(
                "beside", "Next to the places",
                [("value", "the measured value"), ("residual", "measured minus field (dB)"), ("name", "the names")])
            + select("place", "Show the mistakes of this place", [("", "none")] + places) + "</form>\n"
            + "<noscript><p class=\"hint\">The controls need scripts. The tables below have the same numbers.</p>"
            + "</noscript>\n<p id=\"sentence\" role=\"status\" aria-live=\"polite\"></p>\n"
            + "<figure id=\"map\" class=\"card\"><figcaption><h2 id=\"layerName\">"
            + "\(HTMLEscaping.text(layer.name))</h2><p id=\"layerCaption\">\(HTMLEscaping.sentence(layer.caption))</p>"
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

    private func help(_ summary: MapSummary) -> String {
        guard !summary.advice.isEmpty else { return "" }
        let items = summary.advice.map { "<li>\(HTMLEscaping.sentence($0))</li>" }
        return
            "<section class=\"card\" aria-labelledby=\"helpTitle\"><h2 id=\"helpTitle\">Improvements that help most</h2>"
            + "<ul>\(items.joined())</ul></section>\n"
    }

    private func tables(_ summary: MapSummary, _ divisor: Int) -> String {
        let limit = max(20, 1000 / divisor)
        return summary.tables.map { table in
            let count = table.rows.count
            let caption = count > limit ? "\(table.caption): the first \(limit) of \(count)" : table.caption
            let html = HTML.table(caption: caption, header: table.header, rows: Array(table.rows.prefix(limit)))
            return "<section class=\"card\">\(html)</section>\n"
        }.joined()
    }
}

/// The data for the page's script: layers, cells and places.
struct MapPageData {
    /// The layers that can be chosen, the expected error first.
    let layers: [MapLayer]
    /// The indices in the map of the places that can be chosen.
    let placeIndices: [Int]
    /// Sentences about omitted data.
    private(set) var notes: [String] = []

    private let analysis: MapAnalysis
    private let floors: [MapFloor]

    /// The largest number of cell values of all layers on a page.
    private static let layerValueLimit = 150_000
    /// The largest number of levels of all places on a page.
    private static let placeValueLimit = 30_000
    /// The characters that encode the levels of cells, one character for each cell. The first character means
    /// ``firstLevel`` dBm, and each further character means 1 dB more.
    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    /// The level in dBm of the first of ``digits``.
    private static let firstLevel = -101

    /// - Parameter divisor: The factor by which the amount of data is reduced: 1 for all data, 2 for half of it, and so
    ///   on.
    init(_ analysis: MapAnalysis, _ floors: [MapFloor], divisor: Int) {
        self.analysis = analysis
        self.floors = floors
        let map = analysis.map
        let layerLimit = max(1, Self.layerValueLimit / divisor / max(1, analysis.cells.count))
        let mostReceived = map.beacons.indices.sorted {
            (map.beacons[$0].seconds, $1) > (map.beacons[$1].seconds, $0)
        }
        let beaconsWithLayer = mostReceived.prefix(layerLimit).sorted()
        let subjects = [MapLayer.Subject.expectedError, .heard] + beaconsWithLayer.map { .beacon($0) }
        layers = subjects.compactMap { MapLayer($0, of: analysis) }
        let perPlace = max(1, map.statistics.reduce(0) { $0 + $1.count } / max(1, map.places.count))
        placeIndices = Array(
            floors.flatMap(\.places).sorted().prefix(max(20, Self.placeValueLimit / divisor / perPlace)))
        if floors.contains(where: \.isExtended) {
            notes.append(
                "Between the surveyed places and the outline, the colours are those of the nearest cell of the map. These "
                    + "values are less certain.")
        }
        if beaconsWithLayer.count < map.beacons.count, !layers.isEmpty {
            notes.append(
                "Of the \(map.beacons.count) beacons, the \(beaconsWithLayer.count) that were received most have a layer. "
                    + "`pharos map show --beacon KEY` shows any other beacon.")
        }
    }

    /// The data as an element of the page.
    var element: String {
        PageData.object([
            ("firstLevel", .number(Double(Self.firstLevel))), ("digits", .text(String(Self.digits))),
            ("layers", .list(layers.map(layer))), ("floors", .list(floors.map(floor))),
            ("places", .object(placeIndices.map { ("\($0)", place($0)) })),
        ]).element(id: "data")
    }

    private func layer(_ layer: MapLayer) -> PageData {
        var members: [(String, PageData)] = [
            ("name", .text(HTMLEscaping.shortened(layer.name, to: 160))), ("unit", .text(layer.unit)),
            ("caption", .text(layer.caption)), ("higher", .flag(layer.shades.isHigherBetter)),
            ("bounds", .list(layer.shades.bounds.map(Self.short))),
            ("shades", .list(layer.shades.names(unit: layer.unit).map(PageData.text))),
        ]
        if case .beacon(let number) = layer.subject {
            members.append(("beacon", .number(Double(number))))
            members.append(("levels", .text(String(layer.values.map(Self.digit)))))
        } else {
            members.append(("values", .list(layer.values.map(Self.short))))
        }
        return .object(members)
    }

    private static func digit(_ level: Double) -> Character {
        digits[max(0, min(digits.count - 1, Int(max(-1e6, min(1e6, level.rounded()))) - firstLevel))]
    }

    private func floor(_ floor: MapFloor) -> PageData {
        let corners = floor.squares.map { floor.corner($0.position) }.flatMap { [$0.x, $0.y] }
        return .object([
            ("cells", .list(floor.squares.map { .number(Double($0.cell)) })),
            ("corners", .list(corners.map(Self.short))),
            ("side", Self.short(floor.side)), ("places", .list(floor.places.map { .number(Double($0)) })),
        ])
    }

    /// Returns the data of a place. The member `levels` has three values for each beacon: the beacon's number, the
    /// measured level and the residual. The member `taken` has two values for each place that this place is mistaken
    /// for: the index of the other place and the probability.
    private func place(_ index: Int) -> PageData {
        let place = analysis.map.places[index]
        let spot = floors.first { $0.floor == place.floor }?.spot(index)
        let levels = analysis.map.statistics[index].flatMap { entry -> [PageData] in
            let residual = analysis.residual(beacon: entry.beacon, place: index)
            return [.number(Double(entry.beacon)), Self.short(entry.mean), Self.short(residual)]
        }
        let mistakes: [PageData] = analysis.confusion[index].flatMap {
            [.number(Double($0.place)), Self.short($0.probability, scale: 1000)]
        }
        return .object([
            ("name", .text(HTMLEscaping.shortened(place.name, to: 80))), ("x", Self.short(spot?.x)),
            ("y", Self.short(spot?.y)), ("error", Self.short(analysis.placeErrors[index])),
            ("heard", .number(analysis.receivedBeacons(at: index).map(Double.init))), ("taken", .list(mistakes)),
            ("levels", .list(levels)),
        ])
    }

    private static func short(_ value: Double?) -> PageData { short(value, scale: 100) }

    private static func short(_ value: Double?, scale: Double) -> PageData {
        .number(value.map { ($0 * scale).rounded() / scale })
    }
}

/// The script of a map's page. It redraws the floor when another layer or place is chosen. It does not use the network,
/// and stores nothing.
enum MapScript {
    static let text = String(decoding: PackageResources.map_js, as: UTF8.self)
}

/// The CSS of the pages of maps and runs, in addition to the CSS of the planner's pages.
enum MapStyle {
    static let text = String(decoding: PackageResources.map_css, as: UTF8.self)
}
