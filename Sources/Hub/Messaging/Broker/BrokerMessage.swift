/// What is published, or was.
public struct BrokerMessage: Hashable, Sendable {
    /// How surely a message arrives.
    public enum Quality: Int32, Hashable, Sendable {
        /// QoS 0: written once, and forgotten.
        case atMostOnce = 0
        /// QoS 1: until the broker acknowledges it, perhaps twice.
        case atLeastOnce = 1
    }

    /// Its levels, with `/` between them; no wildcards.
    public var topic: String
    public var payload: [UInt8]
    /// Whether the broker keeps it for those who subscribe later; of one that has come, whether it was kept.
    public var isRetained: Bool
    public var quality: Quality

    /// See the properties of the same names.
    public init(
        _ topic: String, _ payload: [UInt8], isRetained: Bool = false, quality: Quality = .atLeastOnce
    ) {
        self.topic = topic
        self.payload = payload
        self.isRetained = isRetained
        self.quality = quality
    }
}

extension BrokerMessage {
    /// Creates the message of a publication.
    public init(_ publication: Publication) {
        self.init(
            publication.topic, publication.payload, isRetained: publication.isRetained,
            quality: publication.isAssured ? .atLeastOnce : .atMostOnce)
    }
}

/// Which of the messages that were published is meant: unique within a connection's life.
public struct BrokerTicket: Hashable, Sendable {
    let number: UInt64
}

/// What happened between us and the broker.
public enum BrokerEvent: Hashable, Sendable {
    /// The broker takes messages, and our subscriptions are asked for.
    case connected
    /// It does so no more, or has not begun to; it is tried again by itself.
    case disconnected(BrokerError)
    /// The broker has the message (QoS 1).
    case acknowledged(BrokerTicket)
    /// Nobody knows whether it has it: to be published again.
    case abandoned(BrokerTicket)
    /// Something came for one of our subscriptions.
    case message(BrokerMessage)
    /// So many messages that came were thrown away: too large, or too many at a time.
    case dropped(Int)
}
