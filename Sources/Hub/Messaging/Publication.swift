public import Configuration

/// A message for a broker, with its delivery options, or a message that the broker has sent.
public struct Publication: Hashable, Sendable {
    /// The levels with `/` between them, without wildcards.
    public var topic: String
    /// UTF-8 in messages of Pharos; any bytes in received messages.
    public var payload: [UInt8]
    /// True if the broker keeps it for later subscribers. In a received message: true if the broker had kept it.
    public var isRetained: Bool
    /// True if it is sent until the broker acknowledges it, so that it may arrive twice (QoS 1). Otherwise it is sent once
    /// (QoS 0).
    public var isAssured: Bool

    /// Creates a publication.
    public init(_ topic: String, _ payload: [UInt8], isRetained: Bool = false, isAssured: Bool = true) {
        self.topic = topic
        self.payload = payload
        self.isRetained = isRetained
        self.isAssured = isAssured
    }

    /// A publication with a text.
    public init(_ topic: String, _ text: String, isRetained: Bool = false, isAssured: Bool = true) {
        self.init(topic, Array(text.utf8), isRetained: isRetained, isAssured: isAssured)
    }

    /// A publication with a value as one line of JSON.
    public init(_ topic: String, _ value: JSONValue, isRetained: Bool = false, isAssured: Bool = true) {
        self.init(topic, value.line, isRetained: isRetained, isAssured: isAssured)
    }

    /// The publication of a status topic: `online` or `offline`.
    public static func status(_ topic: String, isOnline: Bool) -> Publication {
        Publication(topic, isOnline ? "online" : "offline", isRetained: true)
    }
}

/// Retained publications: the newest of each topic. Each is published once, and again if the broker may have lost it.
///
/// While no broker is connected, it holds one publication for each topic.
public struct RetainedBoard: Sendable {
    private var publications: [Publication] = []
    /// The index of each topic's publication.
    private var places: [String: Int] = [:]
    /// The indices of publications that were not published since they changed, the oldest first.
    private var waiting: [Int] = []
    /// For each publication, whether it is in ``waiting``.
    private var isWaiting: [Bool] = []

    /// A board without publications.
    public init() {}

    /// The number of topics that wait to be published.
    public var waitingCount: Int { waiting.count }

    /// Sets the publication of a topic. An equal publication is not published again.
    public mutating func set(_ publication: Publication) {
        guard let place = places[publication.topic] else {
            places[publication.topic] = publications.count
            publications.append(publication)
            isWaiting.append(false)
            return enqueue(publications.count - 1)
        }
        guard publications[place] != publication else { return }
        publications[place] = publication
        enqueue(place)
    }

    private mutating func enqueue(_ place: Int) {
        guard !isWaiting[place] else { return }
        isWaiting[place] = true
        waiting.append(place)
    }

    /// Marks all publications to be published again, in the order in which the topics were set first.
    public mutating func publishAgain() {
        waiting = Array(publications.indices)
        isWaiting = publications.map { _ in true }
    }

    /// Marks one topic to be published again, because its message may not have arrived.
    public mutating func publishAgain(_ topic: String) {
        if let place = places[topic] { enqueue(place) }
    }

    /// Passes the waiting publications to `publish`, until `publish` returns false.
    public mutating func drain(_ publish: (Publication) -> Bool) {
        var taken = 0
        while taken < waiting.count, publish(publications[waiting[taken]]) {
            isWaiting[waiting[taken]] = false
            taken += 1
        }
        waiting.removeFirst(taken)
    }
}

/// Publications that must all arrive, in their order. If they exceed the limit, the oldest are dropped.
public struct PublicationQueue: Sendable {
    /// The number of publications that were dropped.
    public private(set) var dropped = 0
    /// The size of the payloads that wait, in bytes.
    public private(set) var octets = 0
    /// The largest size of the payloads, in bytes.
    private let limit: Int
    /// The publications. Those before ``start`` have been published or dropped.
    private var waiting: [(publication: Publication, time: Int64)] = []
    private var start = 0

    /// - Parameter limit: The size of the payloads, in bytes.
    public init(limit: Int) { self.limit = limit }

    /// The number of publications that wait.
    public var count: Int { waiting.count - start }

    /// The time of the oldest publication, in microseconds since 1970; `nil` if none waits.
    public var oldest: Int64? { start < waiting.count ? waiting[start].time : nil }

    /// Adds a publication after all others.
    ///
    /// - Parameter time: Now, in microseconds since 1970.
    public mutating func append(_ publication: Publication, time: Int64) {
        waiting.append((publication, time))
        octets += publication.payload.count
        while octets > limit, start < waiting.count {
            removeFirst()
            dropped += 1
        }
    }

    /// Passes the waiting publications to `publish`, until `publish` returns false.
    public mutating func drain(_ publish: (Publication, Int64) -> Bool) {
        while start < waiting.count, publish(waiting[start].publication, waiting[start].time) { removeFirst() }
    }

    private mutating func removeFirst() {
        octets -= waiting[start].publication.payload.count
        start += 1
        // On average, each publication is moved at most once.
        if start == waiting.count || start > 1000 && start > waiting.count / 2 {
            waiting.removeFirst(start)
            start = 0
        }
    }
}
