/// The time c between the starts of the copies that one beacon sends on channels 37 and 38, and on 38 and 39.
///
/// The two times are equal. Each beacon has its own c, which is drawn uniformly from a range.
///
/// The spacing depends on the chip: from tau + 150 µs up to 10 ms. Core Specification 5.4, Vol 6 Part B 4.4.2.3.
public struct CopySpacing: Hashable, Sendable {
    /// The lower end of the range of c, in µs.
    public let lowMicroseconds: Double
    /// The upper end of the range of c, in µs. If all beacons have identical firmware, it equals the lower end.
    public let highMicroseconds: Double

    /// The longest time between the starts of two copies, in µs.
    public static let maximumMicroseconds = 10_000.0

    /// Throws for spacings outside 0...10 ms, and a range whose upper end is below its lower end.
    public init(lowMicroseconds: Double, highMicroseconds: Double) throws(AirtimeError) {
        for value in [lowMicroseconds, highMicroseconds] where !(value >= 0 && value <= Self.maximumMicroseconds) {
            throw .quantity(name: "a spacing of the three copies (0...10 000 µs)", value: value)
        }
        guard lowMicroseconds <= highMicroseconds else {
            throw .quantity(name: "an upper end of the spacing (at least the lower end)", value: highMicroseconds)
        }
        self.lowMicroseconds = lowMicroseconds
        self.highMicroseconds = highMicroseconds
    }

    /// Creates the spacing of beacons with identical firmware, which all have the same c, in µs.
    public init(identicalMicroseconds: Double) throws(AirtimeError) {
        try self.init(lowMicroseconds: identicalMicroseconds, highMicroseconds: identicalMicroseconds)
    }

    /// Returns the mean of min(k·|c - `target`|, `limit`) over all c of the range, where k is `multiple`: the mean
    /// distance between the windows of another beacon on two channels, in µs. Windows that do not overlap count as
    /// `limit` apart.
    func meanSeparation(from target: Double, multiple: Double, limit: Double) -> Double {
        let width = highMicroseconds - lowMicroseconds
        guard width > 0 else { return min(multiple * abs(target - lowMicroseconds), limit) }
        /// ∫ min(t, limit) dt over 0...`end`.
        func integral(_ end: Double) -> Double {
            end <= limit ? end * end / 2 : limit * end - limit * limit / 2
        }
        let below = integral(multiple * (target - lowMicroseconds))
        let above = integral(multiple * (highMicroseconds - target))
        return (below + above) / (multiple * width)
    }
}
