internal import BluetoothTypes
internal import Configuration

/// HTML pages without scripts and without resources from a network.
enum ReportPage {
    /// - Parameter markup: The body, with all text escaped.
    static func html(title: String, body markup: String) -> String {
        """
        <!DOCTYPE html>
        <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
        <title>\(text(title))</title><style>\(style)</style></head>
        <body><main>
        \(markup)</main></body></html>

        """
    }

    static func text(_ raw: String) -> String { MarkupText.escaped(raw) }

    /// A table with a caption; the first cell of each row is its heading.
    ///
    /// - Parameter rows: The cells, each with its CSS class.
    static func table(caption: String, header: [String], rows: [[(text: String, style: String)]]) -> String {
        guard !rows.isEmpty else { return "" }
        var result = "<div class=\"scroll\"><table><caption>\(text(caption))</caption><thead><tr>"
        for cell in header { result += "<th scope=\"col\">\(text(cell))</th>" }
        result += "</tr></thead><tbody>\n"
        for row in rows {
            result += "<tr>"
            for (index, cell) in row.enumerated() {
                let style = cell.style.isEmpty ? "" : " class=\"\(cell.style)\""
                result +=
                    index == 0
                    ? "<th scope=\"row\"\(style)>\(text(cell.text))</th>" : "<td\(style)>\(text(cell.text))</td>"
            }
            result += "</tr>\n"
        }
        return result + "</tbody></table></div>\n"
    }

    /// A list of names and values.
    static func facts(_ facts: [(String, String)]) -> String {
        "<dl>" + facts.map { "<dt>\(text($0.0))</dt><dd>\(text($0.1))</dd>" }.joined() + "</dl>\n"
    }

    /// The colour of a state, on pages, maps and paper.
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

    private static var style: String {
        let states = ItemState.allCases.map { ".\($0.rawValue){color:\(color($0));font-weight:600}" }.joined()
        return "body{font:15px/1.45 system-ui,\"DejaVu Sans\",sans-serif;margin:0;color:#1f2328;background:#fff}"
            + "main{max-width:1100px;margin:0 auto;padding:1.5rem}h1{margin:.2rem 0}h2{margin:1.5rem 0 .3rem}"
            + "dl{display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1rem}dt{color:#57606a}dd{margin:0}"
            + "table{border-collapse:collapse;margin:1rem 0;width:100%}caption{text-align:left;font-weight:600;"
            + "padding:.3rem 0}th,td{border-bottom:1px solid #d0d7de;padding:.25rem .6rem;text-align:left;"
            + "vertical-align:top}tbody th{overflow-wrap:anywhere}thead th{color:#57606a}.scroll{overflow-x:auto}"
            + "svg{max-width:100%;height:auto}.signature{margin-top:3rem;display:flex;gap:3rem}"
            + ".signature span{border-top:1px solid #1f2328;flex:1;padding-top:.3rem}" + states
            + "@media print{main{max-width:none;padding:0}thead{display:table-header-group}tr{break-inside:avoid}}"
    }
}

/// The texts that all forms of a report share.
extension CountReport {
    static let columns = [
        "item", "place", "state", "first heard", "last heard", "best dBm", "battery mV", "where heard",
    ]

    /// An item's name and id.
    ///
    /// - Parameter columns: The length to which the name is cut.
    static func label(_ name: String, _ id: String, columns: Int) -> String {
        name == id ? name : "\(TerminalText.shortened(name, to: columns)) (\(id))"
    }

    /// The cells under ``columns``.
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

    /// The date and the time to the second, in UTC.
    static func moment(_ time: RFC3339Time) -> String {
        String("\(time)".prefix(19)).split(separator: "T").joined(separator: " ")
    }

    static func seconds(_ milliseconds: Int) -> String {
        DecimalText.thousandths((milliseconds + 50) / 100 * 100) + " s"
    }

    var facts: [(String, String)] {
        [
            ("inventory", inventory), ("count", count), ("start", Self.moment(start) + " UTC"),
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

    /// A change in words.
    static func words(_ change: ItemChange) -> String {
        switch change.kind {
        case .lost: "found in the previous count, \(change.after ?? "missing") now"
        case .returned: "\(change.before ?? "missing") in the previous count, found now"
        case .stillMissing: "not found in either count"
        case .added: "new in the inventory, \(change.after ?? "missing")"
        case .removed: "no longer in the inventory"
        case .moved: "moved from \(change.before ?? "no place") to \(change.after ?? "no place")"
        case .rebeaconed: "has another beacon"
        }
    }

    /// An HTML page, which can also be printed.
    public var html: String {
        var body = "<h1>\(ReportPage.text(title))</h1>\n" + ReportPage.facts(facts)
        for warning in warnings { body += "<p class=\"missing\">\(ReportPage.text(warning))</p>\n" }
        body += ReportPage.table(
            caption: "Receivers", header: Self.receiverColumns,
            rows: receivers.map { Self.cells($0).map { ($0, "") } })
        let styled = outcomes.map { outcome in
            Self.cells(outcome).enumerated().map { (text: $1, style: $0 == 2 ? outcome.state.rawValue : "") }
        }
        body += ReportPage.table(caption: "Items", header: Self.columns, rows: styled)
        body += ReportPage.table(
            caption: "Items of other inventories", header: ["item", "inventory"] + Self.columns.dropFirst(2),
            rows: foreigners.map { Self.cells($0).map { ($0, "") } })
        body += ReportPage.table(
            caption: "Changes since \(previous ?? "the previous count")", header: ["item", "change"],
            rows: changes.map { [("\($0.name) (\($0.id))", ""), (Self.words($0), "")] })
        body += "<p class=\"signature\"><span>date</span><span>name</span><span>signature</span></p>\n"
        return ReportPage.html(title: "\(title): count \(count)", body: body)
    }
}
