/// A line of a receiver with its time.
struct TimedLine: Sendable {
    var line: ReceiverLine
    /// The index of the receiver.
    var receiver: Int
    /// In milliseconds since 1970.
    var time: Int
}

/// Lines with times far after those of all lines before: their clock is wrong, or no line came for a long time.
///
/// They wait until they agree: three lines over at least 15 s, with no line of the usual time between them.
struct LeapingLines: Sendable {
    /// In the order of arrival.
    private(set) var lines: [TimedLine] = []

    /// The time in milliseconds by which a line may be ahead without leaping.
    static let step = 12_000
    /// The number of lines that agree, and their time span in milliseconds.
    static let agreement = (lines: 3, span: SightingCollector.deadAfter)
    /// At the end of a recording, lines that leap by at most this need not agree, in milliseconds.
    static let pause = 600_000
    /// The largest number of lines that wait.
    private static let limit = 100_000

    /// Adds a line, and removes those that are ahead of it.
    ///
    /// - Returns: the number of removed lines.
    mutating func add(_ line: TimedLine) -> Int {
        let count = lines.count
        lines.removeAll { $0.time > line.time + Self.step }
        defer { lines.append(line) }
        return count - lines.count
    }

    /// True if the lines agree on the time.
    var agree: Bool {
        guard let first = lines.first, let last = lines.last, lines.count >= Self.agreement.lines else { return false }
        return last.time - first.time >= Self.agreement.span || lines.count >= Self.limit
    }

    /// Removes all lines, and returns them.
    mutating func take() -> [TimedLine] {
        defer { lines = [] }
        return lines
    }
}
