internal import Airtime
internal import BluetoothTypes

/// Axes with their labels, and the drawing between them.
struct PlotArea {
    /// The width of an ordinary chart in units of the drawing. The browser scales the drawing to the width of the page.
    static let width = 600.0
    /// The left end of the x axis. There is room for labels such as `100000`, even with the larger letters on the
    /// screen of a phone.
    static let left = 92.0
    static let right = 586.0
    /// The width of a chart that has the whole width of the page.
    static let wideWidth = 1080.0

    let width: Double
    let bottom: Double
    let x: Scale
    let y: Scale
    private(set) var drawing: SVG

    init(
        width: Double = Self.width, height: Double = 340, top: Double = 36, x: (Double, Double) -> Scale,
        y: (Double, Double) -> Scale
    ) {
        self.width = width
        bottom = height - 56
        self.x = x(Self.left, width - Self.width + Self.right)
        self.y = y(bottom, top)
        drawing = SVG(width: width, height: height)
    }

    /// The right end of the x axis.
    private var right: Double { x.end }

    /// Draws the axes with grid lines and labels. A label on the x axis is left out if it would touch the previous
    /// label.
    mutating func drawAxes(
        xName: String, yName: String, xTicks: [Double]? = nil, yTicks: [Double]? = nil,
        xText: (Double) -> String = { NumberFormat.significant($0) },
        yText: (Double) -> String = { NumberFormat.significant($0) }, xID: String = ""
    ) {
        for tick in yTicks ?? y.ticks {
            drawing.line(Self.left, y(tick), right, y(tick), class: "grid")
            drawing.text(yText(tick), Self.left - 8, y(tick) + 5, anchor: .end, class: "tick")
        }
        var free = 0.0
        if !xID.isEmpty { drawing.beginGroup(id: xID) }
        for tick in xTicks ?? x.ticks {
            drawing.line(x(tick), bottom, x(tick), bottom + 5, class: "axis")
            let text = xText(tick)
            // Half the width of the text in the larger letters on the screen of a phone.
            let half = Double(text.count) * 6.4 + 4
            // A long last label is moved to the left, because it would be cut off.
            let textX = min(x(tick), width - half)
            guard textX - half >= free else { continue }
            drawing.text(text, textX, bottom + 27, anchor: .middle, class: "tick")
            free = textX + half
        }
        if !xID.isEmpty { drawing.endGroup() }
        drawing.line(Self.left, bottom, right, bottom, class: "axis")
        drawing.text(xName, right, bottom + 52, anchor: .end, class: "name")
        drawing.text(yName, 0, 20, class: "name")
    }

    /// Draws a vertical line and its name. The name has the given height, and is on the side of the line with more
    /// room.
    mutating func drawMarker(_ name: String, x value: Double, at height: Double, class style: String, id: String = "") {
        let lineX = x(value)
        guard lineX.isFinite else { return }
        let isLeft = lineX > (Self.left + Self.right) / 2
        drawing.line(lineX, height - 12, lineX, bottom, class: "marker \(style)", id: id)
        drawing.text(
            name, lineX + (isLeft ? -6 : 6), height, anchor: isLeft ? .end : .start, class: "label \(style)",
            id: id.isEmpty ? "" : id + "Name")
    }

    /// A vertical line with its name.
    struct Marker {
        let name: String
        let x: Double
        let style: String
        var id = ""
    }

    /// The height of the first row of marker names, and the distance between two rows.
    static let (firstRow, rowHeight) = (20.0, 22.0)

    /// Draws vertical lines with their names. Each name is next to its line, and no other line crosses the name.
    mutating func drawMarkers(_ markers: [Marker], firstRow: Double = Self.firstRow) {
        let shown = markers.filter { x($0.x).isFinite }
        let places = MarkerLayout.places(shown.map { (x: x($0.x), letters: $0.name.count) }, width: width)
        for (marker, place) in zip(shown, places) {
            let (across, height) = (x(marker.x), firstRow + Double(place.row) * Self.rowHeight)
            drawing.line(across, height - 12, across, bottom, class: "marker \(marker.style)", id: marker.id)
            drawing.text(
                marker.name, across + (place.isLeft ? -6 : 6), height, anchor: place.isLeft ? .end : .start,
                class: "label \(marker.style)", id: marker.id.isEmpty ? "" : marker.id + "Name")
        }
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

/// One axis: the positions of values on the page, and round values for its labels.
struct Scale {
    let domain: ClosedRange<Double>
    let start: Double
    let end: Double
    let isLogarithmic: Bool

    /// Creates a scale over the finite values; for a logarithmic scale, over the finite positive values. If all values
    /// are equal, the scale is widened.
    init(
        of values: some Sequence<Double>, from start: Double, to end: Double, isLogarithmic: Bool,
        includesZero: Bool = false
    ) {
        var low = Double.infinity
        var high = -Double.infinity
        for value in values where value.isFinite && (!isLogarithmic || value > 0) {
            low = min(low, value)
            high = max(high, value)
        }
        if includesZero, !isLogarithmic, low <= high { (low, high) = (min(0, low), max(0, high)) }
        if low > high { (low, high) = isLogarithmic ? (1, 10) : (0, 1) }
        if low == high {
            (low, high) = isLogarithmic ? (low / 2, high * 2) : (low - max(1, abs(low)), high + max(1, abs(high)))
        }
        // Larger and smaller values would overflow in the arithmetic of the axis.
        low = isLogarithmic ? max(low, 1e-300) : max(low, -1e150)
        high = min(high, 1e150)
        self.init(low < high ? low...high : 1...10, from: start, to: end, isLogarithmic: isLogarithmic)
    }

    init(_ domain: ClosedRange<Double>, from start: Double, to end: Double, isLogarithmic: Bool) {
        self.domain = domain
        self.start = start
        self.end = end
        self.isLogarithmic = isLogarithmic
    }

    /// Returns the position of a value on the page; NaN for a value that the axis cannot show.
    func callAsFunction(_ value: Double) -> Double {
        guard value.isFinite, !isLogarithmic || value > 0 else { return .nan }
        let (low, high) = (domain.lowerBound, domain.upperBound)
        let fraction = isLogarithmic ? log(value / low) / log(high / low) : (value - low) / (high - low)
        return start + (end - start) * fraction
    }

    /// Round values within the domain, at most twelve.
    var ticks: [Double] {
        isLogarithmic ? logarithmicTicks : linearTicks
    }

    private var linearTicks: [Double] {
        let rough = (domain.upperBound - domain.lowerBound) / 5
        let power = pow(10, log10(rough).rounded(.down))
        let step = [1, 2, 5, 10].map { $0 * power }.first { $0 >= rough } ?? rough
        let first = (domain.lowerBound / step).rounded(.up)
        return (0..<12).map { (first + Double($0)) * step }.filter { $0 <= domain.upperBound * (1 + 1e-12) }
    }

    private var logarithmicTicks: [Double] {
        let decades = log10(domain.upperBound / domain.lowerBound)
        let steps: [Double] = decades > 4.5 ? [1] : decades > 2.8 ? [1, 3] : [1, 2, 5]
        let first = Int(log10(domain.lowerBound).rounded(.down))
        let last = Int(log10(domain.upperBound).rounded(.up))
        let stride = max(1, (last - first) / 10)
        var ticks: [Double] = []
        for exponent in Swift.stride(from: first, through: last, by: stride) {
            for step in steps { ticks.append(step * pow(10, Double(exponent))) }
        }
        return ticks.filter { $0 >= domain.lowerBound * 0.999 && $0 <= domain.upperBound * 1.001 }
    }
}

extension Scale {
    /// Returns a share that grows over time from zero, at `count` evenly spaced positions of this axis. The share is
    /// linear between the given points, and constant after the last point.
    func sampled(_ points: [PlanPageContent.Point], count: Int) -> [PlanPageContent.Point] {
        let known = points.filter { $0.x.isFinite && $0.x > 0 && $0.y >= 0 && $0.y <= 1 }.sorted { $0.x < $1.x }
        guard let last = known.last, count > 1, isLogarithmic else { return [] }
        var before = PlanPageContent.Point(0, 0)
        var next = 0
        return (0..<count).map { index in
            let (low, high) = (domain.lowerBound, domain.upperBound)
            let x = low * pow(high / low, Double(index) / Double(count - 1))
            while next < known.count, known[next].x < x {
                before = known[next]
                next += 1
            }
            guard next < known.count else { return .init(x, last.y) }
            let after = known[next]
            let fraction = after.x > before.x ? (x - before.x) / (after.x - before.x) : 1
            return .init(x, before.y + (after.y - before.y) * fraction)
        }
    }
}

/// Finds rows and sides for the names of the vertical lines in a chart, so that each name is next to its line and no
/// other line crosses the name. `drawing.js` does the same.
enum MarkerLayout {
    /// The row of a name, counted from above, and the side of the line on which the name is.
    struct Place: Equatable {
        var row: Int
        var isLeft: Bool
    }

    /// The width of a letter in a chart on the screen of a phone, where letters are larger.
    private static let letter = 12.5
    private static let distance = 6.0

    /// Returns the row and the side of each name.
    ///
    /// A line begins at the row of its name. Names are usually to the right of their lines. From left to right, each
    /// such name gets a lower row, so that the lines farther right begin below the names of the lines farther left.
    /// Names without room to the right are to the left of their lines, in the upper rows, from right to left.
    static func places(_ markers: [(x: Double, letters: Int)], width: Double) -> [Place] {
        func nameWidth(_ marker: (x: Double, letters: Int)) -> Double { Double(marker.letters) * letter + distance }
        let order = markers.indices.sorted { (markers[$0].x, $0) < (markers[$1].x, $1) }
        var places = markers.map { _ in Place(row: 0, isLeft: false) }
        var limit = width
        for index in order.reversed() {
            let marker = markers[index]
            guard marker.x + nameWidth(marker) > limit, marker.x - nameWidth(marker) >= 0 else { continue }
            places[index].isLeft = true
            limit = min(limit, marker.x)
        }
        let rows = order.reversed().filter { places[$0].isLeft } + order.filter { !places[$0].isLeft }
        for (row, index) in rows.enumerated() { places[index].row = row }
        return places
    }
}

/// Finds room for names next to points of a drawing, so that no name covers another name.
struct LabelLayout {
    private struct Box {
        var left: Double
        var top: Double
        var right: Double
        var bottom: Double

        func meets(_ other: Box) -> Bool {
            left < other.right && other.left < right && top < other.bottom && other.top < bottom
        }
    }

    /// The position of a name.
    struct Place: Equatable {
        let x: Double
        /// The y coordinate of the text's base line.
        let y: Double
        let anchor: SVG.Anchor
    }

    /// The assumed width of a letter in the names on a floor plan.
    private static let letter = 8.6
    private static let lineHeight = 14.0
    private static let distance = 9.0

    private let bounds: Box
    private let scale: Double
    private var taken: [Box] = []

    /// - Parameter scale: The size of letters, as a multiple of the size in wide windows.
    init(width: Double, height: Double, scale: Double = 1) {
        bounds = Box(left: 0, top: 0, right: width, bottom: height)
        self.scale = scale
    }

    /// Marks the area around a point as used, so that no name covers it.
    mutating func block(_ point: (x: Double, y: Double), radius: Double) {
        guard point.x.isFinite, point.y.isFinite else { return }
        taken.append(
            Box(left: point.x - radius, top: point.y - radius, right: point.x + radius, bottom: point.y + radius))
    }

    /// Returns a position for a name to the right, to the left, above or below a point; nil if there is no room at any
    /// of them.
    ///
    /// - Parameter share: The size of the name's letters, as a share of the ordinary size.
    mutating func place(_ name: String, beside point: (x: Double, y: Double), size share: Double = 1) -> Place? {
        guard point.x.isFinite, point.y.isFinite else { return nil }
        let scale = scale * share
        let width = Double(name.count) * Self.letter * scale
        let candidates = [
            Place(x: point.x + Self.distance, y: point.y + 5, anchor: .start),
            Place(x: point.x - Self.distance, y: point.y + 5, anchor: .end),
            Place(x: point.x, y: point.y - Self.distance, anchor: .middle),
            Place(x: point.x, y: point.y + Self.distance + 10 * scale, anchor: .middle),
            Place(x: point.x + 4, y: point.y - Self.distance, anchor: .start),
            Place(x: point.x - 4, y: point.y - Self.distance, anchor: .end),
            Place(x: point.x + 4, y: point.y + Self.distance + 10 * scale, anchor: .start),
            Place(x: point.x - 4, y: point.y + Self.distance + 10 * scale, anchor: .end),
        ]
        for candidate in candidates {
            let left =
                switch candidate.anchor {
                case .start: candidate.x
                case .middle: candidate.x - width / 2
                case .end: candidate.x - width
                }
            let box = Box(
                left: left, top: candidate.y + 3 - Self.lineHeight * scale, right: left + width, bottom: candidate.y + 3
            )
            let isInside =
                box.left >= bounds.left && box.right <= bounds.right && box.top >= bounds.top
                && box.bottom <= bounds.bottom
            guard isInside, !taken.contains(where: { $0.meets(box) }) else { continue }
            taken.append(box)
            return candidate
        }
        return nil
    }
}
