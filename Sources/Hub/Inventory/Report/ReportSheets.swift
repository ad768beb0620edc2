internal import Configuration

/// A report for paper: A4 pages in landscape format. Each page is an SVG document. `rsvg-convert` combines the pages
/// into a PDF document.
public struct ReportSheets: Sendable {
    /// The SVG of each page; at least one page.
    public private(set) var pages: [String] = []

    private var body = ""
    /// The height of the part of the page that is already filled, in hundredths of a millimetre.
    private var bottom = 0
    private let title: String

    /// The size of a page, in hundredths of a millimetre.
    private static let (width, height) = (29_700, 21_000)
    /// The margin of a page, the height of a line and the size of the text, in hundredths of a millimetre.
    private static let (margin, lineHeight, size) = (1200, 380, 260)
    /// The approximate number of terminal columns that fit into two centimetres at ``size``.
    private static let columnsInTwoCentimetres = 11

    /// Creates the pages of a report.
    public init(_ report: CountReport) {
        title = "\(report.title): count \(report.countName)"
        beginPage()
        line([(Self.margin, report.title)], size: 600, isBold: true)
        for (name, value) in report.facts {
            for (index, part) in Self.lines(value, millimetres: 220, limit: 4).enumerated() {
                line([(Self.margin, index == 0 ? name : ""), (Self.margin + 3600, part)])
            }
        }
        for warning in report.warnings {
            for part in Self.lines(warning, millimetres: 270, limit: 3) {
                line([(Self.margin, part)], color: "#cf222e")
            }
        }
        table(
            "Receivers", CountReport.receiverColumns, [70, 50, 40, 30, 30, 25, 25],
            report.receivers.map { (CountReport.cells($0), nil) })
        let widths = [70, 36, 33, 37, 37, 17, 20, 23]
        // The largest length of a name, in columns. The name then fills at most two lines, and the id fits into the
        // third.
        let nameColumns = 60
        table(
            "Items", CountReport.columns, widths,
            report.outcomes.map { (CountReport.cells($0, nameColumns: nameColumns), $0.state) })
        table(
            "Items of other inventories", ["item", "inventory"] + CountReport.columns.dropFirst(2), widths,
            report.foreigners.map { (CountReport.cells($0, nameColumns: nameColumns), .foreign) })
        table(
            "Changes since \(report.previous ?? "the previous count")", ["item", "change"], [100, 170],
            report.changes.map {
                ([CountReport.label($0.name, $0.id, columns: nameColumns), CountReport.words($0)], nil)
            })
        addPhotos(of: report)
        addSignatureLines()
        endPage()
    }

    /// Adds the photos of the items in rows of five, each photo above the name of its item.
    private mutating func addPhotos(of report: CountReport) {
        let shownPhotos = report.outcomes.map(\.item).compactMap { item in report.photos[item.id].map { (item, $0) } }
            .filter { $0.1.kind != .webp }
        guard !shownPhotos.isEmpty else { return }
        let (columns, width, height, nameLines) = (5, 5000, 3800, 2)
        let step = (Self.width - 2 * Self.margin - width) / (columns - 1)
        for start in stride(from: 0, to: shownPhotos.count, by: columns) {
            let row = shownPhotos[start...].prefix(columns)
            let rowHeight = height + (nameLines + 4) * Self.lineHeight
            if bottom + rowHeight > Self.height - Self.margin - 600 { beginNextPage() }
            if start == 0 {
                bottom += Self.lineHeight
                line([(Self.margin, "Photos")], size: 380, isBold: true)
            }
            bottom += Self.lineHeight
            for (column, (_, photo)) in row.enumerated() {
                body += "<image x=\"\(Self.margin + column * step)\" y=\"\(bottom)\" width=\"\(width)\" "
                body += "height=\"\(height)\" href=\"\(photo.address)\"/>\n"
            }
            bottom += height
            let captions = row.map { item, _ in
                Self.lines(CountReport.label(item.name, item.id, columns: 60), millimetres: 50, limit: nameLines)
            }
            for index in 0..<nameLines {
                line(
                    captions.enumerated().map { column, lines in
                        (Self.margin + column * step, lines.indices.contains(index) ? lines[index] : "")
                    })
            }
        }
    }

    /// - Parameters:
    ///   - widths: The widths of the columns, in millimetres.
    ///   - rows: For each row, its cells, and the state whose colour the third cell has.
    private mutating func table(
        _ caption: String, _ header: [String], _ widths: [Int], _ rows: [([String], ItemState?)]
    ) {
        guard !rows.isEmpty else { return }
        if bottom + 5 * Self.lineHeight > Self.height - 2 * Self.margin { beginNextPage() }
        bottom += Self.lineHeight
        line([(Self.margin, caption)], size: 380, isBold: true)
        tableHead(header, widths)
        for (cells, state) in rows {
            let parts = zip(cells, widths).map { Self.lines($0, millimetres: $1 - 2, limit: 3) }
            let count = max(1, parts.map(\.count).max() ?? 1)
            if bottom + count * Self.lineHeight > Self.height - Self.margin - 600 {
                beginNextPage()
                tableHead(header, widths)
            }
            for index in 0..<count {
                let texts = parts.enumerated().map { column, lines in
                    (Self.leftEdge(column, widths), lines.indices.contains(index) ? lines[index] : "")
                }
                line(texts, color: state.map { ReportPage.color($0) }, colored: 2)
            }
        }
    }

    private mutating func tableHead(_ header: [String], _ widths: [Int]) {
        line(header.enumerated().map { (Self.leftEdge($0, widths), $1) }, color: "#57606a")
        body +=
            "<path d=\"M\(Self.margin) \(bottom + 110)H\(Self.width - Self.margin)\" stroke=\"#d0d7de\" stroke-width=\"20\"/>\n"
        bottom += 60
    }

    private static func leftEdge(_ column: Int, _ widths: [Int]) -> Int {
        margin + widths.prefix(column).reduce(0, +) * 100
    }

    private mutating func addSignatureLines() {
        if bottom + 2400 > Self.height - Self.margin { beginNextPage() }
        bottom += 2000
        let fields = [("date", Self.margin, 6000), ("name", 8000, 9000), ("signature", 18_000, 10_000)]
        for (_, left, length) in fields {
            body += "<path d=\"M\(left) \(bottom)h\(length)\" stroke=\"#1f2328\" stroke-width=\"25\"/>\n"
        }
        line(fields.map { ($0.1, $0.0) }, color: "#57606a")
    }

    /// - Parameter colored: The index of the only text that is coloured; `nil` to colour all texts.
    private mutating func line(
        _ texts: [(left: Int, text: String)], size: Int = Self.size, isBold: Bool = false, color: String? = nil,
        colored: Int? = nil
    ) {
        bottom += max(Self.lineHeight, size * 14 / 10)
        for (index, (left, text)) in texts.enumerated() where !text.isEmpty {
            let fill = color.flatMap { colored == nil || colored == index ? " fill=\"\($0)\"" : nil } ?? ""
            let weight = isBold ? " font-weight=\"bold\"" : ""
            body += "<text x=\"\(left)\" y=\"\(bottom)\" font-size=\"\(size)\"\(weight)\(fill)>"
            body += MarkupText.escaped(text) + "</text>\n"
        }
    }

    private mutating func beginPage() {
        body = ""
        bottom = Self.margin
    }

    private mutating func beginNextPage() {
        endPage()
        beginPage()
    }

    private mutating func endPage() {
        let footer = MarkupText.escaped(TerminalText.shortened(title, to: 100)) + ", page \(pages.count + 1)"
        pages.append(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <svg xmlns="http://www.w3.org/2000/svg" width="297mm" height="210mm" \
            viewBox="0 0 \(Self.width) \(Self.height)" fill="#1f2328" \
            font-family="DejaVu Sans, Noto Sans, Arial, Helvetica, sans-serif">
            <rect width="\(Self.width)" height="\(Self.height)" fill="white"/>
            \(body)<text x="\(Self.margin)" y="\(Self.height - 700)" font-size="250" fill="#57606a">\(footer)</text>
            </svg>

            """)
    }

    /// Breaks a text into at most `limit` lines, between words if possible. If the text is too long, the last line ends
    /// with "…".
    private static func lines(_ text: String, millimetres: Int, limit: Int) -> [String] {
        let columns = max(4, millimetres * columnsInTwoCentimetres / 20)
        var lines: [String] = []
        var current = ""
        for word in text.split(separator: " ", omittingEmptySubsequences: false) {
            var word = String(word)
            let joined = current.isEmpty ? word : current + " " + word
            if TerminalText.columns(of: joined) <= columns {
                current = joined
                continue
            }
            if !current.isEmpty { lines.append(current) }
            while TerminalText.columns(of: word) > columns {
                var part = ""
                for character in word where TerminalText.columns(of: part + String(character)) <= columns {
                    part.append(character)
                    if TerminalText.columns(of: part) == columns { break }
                }
                if part.isEmpty { part = String(word.prefix(1)) }
                lines.append(part)
                word = String(word.dropFirst(part.count))
                if lines.count > limit { break }
            }
            current = word
        }
        lines.append(current)
        guard lines.count > limit else { return lines }
        return Array(lines.prefix(limit - 1)) + [TerminalText.shortened(lines[limit - 1] + "…", to: columns)]
    }
}
