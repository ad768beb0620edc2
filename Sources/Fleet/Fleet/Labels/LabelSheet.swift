internal import Configuration

/// Labels for the boxes of a fleet, page by page: each page is one SVG of A4, to be printed at its own size.
public struct LabelSheet: Sendable {
    private let beacons: [FleetManifest.Beacon]
    private let paper: LabelPaper
    private let skipped: Int
    private let hasCutLines: Bool
    private let urls: [String]
    /// All names have it, so that a wall of boxes looks like one: what the longest of them needs.
    private let nameSize: Int

    /// - Parameters:
    ///   - skipping: So many labels of the first page are gone already; no more than a page has, and not below 0.
    ///   - hasCutLines: Draws thin lines between the labels, for plain paper.
    ///   - urls: What the codes say, one for each beacon; without them a code has the beacon's name and identities.
    public init(
        _ beacons: [FleetManifest.Beacon], paper: LabelPaper = .standard, skipping: Int = 0, hasCutLines: Bool = false,
        urls: [String] = []
    ) {
        self.beacons = beacons
        self.paper = paper
        skipped = min(max(0, skipping), paper.labelsPerPage)
        self.hasCutLines = hasCutLines
        self.urls = urls
        let (_, width) = Self.column(paper)
        let sizes = Self.nameSizes(paper)
        nameSize =
            beacons.map { LabelText($0.name, width: width, sizes: sizes, lineLimit: Self.nameLines).size }.min()
            ?? sizes.upperBound
    }

    /// Where the texts begin beside the code, and how wide they may be.
    private static func column(_ paper: LabelPaper) -> (left: Int, width: Int) {
        let left = min(paper.labelHeight, paper.labelWidth / 2) - margin
        return (left, paper.labelWidth - left - margin)
    }

    private static func nameSizes(_ paper: LabelPaper) -> ClosedRange<Int> {
        paper.labelHeight / 16...paper.labelHeight / 8
    }

    private static let nameLines = 6

    /// None for a fleet without boxes.
    public var pageCount: Int {
        beacons.isEmpty ? 0 : (skipped + beacons.count + paper.labelsPerPage - 1) / paper.labelsPerPage
    }

    /// The SVG of a page, counted from 0. A page outside ``pageCount`` has no labels.
    public func page(_ index: Int) -> String {
        let (width, height) = (LabelPaper.pageWidth, LabelPaper.pageHeight)
        var body = ""
        for place in 0..<paper.labelsPerPage {
            let (first, isOver) = index.multipliedReportingOverflow(by: paper.labelsPerPage)
            let index = first + place - skipped
            guard !isOver, beacons.indices.contains(index) else { continue }
            let corner = paper.corner(place)
            body += "<g transform=\"translate(\(corner.x) \(corner.y))\">"
            body += label(BeaconLabel(beacons[index], url: urls.indices.contains(index) ? urls[index] : nil))
            body += "</g>\n"
        }
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <svg xmlns="http://www.w3.org/2000/svg" width="210mm" height="297mm" viewBox="0 0 \(width) \(height)" \
            font-family="DejaVu Sans, Arial, Helvetica, sans-serif">
            <rect width="\(width)" height="\(height)" fill="white"/>
            \(body)</svg>

            """
    }

    /// The code on the left, as large as the label is high; the texts beside it.
    private func label(_ label: BeaconLabel) -> String {
        let (width, height) = (paper.labelWidth, paper.labelHeight)
        var result = ""
        if hasCutLines {
            result +=
                "<rect width=\"\(width)\" height=\"\(height)\" fill=\"none\" stroke=\"#999\" stroke-width=\"10\"/>"
        }
        // Labels limit their text to 300 bytes, which every code holds.
        guard let code = QRCode(label.codeText) else { return result + texts(of: label) }
        // Whole hundredths of a millimeter, and four modules of quiet zone around.
        let module = (min(height, width / 2) - 2 * Self.margin) / (code.size + 8)
        let codeSide = module * code.size
        let codeLeft = Self.margin + 4 * module
        result += "<path transform=\"translate(\(codeLeft) \((height - codeSide) / 2)) scale(\(module))\" "
        result += "d=\"\(code.path)\"/>"
        return result + texts(of: label)
    }

    private func texts(of label: BeaconLabel) -> String {
        let (left, width) = Self.column(paper)
        let scale = paper.labelHeight
        let name = LabelText(label.name, width: width, sizes: nameSize...nameSize, lineLimit: Self.nameLines)
        let place = LabelText(label.place, width: width, sizes: scale / 18...scale / 13, lineLimit: 2)
        var result = ""
        var bottom = Self.margin
        func add(_ text: LabelText, bold: Bool) {
            for line in text.lines where !line.isEmpty {
                bottom += text.size * 5 / 4
                result += "<text x=\"\(left)\" y=\"\(bottom)\" font-size=\"\(text.size)\""
                result += bold ? " font-weight=\"bold\">" : ">"
                result += MarkupText.escaped(line) + "</text>"
            }
        }
        add(name, bold: true)
        add(place, bold: false)
        bottom += scale / 20
        // What is left of the height is shared by the lines that tell boxes apart.
        let most = max(1, (scale - Self.margin / 2 - bottom) * 4 / 5 / max(1, label.lines.count))
        let sizes = min(most, scale / 22)...min(most, scale / 12)
        for line in label.lines { add(LabelText(line, width: width, sizes: sizes, lineLimit: 1), bold: false) }
        return result
    }

    /// Printers and cutters are not exact.
    private static let margin = 350
}

/// A sheet of A4 with labels on it, as they are sold. All lengths in hundredths of a millimeter.
public struct LabelPaper: Hashable, Sendable {
    /// As on the command line: width and height of a label in millimeters.
    public let name: String
    public let columns: Int
    public let rows: Int
    let labelWidth: Int
    let labelHeight: Int
    /// From the sheet's left edge to the first label, and from one label to the next.
    private let left: Int
    private let columnPitch: Int
    /// From the sheet's upper edge to the first label. Rows follow without a gap.
    private let top: Int

    private init(
        _ name: String, columns: Int, rows: Int, width: Int, height: Int, left: Int, top: Int, gap: Int
    ) {
        self.name = name
        self.columns = columns
        self.rows = rows
        labelWidth = width
        labelHeight = height
        self.left = left
        self.top = top
        columnPitch = width + gap
    }

    public var labelsPerPage: Int { columns * rows }

    static let pageWidth = 21_000
    static let pageHeight = 29_700

    /// The upper left corner of the label at a place that counts from 0, row by row.
    func corner(_ place: Int) -> (x: Int, y: Int) {
        (left + place % columns * columnPitch, top + place / columns * labelHeight)
    }

    /// 24 on a page, without gaps: good for plain paper and scissors too.
    public static let standard = LabelPaper(
        "70x37", columns: 3, rows: 8, width: 7000, height: 3700, left: 0, top: 50, gap: 0)

    /// All that there are.
    public static let all = [
        standard,
        LabelPaper(
            "63.5x38.1", columns: 3, rows: 7, width: 6350, height: 3810, left: 725, top: 1515, gap: 250),
        LabelPaper(
            "99.1x38.1", columns: 2, rows: 7, width: 9910, height: 3810, left: 465, top: 1515, gap: 250),
        LabelPaper("105x74", columns: 2, rows: 4, width: 10_500, height: 7400, left: 0, top: 50, gap: 0),
    ]

    /// `nil` for a name that is none of ``all``.
    public init?(named name: String) {
        guard let paper = Self.all.first(where: { $0.name == name }) else { return nil }
        self = paper
    }
}

/// In which order the labels of a fleet come off the printer.
public enum LabelOrder: String, CaseIterable, Sendable {
    /// Site by site, floor by floor and room by room, each in the order in which the fleet first names it.
    case group
    /// By name, where a number counts as a number: `hall-2` before `hall-10`.
    case name
    /// As the fleet lists its beacons.
    case file

    /// The beacons in this order. What is equal in it stays in the fleet's order.
    public func sorted(_ beacons: [FleetManifest.Beacon]) -> [FleetManifest.Beacon] {
        switch self {
        case .file: return beacons
        case .name:
            return beacons.enumerated().sorted { first, second in
                let names = (Self.parts(first.element.name), Self.parts(second.element.name))
                return names.0 == names.1 ? first.offset < second.offset : names.0.lexicographicallyPrecedes(names.1)
            }
            .map(\.element)
        case .group:
            var ranks: [[String]: Int] = [:]
            let places = beacons.map { beacon in
                beacon.group.indices.map { depth -> Int in
                    let path = Array(beacon.group[...depth])
                    let rank = ranks[path] ?? ranks.count
                    ranks[path] = rank
                    return rank
                }
            }
            return beacons.indices.sorted { first, second in
                places[first] == places[second]
                    ? first < second : places[first].lexicographicallyPrecedes(places[second])
            }
            .map { beacons[$0] }
        }
    }

    /// A piece of a name: numbers come before letters, and shorter numbers before longer ones.
    private struct Part: Comparable {
        let isText: Bool
        let length: Int
        let text: Substring

        static func < (first: Part, second: Part) -> Bool {
            if first.isText != second.isText { return second.isText }
            let isByText = first.isText || first.length == second.length
            return isByText ? first.text < second.text : first.length < second.length
        }
    }

    private static func parts(_ name: String) -> [Part] {
        var parts: [Part] = []
        var rest = name[...]
        while let first = rest.first {
            let isNumber = first.isWholeNumber
            let piece = rest.prefix { $0.isWholeNumber == isNumber }
            let digits = isNumber ? piece.drop { $0 == "0" } : piece
            parts.append(Part(isText: !isNumber, length: digits.count, text: digits))
            rest = rest[piece.endIndex...]
        }
        return parts
    }
}
