/// An event of a connection to a broker.
public enum BrokerEvent: Hashable, Sendable {
    /// The broker accepts messages, and the subscriptions were sent.
    case connected
    /// The broker has granted all subscriptions. Follows ``connected``.
    case subscribed
    /// The broker refuses a subscription. The connection subscribes again automatically.
    case refused(BrokerError)
    /// The connection was lost, or could not be made. The next attempt follows automatically.
    case disconnected(BrokerError)
    /// The broker has acknowledged the message (QoS 1).
    case acknowledged(BrokerTicket)
    /// It is not known whether the message has arrived: publish it again.
    case abandoned(BrokerTicket)
    /// A message of a subscription has arrived.
    case message(Publication)
    /// This number of received messages was dropped, because they were too large or too many.
    case dropped(Int)
}

/// Identifies a published message of one connection.
public struct BrokerTicket: Hashable, Sendable {
    let number: UInt64
}
