public import Configuration

/// A message as it goes to a broker.
public struct Publication: Hashable, Sendable {
    public var topic: String
    /// UTF-8.
    public var payload: [UInt8]
    /// Whether the broker keeps it for those who come later.
    public var isRetained: Bool
    /// Whether it is sent until it is acknowledged (QoS 1); otherwise once (QoS 0).
    public var isAssured: Bool

    /// See the properties of the same names.
    public init(_ topic: String, _ payload: [UInt8], isRetained: Bool = false, isAssured: Bool = true) {
        self.topic = topic
        self.payload = payload
        self.isRetained = isRetained
        self.isAssured = isAssured
    }

    /// The same with a text, or with a value as one line of JSON.
    public init(_ topic: String, _ text: String, isRetained: Bool = false, isAssured: Bool = true) {
        self.init(topic, Array(text.utf8), isRetained: isRetained, isAssured: isAssured)
    }

    /// - Parameter value: Becomes one line of JSON.
    public init(_ topic: String, _ value: JSONValue, isRetained: Bool = false, isAssured: Bool = true) {
        self.init(topic, value.line, isRetained: isRetained, isAssured: isAssured)
    }

    /// The words of a status topic.
    public static func status(_ topic: String, isOnline: Bool) -> Publication {
        Publication(topic, isOnline ? "online" : "offline", isRetained: true)
    }
}

/// What a broker should hold: of each topic the newest, until it has been published; all of it again where the broker may
/// have forgotten it.
///
/// While no broker is there it grows by no more than the topics that there are.
public struct RetainedBoard: Sendable {
    private var publications: [Publication] = []
    private var places: [String: Int] = [:]
    /// Places of what was not published since it changed, the oldest first; each once.
    private var waiting: [Int] = []
    private var isWaiting: [Bool] = []

    /// Nothing to hold.
    public init() {}

    /// How many topics still wait.
    public var waitingCount: Int { waiting.count }

    /// Takes what a topic should hold from now on; what it holds already is not published again.
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

    /// Everything is to be published, in the order in which the topics came.
    public mutating func publishAgain() {
        waiting = Array(publications.indices)
        isWaiting = publications.map { _ in true }
    }

    /// The same of one topic, which did not arrive perhaps.
    public mutating func publishAgain(_ topic: String) {
        if let place = places[topic] { enqueue(place) }
    }

    /// Hands what waits to `publish`, until that takes no more.
    public mutating func drain(_ publish: (Publication) -> Bool) {
        var taken = 0
        while taken < waiting.count, publish(publications[waiting[taken]]) {
            isWaiting[waiting[taken]] = false
            taken += 1
        }
        waiting.removeFirst(taken)
    }
}

/// Publications of which each counts, in their order, until they take more room than they may: then the oldest go.
public struct PublicationQueue: Sendable {
    /// Those that were given up.
    public private(set) var dropped = 0
    /// The payloads of those that wait, in octets.
    public private(set) var octets = 0
    private let limit: Int
    /// From ``start`` on.
    private var waiting: [(publication: Publication, time: Int64)] = []
    private var start = 0

    /// - Parameter limit: In octets of payload.
    public init(limit: Int) { self.limit = limit }

    /// How many wait.
    public var count: Int { waiting.count - start }

    /// When the oldest came, as it was said.
    public var oldest: Int64? { start < waiting.count ? waiting[start].time : nil }

    /// Takes one behind all others.
    ///
    /// - Parameter time: When it came, in microseconds since 1970.
    public mutating func append(_ publication: Publication, time: Int64) {
        waiting.append((publication, time))
        octets += publication.payload.count
        while octets > limit, start < waiting.count {
            removeFirst()
            dropped += 1
        }
    }

    /// Hands what waits to `publish`, until that takes no more.
    public mutating func drain(_ publish: (Publication, Int64) -> Bool) {
        while start < waiting.count, publish(waiting[start].publication, waiting[start].time) { removeFirst() }
    }

    private mutating func removeFirst() {
        octets -= waiting[start].publication.payload.count
        start += 1
        // Each is moved at most once on the average.
        if start == waiting.count || start > 1000 && start > waiting.count / 2 {
            waiting.removeFirst(start)
            start = 0
        }
    }
}
