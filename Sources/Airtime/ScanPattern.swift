/// When a scanner with one radio listens: during [0, W) of each scan interval I, on one channel, the next channel with
/// the next interval (37, 38, 39, 37, …). Its phase is uniform over the whole cycle.
/// Core Specification 5.4, Vol 6 Part B 4.4.3.
public struct ScanPattern: Hashable, Sendable {
    /// W in µs.
    public let windowMicroseconds: Int
    /// I in µs.
    public let intervalMicroseconds: Int
    /// 3; or 1 for a receiver that stays on one channel.
    public let channelCount: Int

    /// Refuses values that are not positive, a window longer than the interval, and other than one or three channels.
    public init(windowMicroseconds: Int, intervalMicroseconds: Int, channelCount: Int = 3) throws(AirtimeError) {
        guard windowMicroseconds > 0, windowMicroseconds <= intervalMicroseconds else {
            throw .scan(windowMicroseconds: windowMicroseconds, intervalMicroseconds: intervalMicroseconds)
        }
        guard channelCount == 1 || channelCount == 3 else {
            throw .quantity(name: "a number of channels", value: Double(channelCount))
        }
        self.windowMicroseconds = windowMicroseconds
        self.intervalMicroseconds = intervalMicroseconds
        self.channelCount = channelCount
    }

    /// One channel without a pause. The scan interval has no meaning then.
    public static let continuous = ScanPattern()

    private init() {
        windowMicroseconds = 10_240_000
        intervalMicroseconds = 10_240_000
        channelCount = 1
    }
}
