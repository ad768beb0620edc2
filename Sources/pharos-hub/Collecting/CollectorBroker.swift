internal import Broker
internal import Collector
internal import CommandSupport
internal import LinuxHost
internal import Publishing

/// A collector's broker: what receivers tell there, and what everybody is told of beacons.
final class CollectorBroker {
    /// What came, with the topic that it came on.
    var onMessage: (BrokerMessage) -> Void = { _ in }

    private let connection: BrokerConnection
    private let tree: TopicTree
    private let homeAssistant: HomeAssistant?
    private var board = RetainedBoard()
    private var onTheWay: [BrokerTicket: String] = [:]
    private var lastError: BrokerError?
    /// When beacons that have not changed were told last, in milliseconds of the lines.
    private var told = 0

    /// The level of our own status: no receiver is called so.
    private static let ownName = "collector"
    /// A beacon that stays is told again after so many milliseconds.
    private static let restMilliseconds = 5000
    private static let farewellMilliseconds = 2000

    /// Connects to nobody yet.
    ///
    /// - Parameter directory: Of the collector file, with its last slash.
    /// - Throws: where a file that the broker needs cannot be used.
    init(_ section: BrokerSection, _ file: CollectorFile, in directory: String) throws {
        func place(_ name: String?) -> String? { name.map { $0.hasPrefix("/") ? $0 : directory + $0 } }
        let machine = StableHash.of("\(Privileges.machineID ?? "") \(file.name)")
        let digits = String(machine & 0xFFFF_FFFF | 0x1_0000_0000, radix: 16).dropFirst()
        var options = BrokerOptions(
            host: section.address.host, port: section.address.port, isSecure: section.address.isSecure,
            clientName: "pharos-collect-\(file.name)-\(digits)")
        options.authorityFile = place(section.authorityFile)
        options.certificateFile = place(section.certificateFile)
        options.keyFile = place(section.keyFile)
        if let file = place(section.userFile) { options.user = try BrokerUser(file: file) }
        tree = TopicTree(site: file.name, receiver: Self.ownName)
        let site = TopicLevel(file.name)
        options.subscriptions = ["sightings/+/+", "receivers/+/status", "receivers/+/state"].map {
            "pharos/\(site)/\($0)"
        }
        options.queueLimit = 100_000
        options.will = BrokerMessage(tree.status, Array("offline".utf8), isRetained: true)
        if let settings = section.homeAssistant {
            options.subscriptions.append(HomeAssistant.statusTopic)
            homeAssistant = HomeAssistant(tree, settings, version: CommandProgram.version)
        } else {
            homeAssistant = nil
        }
        connection = try BrokerConnection(options)
        board.set(.status(tree.status, isOnline: true))
    }

    /// Becomes readable where ``poll()`` has something to do.
    var descriptor: Descriptor { connection.descriptor }
    var nextWakeUp: UInt64? { connection.nextWakeUp }

    /// Takes what has come, and sends what waits. Never waits itself.
    func poll() {
        for event in connection.poll(at: MonotonicClock.nanoseconds()) { take(event) }
        board.drain { publication in
            let message = BrokerMessage(publication.topic, publication.payload, isRetained: publication.isRetained)
            guard let ticket = connection.publish(message) else { return false }
            onTheWay[ticket] = publication.topic
            return true
        }
    }

    private func take(_ event: BrokerEvent) {
        switch event {
        case .connected:
            lastError = nil
            Terminal.writeError("pharos: \(connection.options.name): connected to the broker\n")
            board.publishAgain()
        case .disconnected(let error):
            if lastError != error { Terminal.writeError("pharos: warning: \(error)\n") }
            lastError = error
        case .acknowledged(let ticket): onTheWay[ticket] = nil
        case .abandoned(let ticket):
            if let topic = onTheWay.removeValue(forKey: ticket) { board.publishAgain(topic) }
        case .message(let message) where message.topic == HomeAssistant.statusTopic:
            if !message.isRetained, message.payload == Array(HomeAssistant.birth.utf8) { board.publishAgain() }
        case .message(let message): if message.topic != tree.status { onMessage(message) }
        case .dropped(let count):
            Terminal.writeError("pharos: warning: \(count) messages came faster than they were read\n")
        }
    }

    /// Tells where everybody is: at once where something has changed, otherwise now and then.
    func tell(_ collector: SightingCollector, hasChanged: Bool) {
        guard let time = collector.time, hasChanged || time - told >= Self.restMilliseconds else { return }
        told = time
        for beacon in collector.states {
            if let homeAssistant {
                for publication in homeAssistant.discovery(beacon.name, hasBattery: false) { board.set(publication) }
            }
            board.set(Publication(tree.beaconState(beacon.name), beacon.state.json, isRetained: true))
            board.set(Publication(tree.beaconAttributes(beacon.name), beacon.state.attributes, isRetained: true))
        }
    }

    /// Takes leave.
    func finish() {
        board.set(.status(tree.status, isOnline: false))
        poll()
        for event in connection.close(waitingMilliseconds: Self.farewellMilliseconds) { take(event) }
    }
}
