/// A queue that decides which command is sent next, and which event ends the command. It has no clock and no channel:
/// the caller passes the time and the events.
protocol CommandQueue {
    associatedtype Message
    associatedtype Event
    associatedtype Ticket: Equatable
    associatedtype Outcome

    mutating func nextToSend(at now: HCIInstant) -> Message?
    mutating func receive(_ event: Event) -> (ticket: Ticket, outcome: Outcome)?
    mutating func expire(at now: HCIInstant) -> (ticket: Ticket, outcome: Outcome)?
    mutating func cancel(_ ticket: Ticket, at now: HCIInstant)
    var wakeTime: HCIInstant? { get }
}

extension HCICommandQueue: CommandQueue {}
extension ManagementQueue: CommandQueue {}

/// A host that sends the commands of a ``CommandQueue`` over a channel: ``HCIHost`` or ``ManagementHost``.
protocol CommandExchange: AnyObject {
    associatedtype Queue: CommandQueue
    associatedtype Failure: Error

    var queue: Queue { get set }
    var now: HCIInstant { get }
    /// Passes a command to the observer and sends it.
    func observeAndSend(_ message: Queue.Message) throws(Failure)
    /// The next event, or `nil` if `deadline` passes first.
    func receive(until deadline: HCIInstant) throws(Failure) -> Queue.Event?
    /// Stores an event that completes no command, for a later call.
    func enqueue(_ event: Queue.Event)
}

extension CommandExchange {
    /// Sends the commands of the queue, and waits until the command of `ticket` has ended.
    ///
    /// - Parameter deadline: The deadline of the command.
    func waitForEnd(of ticket: Queue.Ticket, by deadline: HCIInstant) throws(Failure) -> Queue.Outcome {
        do throws(Failure) {
            var time = now
            while true {
                if let message = queue.nextToSend(at: time) { try observeAndSend(message) }
                let wake = min(deadline, queue.wakeTime ?? deadline)
                if let event = try receive(until: wake) {
                    if let end = queue.receive(event), end.ticket == ticket { return end.outcome }
                    enqueue(event)
                    time = now
                } else {
                    // If the channel returned no event, it has waited until `wake`, even if its clock shows an earlier
                    // time.
                    time = max(now, wake)
                }
                while let end = queue.expire(at: time) {
                    if end.ticket == ticket { return end.outcome }
                }
            }
        } catch {
            queue.cancel(ticket, at: now)
            throw error
        }
    }
}

/// Selects the commands to send, one at a time, and matches answers to commands. The queue is a value without clock or
/// channel; ``HCIHost`` provides both.
///
/// Every answer contains the number of commands that the controller accepts now (Num_HCI_Command_Packets, Core
/// Specification 5.4, Vol 4 Part E 4.4). This number is called credits here. If it is 0, the next command waits for an
/// event with a higher number. The opcode of this event may be 0x0000.
///
/// **Late answers.** HCI does not number commands, so a late answer looks like the answer to the next command with the
/// same opcode. Therefore, if a command was not answered, the next command with its opcode waits for the late answer,
/// but no longer than ``grace``. Until then, the credit of the unanswered command is not used for other commands. An
/// answer that arrives even later is taken for the answer to the new command. Reset does not wait, and its answer ends
/// the wait for all late answers.
///
/// **Answers to other programs.** A raw channel also delivers the commands of the kernel and of other programs, and
/// later the answers to them. Call ``noteForeign(_:at:)`` for each of these commands, so that the queue ignores its
/// answer.
public struct HCICommandQueue: Sendable {
    /// Identifies a command in the queue.
    public struct Ticket: Hashable, Sendable {
        let number: UInt64
    }

    /// The end of a command.
    public enum Outcome: Hashable, Sendable {
        /// Command Complete: status byte (if there was one) and return parameters.
        case completed([UInt8])
        /// Command Status with an error.
        case refused(HCIStatus)
        /// The command was sent, but not answered in time.
        case unanswered
        /// The command was not sent, because the controller accepted no command in time.
        case notSent
    }

    private struct Entry {
        var ticket: Ticket
        var opcode: HCIOpcode
        var packet: HCIPacket
        var deadline: HCIInstant
    }

    /// A command of this queue that was sent but not answered in time, or whose wait was cancelled.
    private struct AbandonedCommand {
        var opcode: HCIOpcode
        /// The time after which the answer to this command is no longer expected.
        var until: HCIInstant
        /// True until the controller reports a new number of credits. The new number already includes the credit of
        /// this command.
        var holdsCredit: Bool
    }

    /// A command of another program.
    private struct ForeignCommand {
        var opcode: HCIOpcode
        /// The time after which the answer to this command is no longer expected.
        var until: HCIInstant
    }

    /// The time for which the answer to a command of another program is expected, in microseconds: 2 s, as in the
    /// kernel.
    private static let foreignAnswerMicroseconds = 2_000_000
    /// The maximum number of commands of other programs whose answers are expected. If there are more, the oldest are
    /// dropped.
    private static let foreignCommandLimit = 64

    /// The time for which the answer to an abandoned command is still expected.
    public static let grace = Duration.seconds(1)
    /// The number of commands that the controller accepts now.
    public private(set) var credits: Int
    /// The number of answers to commands that are not from this queue, such as commands of the kernel on a shared
    /// adapter.
    public private(set) var foreignAnswers = 0
    /// The number of answers to abandoned commands.
    public private(set) var lateAnswers = 0

    /// The commands that were not sent yet, in order.
    private var waitingCommands: [Entry] = []
    /// The command that was sent last, until it is answered or abandoned.
    private var commandInProgress: Entry?
    /// The abandoned commands whose answers may still arrive.
    private var abandonedCommands: [AbandonedCommand] = []
    /// The commands of other programs whose answers were not seen yet.
    private var foreignCommands: [ForeignCommand] = []
    /// The number of the last ticket.
    private var lastTicketNumber: UInt64 = 0

    /// Creates an empty queue. By default it has one credit: after power-on, a controller accepts one command.
    public init(credits: Int = 1) {
        self.credits = credits
    }

    /// Adds a command packet. The command ends at `deadline` at the latest, even if it is not answered.
    public mutating func submit(_ opcode: HCIOpcode, _ packet: HCIPacket, deadline: HCIInstant) -> Ticket {
        lastTicketNumber += 1
        let ticket = Ticket(number: lastTicketNumber)
        waitingCommands.append(Entry(ticket: ticket, opcode: opcode, packet: packet, deadline: deadline))
        return ticket
    }

    /// Returns the packet to send now; `nil` if no command waits, if a command is in progress, or if the next command
    /// must wait for a credit or for a late answer.
    public mutating func nextToSend(at now: HCIInstant) -> HCIPacket? {
        endGrace(at: now)
        guard commandInProgress == nil, let entry = waitingCommands.first else { return nil }
        let isReset = entry.opcode == HCIReset.opcode
        if isReset {
            reclaimCredits { _ in true }
        } else if abandonedCommands.contains(where: { $0.opcode == entry.opcode }) {
            return nil
        }
        guard credits > 0 else { return nil }
        credits -= 1
        // Usually only one command waits, and `removeLast()` is faster because no elements have to be moved.
        commandInProgress = waitingCommands.count == 1 ? waitingCommands.removeLast() : waitingCommands.removeFirst()
        return entry.packet
    }

    /// Records a command that another program has sent. The next answer with its opcode is then not taken for an answer
    /// to a command of this queue.
    public mutating func noteForeign(_ opcode: HCIOpcode, at now: HCIInstant) {
        foreignCommands.removeAll { $0.until <= now }
        if foreignCommands.count >= Self.foreignCommandLimit { foreignCommands.removeFirst() }
        foreignCommands.append(
            ForeignCommand(opcode: opcode, until: now.advanced(byMicroseconds: Self.foreignAnswerMicroseconds)))
    }

    /// Handles an event, and returns the command that it ends, if any.
    public mutating func receive(_ event: HCIEvent) -> (ticket: Ticket, outcome: Outcome)? {
        switch event {
        case .commandComplete(let answer):
            return takeAnswer(answer.opcode, credits: answer.credits, outcome: .completed(answer.returnOctets))
        case .commandStatus(let answer):
            // Success means only that the controller has accepted the command. The command has not ended yet.
            let outcome: Outcome? = answer.status.isSuccess ? nil : .refused(answer.status)
            return takeAnswer(answer.opcode, credits: answer.credits, outcome: outcome)
        default:
            return nil
        }
    }

    /// Ends and returns the next command whose deadline has passed. Call this method until it returns `nil`.
    public mutating func expire(at now: HCIInstant) -> (ticket: Ticket, outcome: Outcome)? {
        endGrace(at: now)
        if let entry = commandInProgress, entry.deadline <= now {
            abandon(at: now)
            return (entry.ticket, .unanswered)
        }
        guard let index = waitingCommands.firstIndex(where: { $0.deadline <= now }) else { return nil }
        return (waitingCommands.remove(at: index).ticket, .notSent)
    }

    /// Abandons a command, for example because the wait was interrupted.
    public mutating func cancel(_ ticket: Ticket, at now: HCIInstant) {
        if commandInProgress?.ticket == ticket { abandon(at: now) }
        waitingCommands.removeAll { $0.ticket == ticket }
    }

    /// The time at which the queue must be called again even if no event arrives: a deadline, or the end of a wait for
    /// a late answer. `nil` if there is none.
    public var wakeTime: HCIInstant? {
        var earliest = commandInProgress?.deadline
        for index in waitingCommands.indices {
            earliest = min(earliest ?? .distantFuture, waitingCommands[index].deadline)
        }
        for entry in abandonedCommands { earliest = min(earliest ?? .distantFuture, entry.until) }
        return earliest
    }

    private mutating func takeAnswer(
        _ opcode: HCIOpcode, credits: UInt8, outcome: Outcome?
    ) -> (ticket: Ticket, outcome: Outcome)? {
        self.credits = Int(credits)
        // The new number of credits already includes the credits of the unanswered commands.
        for index in abandonedCommands.indices { abandonedCommands[index].holdsCredit = false }
        guard opcode != .noOperation else { return nil }
        if let index = foreignCommands.firstIndex(where: { $0.opcode == opcode }) {
            guard outcome != nil else { return nil }
            foreignCommands.remove(at: index)
            foreignAnswers += 1
            if opcode == HCIReset.opcode { abandonedCommands = [] }
            return nil
        }
        if let entry = commandInProgress, entry.opcode == opcode {
            guard let outcome else { return nil }
            commandInProgress = nil
            if opcode == HCIReset.opcode { abandonedCommands = [] }
            return (entry.ticket, outcome)
        }
        if let index = abandonedCommands.firstIndex(where: { $0.opcode == opcode }) {
            if outcome != nil {
                abandonedCommands.remove(at: index)
                lateAnswers += 1
            }
        } else {
            foreignAnswers += 1
        }
        return nil
    }

    private mutating func abandon(at now: HCIInstant) {
        guard let entry = commandInProgress else { return }
        commandInProgress = nil
        abandonedCommands.append(
            AbandonedCommand(
                opcode: entry.opcode, until: now.advanced(by: Self.grace), holdsCredit: true))
    }

    private mutating func endGrace(at now: HCIInstant) {
        reclaimCredits { $0.until <= now }
        foreignCommands.removeAll { $0.until <= now }
    }

    /// Stops waiting for the late answers to the commands that `isOver` selects, and makes their credits available
    /// again.
    private mutating func reclaimCredits(where isOver: (AbandonedCommand) -> Bool) {
        guard !abandonedCommands.isEmpty else { return }
        for entry in abandonedCommands where isOver(entry) && entry.holdsCredit { credits += 1 }
        abandonedCommands.removeAll(where: isOver)
    }
}
