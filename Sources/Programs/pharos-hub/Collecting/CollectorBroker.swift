internal import Collector
internal import CommandSupport
internal import Configuration
internal import LinuxHost
internal import Messaging

/// A collector's broker: what receivers tell there, and what everybody is told of beacons.
final class CollectorBroker {
    /// What came, with the topic that it came on.
    var onMessage: (BrokerMessage) -> Void = { _ in }

    private let connection: BrokerConnection
    private let tree: TopicTree
    private let homeAssistant: HomeAssistant?
    /// Of ourselves, and of the beacons of which we tell.
    private var board = RetainedBoard()
    private var states = RetainedBoard()
    private var onTheWay: [BrokerTicket: String] = [:]
    private var lastError: BrokerError?
    /// When beacons that have not changed were told last, in milliseconds of the lines.
    private var told = 0
    private var leases: ShardLeases
    /// Of what was said last of them.
    private var saidHeld: Set<Int>?
    private var toldShards: Set<Int> = []
    private var isLeaving = false

    /// A beacon that stays is told again after so many milliseconds.
    private static let restMilliseconds = 5000
    private static let farewellMilliseconds = 2000

    /// Connects to nobody yet.
    ///
    /// - Parameters:
    ///   - directory: Of the collector file, with its last slash.
    ///   - state: The state file: of two collectors of one site on one machine each has its own.
    /// - Throws: where a file that the broker needs cannot be used.
    init(_ section: BrokerSection, _ file: CollectorFile, in directory: String, state: String) throws {
        func beside(_ name: String?) -> String? { name.map { $0.hasPrefix("/") ? $0 : directory + $0 } }
        // Copied disks have one machine id, and a service sees no more of /proc than processes.
        let host = Files.firstLine("/proc/sys/kernel/hostname") ?? Files.firstLine("/etc/hostname") ?? ""
        let place = StableHash.of("\(Privileges.machineID ?? "") \(host) \(file.name) \(state)")
        let digits = String(place & 0xFFFF_FFFF | 0x1_0000_0000, radix: 16).dropFirst()
        leases = ShardLeases(
            site: file.name, owner: "\(file.name)-\(digits)", number: Int(WallClock.microseconds() / 1000),
            shards: file.shards)
        var options = BrokerOptions(
            host: section.address.host, port: section.address.port, isSecure: section.address.isSecure,
            clientName: "pharos-collect-\(file.name)-\(digits)")
        options.authorityFile = beside(section.authorityFile)
        options.certificateFile = beside(section.certificateFile)
        options.keyFile = beside(section.keyFile)
        if let file = beside(section.userFile) { options.user = try BrokerUser(file: file) }
        let tree = TopicTree(site: file.name, collectorOf: file.shards)
        self.tree = tree
        let site = TopicLevel(file.name)
        options.subscriptions = ["receivers/+/status", "receivers/+/state"].map { "pharos/\(site)/\($0)" }
        options.subscriptions += [tree.status, leases.filter]
        let parts: [Int?] = file.shards.count == TopicTree.shards ? [nil] : file.shards.sorted()
        options.subscriptions += parts.map { tree.sightingsFilter(shard: $0) }
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
        if !isLeaving { leases.renewals(at: Self.now, unixMilliseconds: Self.unix).forEach { board.set($0) } }
        func send(_ publication: Publication) -> Bool {
            let message = BrokerMessage(publication.topic, publication.payload, isRetained: publication.isRetained)
            guard let ticket = connection.publish(message) else { return false }
            onTheWay[ticket] = publication.topic
            return true
        }
        board.drain(send)
        states.drain(send)
    }

    private func take(_ event: BrokerEvent) {
        switch event {
        case .connected:
            lastError = nil
            Terminal.writeError("pharos: \(connection.options.name): connected to the broker\n")
            leases.connect(at: Self.now, unixMilliseconds: Self.unix)
            board.publishAgain()
            // Another one has told of the beacons meanwhile perhaps: once it is clear that we tell, all of them are told.
            (states, toldShards) = (RetainedBoard(), [])
        case .disconnected(let error):
            leases.disconnect(at: Self.now)
            if lastError != error { Terminal.writeError("pharos: warning: \(error)\n") }
            lastError = error
        case .acknowledged(let ticket): onTheWay[ticket] = nil
        case .abandoned(let ticket):
            guard let topic = onTheWay.removeValue(forKey: ticket) else { return }
            board.publishAgain(topic)
            states.publishAgain(topic)
        case .message(let message) where message.topic == HomeAssistant.statusTopic:
            if !message.isRetained, message.payload == Array(HomeAssistant.birth.utf8) { states.publishAgain() }
        case .message(let message) where message.topic == tree.status:
            // Another collector of the same shards has gone: this one tells on.
            if message.payload != Array("online".utf8), !held.isEmpty, !isLeaving { board.publishAgain(tree.status) }
        case .message(let message):
            let isLease = leases.take(
                topic: message.topic, payload: message.payload, isRetained: message.isRetained, at: Self.now,
                unixMilliseconds: Self.unix)
            if !isLease { onMessage(message) }
        case .dropped(let count):
            Terminal.writeError("pharos: warning: \(count) messages came faster than they were read\n")
        }
    }

    // MARK: What we tell

    private static var now: Int { Int(MonotonicClock.nanoseconds() / 1_000_000) }
    private static var unix: Int { Int(WallClock.microseconds() / 1000) }

    /// The shards of which this collector tells, and no other one.
    var held: Set<Int> { leases.held(at: Self.now) }

    /// Until when another collector has told of a shard, in milliseconds since 1970.
    func lastSign(_ shard: Int) -> Int? { leases.lastSign(shard) }

    /// Says who tells, where that has changed.
    private func sayLeases() {
        let (now, held) = (Self.now, held)
        guard connection.isConnected, held != saidHeld else { return }
        let rest = leases.shards.subtracting(held)
        let rival = rest.compactMap { leases.rival($0, at: now) }.min()
        // While the broker tells what it holds, nobody knows yet.
        guard rest.isEmpty || rival != nil else { return }
        if saidHeld != nil || rival != nil {
            if !held.isEmpty { Terminal.writeError("pharos: this collector tells of \(Self.words(held))\n") }
            if let rival {
                Terminal.writeError(
                    "pharos: \(Self.words(rest)): the collector \(TerminalText.line(rival)) has the lower lease; this one "
                        + "stands by, and takes over \(ShardLeases.life / 1000) s after its last word\n")
            }
        }
        saidHeld = held
    }

    private static func words(_ shards: Set<Int>) -> String {
        if shards.count == TopicTree.shards { return "all shards" }
        return "shard" + (shards.count == 1 ? " " : "s ") + shards.sorted().map(String.init).joined(separator: ", ")
    }

    /// Tells where everybody is: at once where something has changed, otherwise now and then.
    func tell(_ collector: SightingCollector, hasChanged: Bool) {
        sayLeases()
        let held = held
        let isNew = held != toldShards
        // What another one tells from now on is not told again, whoever asks.
        if !toldShards.isSubset(of: held) { states = RetainedBoard() }
        toldShards = held
        guard let time = collector.time, hasChanged || isNew || abs(time - told) >= Self.restMilliseconds
        else { return }
        told = time
        for beacon in collector.states(in: held) {
            if let homeAssistant {
                for publication in homeAssistant.discovery(
                    beacon.name, hasBattery: beacon.state.batteryMillivolts != nil)
                { states.set(publication) }
            }
            states.set(Publication(tree.beaconState(beacon.name), beacon.state.json, isRetained: true))
            states.set(Publication(tree.beaconAttributes(beacon.name), beacon.state.attributes, isRetained: true))
        }
        if isNew, !held.isEmpty { board.publishAgain(tree.status) }
    }

    /// Takes leave.
    func finish() {
        isLeaving = true
        for word in leases.farewell { board.set(word) }
        board.set(.status(tree.status, isOnline: false))
        poll()
        for event in connection.close(waitingMilliseconds: Self.farewellMilliseconds) { take(event) }
    }
}
