/// A line of a receiver with its time.
struct TimedLine: Sendable {
    var line: ReceiverLine
    /// The index of the receiver.
    var receiver: Int
    /// The time of the line, in milliseconds since 1970.
    var unixMilliseconds: Int
}

/// Lines whose time is far after the times of all used lines, or before the time of the first line. Either their clock
/// is wrong, or no line came for a long time.
///
/// The lines wait until they agree. They agree if there are at least three of them, their times span at least 15 s, and
/// no line that could be used at once has arrived between them.
struct WaitingLines: Sendable {
    /// The waiting lines, in the order of arrival.
    private(set) var lines: [TimedLine] = []

    /// The time in milliseconds by which a line may be ahead of the collector's time and is still used at once.
    static let maximumLead = 12_000
    /// The number of lines that must agree, and the time that they must span in milliseconds.
    static let agreement = (lines: 3, span: SightingCollector.deadAfter)
    /// At the end of a recording: the largest time by which the waiting lines may be ahead of the collector's time, in
    /// milliseconds. If they are further ahead, they are dropped.
    static let longestGap = 600_000
    /// The largest number of lines that wait.
    private static let limit = 100_000

    /// Adds a line, and removes the lines whose time is far after the time of the new line.
    ///
    /// - Returns: The number of removed lines.
    mutating func add(_ line: TimedLine) -> Int {
        let count = lines.count
        lines.removeAll { $0.unixMilliseconds > line.unixMilliseconds + Self.maximumLead }
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
