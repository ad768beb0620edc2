/// Counts the series of lines that a receiver sends. A new series begins after a pause that is much longer than the
/// usual pause between two lines.
struct LineSeries: Sendable {
    /// The number of series; 0 before the first line.
    private(set) var count = 0
    /// The mean pause between two lines, in milliseconds; `nil` before the second line.
    private var mean: Double?

    /// The weight of the latest pause in the mean.
    private static let weight = 0.125
    /// The longest pause that never begins a new series, in milliseconds. It is longer than 5 s, because a listener
    /// that receives no known beacon publishes its state only every 5 s.
    static let shortPause = 7000
    /// The multiple of the mean pause from which a pause counts as long.
    static let factor = 3.0

    /// Counts a line.
    ///
    /// - Parameter pause: The time since the newest line, in milliseconds; `nil` if there was no line.
    mutating func add(pause: Int?) {
        guard let pause, count > 0 else {
            count += 1
            return
        }
        guard pause > 0 else { return }
        let mean = self.mean ?? Double(pause)
        if pause > Self.shortPause, Double(pause) > Self.factor * mean { count += 1 }
        self.mean = mean + Self.weight * (Double(min(pause, SightingCollector.deadAfter)) - mean)
    }
}
