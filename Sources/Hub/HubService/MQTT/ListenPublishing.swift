internal import BeaconService
internal import LinuxHost
internal import Listener
internal import Messaging
internal import Sightings
internal import Store
internal import Zones

/// What a listener's service tells a broker: of the beacons once a second, of the zones at once.
final class ListenPublishing {
    /// What waits for the broker, and whether there is one.
    struct Report {
        /// `connected`, or `down since …`.
        let broker: String
        let isConnected: Bool
        let messages: Int
        /// Of the sightings that wait, and of events that no file keeps.
        let octets: Int
        /// RFC 3339.
        let oldest: String?
        let droppedSightings: Int
        let droppedEvents: Int
    }

    private let publisher: BrokerPublisher
    private let queue: LedgerQueue
    private let spool: Outbox
    private let hearing: ZoneMonitor
    /// By zone, as it was told last.
    private var zones: [ZoneState?]

    /// Connects to nobody yet.
    ///
    /// - Parameters:
    ///   - path: The listener file, beside which the files lie that its `mqtt` names.
    ///   - boot: Tells this run from all others.
    /// - Returns: `nil` where the file names no broker.
    /// - Throws: where a file that the broker needs cannot be used, or others may read a secret.
    init?(
        _ file: HubFile, at path: String, _ source: SightingSource, _ hearing: ZoneMonitor, _ ledger: EventLedger,
        _ spool: Outbox, boot: String, version: String
    ) throws(ListenerServiceError) {
        self.hearing = hearing
        self.spool = spool
        queue = LedgerQueue(ledger)
        zones = Array(repeating: nil, count: file.zones.count)
        do throws(BrokerError) {
            guard let section = file.broker else { return nil }
            let directory = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
            let options = try BrokerOptions(section, client: "pharos-\(file.listener.name)", in: directory)
            let clock = source.clock
            var subject = ListenerPublisher.Subject(
                listener: file.listener.name, site: file.listener.place?.site, room: file.listener.place?.room,
                known: file.known.beacons, boot: boot, version: version, time: clock.text)
            subject.tellsIntervals = !source.isPresenceOnly
            subject.unixMicroseconds = clock.unixMicroseconds
            publisher = try BrokerPublisher(section, options, subject, events: queue, spool: spool)
        } catch {
            if case .missing = error { throw .refused(.missing, "\(error)") }
            throw .refused(.invalid, "\(error)")
        }
    }

    /// What the operator should know; each is returned once.
    func takeNotices() -> [Notice] { publisher.takeNotices() }

    /// Takes up what an earlier run has left; the ledger must be open.
    func begin() {
        queue.begin()
        spool.open()
    }

    /// Goes on where one of a former file ends.
    func replace(_ former: ListenPublishing) {
        begin()
        former.publisher.leave()
        publisher.forget(former.publisher.discoveryTopics)
    }

    /// Notes whether everything can be heard.
    func change(isHearing: Bool, at now: HeardInstant) {
        publisher.change(isHearing: isHearing, at: now)
        tellZones()
    }

    /// Takes an event.
    ///
    /// - Parameter number: Its number in the ledger; `nil` where it could not be kept.
    func take(_ event: ZoneEvent, json: String, number: Int64?) {
        if number != nil {
            queue.add()
            publisher.eventsAreWaiting()
        } else {
            publisher.tell(QueuedEvent(sequence: 0, zone: event.zone, json: json))
        }
        tellZones()
        publisher.poll()
    }

    /// What is in the zones, where that has changed.
    private func tellZones() {
        let engine = hearing.engine
        for (zone, rule) in engine.rules.enumerated() where zones.indices.contains(zone) {
            let state = ZoneState(inside: engine.inside(zone), isKnown: engine.isKnown)
            guard zones[zone] != state else { continue }
            zones[zone] = state
            publisher.set(state, of: rule.name)
        }
    }

    /// Takes what has come from the broker, and sends what waits.
    func rest() { publisher.poll() }

    /// Takes a round that is over, before the table begins another one.
    ///
    /// - Parameter state: How listening is, in a word.
    func endRound(_ source: SightingSource, state: String, at now: HeardInstant) {
        tellZones()
        var zonesOf: [String: [String]] = [:]
        for (zone, rule) in hearing.engine.rules.enumerated() {
            for beacon in hearing.engine.inside(zone) { zonesOf[beacon, default: []].append(rule.name) }
        }
        let measures = ListenerPublisher.Measures(
            bootMilliseconds: Int(BootClock.nanoseconds() / 1_000_000), state: state, reports: hearing.reports,
            lost: (source.counts.lostInKernel ?? 0) + source.counts.incomplete)
        publisher.endRound(hearing.table, at: now, measures) { zonesOf[$0] ?? [] }
    }

    /// The last words.
    func finish() { publisher.finish() }

    /// How it is.
    var report: Report {
        let times = [
            queue.oldest, spool.first(1).first?.message.time, publisher.sightings.oldest, publisher.unkeptEvents.oldest,
        ].compactMap(\.self)
        let isConnected = publisher.state == .connected
        var broker = "connected"
        if case .down(let since) = publisher.state { broker = "down since \(ZoneEvent.time(since))" }
        return Report(
            broker: broker, isConnected: isConnected, messages: publisher.waitingCount + queue.count + spool.count,
            octets: publisher.sightings.octets + publisher.unkeptEvents.octets + spool.byteCount,
            oldest: times.min().map(ZoneEvent.time), droppedSightings: publisher.droppedSightings,
            droppedEvents: publisher.unkeptEvents.dropped)
    }
}

/// The events in a ledger that wait for the broker.
private final class LedgerQueue: EventQueue {
    private let ledger: EventLedger
    /// How many wait; counted by the file once, because those may be the events of a month.
    private(set) lazy var count = ledger.waitingCount(for: EventLedger.broker)

    init(_ ledger: EventLedger) { self.ledger = ledger }

    /// When the oldest happened, in microseconds since 1970.
    var oldest: Int64? {
        count == 0 ? nil : ledger.waiting(for: EventLedger.broker, limit: 1).first?.event.time
    }

    /// Takes up what an earlier run has left; to be called once the ledger is open.
    func begin() { _ = count }

    /// One more has been kept.
    func add() { count += 1 }

    func waiting(after sequence: Int64, limit: Int) -> [QueuedEvent] {
        ledger.waiting(for: EventLedger.broker, limit: limit, after: sequence).map {
            QueuedEvent(sequence: $0.sequence, zone: $0.event.zone, json: $0.event.json)
        }
    }

    func settle(_ sequence: Int64) {
        ledger.settle(sequence, for: EventLedger.broker)
        count = max(0, count - 1)
    }
}

/// The channels of a listener's ledger.
extension EventLedger {
    /// Programs that are started.
    static let hooks = "hooks"
    /// Lines on standard output.
    static let lines = "lines"
    /// The MQTT broker.
    static let broker = "mqtt"
}
