/// A block of lines on a terminal that is drawn again and again over its earlier lines.
public struct LiveBlock: Sendable {
    /// The number of lines that were drawn last.
    private var lineCount = 0
    /// The size of the terminal when the lines were drawn last.
    private var size = Terminal.Size()

    /// Creates a block without lines.
    public init() {}

    /// Draws `lines` over the lines that were drawn last. Each line must fit into one row of the terminal. Lines for
    /// which the terminal has no row are omitted.
    public mutating func draw(_ lines: [String]) { Terminal.write(frame(lines, on: Terminal.size)) }

    /// Returns the text that draws the lines on a terminal of this size.
    mutating func frame(_ lines: [String], on newSize: Terminal.Size) -> String {
        // A terminal whose size changes moves the lines to an unknown row. The whole screen is erased then.
        let start = lineCount == 0 ? "" : newSize == size ? "\u{1B}[\(lineCount)A" : "\u{1B}[H\u{1B}[2J"
        let lines = lines.prefix(max(1, newSize.rows - 1))
        (lineCount, size) = (lines.count, newSize)
        return start + lines.map { "\r\u{1B}[K" + $0 + "\n" }.joined() + "\u{1B}[J"
    }
}
