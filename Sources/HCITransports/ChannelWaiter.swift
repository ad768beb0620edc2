internal import HCI
internal import LinuxHost

/// Waits for one descriptor, for a deadline, and for a signal, whichever comes first.
struct ChannelWaiter {
    private let descriptor: Descriptor
    private let interruption: SignalDescriptor?

    init(_ descriptor: Descriptor, _ interruption: SignalDescriptor?) {
        self.descriptor = descriptor
        self.interruption = interruption
    }

    var now: HCIInstant { HCIInstant(nanoseconds: MonotonicClock.nanoseconds()) }

    /// What may still be waited for, all in all, after the first signal: 0.8 s, in nanoseconds. Whoever sent it wants an
    /// end within a second, also where the controller does not answer.
    private static let farewell: UInt64 = 800_000_000

    /// Whether there is something to read before `deadline`, or before the time that the first signal has left.
    ///
    /// - Throws: `interrupted` once for each signal, so that what the caller does next (turning the beacon off) can
    ///   use the channel again.
    func wait(until deadline: HCIInstant) throws(HCIChannelError) -> Bool {
        let end = interruption?.takenAt.map { HCIInstant(nanoseconds: $0 + Self.farewell) }
        let deadline = end.map { min(deadline, $0) } ?? deadline
        var interests = [Poller.Interest(descriptor, .read)]
        if let interruption { interests.append(Poller.Interest(interruption.descriptor, .read)) }
        let ready: [Bool]
        do throws(SystemError) {
            ready = try Poller.wait(interests, until: deadline.nanoseconds)
        } catch {
            throw .system(call: error.call, errno: error.errno, text: error.text)
        }
        if ready.count > 1, ready[1], interruption?.take() != nil { throw .interrupted }
        return ready[0]
    }
}
