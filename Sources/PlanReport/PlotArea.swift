/// Axes with their labels, and what stands between them.
struct PlotArea {
    /// What all charts of the page share, in units of the drawing: it is about 600 wide and scales with the page.
    static let width = 600.0
    static let left = 62.0
    static let right = 586.0

    let top: Double
    let bottom: Double
    let x: Scale
    let y: Scale
    private(set) var drawing: SVG

    init(height: Double = 340, top: Double = 18, x: (Double, Double) -> Scale, y: (Double, Double) -> Scale) {
        self.top = top
        bottom = height - 56
        self.x = x(Self.left, Self.right)
        self.y = y(bottom, top)
        drawing = SVG(width: Self.width, height: height)
    }

    /// Grid lines and labels. Labels that would touch the one before are left out.
    mutating func drawAxes(
        xName: String, yName: String, xTicks: [Double]? = nil, yTicks: [Double]? = nil,
        xText: (Double) -> String = { NumberText.significant($0) },
        yText: (Double) -> String = { NumberText.significant($0) }
    ) {
        for tick in yTicks ?? y.ticks {
            drawing.line(Self.left, y(tick), Self.right, y(tick), class: "grid")
            drawing.text(yText(tick), Self.left - 8, y(tick) + 5, anchor: .end, class: "tick")
        }
        var free = 0.0
        for tick in xTicks ?? x.ticks {
            drawing.line(x(tick), bottom, x(tick), bottom + 5, class: "axis")
            let text = xText(tick)
            // Half the width of the text at the size that phones get.
            let half = Double(text.count) * 6.4 + 2
            guard x(tick) - half >= free else { continue }
            drawing.text(text, x(tick), bottom + 24, anchor: .middle, class: "tick")
            free = x(tick) + half
        }
        drawing.line(Self.left, bottom, Self.right, bottom, class: "axis")
        drawing.text(xName, Self.right, bottom + 48, anchor: .end, class: "name")
        drawing.text(yName, 0, 17, class: "name")
    }

    /// A vertical line with its name at the given height, on the side where there is room.
    mutating func drawMarker(_ name: String, x value: Double, at height: Double, class style: String, id: String = "") {
        let place = x(value)
        guard place.isFinite else { return }
        let isLeft = place > (Self.left + Self.right) / 2
        drawing.line(place, height - 12, place, bottom, class: "marker \(style)", id: id)
        drawing.text(
            name, place + (isLeft ? -6 : 6), height, anchor: isLeft ? .end : .start, class: "label \(style)",
            id: id.isEmpty ? "" : id + "Name")
    }

    mutating func drawText(_ text: String, _ x: Double, _ y: Double, class style: String, id: String = "") {
        drawing.text(text, x, y, class: style, id: id)
    }

    mutating func drawPath(_ path: SVGPath, class style: String, id: String = "") {
        drawing.path(path, class: style, id: id)
    }

    func places(_ points: [PlanPageContent.Point]) -> [(x: Double, y: Double)] {
        points.map { (x($0.x), y($0.y)) }
    }
}
