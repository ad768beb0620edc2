public import BluetoothTypes

/// Sends management commands over a channel, waits for their answers, and stores the events that arrive in the
/// meantime.
///
/// Only the thread that owns the channel may use the host.
public final class ManagementHost: CommandExchange {
    /// The default time limit for an answer: 10 s, because Set Powered waits until the controller is completely set up.
    public static let defaultTimeout = Duration.seconds(10)
    /// The largest number of stored events. If more arrive, the oldest events are dropped.
    public static let backlogLimit = 1024

    /// The channel to the kernel.
    public let channel: any ManagementChannel
    /// Called for every message in either direction.
    public var observer: ((_ packet: ManagementPacket, _ isFromKernel: Bool) -> Void)?
    /// The time at which every wait for an answer ends, even if its timeout is longer. A program that must end soon
    /// sets this property.
    public var answerDeadline = HCIInstant.distantFuture
    var queue = ManagementQueue()
    private var backlog: [ManagementEvent] = []

    /// A host that uses `channel`. Nothing else may read from the channel.
    public init(channel: any ManagementChannel) {
        self.channel = channel
    }

    /// The current time of the channel's clock.
    public var now: HCIInstant { channel.now }

    /// Sends `command` for the adapter `index` and waits for its return parameters.
    ///
    /// - Throws: ``ManagementError``, at the latest when `timeout` is over.
    @discardableResult
    public func execute<C: ManagementCommand>(
        _ command: C, index: UInt16 = ManagementPacket.noController,
        timeout: Duration = ManagementHost.defaultTimeout
    ) throws(ManagementError) -> C.ReturnParameters {
        let deadline = min(channel.now.advanced(by: timeout), answerDeadline)
        switch try waitForEnd(of: queue.submit(command.packet(index), deadline: deadline), by: deadline) {
        case .completed(let octets):
            guard let returned = C.ReturnParameters(octets: octets.span, at: 0) else {
                throw .malformedReturn(command: C.name, index: index, octets: octets)
            }
            return returned
        case .refused(let status):
            throw .refused(command: C.name, index: index, status: status)
        case .unanswered:
            throw .noAnswer(command: C.name, index: index, after: timeout)
        }
    }

    /// Returns the next event that is not the answer to a command, in the order of arrival, or `nil` if there is none
    /// until `deadline`.
    ///
    /// - Throws: ``ManagementError/channel(_:)`` only.
    public func nextEvent(until deadline: HCIInstant) throws(ManagementError) -> ManagementEvent? {
        while backlog.isEmpty {
            guard let event = try receive(until: deadline) else { return nil }
            _ = queue.receive(event)
            enqueue(event)
        }
        return backlog.removeFirst()
    }

    func observeAndSend(_ packet: ManagementPacket) throws(ManagementError) {
        observer?(packet, false)
        do throws(HCIChannelError) {
            try channel.send(packet)
        } catch {
            throw .channel(error)
        }
    }

    func receive(until deadline: HCIInstant) throws(ManagementError) -> ManagementEvent? {
        do throws(HCIChannelError) {
            guard let packet = try channel.receive(until: deadline) else { return nil }
            observer?(packet, true)
            return ManagementEvent(packet)
        } catch {
            throw .channel(error)
        }
    }

    func enqueue(_ event: ManagementEvent) {
        switch event.content {
        case .commandComplete, .commandStatus: return
        default: break
        }
        if backlog.count >= Self.backlogLimit { backlog.removeFirst() }
        backlog.append(event)
    }
}

/// Reading the adapters of the machine.
extension ManagementHost {
    /// Returns the number N of hciN and the address of each adapter that the kernel manages now.
    public func adapters() throws(ManagementError) -> [(index: UInt16, address: DeviceAddress)] {
        var result: [(index: UInt16, address: DeviceAddress)] = []
        for index in try execute(ReadControllerIndexList()).indexes.sorted() {
            guard let address = try address(of: index) else { continue }
            result.append((index, address))
        }
        return result
    }

    /// Returns the address of an adapter; `nil` if the adapter no longer exists.
    private func address(of index: UInt16) throws(ManagementError) -> DeviceAddress? {
        do throws(ManagementError) {
            return try execute(ReadControllerInformation(), index: index).address
        } catch {
            guard error.status == .invalidIndex else { throw error }
            return nil
        }
    }
}

/// Selects the management commands to send, one at a time, and matches answers to commands. The queue is a value
/// without clock or socket; ``ManagementHost`` provides both.
///
/// An answer identifies its command only by opcode and index. Therefore, if a command was not answered, the next
/// command with the same opcode and index waits for the late answer, but no longer than ``grace``. ``HCICommandQueue``
/// does the same.
public struct ManagementQueue: Sendable {
    /// Identifies a command in the queue.
    public struct Ticket: Hashable, Sendable {
        let number: UInt64
    }

    /// The end of a command.
    public enum Outcome: Hashable, Sendable {
        /// The command has succeeded, with these return parameters.
        case completed([UInt8])
        case refused(ManagementStatus)
        /// The command was not answered in time, or was not sent because other commands were in progress.
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

    /// The time for which the answer to an abandoned command is still expected.
    public static let grace = Duration.seconds(1)
    /// The number of answers that belong to no command in progress.
    public private(set) var strayAnswers = 0

    /// The commands that were not sent yet, in order.
    private var waitingCommands: [Entry] = []
    /// The command that was sent last, until it is answered or abandoned.
    private var commandInProgress: Entry?
    /// For each abandoned command, the time after which its answer is no longer expected.
    private var lateAnswerDeadlines: [Key: HCIInstant] = [:]
    /// The number of the last ticket.
    private var lastTicketNumber: UInt64 = 0

    /// An empty queue.
    public init() {}

    /// Adds a command. The command ends at `deadline` at the latest, even if it is not answered.
    public mutating func submit(_ packet: ManagementPacket, deadline: HCIInstant) -> Ticket {
        lastTicketNumber += 1
        let ticket = Ticket(number: lastTicketNumber)
        waitingCommands.append(Entry(ticket: ticket, packet: packet, deadline: deadline))
        return ticket
    }

    /// Returns the command to send now; `nil` if no command waits, if a command is in progress, or if the next command
    /// must wait for a late answer.
    public mutating func nextToSend(at now: HCIInstant) -> ManagementPacket? {
        lateAnswerDeadlines = lateAnswerDeadlines.filter { $0.value > now }
        guard commandInProgress == nil, let entry = waitingCommands.first, lateAnswerDeadlines[entry.key] == nil
        else { return nil }
        commandInProgress = waitingCommands.removeFirst()
        return entry.packet
    }

    /// Handles an event, and returns the command that it ends, if any.
    public mutating func receive(_ event: ManagementEvent) -> (ticket: Ticket, outcome: Outcome)? {
        switch event.content {
        case .commandComplete(let opcode, let status, let returned):
            let outcome: Outcome = status.isSuccess ? .completed(returned) : .refused(status)
            return takeAnswer(Key(opcode: opcode, index: event.index), outcome)
        case .commandStatus(let opcode, let status):
            // Success means only that the command has started.
            return status.isSuccess ? nil : takeAnswer(Key(opcode: opcode, index: event.index), .refused(status))
        default:
            return nil
        }
    }

    /// Ends and returns the next command whose deadline has passed. Call this method until it returns `nil`.
    public mutating func expire(at now: HCIInstant) -> (ticket: Ticket, outcome: Outcome)? {
        if let entry = commandInProgress, entry.deadline <= now {
            abandon(at: now)
            return (entry.ticket, .unanswered)
        }
        guard let index = waitingCommands.firstIndex(where: { $0.deadline <= now }) else { return nil }
        return (waitingCommands.remove(at: index).ticket, .unanswered)
    }

    /// Abandons a command, for example because the wait was interrupted.
    public mutating func cancel(_ ticket: Ticket, at now: HCIInstant) {
        if commandInProgress?.ticket == ticket { abandon(at: now) }
        waitingCommands.removeAll { $0.ticket == ticket }
    }

    /// The time at which the queue must be called again even if no event arrives: a deadline, or the end of a wait for
    /// a late answer. `nil` if there is none.
    public var wakeTime: HCIInstant? {
        let deadlines = waitingCommands.map(\.deadline) + [commandInProgress?.deadline].compactMap { $0 }
        return (deadlines + (waitingCommands.isEmpty ? [] : Array(lateAnswerDeadlines.values))).min()
    }

    private mutating func takeAnswer(_ key: Key, _ outcome: Outcome) -> (ticket: Ticket, outcome: Outcome)? {
        if let entry = commandInProgress, entry.key == key {
            commandInProgress = nil
            return (entry.ticket, outcome)
        }
        lateAnswerDeadlines[key] = nil
        strayAnswers += 1
        return nil
    }

    private mutating func abandon(at now: HCIInstant) {
        guard let entry = commandInProgress else { return }
        commandInProgress = nil
        lateAnswerDeadlines[entry.key] = now.advanced(by: Self.grace)
    }
}
