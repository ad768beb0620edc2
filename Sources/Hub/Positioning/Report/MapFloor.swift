internal import Airtime
internal import BluetoothTypes
internal import Planner
public import Sites

/// Draws a floor of a map: cells in the colours of a layer, walls, beacons and places.
struct MapFloor {
    let analysis: MapAnalysis
    /// The floor's name; `nil` on sites with one floor.
    let floor: String?
    /// The index of the floor on the page. The ids of the floor's elements contain it.
    let number: Int
    let site: Site?
    private let base: FloorDrawing
    /// The indices of the floor's places in the map.
    let places: [Int]
    /// The indices of the floor's cells in the analysis.
    let cells: [Int]
    /// The squares that are drawn: the cells, and further squares up to the outline of the floor. Each square has the
    /// colour of the nearest cell, whose index is `cell`.
    let squares: [(cell: Int, position: FloorPosition)]

    /// The largest number of squares. If the floor would have more, only the cells are drawn.
    private static let squareLimit = 6000

    /// The largest number of places with names and values next to them.
    private static let namedPlaces = 60

    /// - Parameter site: The site whose walls and outline are drawn; `nil` to draw none.
    init(_ analysis: MapAnalysis, floor: String?, number: Int, site: Site?) {
        self.analysis = analysis
        self.floor = floor
        self.number = number
        self.site = site
        let cells = analysis.cells.indices.filter { analysis.cells[$0].floor == floor }
        places = analysis.map.places.indices.filter {
            analysis.map.places[$0].floor == floor && analysis.map.places[$0].position != nil
        }
        self.cells = cells
        squares = Self.squares(analysis, cells, in: site?.outline)
        base = FloorDrawing(
            analysis.map, floor: floor, site: site, spots: cells.map { analysis.cells[$0].position })
    }

    private static func squares(
        _ analysis: MapAnalysis, _ cells: [Int], in outline: FloorOutline?
    ) -> [(cell: Int, position: FloorPosition)] {
        let cellSquares = cells.map { (cell: $0, position: analysis.cells[$0].position) }
        guard let outline, let step = analysis.step, let origin = cellSquares.first?.position,
            let bounds = FloorBounds(outline.corners)
        else { return cellSquares }
        func index(_ position: FloorPosition) -> [Int] {
            [Int(((position.x - origin.x) / step).rounded()), Int(((position.y - origin.y) / step).rounded())]
        }
        let low = index(bounds.low), high = index(bounds.high)
        guard (high[0] - low[0] + 1) * (high[1] - low[1] + 1) <= squareLimit else { return cellSquares }
        let covered = Set(cellSquares.map { index($0.position) })
        var squares = cellSquares
        for row in low[1]...high[1] {
            for column in low[0]...high[0] where !covered.contains([column, row]) {
                let position = FloorPosition(
                    x: origin.x + Double(column) * step, y: origin.y + Double(row) * step)
                let nearest = cellSquares.min {
                    $0.position.distance(to: position) < $1.position.distance(to: position)
                }
                if let nearest, touches(position, step, outline) { squares.append((nearest.cell, position)) }
            }
        }
        return squares
    }

    /// Returns true if at least one of these points of a square is inside an outline: its middle, a corner, or the
    /// middle of a side.
    private static func touches(_ middle: FloorPosition, _ side: Double, _ outline: FloorOutline) -> Bool {
        let offsets = [-side / 2, 0, side / 2]
        return offsets.contains { x in
            offsets.contains { outline.contains(FloorPosition(x: middle.x + x, y: middle.y + $0)) }
        }
    }

    /// True if squares beyond the cells are drawn.
    var isExtended: Bool { squares.count > cells.count }

    /// Returns the floors of a map in the order of its places.
    static func all(_ analysis: MapAnalysis, site: Site?) -> [MapFloor] {
        guard analysis.step != nil else { return [] }
        return analysis.floors.enumerated().map { MapFloor(analysis, floor: $1, number: $0, site: site) }
    }

    /// Returns the upper left corner of a square in the drawing. The middle of the square is at `position`.
    func corner(_ position: FloorPosition) -> (x: Double, y: Double) {
        let middle = base.place(position)
        return (middle.x - side / 2, middle.y - side / 2)
    }

    /// The side of a cell in the drawing. It is slightly enlarged to avoid gaps between cells.
    var side: Double { (analysis.step ?? 1) * base.frame.scale + 0.3 }

    /// The middle of a place in the drawing.
    func spot(_ place: Int) -> (x: Double, y: Double) {
        analysis.map.places[place].position.map(base.place) ?? (.nan, .nan)
    }

    /// Returns the drawing with one layer. The script of the page changes the shades, the texts of the places, and the
    /// lines to mistaken places. It finds these elements by their ids.
    func drawing(_ layer: MapLayer) -> SVG {
        var drawing = base.empty
        var paths = [SVGPath](repeating: SVGPath(), count: FloorShades.count)
        for (cell, position) in squares {
            let corner = corner(position)
            paths[layer.shades.shade(layer.values[cell])].addRectangle(corner.x, corner.y, side, side)
        }
        base.drawPicture(in: &drawing)
        base.beginInside(&drawing, id: "floor\(number)inside")
        for (index, path) in paths.enumerated() {
            drawing.path(path, class: "f\(index)", id: "floor\(number)shade\(index)")
        }
        drawing.endGroup()
        base.drawWalls(in: &drawing)
        drawing.path(SVGPath(), class: "mistakes", id: "floor\(number)mistakes")
        base.drawBeacons(in: &drawing, radius: 5) { "floor\(number)beacon\($0)" }
        for place in places {
            let spot = spot(place)
            drawing.circle(spot.x, spot.y, radius: 4.5, class: "place", title: title(place), id: "place\(place)")
        }
        if places.count <= Self.namedPlaces {
            for place in places {
                let spot = spot(place)
                drawing.text(
                    layer.text(place: place, of: analysis), spot.x, spot.y - 8, anchor: .middle,
                    class: "label measured", id: "place\(place)Text")
            }
        }
        base.frame.drawRule(in: &drawing)
        return drawing
    }

    private func title(_ place: Int) -> String {
        let others = analysis.confusion[place].prefix(3).map {
            "\(analysis.map.places[$0.place].name) \(NumberFormat.percent($0.probability))"
        }
        let name = HTMLEscaping.shortened(analysis.map.places[place].name, to: 60)
        return others.isEmpty ? name : "\(name), mistaken for \(others.joined(separator: ", "))"
    }

    /// The description for screen readers.
    func label(_ layer: MapLayer) -> String {
        "\(layer.name) on \(floor ?? "the floor"): \(cells.count) cells, \(places.count) places, "
            + "\(base.wallCount) walls. The table below lists the places."
    }
}

/// A layer of a map as one SVG file for print: all floors below each other, and the meaning of the colours.
public struct MapDrawing {
    private let paper: PaperDrawing

    /// - Parameters:
    ///   - title: The text above the drawing.
    ///   - site: The site whose walls and outline are drawn; `nil` for the site from which the map was made, if there
    ///     is one.
    public init(_ analysis: MapAnalysis, layer: MapLayer, title: String, site: Site? = nil) {
        let floors = MapFloor.all(analysis, site: site ?? analysis.map.modelSite)
        let shades = layer.shades.names(unit: layer.unit).enumerated().filter { !$0.element.isEmpty }
        paper = PaperDrawing(
            title: title, subtitle: layer.name,
            floors: floors.map { ($0.floor, $0.drawing(layer), $0.label(layer)) },
            legend: shades.map { (name: $0.element, class: "f\($0.offset)") })
    }

    /// The text of the file.
    public var svg: String { paper.svg }
}
