/// Commands that are sent one at a time, as a value without clock or channel: which one is next, and what ends it.
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

/// What drives a ``CommandQueue`` over a channel: the exchange of commands and answers that a host of a controller and
/// one of the kernel's management have in common.
protocol CommandExchange: AnyObject {
    associatedtype Queue: CommandQueue
    associatedtype Failure: Error

    var queue: Queue { get set }
    var now: HCIInstant { get }
    func send(_ message: Queue.Message) throws(Failure)
    /// The next event, or `nil` when `deadline` came first.
    func receive(until deadline: HCIInstant) throws(Failure) -> Queue.Event?
    /// Keeps an event that ends no command, for those who ask for it later.
    func keep(_ event: Queue.Event)
}

extension CommandExchange {
    /// Sends what the queue gives, and waits until the command of `ticket` has ended; `deadline` is the one that it was
    /// handed in with. A command that cannot be waited for any more is given up.
    func end(of ticket: Queue.Ticket, by deadline: HCIInstant) throws(Failure) -> Queue.Outcome {
        do throws(Failure) {
            var time = now
            while true {
                if let message = queue.nextToSend(at: time) { try send(message) }
                let wake = min(deadline, queue.wakeTime ?? deadline)
                if let event = try receive(until: wake) {
                    if let end = queue.receive(event), end.ticket == ticket { return end.outcome }
                    keep(event)
                    time = now
                } else {
                    // A channel that gives nothing has waited until then, whatever its clock says.
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
