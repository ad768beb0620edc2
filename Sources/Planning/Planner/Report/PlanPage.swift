/// A self-contained page of results: HTML with its style, script and drawings. It uses no network. It shows answers of
/// the planner, and reports of other modules such as audits. Apart from the picture of a floor, a page has less than
/// 500 KB. Its Content-Security-Policy allows one style and one script, by their hashes. The page shortens long texts,
/// and thins charts with too many points. If a floor plan has more than 6000 places, the page draws some of them,
/// evenly chosen, and states this in the caption.
public struct PlanPage: Sendable {
    private let content: PlanPageContent

    /// Creates a page with this content. ``html`` is the text of the page.
    public init(_ content: PlanPageContent) {
        self.content = content
    }

    /// The whole page.
    public var html: String {
        var page = ""
        for limits in PageLimits.all {
            page = PageText(content: content, limits: limits).html
            let picture = content.floorPlan?.picture?.address.utf8.count ?? 0
            if page.utf8.count - picture < PageLimits.bytes { break }
        }
        return page
    }
}

/// The limits of a page's parts. If a page is too large, it is created again with lower limits: first with coarser
/// drawings, then also with shorter texts.
struct PageLimits {
    /// The largest size of a page in bytes, apart from the picture of a floor.
    static let bytes = 500_000
    /// The number of points in drawings is divided by this number: 1 for an ordinary page, 2, 4, 8 … for lower limits.
    let divisor: Int
    /// The length and the number of texts are divided by this number.
    var textDivisor = 1

    static let all =
        [1, 2, 4, 8, 16].map { PageLimits(divisor: $0) }
        + [4, 16].map { PageLimits(divisor: 16, textDivisor: $0) }

    /// The largest number of characters of a text.
    var text: Int { 2000 / textDivisor }
    /// The largest number of characters of a note.
    var note: Int { 800 / textDivisor }
    /// The largest number of characters of a name.
    var name: Int { 160 / textDivisor }
    var figures: Int { 60 / textDivisor }
    var notes: Int { 40 / textDivisor }
    var curves: Int { max(1, 8 / divisor) }
    /// The largest number of points of a line.
    var points: Int { 240 / divisor }
    var tableRows: Int { max(6, 24 / divisor) }
    /// The largest number of rows of a table.
    var listRows: Int { max(20, 1000 / textDivisor) }
    var scanners: Int { max(8, 40 / divisor) }
    var strips: Int { max(4, 20 / divisor) }
    var heatRows: Int { max(8, 64 / divisor) }
    var heatColumns: Int { max(4, 20 / divisor) }
    var bars: Int { max(10, 60 / divisor) }
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
        let script = section.map { $0.data.element() + "<script>\(PageScript.text)</script>\n" } ?? ""
        let deciding =
            content.decidingCurve.map { CurveFigure(curve: $0, id: "deciding", limits: limits, isWide: true).html }
            ?? ""
        return "<!doctype html>\n<html lang=\"en\">\n" + head + "<body>\n" + top(hasControls: section != nil)
            + "<main>\n" + deciding + (section?.html ?? "") + figureSections + "</main>\n" + bottom + script
            + "</body>\n</html>\n"
    }

    /// The section with controls; nil for a page without controls. A page has at most one such section.
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

    /// Returns the headline, the answer and the command. On a page with controls, a line states that the answer belongs
    /// to the command, because the controls do not change the answer.
    private func top(hasControls: Bool) -> String {
        let origin = hasControls ? "<p class=\"origin\">Answer of the command below:</p>\n" : ""
        let reconciliation =
            content.reconciliation.isEmpty
            ? "" : "<p class=\"reconciliation\">\(sentence(content.reconciliation))</p>\n"
        return
            "<header>\(PageShell.brand(name(content.maker)))\n<h1>\(text(content.title))</h1>\n"
            + origin + "<p class=\"answer\">\(sentence(content.answer))</p>\n" + reconciliation
            + "<div class=\"command\"><code>\(text(content.command))</code></div></header>\n"
    }

    private var figureSections: String {
        var pair: [String] = []
        let map = content.heatMap.flatMap { $0.cells.isEmpty ? nil : $0 }
        if let latencies = content.latencies, !latencies.rows.isEmpty {
            let isWide = map.map { $0.scanModes.count > HeatMapFigure.manyColumns } ?? true
            pair.append(LatencyFigure(comparison: latencies, limits: limits, isWide: isWide).html)
        }
        if let map { pair.append(HeatMapFigure(map: map, limits: limits).html) }
        let bars = content.bars.map { BarFigure(content: $0, limits: limits).html } ?? ""
        var result = bars + (pair.isEmpty ? "" : "<div class=\"pair\">\(pair.joined())</div>\n")
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
        let markup = HTML.table(caption: caption, header: table.header, rows: Array(shown), marks: table.marks)
        return "<section class=\"card\">"
            + (table.isFolded
                ? "<details class=\"data\"><summary>\(name(caption))</summary>\(markup)</details>" : markup)
            + "</section>\n"
    }

    private var figureTable: String {
        guard !content.figures.isEmpty else { return "" }
        let rows = content.figures.prefix(limits.figures).map { figure in
            let remark =
                figure.remark.isEmpty
                ? "" : "<small>\(HTMLEscaping.sentence(HTMLEscaping.shortened(figure.remark, to: limits.note)))</small>"
            let value = figure.unit.isEmpty ? figure.value : "\(figure.value) \(figure.unit)"
            return "<tr><th scope=\"row\">\(name(figure.name))\(remark)</th>"
                + "<td>\(HTMLEscaping.sentence(limits.shortened(value)))</td></tr>"
        }
        return "<section class=\"card\" aria-labelledby=\"figuresTitle\"><h2 id=\"figuresTitle\">The numbers</h2>"
            + "<table class=\"figures\"><thead class=\"spoken\"><tr><th scope=\"col\">quantity</th>"
            + "<th scope=\"col\">value</th></tr></thead><tbody>\(rows.joined())</tbody></table>"
            + "</section>\n"
    }

    private var bottom: String {
        PageShell.footer(notes: content.notes.prefix(limits.notes).map { HTMLEscaping.shortened($0, to: limits.note) })
    }

    private func text(_ raw: String) -> String {
        HTMLEscaping.text(HTMLEscaping.shortened(raw, to: limits.text))
    }

    private func sentence(_ raw: String) -> String {
        HTMLEscaping.sentence(HTMLEscaping.shortened(raw, to: limits.text))
    }

    private func name(_ raw: String) -> String { HTMLEscaping.text(limits.shortened(raw)) }
}
