public import Broker
internal import LinuxHost
public import Publishing
public import Sightings

/// Events that wait until the broker has them, wherever they are kept.
public protocol EventQueue: AnyObject {
    /// The oldest of those behind a number.
    func waiting(after sequence: Int64, limit: Int) -> [QueuedEvent]
    /// The broker has this one.
    func settle(_ sequence: Int64)
}

/// An event as it goes to the broker.
public struct QueuedEvent: Hashable, Sendable {
    /// Grows from event to event.
    public var sequence: Int64
    public var zone: String
    /// One line of JSON.
    public var json: String

    /// See the properties of the same names.
    public init(sequence: Int64, zone: String, json: String) {
        self.sequence = sequence
        self.zone = zone
        self.json = json
    }
}

/// Tells a broker what a listener hears: takes rounds, keeps what the broker does not have yet.
///
/// Of states only the newest are kept while no broker is there, of sightings the newest million octets; events stay in
/// their ``EventQueue`` until they are acknowledged.
public final class BrokerPublisher {
    /// What becomes of a message that is on its way.
    private enum Origin {
        case state(topic: String)
        case sightings(Publication)
        case event(Int64)
    }

    /// Whether the broker takes messages; otherwise since when not, by the wall clock.
    public enum State: Hashable, Sendable {
        case connected
        /// In microseconds since 1970.
        case down(since: Int64)
    }

    /// What sightings may take while they wait, in octets.
    private static let sightingsLimit = 1 << 20
    private static let eventsAtATime = 64
    /// How long the last words may take, in milliseconds.
    private static let farewellMilliseconds = 2000

    public private(set) var state = State.down(since: WallClock.microseconds())
    /// Sightings that were thrown away, because no broker came in time.
    public private(set) var droppedSightings = 0
    /// What is done with sentences for whoever watches.
    public var onSentence: (String, Bool) -> Void = { _, _ in }

    private let connection: BrokerConnection
    private var publisher: ListenerPublisher
    private var board = RetainedBoard()
    /// From ``firstSighting`` on.
    private var sightings: [Publication] = []
    private var firstSighting = 0
    private var sightingOctets = 0
    private var onTheWay: [BrokerTicket: Origin] = [:]
    private let events: (any EventQueue)?
    /// The newest event that is on its way, or was.
    private var lastEvent: Int64 = 0
    /// Whether the queue may have more.
    private var hasEvents = true
    private var lastError: BrokerError?

    /// Connects to nobody yet.
    ///
    /// - Throws: where a file that the broker needs cannot be used.
    public init(
        _ setup: BrokerSetup, _ subject: ListenerPublisher.Subject, events: (any EventQueue)? = nil
    ) throws(BrokerError) {
        publisher = ListenerPublisher(subject, setup.section)
        self.events = events
        var options = setup.options
        options.will = BrokerMessage(publisher.will)
        connection = try BrokerConnection(options)
        for publication in publisher.discovery { board.set(publication) }
    }

    /// How many messages wait for the broker.
    public var waitingCount: Int { board.waitingCount + sightings.count - firstSighting }

    // MARK: What is heard

    /// Notes whether everything can be heard.
    public func change(isHearing: Bool, at now: HeardInstant) {
        if isHearing { publisher.becomeHearing(at: now) } else { publisher.becomeDeaf(at: now) }
    }

    /// Takes a round that is over, before the table begins another one.
    public func endRound(
        _ table: SightingTable, at now: HeardInstant, _ measures: ListenerPublisher.Measures,
        zones: (String) -> [String] = { _ in [] }
    ) {
        let output = publisher.endRound(table, at: now, measures, zones: zones)
        for publication in output.retained { board.set(publication) }
        for publication in output.assured { enqueue(publication) }
        poll()
        // Nobody misses later what is only of this moment.
        for publication in output.fleeting { _ = connection.publish(BrokerMessage(publication)) }
    }

    /// Takes what a zone is like from now on.
    public func set(_ state: ZoneState, of zone: String) {
        board.set(Publication(publisher.tree.zoneState(zone), state.json, isRetained: true))
    }

    /// The queue has an event more.
    public func eventsAreWaiting() { hasEvents = true }

    private func enqueue(_ publication: Publication) {
        sightings.append(publication)
        sightingOctets += publication.payload.count
        while sightingOctets > Self.sightingsLimit, firstSighting < sightings.count {
            sightingOctets -= sightings[firstSighting].payload.count
            firstSighting += 1
            droppedSightings += 1
        }
        compact()
    }

    private func compact() {
        guard firstSighting > 1000 || firstSighting == sightings.count else { return }
        sightings.removeFirst(firstSighting)
        firstSighting = 0
    }

    // MARK: The broker

    /// Takes what has come from the broker, and sends what waits. Never waits itself.
    public func poll() {
        for event in connection.poll(at: MonotonicClock.nanoseconds()) { take(event) }
        // What happened goes first; states only say how it is now.
        sendEvents()
        board.drain { send($0, .state(topic: $0.topic)) }
        while firstSighting < sightings.count {
            let publication = sightings[firstSighting]
            guard send(publication, .sightings(publication)) else { break }
            sightingOctets -= publication.payload.count
            firstSighting += 1
        }
        compact()
    }

    private func send(_ publication: Publication, _ origin: Origin) -> Bool {
        guard let ticket = connection.publish(BrokerMessage(publication)) else { return false }
        onTheWay[ticket] = origin
        return true
    }

    private func sendEvents() {
        while hasEvents, connection.hasRoom, let events {
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
            onSentence("\(connection.options.name): connected to the broker", false)
            // It may have been another one, or have lost what it kept.
            board.publishAgain()
            hasEvents = true
        case .disconnected(let error):
            if state == .connected { state = .down(since: WallClock.microseconds()) }
            if lastError != error { onSentence("\(error)", true) }
            lastError = error
        case .acknowledged(let ticket):
            if case .event(let sequence) = onTheWay.removeValue(forKey: ticket) { events?.settle(sequence) }
        case .abandoned(let ticket):
            switch onTheWay.removeValue(forKey: ticket) {
            case .state(let topic): board.publishAgain(topic)
            case .sightings(let publication): enqueue(publication)
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
    public func finish() {
        for publication in publisher.finish() { board.set(publication) }
        poll()
        let deadline = MonotonicClock.nanoseconds() + UInt64(Self.farewellMilliseconds) * 1_000_000
        while connection.isConnected, waitingCount > 0, MonotonicClock.nanoseconds() < deadline {
            _ = try? Poller.wait([.init(connection.descriptor, .read)], until: deadline)
            poll()
        }
        _ = connection.close(waitingMilliseconds: Self.farewellMilliseconds)
    }
}
