/// Decides when to publish all retained messages again, as the answer to Home Assistant's birth messages. The first
/// birth message is answered at once. All further birth messages within 30 s get one answer at the end of that time.
public struct BirthAnswers: Hashable, Sendable {
    /// The shortest time between two answers, in nanoseconds.
    public static let pause: UInt64 = 30_000_000_000

    /// True if a birth message waits for an answer.
    private var isPending = false
    /// The earliest time of the next answer, in nanoseconds of `LinuxHost/MonotonicClock`.
    private var earliestAnswer: UInt64 = 0

    /// Creates the state before the first birth message.
    public init() {}

    /// Records a received birth message.
    public mutating func receiveBirth() { isPending = true }

    /// Returns true if an answer is due. The next call then returns false.
    ///
    /// - Parameter now: The present time, in nanoseconds of `LinuxHost/MonotonicClock`.
    public mutating func isDue(at now: UInt64) -> Bool {
        guard isPending, now >= earliestAnswer else { return false }
        (isPending, earliestAnswer) = (false, now + Self.pause)
        return true
    }
}
