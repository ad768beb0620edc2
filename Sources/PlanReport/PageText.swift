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
        let hashes = "style-src \(PageStyle.source); script-src \(PageScript.source)"
        return "<head>\n<meta charset=\"utf-8\">\n"
            + "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \(hashes); img-src data:; "
            + "base-uri 'none'; form-action 'none'\">\n"
            + "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
            + "<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n"
            + "<title>\(text(content.title))</title>\n<link rel=\"icon\" href=\"data:,\">\n"
            + "<style>\(PageStyle.text)</style>\n</head>\n"
    }

    /// Headline, answer and command. Where there are controls it is said whose they are.
    private func top(hasControls: Bool) -> String {
        let origin = hasControls ? "<p class=\"origin\">What the command below answered:</p>\n" : ""
        let reconciliation =
            content.reconciliation.isEmpty ? "" : "<p class=\"reconciliation\">\(text(content.reconciliation))</p>\n"
        return
            "<header><p class=\"brand\">\(Self.lighthouse)\(name(content.maker))</p>\n<h1>\(text(content.title))</h1>\n"
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
        let notes = content.notes.prefix(limits.notes).map {
            "<li>\(HTMLEscaping.text(HTMLEscaping.shortened($0, to: limits.note)))</li>"
        }.joined()
        let list =
            notes.isEmpty
            ? ""
            : "<section aria-labelledby=\"notesTitle\"><h2 id=\"notesTitle\">What this rests on</h2>"
                + "<ul class=\"notes\">\(notes)</ul></section>"
        return "<footer>\(list)<p>Made by Pharos. This page holds all it needs and asks no network.</p></footer>\n"
    }

    private func text(_ raw: String) -> String {
        HTMLEscaping.text(HTMLEscaping.shortened(raw, to: limits.text))
    }

    private func name(_ raw: String) -> String { HTMLEscaping.text(limits.shortened(raw)) }

    /// A lighthouse and its beam.
    private static let lighthouse =
        "<svg viewBox=\"0 0 32 32\" aria-hidden=\"true\" focusable=\"false\">"
        + "<path d=\"M16 9L30 3V15Z\" fill=\"#e39a1d\" opacity=\".55\"/><path d=\"M12 9L2 5V13Z\" fill=\"#e39a1d\" "
        + "opacity=\".35\"/><path d=\"M11 12h6l2 16H9Z\" fill=\"currentColor\"/>"
        + "<path d=\"M11 6h6v5h-6Z\" fill=\"#e39a1d\"/><path d=\"M10 6l4-4 4 4Z\" fill=\"currentColor\"/></svg>"
}
