internal import Planner
public import Sites

/// A layer of a map as one SVG file: all floors below each other, with what the colours mean, in colours for paper.
public struct MapDrawing {
    private let floors: [MapFloor]
    private let layer: MapLayer
    private let title: String

    /// - Parameters:
    ///   - title: Above the drawing.
    ///   - site: Whose walls and outline are drawn; without one those of the map's own site, where it was made from one.
    public init(_ picture: MapPicture, layer: MapLayer, title: String, site: Site? = nil) {
        floors = MapFloor.all(picture, site: site ?? picture.map.modelSite)
        self.layer = layer
        self.title = title
    }

    private static let head = 64.0
    private static let row = 22.0

    /// The file.
    public var svg: String {
        var body = ""
        var top = Self.head
        for floor in floors {
            let drawing = floor.drawing(layer).element(label: floor.label(layer))
            if let name = floor.floor {
                body += text(name, 16, top + 4, "strong")
                top += Self.row
            }
            let height = floor.frame.height
            // The drawing's own element, moved down.
            body +=
                "<svg y=\"\(SVG.number(top))\" width=\"\(Self.width)\" height=\"\(SVG.number(height))\""
                + drawing.dropFirst("<svg".count)
            top += height + Self.row
        }
        for (index, name) in layer.shades.names(unit: layer.unit).enumerated() {
            let (x, y) = (16.0 + Double(index / 4) * 300, top + Double(index % 4) * Self.row)
            body +=
                "<rect class=\"f\(index)\" x=\"\(SVG.number(x))\" y=\"\(SVG.number(y))\" width=\"24\" height=\"13\"/>"
                + text(name, x + 32, y + 12, "")
        }
        top += 4 * Self.row + 8
        return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"\(Self.width)\" height=\"\(SVG.number(top))\" "
            + "viewBox=\"0 0 \(Self.width) \(SVG.number(top))\"><title>\(HTMLEscaping.text(title))</title>"
            + "<style>\(Self.style)</style><rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>"
            + text(title, 16, 28, "strong") + text(layer.name, 16, 50, "") + body + "</svg>\n"
    }

    private static let width = "\(Int(FloorPlanFigure.Frame.width))"

    private func text(_ raw: String, _ x: Double, _ y: Double, _ name: String) -> String {
        "<text\(name.isEmpty ? "" : " class=\"\(name)\"") x=\"\(SVG.number(x))\" y=\"\(SVG.number(y))\">"
            + "\(HTMLEscaping.text(HTMLEscaping.shortened(raw, to: 80)))</text>"
    }

    /// The page's classes in its light colours, without variables: programs for print know none.
    static let style = """
        text{font:14px sans-serif;fill:#17222e}.strong{font-weight:600}.label{font-size:12px}
        .label{stroke:#fff;stroke-width:3px;paint-order:stroke}.outline,.wall{fill:none;stroke:#17222e}
        .outline{stroke-width:2.5}.rule{stroke:#17222e;stroke-width:2}
        .links{fill:none;stroke:#c0365b;stroke-width:3;stroke-linejoin:round}.fill{fill:#d9e6f2}
        .way{fill:none;stroke:#5b4bb5;stroke-width:2.5;stroke-dasharray:1 7;stroke-linecap:round}
        .beacon{fill:#e39a1d;stroke:#17222e;stroke-width:1.6}.place{fill:#fff;stroke:#17222e;stroke-width:1.6}
        .f0{fill:#14786a}.f1{fill:#3b9a8a}.f2{fill:#74bcab}.f3{fill:#b4dccc}
        .f4{fill:#f6dc9a}.f5{fill:#ee9f52}.f6{fill:#d2552f}.f7{fill:#8f1d2c}
        """
}
