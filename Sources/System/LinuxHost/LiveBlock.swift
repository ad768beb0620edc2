/// Lines on a terminal that are drawn over the lines before them.
public struct LiveBlock: Sendable {
    /// The number of lines that were drawn last, and the size of the terminal at that time.
    private var drawn = 0
    private var size = Terminal.Size()

    /// A block without lines.
    public init() {}

    /// Draws the lines over the lines that were drawn last. Each must fit into one row of the terminal. Lines beyond
    /// the terminal's rows are left out.
    public mutating func draw(_ lines: [String]) { Terminal.write(frame(lines, on: Terminal.size)) }

    /// Returns the text that draws the lines on a terminal of this size.
    mutating func frame(_ lines: [String], on new: Terminal.Size) -> String {
        // A terminal whose size changes moves the lines, so their place is not known: everything is drawn again.
        let start = drawn == 0 ? "" : new == size ? "\u{1B}[\(drawn)A" : "\u{1B}[H\u{1B}[2J"
        let lines = lines.prefix(max(1, new.rows - 1))
        (drawn, size) = (lines.count, new)
        return start + lines.map { "\r\u{1B}[K" + $0 + "\n" }.joined() + "\u{1B}[J"
    }
}
