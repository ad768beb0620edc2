/// Sends management commands over a channel, waits for their answers, and keeps the events that come meanwhile.
///
/// For one thread: the one that owns the channel.
public final class ManagementHost {
    /// What is waited for an answer, unless said otherwise: 10 s. Set Powered waits for the controller's whole set-up.
    public static let defaultTimeoutMicroseconds = 10_000_000
    /// Events that are kept; of more the oldest ones are dropped.
    public static let backlogLimit = 1024

    public let channel: any ManagementChannel
    /// Sees every message in either direction at the moment of its passing.
    public var observer: ((_ packet: ManagementPacket, _ isFromKernel: Bool) -> Void)?
    /// No command is waited for longer than until this moment. For a program that has to end soon.
    public var latestAnswer = HCIInstant.distantFuture
    private var queue = ManagementQueue()
    private var backlog: [ManagementEvent] = []

    public init(channel: any ManagementChannel) {
        self.channel = channel
    }

    /// Now, on the channel's clock.
    public var now: HCIInstant { channel.now }

    /// Sends `command` for the adapter `index` and waits for what it returns.
    ///
    /// - Throws: ``ManagementError``, at the latest when `timeoutMicroseconds` are over.
    public func execute<C: ManagementCommand>(
        _ command: C, index: UInt16 = ManagementPacket.noController,
        timeoutMicroseconds: Int = ManagementHost.defaultTimeoutMicroseconds
    ) throws(ManagementError) -> C.ReturnParameters {
        switch try outcome(of: command.packet(index), timeoutMicroseconds) {
        case .completed(let octets):
            guard let returned = C.ReturnParameters(octets: octets.span, at: 0) else {
                throw .malformedReturn(command: C.name, index: index, octets: octets)
            }
            return returned
        case .refused(let status):
            throw .refused(command: C.name, index: index, status: status)
        case .unanswered:
            throw .noAnswer(command: C.name, index: index, afterMicroseconds: timeoutMicroseconds)
        }
    }

    /// The next event that is no answer to a command, in the order of arrival, or `nil` when `deadline` came first.
    public func nextEvent(until deadline: HCIInstant) throws(ManagementError) -> ManagementEvent? {
        while backlog.isEmpty {
            guard let event = try receive(until: deadline) else { return nil }
            _ = queue.receive(event)
            keep(event)
        }
        return backlog.removeFirst()
    }

    private func outcome(
        of packet: ManagementPacket, _ timeoutMicroseconds: Int
    ) throws(ManagementError) -> ManagementQueue.Outcome {
        let deadline = min(channel.now.advanced(byMicroseconds: timeoutMicroseconds), latestAnswer)
        let ticket = queue.submit(packet, deadline: deadline)
        do throws(ManagementError) {
            var now = channel.now
            while true {
                if let packet = queue.nextToSend(at: now) { try send(packet) }
                let wake = min(deadline, queue.wakeTime ?? deadline)
                if let event = try receive(until: wake) {
                    if let end = queue.receive(event), end.ticket == ticket { return end.outcome }
                    keep(event)
                    now = channel.now
                } else {
                    // A channel that gives nothing has waited until then, whatever its clock says.
                    now = max(channel.now, wake)
                }
                while let end = queue.expire(at: now) {
                    if end.ticket == ticket { return end.outcome }
                }
            }
        } catch {
            queue.cancel(ticket, at: channel.now)
            throw error
        }
    }

    private func send(_ packet: ManagementPacket) throws(ManagementError) {
        observer?(packet, false)
        do throws(HCIChannelError) {
            try channel.send(packet)
        } catch {
            throw .channel(error)
        }
    }

    private func receive(until deadline: HCIInstant) throws(ManagementError) -> ManagementEvent? {
        do throws(HCIChannelError) {
            guard let packet = try channel.receive(until: deadline) else { return nil }
            observer?(packet, true)
            return ManagementEvent(packet)
        } catch {
            throw .channel(error)
        }
    }

    private func keep(_ event: ManagementEvent) {
        switch event.content {
        case .commandComplete, .commandStatus: return
        default: break
        }
        if backlog.count >= Self.backlogLimit { backlog.removeFirst() }
        backlog.append(event)
    }
}
