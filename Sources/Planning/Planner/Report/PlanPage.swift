/// A self-contained page of an answer: HTML with its style, script and drawings, under 500 KB, which uses no network. Its
/// Content-Security-Policy allows one style and one script, by their hashes.
///
/// The page shortens texts of more than some hundred characters, charts with too many points, and floor plans of more than
/// 6000 points, of which it draws an even part and says so.
public struct PlanPage: Sendable {
    private let content: PlanPageContent

    /// A page of this content; ``html`` makes it.
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

/// The limits of a page's parts. A page that is too large is made again with lower limits.
struct PageLimits: Hashable {
    /// The largest size of a page in bytes.
    static let bytes = 500_000
    /// 1 for an ordinary page; 2, 4, 8 … for lower limits.
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
    /// Rows of a table.
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

/// The page as text, within the limits.
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

    /// The only part with controls.
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
            title: text(content.title), styles: [PageStyle.text], script: PageScript.text)
    }

    /// Headline, answer and command. With controls, a heading separates the command's answer from them.
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
