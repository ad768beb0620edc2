internal import Airtime
internal import Planner
internal import Sites

/// The parts that every drawing of a floor has: its scale, outline, walls and beacons.
struct FloorDrawing {
    let frame: FloorPlanFigure.Frame
    private var content: PlanPageContent.FloorPlan
    private let beacons: [SignalMap.Beacon]

    /// The largest number of walls that are drawn.
    private static let wallLimit = 3000

    /// - Parameters:
    ///   - floor: The floor's name; `nil` on sites with one floor.
    ///   - site: The site whose outline and walls are drawn; `nil` to draw none.
    ///   - spots: Positions that the drawing must contain.
    init(_ map: SignalMap, floor: String?, site: Site?, spots: [FloorPosition]) {
        beacons = map.beacons
        content = .init(
            title: floor ?? "", valueName: "", unit: "", isHigherBetter: false, spotSpacing: 1,
            beacons: map.beacons.compactMap { beacon in
                beacon.position.map { PlanPageContent.FloorPlan.Beacon(beacon.key.text, at: Self.point($0)) }
            },
            spots: spots.map { .init(Self.point($0), nil) })
        if let site { content.takeFloor(of: site, wallLimit: Self.wallLimit) }
        frame = FloorPlanFigure.Frame(of: content)
    }

    private static func point(_ position: FloorPosition) -> PlanPageContent.Point { .init(position.x, position.y) }

    var wallCount: Int { content.walls.count }

    /// An empty drawing with the size of the floor.
    var empty: SVG { SVG(width: FloorPlanFigure.Frame.width, height: frame.height) }

    /// Converts a position on the floor to units of the drawing.
    func place(_ position: FloorPosition) -> (x: Double, y: Double) { frame.place(Self.point(position)) }

    /// Draws the picture of the floor. Everything that is drawn later covers it.
    func drawPicture(in drawing: inout SVG) { frame.draw(content.picture, in: &drawing) }

    /// Begins a group that is drawn only inside the outline. If the floor has no outline, the group is drawn
    /// everywhere. A group without a class is translucent if the floor has a picture.
    ///
    /// - Parameter id: An id that is unique on the page.
    func beginInside(_ drawing: inout SVG, id: String, class style: String = "") {
        let outline = SVGPath(line: content.outline.map(frame.place), isClosed: true)
        let style = content.picture == nil || !style.isEmpty ? style : "overPicture"
        drawing.beginGroup(class: style, clip: content.outline.isEmpty ? nil : (id, outline))
    }

    /// Draws the outline and the walls.
    func drawWalls(in drawing: inout SVG) {
        drawing.path(SVGPath(line: content.outline.map(frame.place), isClosed: true), class: "outline")
        frame.draw(content.walls, in: &drawing)
    }

    /// Draws the beacons whose positions are known.
    ///
    /// - Parameter id: Returns the id of a beacon's circle. The argument is the beacon's number in the map.
    func drawBeacons(in drawing: inout SVG, radius: Double, id: (Int) -> String = { _ in "" }) {
        for (number, beacon) in beacons.enumerated() {
            guard let position = beacon.position else { continue }
            let spot = place(position)
            drawing.circle(
                spot.x, spot.y, radius: radius, class: "beacon", title: beacon.key.text, id: id(number))
        }
    }
}

/// The floors of a map below each other as one SVG file, in colours for print.
struct PaperDrawing {
    var title: String
    var subtitle: String
    var floors: [(name: String?, drawing: SVG, label: String)]
    /// The meaning of each colour, with its CSS class.
    var legend: [(name: String, class: String)] = []

    /// The height of the title, in units of the drawing.
    private static let head = 64.0
    /// The height of a row of text, in units of the drawing.
    private static let row = 22.0
    private static let width = FloorPlanFigure.Frame.width

    /// The text of the file.
    var svg: String {
        var body = ""
        var top = Self.head
        for floor in floors {
            if let name = floor.name {
                body += text(name, 16, top + 4, "strong")
                top += Self.row
            }
            let (width, height) = (SVG.number(floor.drawing.width), SVG.number(floor.drawing.height))
            body += "<svg y=\"\(SVG.number(top))\" width=\"\(width)\" height=\"\(height)\""
            body += floor.drawing.element(label: floor.label).dropFirst("<svg".count)
            top += floor.drawing.height + Self.row
        }
        for (index, entry) in legend.enumerated() {
            let (x, y) = (16 + Double(index / 4) * 300, top + Double(index % 4) * Self.row)
            body += "<rect class=\"\(entry.class)\" x=\"\(SVG.number(x))\" y=\"\(SVG.number(y))\""
            body += " width=\"24\" height=\"13\"/>" + text(entry.name, x + 32, y + 12)
        }
        if !legend.isEmpty { top += 4 * Self.row + 8 }
        let (width, height) = (SVG.number(Self.width), SVG.number(top))
        return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"\(width)\" height=\"\(height)\" "
            + "viewBox=\"0 0 \(width) \(height)\"><title>\(HTMLEscaping.text(title))</title>"
            + "<style>\(Self.style)</style><rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>"
            + text(title, 16, 28, "strong") + text(subtitle, 16, 50) + body + "</svg>\n"
    }

    private func text(_ raw: String, _ x: Double, _ y: Double, _ name: String = "") -> String {
        "<text\(name.isEmpty ? "" : " class=\"\(name)\"") x=\"\(SVG.number(x))\" y=\"\(SVG.number(y))\">"
            + "\(HTMLEscaping.text(HTMLEscaping.shortened(raw, to: 90)))</text>"
    }

    /// The CSS classes of the pages, in light colours. This style contains no CSS variables, because print programs do
    /// not support them.
    private static let style = """
        text{font:14px sans-serif;fill:#17222e}.strong{font-weight:600}.label{font-size:12px}
        .label{stroke:#fff;stroke-width:3px;paint-order:stroke}.outline,.wall{fill:none;stroke:#17222e}
        .outline{stroke-width:2.5}.rule{stroke:#17222e;stroke-width:2}
        .track,.mistakes{fill:none;stroke:#c0365b;stroke-width:3;stroke-linejoin:round}
        .regions{opacity:.25}.fill{fill:#0b5c9e}
        .way{fill:none;stroke:#5b4bb5;stroke-width:2.5;stroke-dasharray:1 7;stroke-linecap:round}
        .beacon{fill:#e39a1d;stroke:#17222e;stroke-width:1.6}.place{fill:#fff;stroke:#17222e;stroke-width:1.6}
        .f0{fill:#14786a}.f1{fill:#3b9a8a}.f2{fill:#74bcab}.f3{fill:#b4dccc}
        .overPicture{opacity:.6}.f4{fill:#f6dc9a}.f5{fill:#ee9f52}.f6{fill:#d2552f}.f7{fill:#8f1d2c}
        """
}
