internal import Configuration
public import LinuxHost
public import Messaging
public import Store

/// A collector's connection to an MQTT broker: returns the messages of receivers, and publishes the state of each
/// beacon.
public final class CollectorBroker {
    private let connection: BrokerConnection
    private let tree: TopicTree
    private let homeAssistant: HomeAssistant?
    /// The retained messages: the collector's own status, and the states of the beacons.
    private var board = RetainedBoard()
    /// The topics of the messages that the broker has not acknowledged yet.
    private var unacknowledgedTopics: [BrokerTicket: String] = [:]
    private var lastError: BrokerError?
    /// The time at which the connection was lost, in milliseconds since 1970; `nil` while there is a connection.
    public private(set) var disconnectedSince: Int? = now
    /// The errors of refused subscriptions that have been reported. An error in this set is not reported again.
    private var refusals: Set<BrokerError> = []
    private var births = BirthAnswers()
    private var notices: [Notice] = []
    /// The start of the pause before the states are published again, in nanoseconds of `MonotonicClock`. It is later
    /// than the end of the last publication if that publication took long.
    private var pauseStart: UInt64 = 0
    /// True if ``finish()`` has published that the collector is offline.
    private var isLeaving = false

    /// The time between two publications of all states, in milliseconds: `changed` after a change, otherwise
    /// `unchanged`.
    private static let pauses = (unchanged: 5000, changed: 1000)
    /// The time limit for sending the last messages when the collector ends, in milliseconds.
    private static let shutdownMilliseconds = 500

    /// Prepares the connection. The first call of ``poll()`` connects.
    ///
    /// - Parameters:
    ///   - directory: The directory of the collector file, with a slash at the end.
    ///   - state: The path of the state file. It distinguishes two collectors on one machine.
    ///   - version: The version of this program, which Home Assistant shows.
    /// - Throws: An error if a file that `section` names cannot be used.
    public init(
        _ section: BrokerSection, site: String, in directory: String, state: String, version: String
    ) throws(BrokerError) {
        let tree = TopicTree(collectorOf: site)
        self.tree = tree
        var options = try BrokerOptions(
            section, client: "pharos-collect-\(site)", instance: state, in: directory)
        options.subscriptions += tree.receiverFilters + [tree.sightingsFilter, tree.status]
        options.inboxLimit = 100_000
        options.will = .status(tree.status, isOnline: false)
        homeAssistant = section.homeAssistant.map { HomeAssistant(tree, $0, version: version) }
        connection = try BrokerConnection(options)
        board.set(.status(tree.status, isOnline: true))
    }

    private static var now: Int { Int(WallClock.microseconds() / 1000) }

    /// Becomes readable when ``poll()`` must be called.
    public var descriptor: Descriptor { connection.descriptor }
    /// The time at which ``poll()`` must be called even if ``descriptor`` is not readable, in nanoseconds of
    /// `MonotonicClock`; `nil` if there is no such time.
    public var nextWakeUp: UInt64? { connection.nextWakeUp }

    /// Returns new notices for the operator. Each notice is returned once.
    public func takeNotices() -> [Notice] {
        defer { notices = [] }
        return notices
    }

    /// Sends the messages that wait, and reads the messages that have arrived. Does not wait for the broker.
    ///
    /// - Returns: The messages of receivers, in the order of arrival.
    public func poll() -> [Publication] {
        let messages = connection.poll(at: MonotonicClock.nanoseconds()).compactMap(handle)
        if births.isDue(at: MonotonicClock.nanoseconds()) { board.publishAgain() }
        board.drain { publication in
            guard let ticket = connection.publish(publication) else { return false }
            unacknowledgedTopics[ticket] = publication.topic
            return true
        }
        return messages
    }

    private func handle(_ event: BrokerEvent) -> Publication? {
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
        case .acknowledged(let ticket): unacknowledgedTopics[ticket] = nil
        case .abandoned(let ticket):
            if let topic = unacknowledgedTopics.removeValue(forKey: ticket) { board.publishAgain(topic) }
        case .message(let message) where message.topic == HomeAssistant.statusTopic:
            if !message.isRetained, message.payload == Array(HomeAssistant.birth.utf8) { births.receiveBirth() }
        case .message(let message) where message.topic == tree.status:
            // The broker published "offline" for a previous collector of this site after this collector had published
            // "online".
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
    /// - Parameter shouldContinue: Called before each beacon. If it returns false, the remaining beacons are left out.
    /// - Returns: False if nothing was published because it is too early.
    public func publish(
        _ collector: SightingCollector, hasChanged: Bool, shouldContinue: () -> Bool = { true }
    ) -> Bool {
        let now = MonotonicClock.nanoseconds()
        guard collector.newestLineUnixMilliseconds != nil,
            now >= pauseStart + UInt64(hasChanged ? Self.pauses.changed : Self.pauses.unchanged) * 1_000_000
        else { return false }
        for beacon in collector.states {
            guard shouldContinue() else { break }
            let hasBattery = beacon.state.batteryMillivolts != nil
            for publication in homeAssistant?.discovery(beacon.name, hasBattery: hasBattery) ?? [] {
                board.set(publication)
            }
            board.set(Publication(tree.beaconState(beacon.name), beacon.state.json, isRetained: true))
            board.set(Publication(tree.beaconAttributes(beacon.name), beacon.state.attributes, isRetained: true))
        }
        // Publishing many beacons takes long. The next pause begins only after four times that duration, so that
        // publishing takes at most a fifth of the time.
        let end = MonotonicClock.nanoseconds()
        pauseStart = end + 4 * (end - now)
        return true
    }

    /// Publishes that this collector is offline, and disconnects.
    public func finish() {
        isLeaving = true
        board.set(.status(tree.status, isOnline: false))
        _ = poll()
        for event in connection.close(waitingMilliseconds: Self.shutdownMilliseconds) { _ = handle(event) }
    }
}
