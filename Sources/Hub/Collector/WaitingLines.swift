/// A line of a receiver with its time.
struct TimedLine: Sendable {
    var line: ReceiverLine
    /// The index of the receiver.
    var receiver: Int
    /// The time of the line, in milliseconds since 1970.
    var unixMilliseconds: Int
}

/// Lines whose time is far after the times of all lines that were used, or before the time of the first line. Either
/// the clock of the waiting lines is wrong, or no line came for a long time.
///
/// The lines wait until they agree: there are at least three of them, their times span at least 15 s, and no line that
/// could be used at once arrived between them.
struct WaitingLines: Sendable {
    /// The waiting lines, in the order of arrival.
    private(set) var lines: [TimedLine] = []

    /// The time by which a line may be ahead of the collector's time without having to wait, in milliseconds.
    static let step = 12_000
    /// The number of lines that must agree, and the time that they must span in milliseconds.
    static let agreement = (lines: 3, span: SightingCollector.deadAfter)
    /// The time by which the waiting lines at the end of a recording may be ahead of the collector's time, to be used
    /// without agreement, in milliseconds.
    static let longestGap = 600_000
    /// The largest number of lines that wait.
    private static let limit = 100_000

    /// Adds a line, and removes the lines whose time is far after that of the new line.
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
