/// One self-contained page of a plan: HTML with its style, script and drawings inside, under 500 KB, that asks nothing
/// of any network. A Content-Security-Policy holds it to that: it allows one style and one script, by their hashes.
///
/// What would make the page too large is shortened: texts beyond some hundred characters, charts beyond what the eye
/// can tell, floor plans beyond 6000 points (an even part of them is drawn, and said to be one).
public struct PlanPage: Sendable {
    private let content: PlanPageContent

    /// A page of this content, made when ``html`` is asked for.
    public init(_ content: PlanPageContent) {
        self.content = content
    }

    /// The whole page.
    public var html: String {
        var page = ""
        for limits in PageLimits.all {
            page = PageText(content: content, limits: limits).html
            if page.utf8.count < PageLimits.bytes { break }
        }
        return page
    }
}

/// How much of everything a page holds at most. A page that comes out too large is made again with less.
struct PageLimits: Hashable {
    /// Bytes that no page may reach.
    static let bytes = 500_000
    /// 1 for an ordinary page, 2, 4, 8 … for less of everything.
    let divisor: Int

    static let all = [1, 2, 4, 8, 16].map { PageLimits(divisor: $0) }

    /// Characters of a text, of a note, and of a name.
    var text: Int { 2000 / divisor }
    var note: Int { 800 / divisor }
    var name: Int { 160 / divisor }
    var figures: Int { 60 / divisor }
    var notes: Int { 40 / divisor }
    var curves: Int { max(1, 8 / divisor) }
    /// Points of a line.
    var points: Int { 240 / divisor }
    var tableRows: Int { max(6, 24 / divisor) }
    /// Rows of a list that is there to be read.
    var listRows: Int { max(20, 1000 / divisor) }
    var scanners: Int { max(8, 40 / divisor) }
    var strips: Int { max(4, 12 / divisor) }
    var heatRows: Int { max(8, 64 / divisor) }
    var heatColumns: Int { max(4, 16 / divisor) }
    var spots: Int { 6000 / divisor }
    var beacons: Int { 3000 / divisor }
    var walls: Int { 3000 / divisor }
    var weakSpots: Int { 24 / divisor }

    func shortened(_ raw: String) -> String { HTMLEscaping.shortened(raw, to: name) }
}

/// The page as text, with no more of everything than the limits allow.
struct PageText {
    let content: PlanPageContent
    let limits: PageLimits

    var html: String {
        let section = section
        let script = section.map { $0.data.element + "<script>\(PageScript.text)</script>\n" } ?? ""
        let deciding = content.decidingCurve.map { CurveFigure(curve: $0, id: "deciding", limits: limits).html } ?? ""
        return "<!doctype html>\n<html lang=\"en\">\n" + head + "<body>\n" + top(hasControls: section != nil)
            + "<main>\n" + deciding + (section?.html ?? "") + figureSections + "</main>\n" + bottom + script
            + "</body>\n</html>\n"
    }

    /// The one part with controls.
    private var section: (any ControlledSection)? {
        if let explorer = content.explorer { return ExplorerSection(explorer: explorer, limits: limits) }
        if let battery = content.battery { return BatterySection(battery: battery) }
        if let walk = content.walk { return WalkSection(walk: walk, limits: limits) }
        if let density = content.density { return DensitySection(density: density, limits: limits) }
        if let plan = content.floorPlan, let goal = plan.goal, !plan.spots.isEmpty {
            return SiteSection(plan: plan, goal: goal, limits: limits)
        }
        return nil
    }

    private var head: String {
        PageShell.head(
            title: text(content.title), styles: [(PageStyle.text, PageStyle.source)], script: PageScript.source)
    }

    /// Headline, answer and command. Where there are controls it is said whose they are.
    private func top(hasControls: Bool) -> String {
        let origin = hasControls ? "<p class=\"origin\">What the command below answered:</p>\n" : ""
        let reconciliation =
            content.reconciliation.isEmpty ? "" : "<p class=\"reconciliation\">\(text(content.reconciliation))</p>\n"
        return
            "<header>\(PageShell.brand(name(content.maker)))\n<h1>\(text(content.title))</h1>\n"
            + origin + "<p class=\"answer\">\(text(content.answer))</p>\n" + reconciliation
            + "<div class=\"command\"><code>\(text(content.command))</code></div></header>\n"
    }

    private var figureSections: String {
        var pair: [String] = []
        if let latencies = content.latencies, !latencies.rows.isEmpty {
            pair.append(LatencyFigure(comparison: latencies, limits: limits).html)
        }
        if let map = content.heatMap, !map.cells.isEmpty { pair.append(HeatMapFigure(map: map, limits: limits).html) }
        var result = pair.isEmpty ? "" : "<div class=\"pair\">\(pair.joined())</div>\n"
        if let plan = content.floorPlan, !(section is SiteSection) {
            result += FloorPlanFigure(plan: plan, limits: limits).html
        }
        let curves = content.curves.prefix(limits.curves).enumerated().map { index, curve in
            CurveFigure(curve: curve, id: "curve\(index + 1)", limits: limits).html
        }
        return result + (curves.isEmpty ? "" : "<div class=\"pair\">\(curves.joined())</div>\n") + figureTable
            + content.tables.map(list).joined()
    }

    private func list(_ table: PlanPageContent.DataTable) -> String {
        let shown = table.rows.prefix(limits.listRows)
        let caption =
            shown.count < table.rows.count
            ? "\(table.caption): the first \(shown.count) of \(table.rows.count)" : table.caption
        return "<section class=\"card\">"
            + HTML.table(caption: caption, header: table.header, rows: Array(shown)) + "</section>\n"
    }

    private var figureTable: String {
        guard !content.figures.isEmpty else { return "" }
        let rows = content.figures.prefix(limits.figures).map { figure in
            let remark = figure.remark.isEmpty ? "" : "<small>\(name(figure.remark))</small>"
            let unit = figure.unit.isEmpty ? "" : " \(name(figure.unit))"
            return "<tr><th scope=\"row\">\(name(figure.name))\(remark)</th><td>\(name(figure.value))\(unit)</td></tr>"
        }
        return "<section class=\"card\" aria-labelledby=\"figuresTitle\"><h2 id=\"figuresTitle\">The numbers</h2>"
            + "<table class=\"figures\"><thead class=\"spoken\"><tr><th scope=\"col\">what</th>"
            + "<th scope=\"col\">value</th></tr></thead><tbody>\(rows.joined())</tbody></table>"
            + "</section>\n"
    }

    private var bottom: String {
        PageShell.footer(notes: content.notes.prefix(limits.notes).map { HTMLEscaping.shortened($0, to: limits.note) })
    }

    private func text(_ raw: String) -> String {
        HTMLEscaping.text(HTMLEscaping.shortened(raw, to: limits.text))
    }

    private func name(_ raw: String) -> String { HTMLEscaping.text(limits.shortened(raw)) }
}
