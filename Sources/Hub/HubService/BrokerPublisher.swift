internal import BeaconService
internal import LinuxHost
internal import Listener
internal import Messaging
internal import Sightings
internal import Store
internal import Zones

/// Publishes the data of a listener to a broker: events at once, states and sightings once a second.
///
/// The ledger keeps an event, and the outbox a sighting, until the broker has acknowledged it. Of each state, only the
/// newest value is kept. Only ``finish()`` and ``replace(_:)`` wait for the broker.
final class BrokerPublisher {
    /// The state of the connection and of the waiting messages, for the status file and the metrics.
    struct Report {
        /// `connected`, `subscription refused`, or `down since …`.
        let broker: String
        let isConnected: Bool
        /// The number of messages that wait.
        let messages: Int
        /// The total size of the waiting sightings and the events that the ledger could not store, in bytes.
        let octets: Int
        /// The time of the oldest waiting message, as RFC 3339; `nil` if none waits.
        let oldest: String?
        let droppedSightings: Int
    }

    /// The source of a message that the broker has not acknowledged.
    private enum Origin {
        case state(topic: String)
        case sightings(Publication, Int64)
        /// A message of ``batch``.
        case outbox
        /// The event of the ledger with this sequence number.
        case event(Int64)
        case unstoredEvent(UnstoredEvent)
    }

    /// An event that the ledger could not store, with its time in microseconds since 1970.
    private struct UnstoredEvent {
        let id: String
        let publication: Publication
        let time: Int64
    }

    /// The events that the ledger could not store and that the broker has not acknowledged. If the waiting events
    /// exceed ``memoryLimit``, the oldest are removed. A removed event is not lost: the ledger also keeps it in memory,
    /// and this publisher publishes it when the ledger has stored it.
    private struct UnstoredEvents {
        private(set) var waiting: [UnstoredEvent] = []
        /// The size of the payloads that wait, in bytes.
        private(set) var octets = 0
        /// The ids of the events that wait, and of the sent events that are not acknowledged.
        private(set) var ids: Set<String> = []

        mutating func append(_ event: UnstoredEvent) {
            ids.insert(event.id)
            waiting.append(event)
            octets += event.publication.payload.count
            while octets > BrokerPublisher.memoryLimit, let first = waiting.first {
                removeFirst(1)
                ids.remove(first.id)
            }
        }

        /// Passes the waiting events to `send`, until it returns false.
        mutating func drain(_ send: (UnstoredEvent) -> Bool) {
            var sent = 0
            while sent < waiting.count, send(waiting[sent]) { sent += 1 }
            removeFirst(sent)
        }

        private mutating func removeFirst(_ count: Int) {
            octets -= waiting.prefix(count).reduce(0) { $0 + $1.publication.payload.count }
            waiting.removeFirst(count)
        }

        mutating func remove(_ event: UnstoredEvent) { ids.remove(event.id) }
    }

    /// The messages that were last read from the outbox, and how many of them were sent and acknowledged.
    private struct Batch {
        var messages: [Outbox.Waiting] = []
        var sent = 0
        var acknowledged = 0
        var isDone: Bool { acknowledged == messages.count }
    }

    /// The size limit of the waiting sightings, and of the waiting events that the ledger could not store, in bytes
    /// each.
    private static let memoryLimit = 1 << 20
    /// The largest number of messages that are read from the ledger or the outbox at a time.
    private static let messagesAtATime = 64
    /// The time after which waiting sightings are moved to the outbox, in microseconds.
    private static let memoryMicroseconds: Int64 = 10_000_000
    /// The time limit for sending the waiting messages when the publisher ends, in milliseconds.
    private static let shutdownMilliseconds = 1000

    private let connection: BrokerConnection
    private let ledger: EventLedger
    private let outbox: Outbox
    private var publisher: ListenerPublisher
    private var board = RetainedBoard()
    private var sightings = PublicationQueue(limit: BrokerPublisher.memoryLimit)
    private var unstoredEvents = UnstoredEvents()
    private var batch = Batch()
    /// The messages that the broker has not acknowledged.
    private var inFlight: [BrokerTicket: Origin] = [:]
    /// The number of events in the ledger that the broker has not acknowledged. It is counted once and then updated,
    /// because counting the events of a month takes long.
    private lazy var eventCount = ledger.waitingCount(for: EventLedger.broker)
    /// The sequence number of the newest event of the ledger that was sent.
    private var lastEvent: Int64 = 0
    /// False if the ledger has no event after ``lastEvent``.
    private var mayHaveEvents = true
    /// The time at which the connection was lost, in microseconds since 1970; `nil` while connected.
    private var downSince: Int64? = WallClock.microseconds()
    private var lastError: BrokerError?
    /// The errors of the refused subscriptions. Each error is reported once.
    private var refusals: Set<BrokerError> = []
    private var births = BirthAnswers()
    private var notices: [Notice] = []

    // MARK: Start and end

    /// Creates a publisher. The first ``poll()`` connects it.
    ///
    /// - Parameters:
    ///   - path: The path of the listener file. Paths in the section `mqtt` are relative to the directory of this file.
    ///   - boot: The unique identifier of this run.
    /// - Returns: `nil` if the file has no section `mqtt`.
    /// - Throws: An error if a file of the section `mqtt` cannot be used, or other users can read a secret.
    init?(
        _ file: HubFile, at path: String, _ source: SightingSource, _ ledger: EventLedger, _ outbox: Outbox,
        boot: String, version: String
    ) throws(ListenerServiceError) {
        guard let section = file.broker else { return nil }
        self.ledger = ledger
        self.outbox = outbox
        let clock = source.clock
        var subject = ListenerPublisher.Subject(
            listener: file.listener.name, site: file.listener.place?.site, room: file.listener.place?.room,
            known: file.known.beacons, boot: boot, version: version, time: clock.text)
        subject.zones = file.zones.map(\.name)
        subject.measuresIntervals = !source.isPresenceOnly
        subject.unixMicroseconds = clock.unixMicroseconds
        publisher = ListenerPublisher(subject, section)
        let directory = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
        do throws(BrokerError) {
            var options = try BrokerOptions(section, client: "pharos-\(file.listener.name)", in: directory)
            options.optionalSubscriptions = publisher.conflictFilters
            options.will = publisher.will
            connection = try BrokerConnection(options)
        } catch {
            if case .missing = error { throw .refused(.missing, "\(error)") }
            throw .refused(.invalid, "\(error)")
        }
        for publication in publisher.discovery { board.set(publication) }
    }

    /// Counts the messages that an earlier run did not send. Must be called after the ledger was opened.
    func begin() {
        _ = eventCount
        outbox.open()
    }

    /// Replaces `former`, the publisher of the previous version of the file. Deletes its retained messages on topics
    /// that this publisher does not use, so that no program reads outdated states.
    func replace(_ former: BrokerPublisher) {
        begin()
        let topics = publisher.retainedTopics
        let oldTopics = former.board.usedTopics.filter { !topics.contains($0) }
        former.clear(oldTopics)
        former.leave()
        // The former publisher may not have been connected, so this publisher deletes the messages too.
        for topic in oldTopics { board.set(Publication(topic, [UInt8](), isRetained: true)) }
    }

    /// Deletes the retained messages of these topics from the broker. To the status topics among them, first sends
    /// `offline`.
    private func clear(_ topics: [String]) {
        for topic in publisher.statusTopics where topics.contains(topic) {
            _ = send(.status(topic, isOnline: false), .state(topic: topic))
        }
        for topic in topics { board.set(Publication(topic, [UInt8](), isRetained: true)) }
    }

    /// Publishes that the receiver is offline, and disconnects.
    func finish() {
        for publication in publisher.finish() { board.set(publication) }
        leave()
    }

    /// Sends waiting messages for at most 1 s, and disconnects.
    private func leave() {
        poll()
        let deadline = MonotonicClock.nanoseconds() + UInt64(Self.shutdownMilliseconds) * 1_000_000
        while connection.isConnected, waitingCount > 0, MonotonicClock.nanoseconds() < deadline {
            _ = try? Poller.wait([.init(connection.descriptor, .read)], until: deadline)
            poll()
        }
        let remainingMilliseconds = Int(Int64(bitPattern: deadline &- MonotonicClock.nanoseconds()) / 1_000_000)
        for event in connection.close(waitingMilliseconds: max(remainingMilliseconds, 200)) { handle(event) }
        if sightings.count > 0 { moveToOutbox() }
    }

    // MARK: Publishing

    /// Records the time at which the receiver first worked.
    func change(isListening: Bool, at now: HeardInstant) {
        if isListening { publisher.begin(at: now) }
    }

    /// Publishes an event.
    ///
    /// - Parameters:
    ///   - id: The unique id of the event.
    ///   - number: The sequence number of the event in the ledger; `nil` if the ledger could not store the event.
    func publish(_ event: ZoneEvent, json: String, id: String, number: Int64?) {
        if number != nil {
            eventCount += 1
            mayHaveEvents = true
        } else {
            let publication = Publication(publisher.tree.zoneEvents(event.zone), json)
            unstoredEvents.append(UnstoredEvent(id: id, publication: publication, time: WallClock.microseconds()))
        }
    }

    /// Publishes the state of each zone that has changed.
    func publishZones(_ engine: ZoneEngine) {
        for (zone, rule) in engine.rules.enumerated() {
            let state = ZoneState(
                inside: engine.inside(zone), isKnown: engine.isKnown, receiver: publisher.receiver)
            board.set(Publication(publisher.tree.zoneState(rule.name), state.json, isRetained: true))
        }
    }

    /// Publishes the states and sightings of a completed round. Must be called before the table begins the next round.
    ///
    /// - Parameter state: The state of the receiver, as in the status file.
    func endRound(_ monitor: ZoneMonitor, _ source: SightingSource, state: String, at now: HeardInstant) {
        publishZones(monitor.engine)
        var zones: [String: [String]] = [:]
        for (zone, rule) in monitor.engine.rules.enumerated() {
            for beacon in monitor.engine.inside(zone) { zones[beacon, default: []].append(rule.name) }
        }
        let measures = ListenerPublisher.Measures(
            bootMilliseconds: Int(BootClock.nanoseconds() / 1_000_000), state: state, reports: monitor.reports,
            lost: (source.counts.lostInKernel ?? 0) + source.counts.incomplete)
        let output = publisher.endRound(monitor.table, at: now, measures, zones: zones)
        for publication in output.retained { board.set(publication) }
        let time = WallClock.microseconds()
        for publication in output.sightings { sightings.append(publication, time: time) }
        if let oldest = sightings.oldest, time - oldest >= Self.memoryMicroseconds,
            downSince != nil || sightings.octets > Self.memoryLimit / 2
        {
            moveToOutbox()
        }
        poll()
        for publication in output.readings { _ = connection.publish(publication) }
    }

    // MARK: The broker

    /// Handles the events of the broker, and sends waiting messages.
    func poll() {
        for event in connection.poll(at: MonotonicClock.nanoseconds()) { handle(event) }
        if births.isDue(at: MonotonicClock.nanoseconds()) { board.publishAgain() }
        sendEvents()
        unstoredEvents.drain { send($0.publication, .unstoredEvent($0)) }
        board.drain { send($0, .state(topic: $0.topic)) }
        // New sightings are sent before old ones, so that a collector can compute how late the old ones are.
        sightings.drain { send($0, .sightings($0, $1)) }
        sendOutbox()
    }

    private func sendEvents() {
        while mayHaveEvents, connection.hasRoom {
            // If the ledger cannot be read now, the next call tries again.
            guard
                let waitingEvents = ledger.waiting(
                    for: EventLedger.broker, limit: Self.messagesAtATime, after: lastEvent)
            else { return }
            mayHaveEvents = waitingEvents.count == Self.messagesAtATime || ledger.backlogCount > 0
            if waitingEvents.isEmpty { return }
            for waiting in waitingEvents {
                if unstoredEvents.ids.contains(waiting.event.id) {
                    lastEvent = waiting.sequence
                    continue
                }
                let publication = Publication(publisher.tree.zoneEvents(waiting.event.zone), waiting.event.json)
                guard send(publication, .event(waiting.sequence)) else {
                    mayHaveEvents = true
                    return
                }
                lastEvent = waiting.sequence
            }
        }
    }

    private func moveToOutbox() {
        var messages: [Outbox.Message] = []
        sightings.drain { publication, time in
            let text = String(decoding: publication.payload, as: UTF8.self)
            messages.append(.init(topic: publication.topic, text: text, time: time))
            return true
        }
        outbox.append(messages)
    }

    /// Sends the messages of the outbox batch by batch. A batch stays in the outbox until the broker has acknowledged
    /// all of its messages.
    private func sendOutbox() {
        while connection.hasRoom {
            if batch.isDone {
                if !batch.messages.isEmpty { outbox.remove(batch.messages) }
                batch = Batch(messages: outbox.first(Self.messagesAtATime))
            }
            guard batch.sent < batch.messages.count else { return }
            let message = batch.messages[batch.sent].message
            guard send(Publication(message.topic, message.text), .outbox) else { return }
            batch.sent += 1
        }
    }

    private func send(_ publication: Publication, _ origin: Origin) -> Bool {
        guard let ticket = connection.publish(publication) else { return false }
        inFlight[ticket] = origin
        return true
    }

    private func handle(_ event: BrokerEvent) {
        switch event {
        case .connected:
            (downSince, lastError) = (nil, nil)
            // The broker may be another broker than before, or may have lost its retained messages.
            board.publishAgain()
            mayHaveEvents = true
        case .subscribed:
            refusals = []
            notices.append(Notice("\(connection.options.name): connected to the broker", isWarning: false))
        case .refused(let error):
            if refusals.insert(error).inserted { notices.append(Notice("\(error)", isWarning: true)) }
        case .disconnected(let error):
            downSince = downSince ?? WallClock.microseconds()
            if lastError != error { notices.append(Notice("\(error)", isWarning: true)) }
            lastError = error
        case .acknowledged(let ticket):
            switch inFlight.removeValue(forKey: ticket) {
            case .event(let number):
                ledger.markDelivered(number, for: EventLedger.broker)
                eventCount = max(0, eventCount - 1)
            case .outbox: batch.acknowledged += 1
            case .unstoredEvent(let event):
                unstoredEvents.remove(event)
                ledger.markDelivered(id: event.id, for: EventLedger.broker)
            case .state, .sightings, nil: break
            }
        case .abandoned(let ticket): sendAgain(ticket)
        case .message(let message):
            let isBirth =
                message.topic == HomeAssistant.statusTopic && message.payload == Array(HomeAssistant.birth.utf8)
            // A retained birth message is older than this connection, so it needs no answer.
            if isBirth, !message.isRetained { births.receiveBirth() }
            if let conflict = publisher.conflict(with: message) {
                notices.append(Notice("\(connection.options.name): \(conflict)", isWarning: true))
            }
        case .dropped: break
        }
    }

    /// Queues a message a second time, because it may not have arrived. Receivers recognize duplicates by their id or
    /// number.
    private func sendAgain(_ ticket: BrokerTicket) {
        switch inFlight.removeValue(forKey: ticket) {
        case .state(let topic): board.publishAgain(topic)
        case .sightings(let publication, let time): sightings.append(publication, time: time)
        case .outbox: batch = Batch()
        case .unstoredEvent(let event): unstoredEvents.append(event)
        case .event(let number):
            lastEvent = min(lastEvent, number - 1)
            mayHaveEvents = true
        case nil: break
        }
    }

    // MARK: Reports

    /// Returns new notices for the operator. Each notice is returned once.
    func takeNotices() -> [Notice] {
        defer { notices = [] }
        return notices
    }

    /// The number of messages that wait in memory.
    private var waitingCount: Int { board.waitingCount + sightings.count + unstoredEvents.waiting.count }

    var report: Report {
        let oldestEvent =
            eventCount == 0 ? nil : ledger.waiting(for: EventLedger.broker, limit: 1)?.first?.event.time
        let times = [
            oldestEvent, outbox.first(1).first?.message.time, sightings.oldest, unstoredEvents.waiting.first?.time,
        ]
        return Report(
            broker: downSince.map { "down since \(ZoneEvent.time($0))" }
                ?? (refusals.isEmpty ? "connected" : "subscription refused"),
            isConnected: downSince == nil, messages: waitingCount + eventCount + outbox.count,
            octets: sightings.octets + unstoredEvents.octets + outbox.byteCount,
            oldest: times.compactMap(\.self).min().map(ZoneEvent.time),
            droppedSightings: sightings.dropped + outbox.dropped)
    }
}

/// The names of the channels of a listener's ledger.
extension EventLedger {
    /// The channel for programs that are started for events.
    static let hooks = "hooks"
    /// The channel for lines on standard output.
    static let lines = "lines"
    /// The channel for the MQTT broker.
    static let broker = "mqtt"
}
