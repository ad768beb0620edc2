internal import LinuxHost
internal import Messaging
internal import Sightings
internal import Store

/// Events that wait until the broker has them, wherever they are kept.
protocol EventQueue: AnyObject {
    /// The oldest of those behind a number.
    func waiting(after sequence: Int64, limit: Int) -> [QueuedEvent]
    /// The broker has this one.
    func settle(_ sequence: Int64)
}

/// An event as it goes to the broker.
struct QueuedEvent: Hashable, Sendable {
    /// Grows from event to event.
    var sequence: Int64
    var zone: String
    /// One line of JSON.
    var json: String
}

/// Tells a broker what a listener hears: takes rounds, keeps what the broker does not have yet.
///
/// Of states only the newest are kept while no broker is there; sightings go to an `Outbox`; events stay in their
/// ``EventQueue`` until they are acknowledged.
final class BrokerPublisher {
    /// What becomes of a message that is on its way.
    private enum Origin {
        case state(topic: String)
        case sightings(Publication, Int64)
        /// Of those that were read last from the spool.
        case spooled
        case event(Int64)
        case unkeptEvent(Publication, Int64)
    }

    /// Whether the broker takes messages; otherwise since when not, by the wall clock.
    enum State: Hashable, Sendable {
        case connected
        /// In microseconds since 1970.
        case down(since: Int64)
    }

    /// What sightings, and events that no file keeps, may take while they wait, in octets.
    private static let queueLimit = 1 << 20
    private static let eventsAtATime = 64
    /// 10 s.
    private static let spoolMicroseconds: Int64 = 10_000_000
    /// How long the last words may take, in milliseconds.
    private static let farewellMilliseconds = 2000

    private(set) var state = State.down(since: WallClock.microseconds())
    private var notices: [Notice] = []

    private let connection: BrokerConnection
    private var publisher: ListenerPublisher
    private var board = RetainedBoard()
    private(set) var sightings = PublicationQueue(limit: BrokerPublisher.queueLimit)
    private let spool: Outbox
    /// Of the spool: those that are on their way, and how many of them the broker has not acknowledged.
    private var spooled: (messages: [Outbox.Waiting], sent: Int, open: Int) = ([], 0, 0)
    private(set) var unkeptEvents = PublicationQueue(limit: BrokerPublisher.queueLimit)
    private var onTheWay: [BrokerTicket: Origin] = [:]
    private let events: any EventQueue
    /// The newest event that is on its way, or was.
    private var lastEvent: Int64 = 0
    /// Whether the queue may have more.
    private var hasEvents = true
    private var lastError: BrokerError?

    /// Connects to nobody yet.
    ///
    /// - Throws: where a file that the broker needs cannot be used.
    init(
        _ section: BrokerSection, _ options: BrokerOptions, _ subject: ListenerPublisher.Subject,
        events: any EventQueue, spool: Outbox
    ) throws(BrokerError) {
        publisher = ListenerPublisher(subject, section)
        self.events = events
        self.spool = spool
        var options = options
        options.will = BrokerMessage(publisher.will)
        connection = try BrokerConnection(options)
        for publication in publisher.discovery { board.set(publication) }
    }

    /// How many messages wait for the broker, but for events that are kept.
    var waitingCount: Int { board.waitingCount + sightings.count + unkeptEvents.count }
    /// Sightings that were given up.
    var droppedSightings: Int { sightings.dropped + spool.dropped }

    /// Becomes readable where ``poll()`` has something to do.
    var descriptor: Descriptor { connection.descriptor }

    /// What the operator should know; each is returned once.
    func takeNotices() -> [Notice] {
        defer { notices = [] }
        return notices
    }

    // MARK: What is heard

    /// Notes whether everything can be heard.
    func change(isHearing: Bool, at now: HeardInstant) {
        if isHearing { publisher.becomeHearing(at: now) } else { publisher.becomeDeaf(at: now) }
    }

    /// Takes a round that is over, before the table begins another one.
    func endRound(
        _ table: SightingTable, at now: HeardInstant, _ measures: ListenerPublisher.Measures,
        zones: (String) -> [String] = { _ in [] }
    ) {
        let output = publisher.endRound(table, at: now, measures, zones: zones)
        for publication in output.retained { board.set(publication) }
        let time = WallClock.microseconds()
        for publication in output.assured { sightings.append(publication, time: time) }
        spoolSightings()
        poll()
        // Nobody misses later what is only of this moment.
        for publication in output.fleeting { _ = connection.publish(BrokerMessage(publication)) }
    }

    /// Takes what a zone is like from now on.
    func set(_ state: ZoneState, of zone: String) {
        board.set(Publication(publisher.tree.zoneState(zone), state.json, isRetained: true))
    }

    /// The queue has an event more.
    func eventsAreWaiting() { hasEvents = true }

    /// Takes an event that no file keeps.
    func tell(_ event: QueuedEvent) {
        unkeptEvents.append(
            Publication(publisher.tree.zoneEvents(event.zone), event.json), time: WallClock.microseconds())
    }

    // MARK: The broker

    /// Takes what has come from the broker, and sends what waits. Never waits itself.
    func poll() {
        for event in connection.poll(at: MonotonicClock.nanoseconds()) { take(event) }
        // What happened goes first; states only say how it is now.
        sendEvents()
        unkeptEvents.drain { send($0, .unkeptEvent($0, $1)) }
        board.drain { send($0, .state(topic: $0.topic)) }
        // What is heard now goes before what was heard while nobody was there: it tells a collector how late that is.
        sightings.drain { send($0, .sightings($0, $1)) }
        sendSpooled()
    }

    /// What does not go out within 10 s waits in a file.
    private func spoolSightings() {
        guard state != .connected || sightings.octets > Self.queueLimit / 2,
            let oldest = sightings.oldest, WallClock.microseconds() - oldest >= Self.spoolMicroseconds
        else { return }
        spoolAll()
    }

    private func spoolAll() {
        var all: [Outbox.Message] = []
        sightings.drain { publication, time in
            all.append(
                .init(topic: publication.topic, text: String(decoding: publication.payload, as: UTF8.self), time: time))
            return true
        }
        spool.append(all)
    }

    /// The oldest of the spool, a few at a time; they are in it until the broker has all of them.
    private func sendSpooled() {
        while connection.hasRoom {
            if spooled.open == 0 {
                if !spooled.messages.isEmpty { spool.remove(spooled.messages) }
                spooled = (spool.first(Self.eventsAtATime), 0, 0)
                spooled.open = spooled.messages.count
                guard spooled.open > 0 else { return }
            }
            guard spooled.sent < spooled.messages.count else { return }
            let message = spooled.messages[spooled.sent].message
            guard send(Publication(message.topic, message.text), .spooled) else { return }
            spooled.sent += 1
        }
    }

    private func send(_ publication: Publication, _ origin: Origin) -> Bool {
        guard let ticket = connection.publish(BrokerMessage(publication)) else { return false }
        onTheWay[ticket] = origin
        return true
    }

    private func sendEvents() {
        while hasEvents, connection.hasRoom {
            let some = events.waiting(after: lastEvent, limit: Self.eventsAtATime)
            hasEvents = some.count == Self.eventsAtATime
            for event in some {
                guard send(Publication(publisher.tree.zoneEvents(event.zone), event.json), .event(event.sequence))
                else {
                    hasEvents = true
                    return
                }
                lastEvent = event.sequence
            }
        }
    }

    private func take(_ event: BrokerEvent) {
        switch event {
        case .connected:
            state = .connected
            lastError = nil
            notices.append(Notice("\(connection.options.name): connected to the broker", isWarning: false))
            // It may have been another one, or have lost what it kept.
            board.publishAgain()
            hasEvents = true
        case .disconnected(let error):
            if state == .connected { state = .down(since: WallClock.microseconds()) }
            if lastError != error { notices.append(Notice("\(error)", isWarning: true)) }
            lastError = error
        case .acknowledged(let ticket):
            switch onTheWay.removeValue(forKey: ticket) {
            case .event(let sequence): events.settle(sequence)
            case .spooled: spooled.open -= 1
            case .state, .sightings, .unkeptEvent, nil: break
            }
        case .abandoned(let ticket):
            switch onTheWay.removeValue(forKey: ticket) {
            case .state(let topic): board.publishAgain(topic)
            case .sightings(let publication, let time): sightings.append(publication, time: time)
            // All of them go once more: their numbers are the same.
            case .spooled: spooled = ([], 0, 0)
            case .unkeptEvent(let publication, let time): unkeptEvents.append(publication, time: time)
            // Those behind it go once more as well: their ids are the same.
            case .event(let sequence):
                lastEvent = min(lastEvent, sequence - 1)
                hasEvents = true
            case nil: break
            }
        case .message(let message):
            let isBirth =
                message.topic == HomeAssistant.statusTopic && message.payload == Array(HomeAssistant.birth.utf8)
            // One that the broker kept is older than this connection.
            if isBirth, !message.isRetained { board.publishAgain() }
        case .dropped: break
        }
    }

    /// Says that nobody knows anything from now on, and takes leave.
    func finish() {
        for publication in publisher.finish() { board.set(publication) }
        leave()
    }

    /// Takes leave without a word: somebody else goes on.
    func leave() {
        poll()
        let deadline = MonotonicClock.nanoseconds() + UInt64(Self.farewellMilliseconds) * 1_000_000
        while connection.isConnected, waitingCount > 0, MonotonicClock.nanoseconds() < deadline {
            _ = try? Poller.wait([.init(connection.descriptor, .read)], until: deadline)
            poll()
        }
        for event in connection.close(waitingMilliseconds: Self.farewellMilliseconds) { take(event) }
        if sightings.count > 0 { spoolAll() }
    }

    /// The topics under which Home Assistant is told of entities.
    var discoveryTopics: Set<String> { Set(publisher.discovery.map(\.topic)) }

    /// Makes Home Assistant forget what a former file told it of.
    func forget(_ topics: Set<String>) {
        for topic in topics.subtracting(discoveryTopics).sorted() {
            board.set(Publication(topic, [UInt8](), isRetained: true))
        }
    }
}
