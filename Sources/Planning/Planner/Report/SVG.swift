internal import Airtime
internal import BluetoothTypes

/// A drawing, built element by element. An element with coordinates that are not finite is left out. Texts are escaped.
package struct SVG {
    package let width: Double
    package let height: Double
    private var body = ""

    package init(width: Double, height: Double) {
        self.width = width
        self.height = height
    }

    /// The part of a text that is at its point: the start, the middle or the end.
    package enum Anchor: String {
        case start
        case middle
        case end
    }

    package mutating func line(
        _ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, class name: String, id: String = ""
    ) {
        guard x1.isFinite, y1.isFinite, x2.isFinite, y2.isFinite else { return }
        body +=
            "<line\(attributes(name, id)) x1=\"\(Self.number(x1))\" y1=\"\(Self.number(y1))\" "
            + "x2=\"\(Self.number(x2))\" y2=\"\(Self.number(y2))\"/>"
    }

    package mutating func circle(
        _ x: Double, _ y: Double, radius: Double, class name: String, title: String = "", id: String = ""
    ) {
        guard x.isFinite, y.isFinite, radius.isFinite, radius >= 0 else { return }
        let inner = title.isEmpty ? "" : "<title>\(HTMLEscaping.text(title))</title>"
        body +=
            "<circle\(attributes(name, id)) cx=\"\(Self.number(x))\" cy=\"\(Self.number(y))\" "
            + "r=\"\(Self.number(radius))\">\(inner)</circle>"
    }

    /// Draws a square around a point.
    package mutating func square(_ x: Double, _ y: Double, half: Double, class name: String, title: String = "") {
        guard x.isFinite, y.isFinite, half.isFinite, half >= 0 else { return }
        let inner = title.isEmpty ? "" : "<title>\(HTMLEscaping.text(title))</title>"
        body +=
            "<rect\(attributes(name, "")) x=\"\(Self.number(x - half))\" y=\"\(Self.number(y - half))\" "
            + "width=\"\(Self.number(2 * half))\" height=\"\(Self.number(2 * half))\">\(inner)</rect>"
    }

    package mutating func text(
        _ text: String, _ x: Double, _ y: Double, anchor: Anchor = .start, class name: String = "", id: String = ""
    ) {
        guard x.isFinite, y.isFinite else { return }
        body +=
            "<text\(attributes(name, id)) x=\"\(Self.number(x))\" y=\"\(Self.number(y))\" "
            + "text-anchor=\"\(anchor.rawValue)\">\(HTMLEscaping.text(HTMLEscaping.shortened(text, to: 120)))</text>"
    }

    /// Draws a picture that fills a rectangle.
    ///
    /// - Parameter address: A data URL with the picture, such as `data:image/png;base64,…`.
    package mutating func image(
        _ address: String, _ x: Double, _ y: Double, _ width: Double, _ height: Double, class name: String
    ) {
        guard x.isFinite, y.isFinite, width.isFinite, height.isFinite, width > 0, height > 0 else { return }
        body +=
            "<image\(attributes(name, "")) x=\"\(Self.number(x))\" y=\"\(Self.number(y))\" "
            + "width=\"\(Self.number(width))\" height=\"\(Self.number(height))\" preserveAspectRatio=\"none\" "
            + "href=\"\(HTMLEscaping.text(address))\"/>"
    }

    /// Draws a path. An empty path is only added if it has an `id`, so that a script can fill it.
    package mutating func path(_ path: SVGPath, class name: String, id: String = "", strokeWidth: Double? = nil) {
        guard !path.data.isEmpty || !id.isEmpty else { return }
        let stroke = strokeWidth.map { " stroke-width=\"\(Self.number($0))\"" } ?? ""
        body += "<path\(attributes(name, id))\(stroke) d=\"\(path.data)\"/>"
    }

    /// Begins a group of elements, until ``endGroup()``.
    ///
    /// - Parameter clip: Only the part of the group inside `area` is drawn. The id must be unique on the page. Nil to
    ///   draw the whole group.
    package mutating func beginGroup(
        id: String = "", class name: String = "", clip: (id: String, area: SVGPath)? = nil
    ) {
        var part = ""
        if let clip, !clip.area.data.isEmpty {
            body += "<clipPath id=\"\(HTMLEscaping.text(clip.id))\"><path d=\"\(clip.area.data)\"/></clipPath>"
            part = " clip-path=\"url(#\(HTMLEscaping.text(clip.id)))\""
        }
        body += "<g\(attributes(name, id))\(part)>"
    }

    package mutating func endGroup() { body += "</g>" }

    /// Returns the drawing as an element of a page. Screen readers read `label`.
    package func element(label: String, id: String = "", class style: String = "") -> String {
        let name = HTMLEscaping.text(HTMLEscaping.shortened(label, to: 600))
        return "<svg\(attributes(style, id)) viewBox=\"0 0 \(Self.number(width)) \(Self.number(height))\" role=\"img\" "
            + "aria-label=\"\(name)\">\(body)</svg>"
    }

    /// Returns a number as text with at most two decimals, which is finer than a pixel on any screen.
    package static func number(_ value: Double) -> String {
        NumberFormat.trimmed(NumberFormat.fixed(max(-1e6, min(1e6, value)), 2))
    }

    private func attributes(_ name: String, _ id: String) -> String {
        (id.isEmpty ? "" : " id=\"\(HTMLEscaping.text(id))\"")
            + (name.isEmpty ? "" : " class=\"\(HTMLEscaping.text(name))\"")
    }
}

/// The data of a path. Points that are not finite interrupt a line.
package struct SVGPath {
    private(set) var data = ""

    package init() {}

    /// Creates a line through points.
    package init(line points: [(x: Double, y: Double)], isClosed: Bool = false) {
        // The number of points in the current part of the line. A part with a single point is drawn as a dot.
        var length = 0
        for point in points {
            guard point.x.isFinite, point.y.isFinite else {
                if length == 1 { data += "h0" }
                length = 0
                continue
            }
            data += (length > 0 ? "L" : "M") + SVG.number(point.x) + " " + SVG.number(point.y)
            length += 1
        }
        if length == 1 { data += "h0" }
        if isClosed, !data.isEmpty { data += "Z" }
    }

    /// Creates the area between a line and the height `base`.
    init(areaUnder points: [(x: Double, y: Double)], downTo base: Double) {
        let kept = points.filter { $0.x.isFinite && $0.y.isFinite }
        guard let first = kept.first, let last = kept.last else { return }
        data = SVGPath(line: [(first.x, base)] + kept + [(last.x, base)], isClosed: true).data
    }

    package mutating func addLine(from start: (x: Double, y: Double), to end: (x: Double, y: Double)) {
        guard start.x.isFinite, start.y.isFinite, end.x.isFinite, end.y.isFinite else { return }
        data += "M\(SVG.number(start.x)) \(SVG.number(start.y))L\(SVG.number(end.x)) \(SVG.number(end.y))"
    }

    /// Adds a part of a circle, clockwise from its top.
    ///
    /// - Parameter share: The share of the whole circle, 0...1.
    package mutating func addArc(_ x: Double, _ y: Double, radius: Double, share: Double) {
        guard x.isFinite, y.isFinite, radius.isFinite, share > 0 else { return }
        // SVG does not draw an arc that ends where it starts, so a full circle is slightly shortened.
        let share = min(share, 0.9999)
        let (endX, endY) = (x + radius * sin(2 * .pi * share), y - radius * cos(2 * .pi * share))
        data += "M\(SVG.number(x)) \(SVG.number(y - radius))A\(SVG.number(radius)) \(SVG.number(radius)) 0 "
        data += "\(share > 0.5 ? 1 : 0) 1 \(SVG.number(endX)) \(SVG.number(endY))"
    }

    /// Adds a line of length zero. It is drawn as a dot, because the ends of lines are round.
    mutating func addDot(_ place: (x: Double, y: Double)) {
        guard place.x.isFinite, place.y.isFinite else { return }
        data += "M\(SVG.number(place.x)) \(SVG.number(place.y))h0"
    }

    package mutating func addRectangle(_ x: Double, _ y: Double, _ width: Double, _ height: Double) {
        guard x.isFinite, y.isFinite, width.isFinite, height.isFinite, width > 0, height > 0 else { return }
        let (across, down) = (SVG.number(width), SVG.number(height))
        data += "M\(SVG.number(x)) \(SVG.number(y))h\(across)v\(down)h-\(across)z"
    }
}
