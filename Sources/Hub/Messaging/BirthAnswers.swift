/// Decides when Home Assistant's birth messages are answered with all retained publications: the first one at once, and
/// all messages of the following 30 s together at the end of that time.
public struct BirthAnswers: Hashable, Sendable {
    /// The shortest time between two answers, in nanoseconds.
    public static let pause: UInt64 = 30_000_000_000

    /// True if a birth message waits for an answer.
    private var isAsked = false
    /// The earliest time of the next answer, in nanoseconds.
    private var next: UInt64 = 0

    /// No birth message has arrived.
    public init() {}

    /// Notes a birth message.
    public mutating func ask() { isAsked = true }

    /// Returns true, once, if it is time for an answer.
    ///
    /// - Parameter now: In nanoseconds of `LinuxHost/MonotonicClock`.
    public mutating func isDue(at now: UInt64) -> Bool {
        guard isAsked, now >= next else { return false }
        (isAsked, next) = (false, now + Self.pause)
        return true
    }
}
