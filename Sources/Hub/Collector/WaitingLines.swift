/// A line of a receiver with its time.
struct TimedLine: Sendable {
    var line: ReceiverLine
    /// The index of the receiver.
    var receiver: Int
    /// The time of the line, in milliseconds since 1970.
    var unixMilliseconds: Int
}

/// Lines whose time is far after that of all lines before them, or before that of the first line. Either their clock is
/// wrong, or no line came for a long time.
///
/// The lines wait until they agree: at least three lines that span at least 15 s, with no line of the usual time
/// between them.
struct WaitingLines: Sendable {
    /// The waiting lines, in the order of arrival.
    private(set) var lines: [TimedLine] = []

    /// The time by which a line may be ahead of the others without having to wait, in milliseconds.
    static let step = 12_000
    /// The number of lines that must agree, and the time that they must span in milliseconds.
    static let agreement = (lines: 3, span: SightingCollector.deadAfter)
    /// The time in milliseconds by which lines at the end of a recording may be ahead and need not agree.
    static let pause = 600_000
    /// The largest number of lines that wait.
    private static let limit = 100_000

    /// Adds a line, and removes the lines that are far ahead of it.
    ///
    /// - Returns: The number of removed lines.
    mutating func add(_ line: TimedLine) -> Int {
        let count = lines.count
        lines.removeAll { $0.unixMilliseconds > line.unixMilliseconds + Self.step }
        defer { lines.append(line) }
        return count - lines.count
    }

    /// True if the lines agree on the time.
    var agree: Bool {
        guard let first = lines.first, let last = lines.last, lines.count >= Self.agreement.lines else { return false }
        return last.unixMilliseconds - first.unixMilliseconds >= Self.agreement.span || lines.count >= Self.limit
    }

    /// Removes all lines, and returns them.
    mutating func take() -> [TimedLine] {
        defer { lines = [] }
        return lines
    }
}
