/// A channel to a controller, for packets in both directions.
///
/// A real channel waits for a packet in the kernel. The channel of a virtual controller advances its simulated clock
/// instead of waiting.
public protocol HCIChannel: AnyObject {
    /// The current time of the channel's monotonic clock.
    var now: HCIInstant { get }

    /// Sends one packet to the controller.
    func send(_ packet: HCIPacket) throws(HCIChannelError)

    /// Returns the next packet from the controller, or `nil` if there is none until `deadline`.
    func receive(until deadline: HCIInstant) throws(HCIChannelError) -> HCIPacket?

    /// The time at which the packet that ``receive(until:)`` returned last arrived, as exactly as the channel knows it.
    /// It is never later than ``now``.
    var receivedAt: HCIInstant { get }
}

extension HCIChannel {
    /// By default, the channel's current time.
    public var receivedAt: HCIInstant { now }
}

/// A moment of a channel's monotonic clock.
///
/// Calculations never overflow: their results are limited to ``distantPast``...``distantFuture``.
public struct HCIInstant: InstantProtocol, Sendable {
    /// The nanoseconds since the clock's start: the boot of the machine, or the start of a simulation.
    public let nanoseconds: UInt64

    /// The moment that is this many nanoseconds after the clock's start.
    public init(nanoseconds: UInt64) {
        self.nanoseconds = nanoseconds
    }

    /// The clock's start, which is the earliest moment.
    public static let distantPast = HCIInstant(nanoseconds: 0)
    /// The latest moment, for waits without a deadline. Calculations never give a later moment.
    public static let distantFuture = HCIInstant(nanoseconds: UInt64(Int64.max))

    /// Returns the moment that is later by `duration` (earlier if `duration` is negative), rounded down to nanoseconds.
    public func advanced(by duration: Duration) -> HCIInstant {
        let parts = duration.components
        let (seconds, overflow) = parts.seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return parts.seconds < 0 ? .distantPast : max(self, .distantFuture) }
        // Attoseconds have the sign of the seconds.
        let fraction = parts.attoseconds / 1_000_000_000 - (parts.attoseconds % 1_000_000_000 < 0 ? 1 : 0)
        let step = seconds.addingReportingOverflow(fraction)
        guard !step.overflow else { return seconds < 0 ? .distantPast : max(self, .distantFuture) }
        if step.partialValue < 0 {
            let back = step.partialValue.magnitude
            return HCIInstant(nanoseconds: nanoseconds > back ? nanoseconds - back : 0)
        }
        let sum = nanoseconds.addingReportingOverflow(step.partialValue.magnitude)
        guard !sum.overflow else { return max(self, .distantFuture) }
        return max(self, min(HCIInstant(nanoseconds: sum.partialValue), .distantFuture))
    }

    /// Returns the time from this moment to `other`; negative if `other` is earlier.
    public func duration(to other: HCIInstant) -> Duration {
        self <= other
            ? .nanoseconds(Int64(clamping: other.nanoseconds - nanoseconds))
            : .nanoseconds(-Int64(clamping: nanoseconds - other.nanoseconds))
    }

    /// Returns the moment that is later by `microseconds`, at most ``distantFuture``. Negative numbers count as 0. This
    /// is faster than ``advanced(by:)``, because it calculates only with 64-bit integers; simulations call it for every
    /// packet.
    public func advanced(byMicroseconds microseconds: Int) -> HCIInstant {
        let (step, stepOverflow) = UInt64(max(0, microseconds)).multipliedReportingOverflow(by: 1000)
        let (sum, sumOverflow) = nanoseconds.addingReportingOverflow(step)
        guard !stepOverflow, !sumOverflow else { return max(self, .distantFuture) }
        return max(self, min(HCIInstant(nanoseconds: sum), .distantFuture))
    }

    /// Returns the whole microseconds from `earlier` to this moment; negative if `earlier` is in fact later.
    public func microseconds(since earlier: HCIInstant) -> Int {
        earlier <= self
            ? Int((nanoseconds - earlier.nanoseconds) / 1000)
            : -Int((earlier.nanoseconds - nanoseconds) / 1000)
    }

    /// Returns true if `left` is earlier than `right`. Both must be moments of the same clock.
    public static func < (left: Self, right: Self) -> Bool { left.nanoseconds < right.nanoseconds }
}

/// The reason why a channel cannot send or receive, temporarily or permanently.
public enum HCIChannelError: Error, Hashable, Sendable {
    /// The other end of the channel no longer exists: it was unplugged or closed, or it has ended.
    case gone(String)
    /// A system call failed: the name of the call, its errno, and the text for this errno.
    case system(call: String, errno: Int32, text: String)
    /// The bytes are not HCI packets, and the next packet cannot be found.
    case framing(String)
    /// A signal of the operating system ended the wait.
    case interrupted
}

extension Span<UInt8> {
    /// Returns true if there are at least `count` bytes from `offset` on.
    func holds(_ count: Int, at offset: Int) -> Bool {
        offset >= 0 && offset <= self.count && self.count - offset >= count
    }
}
