public import Configuration

/// A message to a broker with its delivery options, or a message that the broker has sent.
public struct Publication: Hashable, Sendable {
    /// The topic: its levels with `/` between them, without wildcards.
    public var topic: String
    /// The payload: UTF-8 text in messages of Pharos, any bytes in received messages.
    public var payload: [UInt8]
    /// True if the broker keeps the message for later subscribers. For a received message: true if the broker had kept
    /// it since before the subscription.
    public var isRetained: Bool
    /// True if the message is sent until the broker acknowledges it, so that it may arrive twice (QoS 1). False if it
    /// is sent once without acknowledgement (QoS 0).
    public var isAssured: Bool

    /// Creates a publication.
    public init(_ topic: String, _ payload: [UInt8], isRetained: Bool = false, isAssured: Bool = true) {
        self.topic = topic
        self.payload = payload
        self.isRetained = isRetained
        self.isAssured = isAssured
    }

    /// Creates a publication with a text as payload.
    public init(_ topic: String, _ text: String, isRetained: Bool = false, isAssured: Bool = true) {
        self.init(topic, Array(text.utf8), isRetained: isRetained, isAssured: isAssured)
    }

    /// Creates a publication with one line of JSON as payload.
    public init(_ topic: String, _ value: JSONValue, isRetained: Bool = false, isAssured: Bool = true) {
        self.init(topic, value.line, isRetained: isRetained, isAssured: isAssured)
    }

    /// Returns the retained publication of a status topic: `online` or `offline`.
    public static func status(_ topic: String, isOnline: Bool) -> Publication {
        Publication(topic, isOnline ? "online" : "offline", isRetained: true)
    }
}

/// Contains the newest retained publication of each topic. Each publication is sent once, and sent again if the broker
/// may have lost it.
///
/// A newer publication of a topic replaces the older one, so the board does not grow while no broker is connected.
public struct RetainedBoard: Sendable {
    private var publications: [Publication] = []
    /// The index in ``publications`` of each topic.
    private var indices: [String: Int] = [:]
    /// The indices of the publications that wait to be published, in the order in which they began to wait.
    private var waiting: [Int] = []
    /// For each publication, true if its index is in ``waiting``.
    private var isWaiting: [Bool] = []

    /// Creates a board without publications.
    public init() {}

    /// The number of topics that wait to be published.
    public var waitingCount: Int { waiting.count }

    /// The topics whose newest publication has a payload, in the order in which they were first set. An empty payload
    /// deletes the retained message.
    public var usedTopics: [String] { publications.filter { !$0.payload.isEmpty }.map(\.topic) }

    /// Sets the publication of a topic. An equal publication is not published again.
    public mutating func set(_ publication: Publication) {
        guard let index = indices[publication.topic] else {
            indices[publication.topic] = publications.count
            publications.append(publication)
            isWaiting.append(false)
            return enqueue(publications.count - 1)
        }
        guard publications[index] != publication else { return }
        publications[index] = publication
        enqueue(index)
    }

    private mutating func enqueue(_ index: Int) {
        guard !isWaiting[index] else { return }
        isWaiting[index] = true
        waiting.append(index)
    }

    /// Marks all publications to be published again, in the order in which their topics were first set.
    public mutating func publishAgain() {
        waiting = Array(publications.indices)
        isWaiting = publications.map { _ in true }
    }

    /// Marks one topic to be published again, because its message may not have arrived.
    public mutating func publishAgain(_ topic: String) {
        if let index = indices[topic] { enqueue(index) }
    }

    /// Passes the waiting publications to `publish` in their order until `publish` returns false. A publication stops
    /// waiting when `publish` returns true for it.
    public mutating func drain(_ publish: (Publication) -> Bool) {
        var published = 0
        while published < waiting.count, publish(publications[waiting[published]]) {
            isWaiting[waiting[published]] = false
            published += 1
        }
        waiting.removeFirst(published)
    }
}

/// A queue of publications that are published in their order. If their payloads exceed the limit, the oldest
/// publications are dropped.
public struct PublicationQueue: Sendable {
    /// The number of publications that were dropped.
    public private(set) var dropped = 0
    /// The total size of the payloads of the waiting publications, in bytes.
    public private(set) var octets = 0
    /// The largest total size of the payloads of the waiting publications, in bytes.
    private let limit: Int
    /// The publications with the times at which they were added. The elements before ``start`` have been published or
    /// dropped.
    private var waiting: [(publication: Publication, time: Int64)] = []
    /// The index of the first publication that waits.
    private var start = 0

    /// - Parameter limit: The largest total size of the payloads of the waiting publications, in bytes.
    public init(limit: Int) { self.limit = limit }

    /// The number of publications that wait.
    public var count: Int { waiting.count - start }

    /// The time of the oldest publication, in microseconds since 1970; `nil` if none waits.
    public var oldest: Int64? { start < waiting.count ? waiting[start].time : nil }

    /// Adds a publication at the end of the queue.
    ///
    /// - Parameter time: The present time, in microseconds since 1970.
    public mutating func append(_ publication: Publication, time: Int64) {
        waiting.append((publication, time))
        octets += publication.payload.count
        while octets > limit, start < waiting.count {
            removeFirst()
            dropped += 1
        }
    }

    /// Passes the waiting publications to `publish` in their order until `publish` returns false. A publication stops
    /// waiting when `publish` returns true for it.
    public mutating func drain(_ publish: (Publication, Int64) -> Bool) {
        while start < waiting.count, publish(waiting[start].publication, waiting[start].time) { removeFirst() }
    }

    private mutating func removeFirst() {
        octets -= waiting[start].publication.payload.count
        start += 1
        // The array is shortened only when more than half of it is unused. So each publication is moved at most once on
        // average.
        if start == waiting.count || start > 1000 && start > waiting.count / 2 {
            waiting.removeFirst(start)
            start = 0
        }
    }
}
