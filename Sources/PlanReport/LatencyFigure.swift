/// The latencies of several scanners on one axis of time: a strip each, filled as discovery goes on, with the
/// percentiles marked.
struct LatencyFigure {
    let comparison: PlanPageContent.LatencyComparison
    let limits: PageLimits

    private static let stripHeight = 74.0

    private var rows: [PlanPageContent.LatencyComparison.Row] { Array(comparison.rows.prefix(limits.strips)) }

    var html: String {
        let times = rows.flatMap { row in
            row.discovered.filter { $0.y > 0.02 && $0.y < 0.995 }.map(\.x)
                + [row.p50, row.p90, row.p95, row.p99].compactMap { $0 }
        }
        let top = 8.0
        let bottom = top + Double(rows.count) * Self.stripHeight
        let x = Scale(of: times, from: 14, to: PlotArea.right, isLogarithmic: true)
        var drawing = SVG(width: PlotArea.width, height: bottom + 52)
        var free = 0.0
        for tick in x.ticks {
            drawing.line(x(tick), top, x(tick), bottom, class: "grid")
            let text = NumberText.duration(tick)
            let half = Double(text.count) * 6.4 + 4
            guard x(tick) - half >= free, x(tick) + half <= PlotArea.width else { continue }
            drawing.text(text, x(tick), bottom + 22, anchor: .middle, class: "tick")
            free = x(tick) + half
        }
        drawing.text("time until first seen", PlotArea.right, bottom + 46, anchor: .end, class: "name")
        for (index, row) in rows.enumerated() {
            draw(row, in: &drawing, x, base: top + Double(index + 1) * Self.stripHeight)
        }
        return HTML.figure(
            id: "latencies", title: "Scanner by scanner", drawing: drawing.element(label: label),
            caption: comparison.caption, table: table,
            legend: HTML.legend([
                ("fill", "share discovered by then"), ("p50", "half"), ("p90", "90 of 100"), ("p99", "99 of 100"),
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
            ? "half of all: not within the horizon"
            : "\(NumberText.duration(row.p50)) · \(NumberText.duration(row.p99))"
        drawing.text(HTMLEscaping.shortened(row.name, to: 28), 14, base - height - 9, class: "strong")
        drawing.text(summary, x.end, base - height - 9, anchor: .end, class: "tick")
    }

    private var label: String {
        "Time until first seen, a strip for each scanner: "
            + rows.map { "\($0.name), half after \(NumberText.duration($0.p50))" }.joined(separator: "; ")
    }

    private var table: String {
        HTML.table(
            caption: "Time until first seen, in seconds",
            header: ["scanner", "50 %", "90 %", "95 %", "99 %"],
            rows: rows.map { row in
                [row.name] + [row.p50, row.p90, row.p95, row.p99].map { NumberText.significant($0, 4) }
            })
    }
}
