internal import BluetoothTypes
internal import Configuration

/// The elements of the page. Values named `markup` are already escaped.
package enum HTML {
    /// The length of a name; longer ones are shortened.
    private static let longestName = 160

    private static func text(_ raw: String) -> String {
        HTMLEscaping.text(HTMLEscaping.shortened(raw, to: longestName))
    }

    /// A drawing with its title, its explanation, and its values as a table.
    package static func figure(
        id: String, title: String, drawing markup: String, caption: String, table: String = "", legend: String = ""
    ) -> String {
        let hidden =
            table.isEmpty ? "" : "<details class=\"data\"><summary>The same as a table</summary>\(table)</details>"
        let words = caption.isEmpty ? "" : "<p>\(HTMLEscaping.text(HTMLEscaping.shortened(caption, to: 2000)))</p>"
        return "<figure id=\"\(id)\" class=\"card\"><figcaption><h2>\(text(title))</h2>\(words)"
            + "</figcaption>\(legend)\(markup)\(hidden)</figure>\n"
    }

    /// A table with a caption. The first cell of each row is its heading; the others are numbers, set to the right.
    package static func table(caption: String, header: [String], rows: [[String]]) -> String {
        let head = header.map { "<th scope=\"col\">\(text($0))</th>" }.joined()
        let body = rows.map { row in
            "<tr>"
                + row.enumerated().map { index, cell in
                    index == 0
                        ? "<th scope=\"row\">\(text(cell))</th>" : "<td>\(text(cell))</td>"
                }.joined() + "</tr>"
        }
        return "<div class=\"scroll\"><table><caption>\(text(caption))</caption><thead><tr>\(head)</tr>"
            + "</thead><tbody>\(body.joined())</tbody></table></div>"
    }

    /// The meaning of a colour or a line of a drawing.
    package struct LegendEntry {
        /// The class of its swatch.
        let swatch: String
        let name: String
        /// The id for a script, which finds the name under this id with `Name`; empty for none.
        let id: String
        var isHidden = false

        package init(_ swatch: String, _ name: String, id: String = "", isHidden: Bool = false) {
            (self.swatch, self.name, self.id, self.isHidden) = (swatch, name, id, isHidden)
        }
    }

    /// The legend of a drawing.
    package static func legend(_ entries: [LegendEntry]) -> String {
        let items = entries.map { entry in
            let own = entry.id.isEmpty ? "" : " id=\"\(entry.id)\""
            let name =
                entry.id.isEmpty ? text(entry.name) : "<span id=\"\(entry.id)Name\">\(text(entry.name))</span>"
            return
                "<li\(own)\(entry.isHidden ? " hidden" : "")><span class=\"swatch \(entry.swatch)\"></span>\(name)</li>"
        }
        return "<ul class=\"legend\">\(items.joined())</ul>"
    }

    /// The legend without ids.
    static func legend(_ entries: [(swatch: String, name: String)]) -> String {
        legend(entries.map { LegendEntry($0.swatch, $0.name) })
    }

    /// A number that the page's script may compute again: the shown text, and all digits.
    static func number(id: String, shown: String, value: Double?) -> String {
        let exact = NumberFormat.exact(value).map { " data-value=\"\($0)\"" } ?? ""
        return "<span id=\"\(id)\"\(exact)>\(text(shown))</span>"
    }
}

/// Text from outside, escaped for a page.
package enum HTMLEscaping {
    package static func text(_ raw: String) -> String { MarkupText.escaped(raw) }
    package static func json(_ raw: String) -> String { JSONText.quotedForScript(raw) }
    package static func shortened(_ raw: String, to length: Int) -> String { MarkupText.shortened(raw, to: length) }
}
