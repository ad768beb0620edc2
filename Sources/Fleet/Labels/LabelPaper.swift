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
