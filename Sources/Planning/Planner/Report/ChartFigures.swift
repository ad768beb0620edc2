internal import Airtime
internal import BluetoothTypes

/// One chart of a page: several series over a common x axis, with markers.
struct CurveFigure {
    let curve: PlanPageContent.Curve
    let id: String
    let limits: PageLimits
    /// True for a figure with the whole width of the page. It is drawn twice: once for narrow windows, and once for
    /// wide windows.
    var isWide = false

    static let drawnSeries = 8

    private var series: [PlanPageContent.Curve.Series] { Array(curve.series.prefix(Self.drawnSeries)) }

    private func drawing(width: Double) -> SVG {
        let all = series.flatMap(\.points)
        let markers = Array(curve.markers.prefix(4))
        let shown = all.filter { !curve.x.isLogarithmic || $0.x > 0 }
        var plot = PlotArea(
            width: width, top: 40 + Double(markers.count) * PlotArea.rowHeight,
            x: { Scale(of: shown.map(\.x), from: $0, to: $1, isLogarithmic: curve.x.isLogarithmic) },
            y: {
                Scale(
                    of: all.map(\.y) + (curve.wanted.map { [$0] } ?? []), from: $0, to: $1,
                    isLogarithmic: curve.y.isLogarithmic, includesZero: true)
            })
        plot.drawAxes(xName: Self.label(curve.x), yName: Self.label(curve.y))
        if let wanted = curve.wanted, plot.y(wanted).isFinite {
            plot.drawPath(
                SVGPath(line: [(PlotArea.left, plot.y(wanted)), (plot.x.end, plot.y(wanted))]), class: "target")
        }
        for (index, oneSeries) in series.enumerated() {
            let points = Self.thinned(oneSeries.points, to: limits.points)
            plot.drawPath(SVGPath(line: plot.places(points)), class: "line s\(index)")
        }
        plot.drawMarkers(
            markers.enumerated().map {
                .init(name: HTMLEscaping.shortened($1.name, to: 40), x: $1.x, style: "m\($0)")
            }, firstRow: 44)
        // The label of the target is drawn last, on top of the lines that cross it.
        if let wanted = curve.wanted, plot.y(wanted).isFinite {
            plot.drawText(
                "target: \(NumberFormat.significant(wanted)) \(curve.y.unit)", PlotArea.left + 6, plot.y(wanted) - 7,
                class: "label target")
        }
        return plot.drawing
    }

    var html: String {
        let names = series.enumerated().map { (swatch: "s\($0)", name: limits.shortened($1.name)) }
        return HTML.figure(
            id: id, title: curve.title,
            drawing: HTML.drawings(isWide: isWide, label: label, drawing), caption: caption,
            table: table, legend: names.count > 1 ? HTML.legend(names) : "")
    }

    private var caption: String {
        curve.gapMeaning.isEmpty ? curve.caption : "\(curve.caption) An interrupted line means: \(curve.gapMeaning)."
    }

    private var label: String {
        "\(curve.title): \(curve.y.name) over \(curve.x.name). The table below has the values."
    }

    private static func label(_ axis: PlanPageContent.Curve.Axis) -> String {
        axis.unit.isEmpty ? axis.name : "\(axis.name) (\(axis.unit))"
    }

    /// A table with one row for each x of the first series. For the other series, the table contains the values at the
    /// nearest x.
    private var table: String {
        guard let first = series.first else { return "" }
        let rows = Self.thinned(first.points, to: limits.tableRows).map { point in
            [NumberFormat.significant(point.x, 4)]
                + series.map { NumberFormat.significant(Self.nearest(point.x, in: $0.points), 4) }
        }
        return HTML.table(
            caption: curve.title, header: [Self.label(curve.x)] + series.map { limits.shortened($0.name) }, rows: rows)
    }

    private static func nearest(_ x: Double, in points: [PlanPageContent.Point]) -> Double? {
        points.min { abs($0.x - x) < abs($1.x - x) }.flatMap { $0.y.isFinite ? $0.y : nil }
    }

    /// Returns at most `count` of the elements, evenly chosen, including the first and the last.
    static func thinned<Element>(_ elements: [Element], to count: Int) -> [Element] {
        guard elements.count > count, count > 1 else { return elements }
        return (0..<count).map { elements[$0 * (elements.count - 1) / (count - 1)] }
    }
}

/// The latencies of several scanners on one axis of time: one strip for each scanner, with the share of cases and the
/// percentiles.
struct LatencyFigure {
    let comparison: PlanPageContent.LatencyComparison
    let limits: PageLimits
    /// True for a figure that has the whole width of the page.
    var isWide = false

    private static let stripHeight = 74.0

    private var rows: [PlanPageContent.LatencyComparison.Row] { Array(comparison.rows.prefix(limits.strips)) }

    private func drawing(width: Double) -> SVG {
        let times = rows.flatMap { row in
            row.discovered.filter { $0.y > 0.02 && $0.y < 0.995 }.map(\.x)
                + [row.p50, row.p90, row.p95, row.p99].compactMap { $0 }
        }
        let top = 8.0
        let bottom = top + Double(rows.count) * Self.stripHeight
        let x = Scale(of: times, from: 14, to: width - 14, isLogarithmic: true)
        var drawing = SVG(width: width, height: bottom + 52)
        var free = 0.0
        for tick in x.ticks {
            drawing.line(x(tick), top, x(tick), bottom, class: "grid")
            let text = NumberFormat.duration(tick)
            let half = Double(text.count) * 6.4 + 4
            guard x(tick) - half >= free, x(tick) + half <= width else { continue }
            drawing.text(text, x(tick), bottom + 22, anchor: .middle, class: "tick")
            free = x(tick) + half
        }
        drawing.text("time to discovery", x.end, bottom + 46, anchor: .end, class: "name")
        for (index, row) in rows.enumerated() {
            draw(row, in: &drawing, x, base: top + Double(index + 1) * Self.stripHeight)
        }
        return drawing
    }

    var html: String {
        HTML.figure(
            id: "latencies", title: rows.count > 1 ? "Scanner by scanner" : "Time to discovery",
            drawing: HTML.drawings(isWide: isWide, label: label, drawing),
            caption: comparison.caption, table: table,
            legend: HTML.legend([
                ("fill", "share of cases"), ("p50", "50 %"), ("p90", "90 %"), ("p99", "99 %"),
            ]))
    }

    private func draw(
        _ row: PlanPageContent.LatencyComparison.Row, in drawing: inout SVG, _ x: Scale, base: Double
    ) {
        let height = Self.stripHeight - 34
        let points = x.sampled(row.discovered, count: limits.points / 2)
        let places = points.map { (x: x($0.x), y: base - max(0, min(1, $0.y)) * height) }
        drawing.path(SVGPath(areaUnder: places, downTo: base), class: "fill")
        drawing.path(SVGPath(line: places), class: "rim")
        drawing.line(x.start, base, x.end, base, class: "axis")
        for (style, percentile) in [("p50", row.p50), ("p90", row.p90), ("p99", row.p99)] {
            guard let percentile else { continue }
            drawing.line(x(percentile), base, x(percentile), base - height - 3, class: "percentile \(style)")
        }
        let summary =
            row.p50 == nil
            ? "50 %: not within the computed time"
            : "\(NumberFormat.duration(row.p50)) · \(NumberFormat.duration(row.p99))"
        drawing.text(HTMLEscaping.shortened(row.name, to: 28), 14, base - height - 9, class: "strong")
        drawing.text(summary, x.end, base - height - 9, anchor: .end, class: "tick")
    }

    private var label: String {
        "Time to discovery, a strip for each scanner: "
            + rows.map { "\($0.name), half after \(NumberFormat.duration($0.p50))" }.joined(separator: "; ")
    }

    private var table: String {
        HTML.table(
            caption: "Time to discovery in seconds",
            header: ["scanner", "50 %", "90 %", "95 %", "99 %"],
            rows: rows.map { row in
                [row.name] + [row.p50, row.p90, row.p95, row.p99].map { NumberFormat.significant($0, 4) }
            })
    }
}

/// A chart with one horizontal bar for each share. The largest share has the longest bar.
struct BarFigure {
    let content: PlanPageContent.Bars
    let limits: PageLimits

    private static let rowHeight = 46.0
    /// Room for a share such as `99.97 %` to the right of the longest bar.
    private static let valueWidth = 96.0

    private var bars: [PlanPageContent.Bars.Bar] { Array(content.bars.prefix(limits.bars)) }

    private func drawing(width: Double) -> SVG {
        let longest = width - 14 - Self.valueWidth
        let largest = bars.compactMap(\.share).filter(\.isFinite).max() ?? 0
        var drawing = SVG(width: width, height: Double(bars.count) * Self.rowHeight + 12)
        for (index, bar) in bars.enumerated() {
            let top = Double(index) * Self.rowHeight
            let ratio = largest > 0 ? (bar.share ?? 0) / largest : 0
            let share = ratio.isFinite ? max(0, min(1, ratio)) : 0
            drawing.text(HTMLEscaping.shortened(bar.name, to: Int(width / 14)), 14, top + 18)
            var area = SVGPath()
            area.addRectangle(14, top + 25, max(1, longest * share), 15)
            drawing.path(area, class: "bar")
            drawing.text(NumberFormat.percent(bar.share), 22 + longest * share, top + 38, class: "strong")
        }
        return drawing
    }

    var html: String {
        let label =
            content.title + ": " + bars.map { "\($0.name) \(NumberFormat.percent($0.share))" }.joined(separator: "; ")
        let undrawnCount = content.bars.count - bars.count
        return HTML.figure(
            id: "bars", title: content.title, drawing: HTML.drawings(isWide: true, label: label, drawing),
            caption: undrawnCount > 0 ? "\(content.caption) \(undrawnCount) more are not drawn." : content.caption,
            table: HTML.table(
                caption: content.title, header: ["name", "share"],
                rows: bars.map { [$0.name, NumberFormat.percent($0.share)] }))
    }
}

/// A table with a row for each interval and a column for each scan mode, whose cells are colored by their values. It is
/// readable on screens, with screen readers and on paper.
struct HeatMapFigure {
    let map: PlanPageContent.HeatMap
    let limits: PageLimits

    /// The number of shades from low to high values.
    static let shades = 8
    /// The number of columns above which a table has the whole width of the page.
    static let manyColumns = 6

    var html: String {
        let modes = map.scanModes.prefix(limits.heatColumns)
        let isWide = modes.count > Self.manyColumns
        let values = map.cells.flatMap { $0 }.compactMap(\.value).filter { $0.isFinite && $0 > 0 }
        let scale = Scale(of: values, from: 0, to: Double(Self.shades), isLogarithmic: true)
        let head = modes.map { "<th scope=\"col\"><span>\(text($0))</span></th>" }.joined()
        let body = zip(map.intervalsMs, map.cells).prefix(limits.heatRows).map { interval, cells in
            "<tr><th scope=\"row\">\(NumberFormat.significant(interval, 6))</th>"
                + cells.prefix(limits.heatColumns).map { cell($0, scale) }.joined() + "</tr>"
        }
        let table =
            "<div class=\"heatBox\">"
            + (isWide ? "<p class=\"scrollHint\">Scroll sideways for all \(modes.count) scanners →</p>" : "")
            + "<div class=\"scroll heat\" tabindex=\"0\" role=\"region\" aria-label=\"\(text(map.title))\">"
            + "<table class=\"heat\(isWide ? " many" : "")\"><caption>\(text(map.valueName)) "
            + "(\(text(map.unit))) by advertising interval (ms) and scanner; "
            + "<span class=\"resonance\">◆</span> resonance with the scan interval; "
            + "– not reached within the computed time</caption><thead><tr><th scope=\"col\">ms</th>\(head)</tr></thead>"
            + "<tbody>\(body.joined())</tbody></table></div></div>"
        return HTML.figure(id: "heatMap", title: map.title, drawing: table, caption: map.caption)
    }

    private func text(_ raw: String) -> String { HTMLEscaping.text(HTMLEscaping.shortened(raw, to: 60)) }

    private func cell(_ cell: PlanPageContent.HeatMap.Cell, _ scale: Scale) -> String {
        let mark =
            cell.isResonant
            ? "<span class=\"resonance\" aria-hidden=\"true\">◆</span><span class=\"spoken\">, resonance</span>" : ""
        let style = cell.isResonant ? " resonant" : ""
        guard let value = cell.value, value.isFinite else {
            return "<td class=\"h\(Self.shades - 1)\(style)\"><span aria-hidden=\"true\">–</span>"
                + "<span class=\"spoken\">not reached within the computed time</span>\(mark)</td>"
        }
        return "<td class=\"h\(Self.shade(value, scale))\(style)\">\(NumberFormat.significant(value))\(mark)</td>"
    }

    /// Returns the shade of a value, 0...7. `scale` converts values to 0...8, the number of shades.
    static func shade(_ value: Double, _ scale: Scale) -> Int {
        let shadePosition = scale(value)
        return shadePosition.isFinite ? min(shades - 1, max(0, Int(max(0, min(100, shadePosition))))) : 0
    }
}
