import BluetoothTypes

/// Sends commands over a channel, waits for their answers, and stores the other events that arrive during the wait.
///
/// Only the thread that owns the channel may use the host.
public final class HCIHost: CommandExchange {
    /// Receives every packet in either direction when it is sent or received, for captures.
    public typealias Observer = (_ packet: HCIPacket, _ isFromController: Bool, _ time: HCIInstant) -> Void

    /// The default time limit for an answer: 2 s, as in the kernel.
    public static let defaultTimeout = Duration.seconds(2)
    /// The largest number of stored events. If more arrive, the oldest events are dropped and counted in
    /// ``droppedEvents``.
    public static let backlogLimit = 16_384

    /// The maximum number of irrelevant packets that are skipped after a deadline. They are skipped because a relevant
    /// packet may have arrived after them. The limit prevents an endless wait.
    private static let maximumSkippedPackets = 64
    /// The maximum number of packets that are handled before a command is sent. Without this limit, a flood of packets
    /// could delay the command forever.
    private static let maximumPacketsBeforeCommand = 256

    /// The channel to the controller.
    public let channel: any HCIChannel
    /// Called with each packet before it is sent or processed.
    public var observer: Observer?
    /// The time at which every wait for an answer ends, even if its timeout is longer. A program that must end soon
    /// sets this property.
    public var answerDeadline = HCIInstant.distantFuture
    /// `true` if only the observer reads advertising reports. Then ``nextEvent(until:)`` returns them as unknown events
    /// without bytes. This saves time, because they are not decoded twice.
    public var leavesReportsToObserver = false
    /// The number of events that were dropped because the caller did not fetch them in time.
    public private(set) var droppedEvents = 0
    /// The number of events with a wrong length or layout. They are returned as unknown events.
    public private(set) var malformedEvents = 0
    /// The queue of the commands. It also counts late answers and answers to other programs.
    public internal(set) var queue = HCICommandQueue()

    private var backlog: [HCIEvent] = []
    /// The position in ``backlog`` of the next event to return.
    private var backlogStart = 0

    /// Creates a host without sending anything. The state of the controller is unknown until the host executes
    /// ``HCIReset``.
    public init(channel: any HCIChannel) {
        self.channel = channel
    }

    /// The current time of the channel's clock.
    public var now: HCIInstant { channel.now }

    /// Sends `command` and waits for its return parameters.
    ///
    /// - Returns: The return parameters of a successful command.
    /// - Throws: ``HCICommandError``, at the latest when `timeout` is over.
    @discardableResult
    public func execute<C: HCICommand>(
        _ command: C, timeout: Duration = HCIHost.defaultTimeout
    ) throws(HCICommandError) -> C.ReturnParameters {
        let octets = try answer(to: C.opcode, C.name, command.packet, timeout)
        guard let returned = C.ReturnParameters(octets: octets.span, at: 1) else {
            throw .malformedReturn(command: C.name, opcode: C.opcode, octets: octets)
        }
        return returned
    }

    /// Sends `command` and waits until it has succeeded.
    ///
    /// - Throws: ``HCICommandError``, at the latest when `timeout` is over.
    public func execute<C: HCICommand>(
        _ command: C, timeout: Duration = HCIHost.defaultTimeout
    ) throws(HCICommandError) where C.ReturnParameters == HCINoReturnParameters {
        _ = try answer(to: C.opcode, C.name, command.packet, timeout)
    }

    /// Sends a command and returns the bytes of its answer, from the status byte on. Throws an error if the status is
    /// not success.
    private func answer(
        to opcode: HCIOpcode, _ name: String, _ packet: HCIPacket, _ timeout: Duration
    ) throws(HCICommandError) -> [UInt8] {
        let now = channel.now
        // The deadline for the default timeout is calculated without `Duration`, which is slow for a hundred commands a
        // second.
        let timeoutEnd =
            timeout == Self.defaultTimeout ? now.advanced(byMicroseconds: 2_000_000) : now.advanced(by: timeout)
        let deadline = min(timeoutEnd, answerDeadline)
        // Answers that have already arrived are handled first, because they cannot be the answer to this command.
        let interruption = try handleArrivedPackets()
        let ticket = queue.submit(opcode, packet, deadline: deadline)
        if let interruption {
            // The command is sent although a signal has arrived, because it may be the command that turns advertising
            // off.
            defer { queue.cancel(ticket, at: channel.now) }
            if let message = queue.nextToSend(at: channel.now) { try observeAndSend(message) }
            throw interruption
        }
        switch try waitForEnd(of: ticket, by: deadline) {
        case .completed(let octets):
            guard let status = octets.first.map(HCIStatus.init) else {
                throw .malformedReturn(command: name, opcode: opcode, octets: octets)
            }
            // The answer to a refused command may contain no return parameters, so the status is checked first.
            guard status.isSuccess else { throw .refused(command: name, opcode: opcode, status: status) }
            return octets
        case .refused(let status):
            throw .refused(command: name, opcode: opcode, status: status)
        case .unanswered:
            throw .noAnswer(command: name, opcode: opcode, after: timeout)
        case .notSent:
            throw .notAccepted(command: name, opcode: opcode, after: timeout)
        }
    }

    /// Returns the next event that is not the answer to a command, in the order of arrival, or `nil` if there is none
    /// until `deadline`.
    ///
    /// - Throws: ``HCICommandError/channel(_:)`` only.
    public func nextEvent(until deadline: HCIInstant) throws(HCICommandError) -> HCIEvent? {
        for _ in 0..<Self.maximumSkippedPackets {
            if let event = takeFromBacklog() { return event }
            repeat {
                guard let event = try receive(until: deadline) else { return nil }
                _ = queue.receive(event)
                enqueue(event)
            } while backlogStart == backlog.count && channel.now < deadline
        }
        return nil
    }

    /// Waits without sending a command. Events that arrive are stored for ``nextEvent(until:)``.
    ///
    /// - Throws: ``HCICommandError/channel(_:)`` only.
    public func wait(until deadline: HCIInstant) throws(HCICommandError) {
        while channel.now < deadline, let event = try receive(until: deadline) {
            _ = queue.receive(event)
            enqueue(event)
        }
    }

    /// Handles the packets that have already arrived, at most ``maximumPacketsBeforeCommand``. If a signal interrupts
    /// the function, it returns the error and does not throw it.
    private func handleArrivedPackets() throws(HCICommandError) -> HCICommandError? {
        do throws(HCICommandError) {
            for _ in 0..<Self.maximumPacketsBeforeCommand {
                guard let event = try receive(until: channel.now) else { return nil }
                _ = queue.receive(event)
                enqueue(event)
            }
            return nil
        } catch {
            guard error == .channel(.interrupted) else { throw error }
            return error
        }
    }

    func observeAndSend(_ packet: HCIPacket) throws(HCICommandError) {
        observer?(packet, false, channel.now)
        do throws(HCIChannelError) {
            try channel.send(packet)
        } catch {
            throw .channel(error)
        }
    }

    /// Returns the next event of any kind, or `nil` if there is none until `deadline`. Data packets are passed only to
    /// the observer. Command packets on a raw channel come from other programs; they are reported to the queue.
    func receive(until deadline: HCIInstant) throws(HCICommandError) -> HCIEvent? {
        do throws(HCIChannelError) {
            for _ in 0..<Self.maximumSkippedPackets {
                repeat {
                    guard let packet = try channel.receive(until: deadline) else { return nil }
                    if let header = packet.commandHeader {
                        queue.noteForeign(header.opcode, at: channel.now)
                        continue
                    }
                    observer?(packet, true, channel.receivedAt)
                    if packet.kind == .event { return event(packet) }
                } while channel.now < deadline
            }
            return nil
        } catch {
            throw .channel(error)
        }
    }

    /// Decodes an event. A malformed event must not stop a beacon: it is counted, and returned as an unknown event.
    private func event(_ packet: HCIPacket) -> HCIEvent {
        if leavesReportsToObserver, packet.isAdvertisingReport {
            return .unknown(code: HCIEventCode.leMeta, parameters: [])
        }
        do throws(HCIEventError) {
            return try HCIEvent(octets: packet.octets.span)
        } catch {
            malformedEvents += 1
            return .unknown(code: packet.octets.first ?? 0, parameters: Array(packet.octets.dropFirst(2)))
        }
    }

    func enqueue(_ event: HCIEvent) {
        switch event {
        case .commandComplete, .commandStatus: return
        default: break
        }
        if backlog.count - backlogStart >= Self.backlogLimit {
            _ = takeFromBacklog()
            droppedEvents += 1
        }
        backlog.append(event)
    }

    private func takeFromBacklog() -> HCIEvent? {
        guard backlogStart < backlog.count else { return nil }
        let event = backlog[backlogStart]
        backlogStart += 1
        if backlogStart == backlog.count || backlogStart >= Self.backlogLimit {
            backlog.removeFirst(backlogStart)
            backlogStart = 0
        }
        return event
    }
}

/// The reason why a command has no result.
public enum HCICommandError: Error, Hashable, Sendable {
    /// The controller answered with an error.
    case refused(command: String, opcode: HCIOpcode, status: HCIStatus)
    /// The command was sent, but no answer came in time.
    case noAnswer(command: String, opcode: HCIOpcode, after: Duration)
    /// The command was not sent, because the controller accepted no command in time (Num_HCI_Command_Packets was 0).
    case notAccepted(command: String, opcode: HCIOpcode, after: Duration)
    /// The answer is shorter than the command's return parameters.
    case malformedReturn(command: String, opcode: HCIOpcode, octets: [UInt8])
    case channel(HCIChannelError)

    /// The controller's status if it refused the command; `nil` for other errors.
    public var status: HCIStatus? {
        guard case .refused(_, _, let status) = self else { return nil }
        return status
    }
}

extension HCICommandError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .refused(let command, let opcode, let status):
            "\(command) (\(opcode)) was refused: \(status)"
        case .noAnswer(let command, let opcode, let time):
            "\(command) (\(opcode)) was not answered within \(time.secondsText) s"
        case .notAccepted(let command, let opcode, let time):
            "\(command) (\(opcode)) could not be sent: "
                + "the controller accepted no command for \(time.secondsText) s"
        case .malformedReturn(let command, let opcode, let octets):
            "\(command) (\(opcode)) was answered with too few bytes: "
                + (octets.isEmpty ? "not even a status" : Hexadecimal.text(octets))
        case .channel(let error):
            error.description
        }
    }
}

extension HCIChannelError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .gone(let what): "the controller is gone: \(what)"
        case .system(let call, let errno, let text): "\(call) failed: \(text) (errno \(errno))"
        case .framing(let what): "the received bytes are not an HCI packet: \(what)"
        case .interrupted: "interrupted by a signal"
        }
    }
}

extension Duration {
    /// Seconds with up to three decimals, for messages.
    var secondsText: String {
        let milliseconds = components.attoseconds / 1_000_000_000_000_000
        return DecimalText.thousandths(Int(min(components.seconds, 1_000_000_000)) * 1000 + Int(milliseconds))
    }
}
