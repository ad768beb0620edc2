/// A way to a controller and back, as the layers above see it: no descriptor, no thread.
///
/// Real ones wait in the kernel; the one of a virtual controller under a hand-moved clock moves that clock instead.
public protocol HCIChannel: AnyObject {
    /// Now, on the channel's own monotonic clock.
    var now: HCIInstant { get }

    /// Hands one packet to the controller.
    func send(_ packet: HCIPacket) throws(HCIChannelError)

    /// The next packet from the controller, or `nil` when `deadline` came first.
    func receive(until deadline: HCIInstant) throws(HCIChannelError) -> HCIPacket?
}

/// A moment of a monotonic clock, in nanoseconds from a start that nobody needs to know.
public struct HCIInstant: Hashable, Comparable, Sendable {
    public let nanoseconds: UInt64

    public init(nanoseconds: UInt64) {
        self.nanoseconds = nanoseconds
    }

    /// Later by `microseconds`; at the latest ``distantFuture``, and never earlier.
    public func advanced(byMicroseconds microseconds: Int) -> HCIInstant {
        let (step, stepOverflow) = UInt64(max(0, microseconds)).multipliedReportingOverflow(by: 1000)
        let (sum, sumOverflow) = nanoseconds.addingReportingOverflow(step)
        guard !stepOverflow, !sumOverflow else { return max(self, .distantFuture) }
        return max(self, min(HCIInstant(nanoseconds: sum), .distantFuture))
    }

    /// Microseconds since `earlier`, negative when it is later.
    public func microseconds(since earlier: HCIInstant) -> Int {
        earlier <= self
            ? Int((nanoseconds - earlier.nanoseconds) / 1000)
            : -Int((earlier.nanoseconds - nanoseconds) / 1000)
    }

    public static let distantFuture = HCIInstant(nanoseconds: UInt64(Int64.max))
    public static func < (left: Self, right: Self) -> Bool { left.nanoseconds < right.nanoseconds }
}

/// Why nothing can be sent or received any more, or just now.
public enum HCIChannelError: Error, Hashable, Sendable {
    /// The other end is gone: unplugged, closed, ended.
    case gone(String)
    /// A system call failed: its name, errno, and that number's text.
    case system(call: String, errno: Int32, text: String)
    /// The octets are no HCI packets: the stream cannot be followed any more.
    case framing(String)
    /// The wait was ended from outside, by a signal.
    case interrupted
}
