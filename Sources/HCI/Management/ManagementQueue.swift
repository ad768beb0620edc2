/// Sends management commands one at a time and knows which answer belongs to which, as a value without clock or
/// socket.
///
/// The kernel repeats opcode and index in its answer, and nothing else. As in ``HCICommandQueue`` a command whose
/// answer has been given up is therefore held back until the late one has come, at most ``grace``.
public struct ManagementQueue: Sendable {
    /// Names a command that was handed in.
    public struct Ticket: Hashable, Sendable {
        let number: UInt64
    }

    /// How a command ended.
    public enum Outcome: Hashable, Sendable {
        /// With success: the return parameters.
        case completed([UInt8])
        case refused(ManagementStatus)
        /// Not answered in time, or not even sent because others were under way.
        case unanswered
    }

    private struct Key: Hashable {
        var opcode: UInt16
        var index: UInt16
    }

    private struct Entry {
        var ticket: Ticket
        var packet: ManagementPacket
        var deadline: HCIInstant
        var key: Key { Key(opcode: packet.code, index: packet.index) }
    }

    /// How long the answer to a command that was given up is still expected.
    public let grace: Duration
    /// Answers that belong to no command that was under way.
    public private(set) var strayAnswers = 0

    private var waiting: [Entry] = []
    private var underWay: Entry?
    private var abandoned: [Key: HCIInstant] = [:]
    private var lastNumber: UInt64 = 0

    /// An empty queue that expects late answers for `grace`.
    public init(grace: Duration = .seconds(1)) {
        self.grace = grace
    }

    /// Hands in a command; it ends at `deadline` at the latest.
    public mutating func submit(_ packet: ManagementPacket, deadline: HCIInstant) -> Ticket {
        lastNumber += 1
        let ticket = Ticket(number: lastNumber)
        waiting.append(Entry(ticket: ticket, packet: packet, deadline: deadline))
        return ticket
    }

    /// The command to send now, or `nil`: nothing waits, one is under way, or the next one is held back.
    public mutating func nextToSend(at now: HCIInstant) -> ManagementPacket? {
        abandoned = abandoned.filter { $0.value > now }
        guard underWay == nil, let entry = waiting.first, abandoned[entry.key] == nil else { return nil }
        underWay = waiting.removeFirst()
        return entry.packet
    }

    /// Takes an event; the command that it ends, if any.
    public mutating func receive(_ event: ManagementEvent) -> (ticket: Ticket, outcome: Outcome)? {
        switch event.content {
        case .commandComplete(let opcode, let status, let returned):
            let outcome: Outcome = status.isSuccess ? .completed(returned) : .refused(status)
            return take(Key(opcode: opcode, index: event.index), outcome)
        case .commandStatus(let opcode, let status):
            // Success only says that the command has been begun.
            return status.isSuccess ? nil : take(Key(opcode: opcode, index: event.index), .refused(status))
        default:
            return nil
        }
    }

    /// The first command whose time is over, if any. To be called until it returns `nil`.
    public mutating func expire(at now: HCIInstant) -> (ticket: Ticket, outcome: Outcome)? {
        if let entry = underWay, entry.deadline <= now {
            abandon(at: now)
            return (entry.ticket, .unanswered)
        }
        guard let index = waiting.firstIndex(where: { $0.deadline <= now }) else { return nil }
        return (waiting.remove(at: index).ticket, .unanswered)
    }

    /// Gives a command up, for instance because the wait was interrupted.
    public mutating func cancel(_ ticket: Ticket, at now: HCIInstant) {
        if underWay?.ticket == ticket { abandon(at: now) }
        waiting.removeAll { $0.ticket == ticket }
    }

    /// When to look again although nothing came: a deadline, or the end of a wait for a late answer.
    public var wakeTime: HCIInstant? {
        let deadlines = waiting.map(\.deadline) + [underWay?.deadline].compactMap { $0 }
        return (deadlines + (waiting.isEmpty ? [] : Array(abandoned.values))).min()
    }

    private mutating func take(_ key: Key, _ outcome: Outcome) -> (ticket: Ticket, outcome: Outcome)? {
        if let entry = underWay, entry.key == key {
            underWay = nil
            return (entry.ticket, outcome)
        }
        abandoned[key] = nil
        strayAnswers += 1
        return nil
    }

    private mutating func abandon(at now: HCIInstant) {
        guard let entry = underWay else { return }
        underWay = nil
        abandoned[entry.key] = now.advanced(by: grace)
    }
}
