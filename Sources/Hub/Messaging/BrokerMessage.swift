/// A message that is published, or was received.
public struct BrokerMessage: Hashable, Sendable {
    /// The quality of service of a message.
    public enum Quality: Int32, Hashable, Sendable {
        /// QoS 0: sent once.
        case atMostOnce = 0
        /// QoS 1: sent until the broker acknowledges it, so it may arrive twice.
        case atLeastOnce = 1
    }

    /// The levels with `/` between them, without wildcards.
    public var topic: String
    public var payload: [UInt8]
    /// True if the broker keeps it for later subscribers. In a received message: true if the broker had kept it.
    public var isRetained: Bool
    public var quality: Quality

    /// Creates a message.
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

/// Identifies a published message of one connection.
public struct BrokerTicket: Hashable, Sendable {
    let number: UInt64
}
