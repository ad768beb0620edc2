internal import BluetoothTypes
internal import Configuration
internal import Planner

/// The HTML pages of counts. They have the same design as all pages of Pharos, and no scripts.
enum ReportPage {
    /// - Parameters:
    ///   - title: The title of the window.
    ///   - heading: The heading of the page.
    ///   - answer: The result in one sentence.
    ///   - markup: The HTML of the page's content. All text in it must be escaped.
    static func html(title: String, heading: String, answer: String, main markup: String) -> String {
        "<!doctype html>\n<html lang=\"en\">\n"
            + PageShell.head(title: text(title), styles: [PageStyle.text, style], script: nil)
            + "<body>\n<header>\(PageShell.brand("Pharos, the inventory"))\n<h1>\(text(heading))</h1>\n"
            + "<p class=\"answer\">\(HTMLEscaping.sentence(answer))</p></header>\n<main>\n\(markup)</main>\n"
            + PageShell.footer(notes: []) + "</body>\n</html>\n"
    }

    static func text(_ raw: String) -> String { MarkupText.escaped(raw) }

    /// Returns a table with a caption. The first cell of each row is the heading of the row.
    ///
    /// - Parameters:
    ///   - rows: The cells, each with its CSS class.
    ///   - pictures: For each row, the HTML before the text of its first cell; empty for a table without pictures.
    static func table(
        caption: String, header: [String], rows: [[(text: String, style: String)]], pictures: [String] = []
    ) -> String {
        guard !rows.isEmpty else { return "" }
        var result = "<section class=\"card\"><div class=\"scroll\" tabindex=\"0\" role=\"region\" "
        result +=
            "aria-label=\"\(text(caption))\"><table class=\"report\"><caption>\(text(caption))</caption><thead><tr>"
        for cell in header { result += "<th scope=\"col\">\(text(cell))</th>" }
        result += "</tr></thead><tbody>\n"
        for (rowIndex, row) in rows.enumerated() {
            let picture = pictures.isEmpty ? "" : pictures[rowIndex]
            result += "<tr>"
            for (index, cell) in row.enumerated() {
                let style = cell.style.isEmpty ? "" : " class=\"\(cell.style)\""
                result +=
                    index == 0
                    ? "<th scope=\"row\"\(style)>\(picture)\(text(cell.text))</th>"
                    : "<td\(style)>\(text(cell.text))</td>"
            }
            result += "</tr>\n"
        }
        return result + "</tbody></table></div></section>\n"
    }

    /// Returns a list of names and values.
    static func facts(_ facts: [(String, String)]) -> String {
        "<section class=\"card\"><dl class=\"facts\">"
            + facts.map { "<dt>\(text($0.0))</dt><dd>\(text($0.1))</dd>" }.joined() + "</dl></section>\n"
    }

    /// Returns the colour of a state on light pages, on maps, and on paper.
    static func color(_ state: ItemState?) -> String {
        switch state {
        case .found: "#1a7f37"
        case .heard: "#9a6700"
        case .missing: "#cf222e"
        case .foreign: "#0969da"
        case .duplicate: "#8250df"
        case .lowBattery: "#bc4c00"
        case nil: "#57606a"
        }
    }

    /// Returns the colour of a state on dark pages.
    private static func darkColor(_ state: ItemState?) -> String {
        switch state {
        case .found: "#3fb950"
        case .heard: "#d29922"
        case .missing: "#ff7b72"
        case .foreign: "#58a6ff"
        case .duplicate: "#bc8cff"
        case .lowBattery: "#f0883e"
        case nil: "#8b949e"
        }
    }

    /// Returns the CSS class of a state.
    static func styleClass(_ state: ItemState?) -> String { state?.rawValue ?? "unknown" }

    /// The CSS of the pages of counts, in addition to the CSS of all pages.
    private static let style: String = {
        func rules(_ color: (ItemState?) -> String) -> String {
            (ItemState.allCases.map { Optional($0) } + [nil]).map {
                ".\(styleClass($0)){color:\(color($0))}svg .\(styleClass($0)){fill:\(color($0))}"
            }.joined()
        }
        return ".facts{display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1rem;margin:0}"
            + ".facts dd{margin:0;font-size:1rem;font-weight:400;overflow-wrap:anywhere}"
            + "table.report :is(td,thead th){text-align:left}table.report td{white-space:normal;min-width:4.5rem}"
            + "td:is(.found,.heard,.missing,.foreign,.duplicate,.lowBattery){font-weight:600}"
            + "table.report img{display:block;max-width:8rem;max-height:8rem;margin-bottom:.3rem}"
            + "p.missing{font-weight:600}figure .plan{width:100%;max-width:none;min-width:44rem;height:auto}"
            + ".plan text{fill:var(--ink);font-size:13px}.plan .paper{fill:var(--card)}"
            + ".plan .floor{fill:var(--paper);stroke:var(--soft)}.plan .inner{stroke:var(--soft)}"
            + ".signature{margin:3rem 0 1rem;display:flex;gap:3rem}"
            + ".signature span{border-top:1px solid var(--ink);flex:1;padding-top:.3rem}"
            + rules(color) + "@media screen and (prefers-color-scheme:dark){\(rules(darkColor))}"
    }()
}

/// The texts that all forms of a report share.
extension CountReport {
    static let columns = [
        "item", "place", "state", "first heard", "last heard", "best dBm", "battery mV", "where heard",
    ]

    /// Returns an item's name and id.
    ///
    /// - Parameter columns: The largest length of the name, in terminal columns. A longer name is cut off.
    static func label(_ name: String, _ id: String, columns: Int) -> String {
        name == id ? name : "\(TerminalText.shortened(name, to: columns)) (\(id))"
    }

    /// Returns the cells of an item's row, in the order of ``columns``.
    static func cells(_ outcome: ItemOutcome, nameColumns: Int = .max) -> [String] {
        let item = outcome.item
        return [
            label(item.name, item.id, columns: nameColumns), item.place ?? "",
            outcome.states.map(words).joined(separator: ", "), outcome.firstHeard.map(moment) ?? "",
            outcome.lastHeard.map(moment) ?? "", outcome.bestLevel.map { "\($0)" } ?? "",
            outcome.batteryMillivolts.map { "\($0)" } ?? "", outcome.heardBy ?? "",
        ]
    }

    static func cells(_ foreigner: Foreigner, nameColumns: Int = .max) -> [String] {
        [
            label(foreigner.foreign.name, foreigner.foreign.id, columns: nameColumns), foreigner.foreign.inventory,
            foreigner.wasNear ? "foreign, near" : "foreign", moment(foreigner.firstHeard),
            moment(foreigner.lastHeard), foreigner.bestLevel.map { "\($0)" } ?? "", "", "",
        ]
    }

    /// Returns the date and the time to the second, in UTC.
    static func moment(_ time: RFC3339Time) -> String {
        String("\(time)".prefix(19)).split(separator: "T").joined(separator: " ")
    }

    static func seconds(_ milliseconds: Int) -> String {
        DecimalText.thousandths((milliseconds + 50) / 100 * 100) + " s"
    }

    var facts: [(String, String)] {
        [
            ("inventory", inventory), ("count", countName), ("start", Self.moment(start) + " UTC"),
            ("end", end.map { Self.moment($0) + " UTC" } ?? "not finished"), ("by", by.joined(separator: ", ")),
            ("result", summary), ("previous count", previous ?? "none"),
        ]
    }

    static let receiverColumns = ["receiver", "machine", "by", "listened", "deaf", "reports", "lost"]

    static func cells(_ receiver: Receiver) -> [String] {
        [
            receiver.header.receiver, receiver.header.machine, receiver.header.by,
            seconds(receiver.listening.listened), seconds(receiver.listening.deaf),
            "\(receiver.listening.reports)", receiver.listening.lost.map { "\($0)" } ?? "unknown",
        ]
    }

    /// Returns a change in words.
    static func words(_ change: ItemChange) -> String {
        switch change.kind {
        case .lost: "found in the previous count, \(change.after ?? "missing") now"
        case .foundAgain: "\(change.before ?? "missing") in the previous count, found now"
        case .notNear: "\(change.before ?? "missing") in the previous count, heard but not near now"
        case .stillMissing: "not found in either count"
        case .added: "new in the inventory, \(change.after ?? "missing")"
        case .removed: "no longer in the inventory"
        case .moved: "moved from \(change.before ?? "no place") to \(change.after ?? "no place")"
        case .rebeaconed: "has another beacon"
        }
    }

    /// The report as an HTML page. It can also be printed.
    public var html: String {
        var body = ReportPage.facts(facts)
        for warning in warnings { body += "<p class=\"missing\">\(ReportPage.text(warning))</p>\n" }
        body += ReportPage.table(
            caption: "Receivers", header: Self.receiverColumns,
            rows: receivers.map { Self.cells($0).map { ($0, "") } })
        let styled = outcomes.map { outcome in
            Self.cells(outcome).enumerated().map {
                (text: $1, style: $0 == 2 ? ReportPage.styleClass(outcome.state) : "")
            }
        }
        body += ReportPage.table(
            caption: "Items", header: Self.columns, rows: styled,
            pictures: outcomes.map { outcome in
                guard let photo = photos[outcome.item.id] else { return "" }
                return "<img src=\"\(photo.address)\" alt=\"\(ReportPage.text("Photo of \(outcome.item.name)"))\">"
            })
        body += ReportPage.table(
            caption: "Items of other inventories", header: ["item", "inventory"] + Self.columns.dropFirst(2),
            rows: foreigners.map { Self.cells($0).map { ($0, "") } })
        body += ReportPage.table(
            caption: "Changes since \(previous ?? "the previous count")", header: ["item", "change"],
            rows: changes.map { [("\($0.name) (\($0.id))", ""), (Self.words($0), "")] })
        body += "<p class=\"signature\"><span>date</span><span>name</span><span>signature</span></p>\n"
        return ReportPage.html(
            title: "\(title): count \(countName)", heading: title, answer: summary, main: body)
    }
}
