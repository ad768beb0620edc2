internal import Configuration

/// Labels for the machines of a fleet. Each page is an SVG of A4, for printing without scaling.
public struct LabelSheet: Sendable {
    private let beacons: [FleetManifest.Beacon]
    private let paper: LabelPaper
    /// The number of used labels on the first page.
    private let skippedLabels: Int
    private let hasCutLines: Bool
    private let urls: [String]
    /// The size of the letters of all names, in hundredths of a millimetre: the size at which the longest name fits.
    private let nameSize: Int

    /// - Parameters:
    ///   - skipping: The number of used labels on the first page, from 0 to the number of labels on a page.
    ///   - hasCutLines: `true` to draw thin lines between the labels, for plain paper.
    ///   - urls: The texts of the codes, one for each beacon. If it is empty, each code has the beacon's name and
    ///     identities.
    public init(
        _ beacons: [FleetManifest.Beacon], paper: LabelPaper = .standard, skipping: Int = 0, hasCutLines: Bool = false,
        urls: [String] = []
    ) {
        self.beacons = beacons
        self.paper = paper
        skippedLabels = min(max(0, skipping), paper.labelsPerPage)
        self.hasCutLines = hasCutLines
        self.urls = urls
        let (_, width) = Self.column(paper)
        let sizes = Self.nameSizes(paper)
        nameSize =
            beacons.map { LabelText($0.title ?? $0.name, width: width, sizes: sizes, lineLimit: Self.nameLines).size }
            .min()
            ?? sizes.upperBound
    }

    /// The distance of the texts next to the code from the left edge of the label, and their width.
    private static func column(_ paper: LabelPaper) -> (left: Int, width: Int) {
        let left = min(paper.labelHeight, paper.labelWidth / 2) - margin
        return (left, paper.labelWidth - left - margin)
    }

    private static func nameSizes(_ paper: LabelPaper) -> ClosedRange<Int> {
        paper.labelHeight / 16...paper.labelHeight / 8
    }

    /// The largest number of lines of a name.
    private static let nameLines = 6

    /// The number of pages; 0 for a fleet without beacons.
    public var pageCount: Int {
        beacons.isEmpty ? 0 : (skippedLabels + beacons.count + paper.labelsPerPage - 1) / paper.labelsPerPage
    }

    /// The SVG of a page, counted from 0. A page outside ``pageCount`` has no labels.
    public func page(_ index: Int) -> String {
        let (width, height) = (LabelPaper.pageWidth, LabelPaper.pageHeight)
        var body = ""
        for position in 0..<paper.labelsPerPage {
            let (firstLabel, isOverflow) = index.multipliedReportingOverflow(by: paper.labelsPerPage)
            let index = firstLabel + position - skippedLabels
            guard !isOverflow, beacons.indices.contains(index) else { continue }
            let corner = paper.corner(position)
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

    /// The SVG of a label: the code on the left, as high as the label, and the texts next to it.
    private func label(_ label: BeaconLabel) -> String {
        let (width, height) = (paper.labelWidth, paper.labelHeight)
        var result = ""
        if hasCutLines {
            result +=
                "<rect width=\"\(width)\" height=\"\(height)\" fill=\"none\" stroke=\"#999\" stroke-width=\"10\"/>"
        }
        // Labels limit their text to 300 bytes, which fit into every code.
        guard let code = QRCode(label.codeText) else { return result + texts(of: label) }
        // The size of a module is a whole number of hundredths of a millimetre. The quiet zone is four modules wide.
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
        // The lines of identities share the remaining height.
        let largestSize = max(1, (scale - Self.margin / 2 - bottom) * 4 / 5 / max(1, label.lines.count))
        let sizes = min(largestSize, scale / 22)...min(largestSize, scale / 12)
        for line in label.lines { add(LabelText(line, width: width, sizes: sizes, lineLimit: 1), bold: false) }
        return result
    }

    /// The margin of a label, in hundredths of a millimetre. It is needed because printers and cutters are not exact.
    private static let margin = 350
}

/// A sheet of A4 with labels, as sold in shops. All lengths are in hundredths of a millimetre.
public struct LabelPaper: Hashable, Sendable {
    /// Width and height of a label in millimetres, such as `70x37`.
    public let name: String
    public let columns: Int
    public let rows: Int
    let labelWidth: Int
    let labelHeight: Int
    /// The distance from the sheet's left edge to the first label.
    private let left: Int
    /// The distance from the left edge of a label to the left edge of the next label in the row.
    private let columnPitch: Int
    /// The distance from the sheet's upper edge to the first label. Rows follow without a gap.
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

    /// The upper left corner of the label at a position, which counts from 0, row by row.
    func corner(_ position: Int) -> (x: Int, y: Int) {
        (left + position % columns * columnPitch, top + position / columns * labelHeight)
    }

    /// 24 labels on a page without gaps, also for plain paper and scissors.
    public static let standard = LabelPaper(
        "70x37", columns: 3, rows: 8, width: 7000, height: 3700, left: 0, top: 50, gap: 0)

    /// All supported sheets.
    public static let all = [
        standard,
        LabelPaper(
            "63.5x38.1", columns: 3, rows: 7, width: 6350, height: 3810, left: 725, top: 1515, gap: 250),
        LabelPaper(
            "99.1x38.1", columns: 2, rows: 7, width: 9910, height: 3810, left: 465, top: 1515, gap: 250),
        LabelPaper("105x74", columns: 2, rows: 4, width: 10_500, height: 7400, left: 0, top: 50, gap: 0),
    ]

    /// Returns `nil` for a name that is not in ``all``.
    public init?(named name: String) {
        guard let paper = Self.all.first(where: { $0.name == name }) else { return nil }
        self = paper
    }
}

/// The order of the labels of a fleet.
public enum LabelOrder: String, CaseIterable, Sendable {
    /// Site by site, floor by floor and room by room, in the order in which the fleet first contains each of them.
    case group
    /// By name, with numbers in numeric order: `hall-2` comes before `hall-10`.
    case name
    /// The order of the fleet file.
    case file

    /// The beacons in this order. Beacons that are equal in this order keep the order of the fleet.
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

    /// A piece of a name for sorting: either digits or other characters. Digits come before other characters, and
    /// numbers with fewer digits before numbers with more digits.
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
        var remainder = name[...]
        while let first = remainder.first {
            let isNumber = first.isWholeNumber
            let piece = remainder.prefix { $0.isWholeNumber == isNumber }
            let digits = isNumber ? piece.drop { $0 == "0" } : piece
            parts.append(Part(isText: !isNumber, length: digits.count, text: digits))
            remainder = remainder[piece.endIndex...]
        }
        return parts
    }
}
