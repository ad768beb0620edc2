/// One self-contained page of a plan: HTML with its style, script and drawings inside, under 500 KB, that asks nothing
/// of any network. A Content-Security-Policy holds it to that: it allows one style and one script, by their hashes.
///
/// What would make the page too large is shortened: texts beyond some thousand characters, charts beyond what the eye
/// can tell, floor plans beyond 6000 points (an even part of them is drawn, and said to be one).
public struct PlanPage: Sendable {
    private let content: PlanPageContent

    private static let longestText = 2000
    private static let curves = 8
    private static let figures = 60
    private static let notes = 40

    public init(_ content: PlanPageContent) {
        self.content = content
    }

    /// The whole page.
    public var html: String {
        "<!doctype html>\n<html lang=\"en\">\n" + head + "<body>\n" + top + "<main>\n"
            + (content.explorer.map { ExplorerSection(explorer: $0).html } ?? "")
            + figureSections + "</main>\n" + bottom
            + (content.explorer.map { ExplorerSection(explorer: $0).data + script } ?? "")
            + "</body>\n</html>\n"
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

    private var script: String { "<script>\(PageScript.text)</script>\n" }

    private var top: String {
        "<header><p class=\"brand\">\(Self.lighthouse)Pharos, the planner</p>\n<h1>\(text(content.title))</h1>\n"
            + "<p class=\"answer\">\(text(content.answer))</p>\n"
            + "<div class=\"command\"><code>\(text(content.command))</code></div></header>\n"
    }

    private var figureSections: String {
        var pair: [String] = []
        if let latencies = content.latencies, !latencies.rows.isEmpty {
            pair.append(LatencyFigure(comparison: latencies).html)
        }
        if let map = content.heatMap, !map.cells.isEmpty { pair.append(HeatMapFigure(map: map).html) }
        var result = pair.isEmpty ? "" : "<div class=\"pair\">\(pair.joined())</div>\n"
        if let plan = content.floorPlan { result += FloorPlanFigure(plan: plan).html }
        let curves = content.curves.prefix(Self.curves).enumerated().map { index, curve in
            CurveFigure(curve: curve, id: "curve\(index + 1)").html
        }
        return result + (curves.isEmpty ? "" : "<div class=\"pair\">\(curves.joined())</div>\n") + figureTable
    }

    private var figureTable: String {
        guard !content.figures.isEmpty else { return "" }
        let rows = content.figures.prefix(Self.figures).map { figure in
            let remark = figure.remark.isEmpty ? "" : "<small>\(text(figure.remark))</small>"
            let unit = figure.unit.isEmpty ? "" : " \(text(figure.unit))"
            return "<tr><th scope=\"row\">\(text(figure.name))\(remark)</th><td>\(text(figure.value))\(unit)</td></tr>"
        }
        return "<section class=\"card\" aria-labelledby=\"figuresTitle\"><h2 id=\"figuresTitle\">The numbers</h2>"
            + "<table class=\"figures\"><thead class=\"spoken\"><tr><th scope=\"col\">what</th>"
            + "<th scope=\"col\">value</th></tr></thead><tbody>\(rows.joined())</tbody></table>"
            + "</section>\n"
    }

    private var bottom: String {
        let notes = content.notes.prefix(Self.notes).map { "<li>\(text($0))</li>" }.joined()
        let list =
            notes.isEmpty
            ? ""
            : "<section aria-labelledby=\"notesTitle\"><h2 id=\"notesTitle\">What this rests on</h2>"
                + "<ul class=\"notes\">\(notes)</ul></section>"
        return "<footer>\(list)<p>Made by Pharos. This page holds all it needs and asks no network.</p></footer>\n"
    }

    private func text(_ raw: String) -> String {
        HTMLEscaping.text(HTMLEscaping.shortened(raw, to: Self.longestText))
    }

    /// A lighthouse and its beam.
    private static let lighthouse =
        "<svg viewBox=\"0 0 32 32\" aria-hidden=\"true\" focusable=\"false\">"
        + "<path d=\"M16 9L30 3V15Z\" fill=\"#e39a1d\" opacity=\".55\"/><path d=\"M12 9L2 5V13Z\" fill=\"#e39a1d\" "
        + "opacity=\".35\"/><path d=\"M11 12h6l2 16H9Z\" fill=\"currentColor\"/>"
        + "<path d=\"M11 6h6v5h-6Z\" fill=\"#e39a1d\"/><path d=\"M10 6l4-4 4 4Z\" fill=\"currentColor\"/></svg>"
}
