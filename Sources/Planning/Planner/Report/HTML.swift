internal import BluetoothTypes
internal import Configuration

/// The elements of the page. Values named `markup` are already escaped.
package enum HTML {
    /// The largest number of characters of a name. Longer names are shortened.
    private static let longestName = 160

    private static func text(_ raw: String) -> String {
        HTMLEscaping.text(HTMLEscaping.shortened(raw, to: longestName))
    }

    /// The largest number of characters of a cell, such as a reason. Longer texts are shortened.
    private static let longestCell = 400

    /// Returns a figure: a drawing with its title, its explanation, and its values as a table.
    package static func figure(
        id: String, title: String, drawing markup: String, caption: String, table: String = "", legend: String = ""
    ) -> String {
        let tableMarkup =
            table.isEmpty ? "" : "<details class=\"data\"><summary>The values as a table</summary>\(table)</details>"
        let captionMarkup =
            caption.isEmpty ? "" : "<p>\(HTMLEscaping.sentence(HTMLEscaping.shortened(caption, to: 2000)))</p>"
        return "<figure id=\"\(id)\" class=\"card\"><figcaption><h2>\(text(title))</h2>\(captionMarkup)"
            + "</figcaption>\(legend)\(markup)\(tableMarkup)</figure>\n"
    }

    /// Draws a figure. A wide figure is drawn twice, for narrow and for wide windows, and the style sheet shows one of
    /// the two drawings.
    static func drawings(isWide: Bool, label: String, _ drawing: (_ width: Double) -> SVG) -> String {
        guard isWide else { return drawing(PlotArea.width).element(label: label) }
        return drawing(PlotArea.width).element(label: label, class: "narrow")
            + drawing(PlotArea.wideWidth).element(label: label, class: "wide")
    }

    /// The meaning of the colour of a row or a cell in a table.
    package enum Mark: String, Hashable, Sendable {
        case good
        case warning
        case bad
    }

    /// A table with a caption. The first cell of each row is its heading. Columns of numbers are aligned to the right
    /// and not wrapped; columns of words are aligned to the left. A wide table scrolls within its card.
    ///
    /// - Parameter marks: The mark of each row. Rows beyond the end of the list have no mark.
    package static func table(
        caption: String, header: [String], rows: [[String]], marks: [Mark?] = []
    ) -> String {
        let isWords = header.indices.map { column in
            rows.contains { column < $0.count && !isNumber($0[column]) }
        }
        func style(_ column: Int) -> String {
            column > 0 && column < isWords.count && isWords[column] ? " class=\"words\"" : ""
        }
        let head = header.enumerated().map { "<th scope=\"col\"\(style($0))>\(text($1))</th>" }.joined()
        let body = rows.enumerated().map { rowIndex, row in
            let mark = marks.indices.contains(rowIndex) ? marks[rowIndex].map { " class=\"\($0.rawValue)\"" } ?? "" : ""
            return "<tr\(mark)>"
                + row.enumerated().map { index, cell in
                    index == 0
                        ? "<th scope=\"row\">\(self.cell(cell))</th>" : "<td\(style(index))>\(self.cell(cell))</td>"
                }.joined() + "</tr>"
        }
        return "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"\(text(caption))\"><table>"
            + "<caption>\(text(caption))</caption><thead><tr>\(head)</tr>"
            + "</thead><tbody>\(body.joined())</tbody></table></div>"
    }

    /// Returns true for an empty cell, a dash, and a number with or without a unit.
    private static func isNumber(_ cell: String) -> Bool {
        cell.count < 24 && (cell.first.map { $0.isNumber || "-–−<".contains($0) } ?? true)
    }

    private static func cell(_ raw: String) -> String {
        HTMLEscaping.sentence(HTMLEscaping.shortened(raw, to: longestCell))
    }

    /// The meaning of a colour or a line of a drawing.
    package struct LegendEntry {
        /// The style class of the colour field.
        let swatch: String
        let name: String
        /// The id of the entry for a script; empty if the entry has no id. The id of the element with the name is this
        /// id followed by `Name`.
        let id: String
        var isHidden = false

        package init(_ swatch: String, _ name: String, id: String = "", isHidden: Bool = false) {
            (self.swatch, self.name, self.id, self.isHidden) = (swatch, name, id, isHidden)
        }
    }

    /// Returns the legend of a drawing.
    package static func legend(_ entries: [LegendEntry]) -> String {
        let items = entries.map { entry in
            let idAttribute = entry.id.isEmpty ? "" : " id=\"\(entry.id)\""
            let name =
                entry.id.isEmpty ? text(entry.name) : "<span id=\"\(entry.id)Name\">\(text(entry.name))</span>"
            return
                "<li\(idAttribute)\(entry.isHidden ? " hidden" : "")><span class=\"swatch "
                + "\(entry.swatch)\"></span>\(name)</li>"
        }
        return "<ul class=\"legend\">\(items.joined())</ul>"
    }

    /// Returns a legend whose entries have no ids.
    static func legend(_ entries: [(swatch: String, name: String)]) -> String {
        legend(entries.map { LegendEntry($0.swatch, $0.name) })
    }

    /// Returns an element that shows a number. The script finds it by its id and may replace the number. The attribute
    /// `data-value` has all digits.
    static func number(id: String, shown: String, value: Double?) -> String {
        let exact = NumberFormat.exact(value).map { " data-value=\"\($0)\"" } ?? ""
        return "<span id=\"\(id)\"\(exact)>\(text(shown))</span>"
    }
}

/// Escapes text that does not come from the program, such as names in files, for a page.
package enum HTMLEscaping {
    package static func text(_ raw: String) -> String { MarkupText.escaped(raw) }

    /// Returns a sentence as markup: a number and its unit stay on one line, and text between backticks is shown as
    /// code.
    package static func sentence(_ raw: String) -> String {
        let parts = keepingUnits(text(raw)).split(separator: "`", omittingEmptySubsequences: false)
        guard parts.count > 1, parts.count % 2 == 1 else { return parts.joined(separator: "`") }
        return parts.enumerated().map { $0 % 2 == 0 ? String($1) : "<code>\($1)</code>" }.joined()
    }

    /// The units that stay on one line with their number.
    private static let units: Set<Substring> = [
        "%", "ms", "s", "µs", "min", "h", "m", "m²", "m/s", "km", "dB", "dBm", "mV", "µA", "µC", "µJ", "1/s",
    ]

    /// Replaces the space between a number and its unit by a no-break space.
    private static func keepingUnits(_ text: String) -> String {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        var result = ""
        for (index, word) in words.enumerated() {
            if index > 0 {
                var unit = word
                while let last = unit.last, ".,;:)".contains(last) { unit.removeLast() }
                let isUnit = words[index - 1].last?.isNumber == true && units.contains(unit)
                result += isUnit ? "\u{A0}" : " "
            }
            result += word
        }
        return result
    }
    package static func json(_ raw: String) -> String { JSONText.quotedForScript(raw) }
    package static func shortened(_ raw: String, to length: Int) -> String { MarkupText.shortened(raw, to: length) }
}
