internal import Configuration
public import LinuxHost
public import Messaging
public import Store

/// A collector's connection to a broker: it returns what receivers publish, and publishes where each beacon is.
public final class CollectorBroker {
    private let connection: BrokerConnection
    private let tree: TopicTree
    private let homeAssistant: HomeAssistant?
    /// The collector's own status, and the states of the beacons.
    private var board = RetainedBoard()
    /// The topics of the messages that the broker has not acknowledged.
    private var sent: [BrokerTicket: String] = [:]
    private var lastError: BrokerError?
    /// The time since which there is no connection, in milliseconds since 1970; `nil` with a connection.
    public private(set) var disconnectedSince: Int? = now
    /// The subscriptions that the broker refuses.
    private var refusals: Set<BrokerError> = []
    private var births = BirthAnswers()
    private var notices: [Notice] = []
    /// When all states were published last, in nanoseconds.
    private var published: UInt64 = 0
    /// True if ``finish()`` has published that the collector is offline.
    private var isLeaving = false

    /// The pause between two publications of all states, in milliseconds: if nothing changes, and if something does.
    private static let pauses = (rest: 5000, change: 1000)
    /// The longest time for the last messages, in milliseconds.
    private static let shutdownMilliseconds = 500

    /// Prepares the connection; ``poll()`` connects.
    ///
    /// - Parameters:
    ///   - directory: The directory of the collector file, with its last slash.
    ///   - state: The path of the state file, which distinguishes two collectors on one machine.
    ///   - version: The version of this program, for Home Assistant.
    /// - Throws: if a file of the section cannot be used.
    public init(
        _ section: BrokerSection, site: String, in directory: String, state: String, version: String
    ) throws(BrokerError) {
        let tree = TopicTree(collectorOf: site)
        self.tree = tree
        var options = try BrokerOptions(
            section, client: "pharos-collect-\(site)", instance: state, in: directory)
        options.subscriptions += tree.receiverFilters + [tree.sightingsFilter, tree.status]
        options.queueLimit = 100_000
        options.will = .status(tree.status, isOnline: false)
        homeAssistant = section.homeAssistant.map { HomeAssistant(tree, $0, version: version) }
        connection = try BrokerConnection(options)
        board.set(.status(tree.status, isOnline: true))
    }

    private static var now: Int { Int(WallClock.microseconds() / 1000) }

    /// Becomes readable when ``poll()`` must be called.
    public var descriptor: Descriptor { connection.descriptor }
    /// When ``poll()`` must be called at the latest, in nanoseconds of `MonotonicClock`; `nil` for never.
    public var nextWakeUp: UInt64? { connection.nextWakeUp }

    /// Returns new notices for the operator. Each notice is returned once.
    public func takeNotices() -> [Notice] {
        defer { notices = [] }
        return notices
    }

    /// Sends the messages that wait. Does not wait for the broker.
    ///
    /// - Returns: the messages of receivers, in their order.
    public func poll() -> [Publication] {
        let messages = connection.poll(at: MonotonicClock.nanoseconds()).compactMap(take)
        if births.isDue(at: MonotonicClock.nanoseconds()) { board.publishAgain() }
        board.drain { publication in
            guard let ticket = connection.publish(publication) else { return false }
            sent[ticket] = publication.topic
            return true
        }
        return messages
    }

    private func take(_ event: BrokerEvent) -> Publication? {
        switch event {
        case .connected:
            (lastError, disconnectedSince) = (nil, nil)
            board.publishAgain()
        case .subscribed:
            refusals = []
            notices.append(Notice("\(connection.options.name): connected to the broker", isWarning: false))
        case .refused(let error):
            if refusals.insert(error).inserted { notices.append(Notice("\(error)", isWarning: true)) }
        case .disconnected(let error):
            if lastError != error { notices.append(Notice("\(error)", isWarning: true)) }
            lastError = error
            disconnectedSince = disconnectedSince ?? Self.now
        case .acknowledged(let ticket): sent[ticket] = nil
        case .abandoned(let ticket): if let topic = sent.removeValue(forKey: ticket) { board.publishAgain(topic) }
        case .message(let message) where message.topic == HomeAssistant.statusTopic:
            if !message.isRetained, message.payload == Array(HomeAssistant.birth.utf8) { births.ask() }
        case .message(let message) where message.topic == tree.status:
            // The previous collector's "offline" came after this collector's "online", and has replaced it.
            if message.payload != Array("online".utf8), !isLeaving { board.publishAgain(tree.status) }
        case .message(let message): return message
        case .dropped(let count):
            notices.append(
                Notice("\(count) messages were dropped, because they came faster than they were read", isWarning: true))
        }
        return nil
    }

    /// Publishes the state of each beacon: within 1 s if something has changed, otherwise every 5 s.
    ///
    /// - Parameter goesOn: Called often. If it returns false, the rest is left out.
    /// - Returns: false if it is too early.
    public func publish(_ collector: SightingCollector, hasChanged: Bool, goesOn: () -> Bool = { true }) -> Bool {
        let now = MonotonicClock.nanoseconds()
        guard collector.time != nil,
            now >= published + UInt64(hasChanged ? Self.pauses.change : Self.pauses.rest) * 1_000_000
        else { return false }
        for beacon in collector.states {
            guard goesOn() else { break }
            let hasBattery = beacon.state.batteryMillivolts != nil
            for publication in homeAssistant?.discovery(beacon.name, hasBattery: hasBattery) ?? [] {
                board.set(publication)
            }
            board.set(Publication(tree.beaconState(beacon.name), beacon.state.json, isRetained: true))
            board.set(Publication(tree.beaconAttributes(beacon.name), beacon.state.attributes, isRetained: true))
        }
        // Many beacons take long: at most a fifth of the time is for them.
        let end = MonotonicClock.nanoseconds()
        published = end + 4 * (end - now)
        return true
    }

    /// Publishes that this collector is offline, and disconnects.
    public func finish() {
        isLeaving = true
        board.set(.status(tree.status, isOnline: false))
        _ = poll()
        for event in connection.close(waitingMilliseconds: Self.shutdownMilliseconds) { _ = take(event) }
    }
}
