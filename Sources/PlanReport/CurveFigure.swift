/// One chart of a page: series over one x, with markers.
struct CurveFigure {
    let curve: PlanPageContent.Curve
    let id: String
    let limits: PageLimits

    static let drawnSeries = 8

    private var series: [PlanPageContent.Curve.Series] { Array(curve.series.prefix(Self.drawnSeries)) }

    var html: String {
        let all = series.flatMap(\.points)
        let markers = Array(curve.markers.prefix(4))
        let shown = all.filter { !curve.x.isLogarithmic || $0.x > 0 }
        var plot = PlotArea(
            top: 40 + Double(markers.count) * 20,
            x: { Scale(of: shown.map(\.x), from: $0, to: $1, isLogarithmic: curve.x.isLogarithmic) },
            y: {
                Scale(
                    of: all.map(\.y) + (curve.wanted.map { [$0] } ?? []), from: $0, to: $1,
                    isLogarithmic: curve.y.isLogarithmic, includesZero: true)
            })
        plot.drawAxes(xName: Self.label(curve.x), yName: Self.label(curve.y))
        if let wanted = curve.wanted, plot.y(wanted).isFinite {
            plot.drawPath(
                SVGPath(line: [(PlotArea.left, plot.y(wanted)), (PlotArea.right, plot.y(wanted))]), class: "target")
            plot.drawText(
                "wanted: \(NumberText.significant(wanted)) \(curve.y.unit)", PlotArea.left + 6, plot.y(wanted) - 7,
                class: "label target")
        }
        for (index, one) in series.enumerated() {
            let points = Self.thinned(one.points, to: limits.points)
            plot.drawPath(SVGPath(line: plot.places(points)), class: "line s\(index)")
        }
        for (index, marker) in markers.enumerated() {
            plot.drawMarker(
                HTMLEscaping.shortened(marker.name, to: 40), x: marker.x, at: 44 + Double(index) * 20,
                class: "m\(index)")
        }
        let names = series.enumerated().map { (swatch: "s\($0)", name: limits.shortened($1.name)) }
        return HTML.figure(
            id: id, title: curve.title, drawing: plot.drawing.element(label: label), caption: caption,
            table: table, legend: names.count > 1 ? HTML.legend(names) : "")
    }

    private var caption: String {
        curve.gapMeaning.isEmpty ? curve.caption : "\(curve.caption) Where a line is interrupted: \(curve.gapMeaning)."
    }

    private var label: String {
        "\(curve.title): \(curve.y.name) over \(curve.x.name). The values stand in the table below."
    }

    private static func label(_ axis: PlanPageContent.Curve.Axis) -> String {
        axis.unit.isEmpty ? axis.name : "\(axis.name) (\(axis.unit))"
    }

    /// One row for each x of the first series; the others at the same x, else at the nearest.
    private var table: String {
        guard let first = series.first else { return "" }
        let rows = Self.thinned(first.points, to: limits.tableRows).map { point in
            [NumberText.significant(point.x, 4)]
                + series.map { NumberText.significant(Self.nearest(point.x, in: $0.points), 4) }
        }
        return HTML.table(
            caption: curve.title, header: [Self.label(curve.x)] + series.map { limits.shortened($0.name) }, rows: rows)
    }

    private static func nearest(_ x: Double, in points: [PlanPageContent.Point]) -> Double? {
        points.min { abs($0.x - x) < abs($1.x - x) }.flatMap { $0.y.isFinite ? $0.y : nil }
    }

    /// So many points, evenly taken, the first and the last among them.
    static func thinned<Element>(_ all: [Element], to count: Int) -> [Element] {
        guard all.count > count, count > 1 else { return all }
        return (0..<count).map { all[$0 * (all.count - 1) / (count - 1)] }
    }
}
