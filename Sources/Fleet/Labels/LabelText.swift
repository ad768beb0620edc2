/// A text set into a box of a label: as large as it fits, in several lines when it has to.
///
/// Fonts are not measured: whoever prints has others. A letter of a sans-serif font is taken as 0.62 of its size
/// wide, which few texts exceed.
struct LabelText {
    let lines: [String]
    /// Hundredths of a millimeter.
    let size: Int

    /// - Parameters:
    ///   - width: What it may be wide, in hundredths of a millimeter.
    ///   - sizes: The smallest and the largest letters.
    ///   - lineLimit: What does not fit into so many lines of the smallest letters is left out, with an ellipsis.
    init(_ text: String, width: Int, sizes: ClosedRange<Int>, lineLimit: Int) {
        let length = max(1, text.count)
        let fitting = width * 100 / (Self.letterWidth * length)
        size = min(max(fitting, sizes.lowerBound), sizes.upperBound)
        lines = Self.broken(text, after: max(2, width * 100 / (Self.letterWidth * size)), lineLimit)
    }

    /// Percent of the size.
    private static let letterWidth = 62

    /// Breaks behind a separator where one stands in the second half of the line, else anywhere.
    private static func broken(_ text: String, after length: Int, _ lineLimit: Int) -> [String] {
        var lines: [String] = []
        var rest = text[...]
        while rest.count > length, lines.count + 1 < lineLimit {
            let line = rest.prefix(length)
            let separator = line.lastIndex { "-_./ ".contains($0) }
            let cut = separator.map { line[...$0] }.flatMap { 2 * $0.count > length ? $0 : nil } ?? line
            lines.append(String(cut))
            rest = rest.dropFirst(cut.count)
        }
        lines.append(rest.count > length ? rest.prefix(length - 1) + "…" : String(rest))
        return lines
    }
}
