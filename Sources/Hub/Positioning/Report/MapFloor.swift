internal import Airtime
internal import Planner
internal import Sites

/// A floor of a map from above: cells in the colours of a layer, walls, beacons and places.
struct MapFloor {
    let picture: MapPicture
    let floor: String?
    /// Its number on the page, by which the script finds its parts.
    let number: Int
    let site: Site?
    private let plan: PlanPageContent.FloorPlan
    let frame: FloorPlanFigure.Frame
    /// The places on it, as numbers in the map.
    let places: [Int]
    /// Its cells, as numbers in the picture.
    let cells: [Int]

    /// More names than these have no room.
    private static let namedBeacons = 60
    /// More walls than these are no plan but a drawing of the furniture.
    private static let wallLimit = 3000

    /// - Parameter site: Whose walls and outline are drawn; `nil` for none.
    init(_ picture: MapPicture, floor: String?, number: Int, site: Site?) {
        self.picture = picture
        self.floor = floor
        self.number = number
        self.site = site
        places = picture.map.places.indices.filter {
            picture.map.places[$0].floor == floor && picture.map.places[$0].position != nil
        }
        cells = picture.cells.indices.filter { picture.cells[$0].floor == floor }
        let step = picture.step ?? 1
        let beacons = picture.map.beacons.compactMap { beacon in
            beacon.position.map { PlanPageContent.FloorPlan.Beacon(beacon.key.text, at: Self.point($0)) }
        }
        plan = .init(
            title: floor ?? "", valueName: "", unit: "", isHigherBetter: false, spotSpacing: step,
            outline: site?.outline?.corners.map(Self.point) ?? [],
            walls: (site?.walls ?? []).prefix(Self.wallLimit).map {
                .init(from: Self.point($0.from), to: Self.point($0.to), attenuation: $0.attenuation)
            },
            beacons: beacons,
            spots: cells.map { .init(Self.point(picture.cells[$0].position), nil) })
        frame = FloorPlanFigure.Frame(of: plan)
    }

    /// The floors of a map in the order of its places.
    static func all(_ picture: MapPicture, site: Site?) -> [MapFloor] {
        guard picture.step != nil else { return [] }
        var floors: [String?] = []
        for cell in picture.cells where !floors.contains(cell.floor) { floors.append(cell.floor) }
        return floors.enumerated().map { MapFloor(picture, floor: $1, number: $0, site: site) }
    }

    private static func point(_ position: FloorPosition) -> PlanPageContent.Point { .init(position.x, position.y) }

    /// Left and top of a cell in the drawing.
    func corner(_ cell: Int) -> (x: Double, y: Double) {
        let place = frame.place(Self.point(picture.cells[cell].position))
        return (place.x - side / 2, place.y - side / 2)
    }

    /// Of a cell in the drawing; a hair more, so that no ground shows between two cells.
    var side: Double { (picture.step ?? 1) * frame.scale + 0.3 }

    /// Where a place stands in the drawing.
    func spot(_ place: Int) -> (x: Double, y: Double) {
        picture.map.places[place].position.map { frame.place(Self.point($0)) } ?? (.nan, .nan)
    }

    /// The drawing with one layer. The script changes the shades, the places' texts and the links by their ids.
    func drawing(_ layer: MapLayer) -> SVG {
        var drawing = SVG(width: FloorPlanFigure.Frame.width, height: frame.height)
        var paths = [SVGPath](repeating: SVGPath(), count: MapShades.count)
        for cell in cells {
            let corner = corner(cell)
            paths[layer.shades.shade(layer.values[cell])].addRectangle(corner.x, corner.y, side, side)
        }
        for (index, path) in paths.enumerated() {
            drawing.path(path, class: "f\(index)", id: "floor\(number)shade\(index)")
        }
        drawing.path(SVGPath(line: plan.outline.map(frame.place), isClosed: true), class: "outline")
        frame.draw(plan.walls, in: &drawing)
        drawing.path(SVGPath(), class: "links", id: "floor\(number)links")
        for (index, beacon) in picture.map.beacons.enumerated() {
            guard let position = beacon.position else { continue }
            let place = frame.place(Self.point(position))
            drawing.circle(
                place.x, place.y, radius: 5, class: "beacon", title: beacon.key.text,
                id: "floor\(number)beacon\(index)")
        }
        for place in places {
            let spot = spot(place)
            drawing.circle(
                spot.x, spot.y, radius: 4.5, class: "place", title: title(place), id: "place\(place)")
        }
        if places.count <= Self.namedBeacons {
            for place in places {
                let spot = spot(place)
                drawing.text(
                    layer.text(place: place, of: picture), spot.x, spot.y - 8, anchor: .middle,
                    class: "label measured", id: "place\(place)Text")
            }
        }
        frame.drawRule(in: &drawing)
        return drawing
    }

    private func title(_ place: Int) -> String {
        let others = picture.confusion[place].prefix(3).map {
            "\(picture.map.places[$0.place].name) \(NumberText.percent($0.probability))"
        }
        let name = HTMLEscaping.shortened(picture.map.places[place].name, to: 60)
        return others.isEmpty ? name : "\(name), taken for \(others.joined(separator: ", "))"
    }

    /// For who cannot see it.
    func label(_ layer: MapLayer) -> String {
        "\(layer.name) on \(floor ?? "the floor"): \(cells.count) cells, \(places.count) places, "
            + "\(plan.walls.count) walls. The places stand in the table below."
    }
}
