internal import BeaconFrames
internal import BluetoothTypes
internal import Configuration
public import Sightings

/// Makes the messages of one listener from the rounds of its sighting table. A round lasts about a second. At its end,
/// the table contains all sightings of the round.
///
/// A publisher has no clock and no connection of its own. While the receiver does not work, no beacon becomes absent.
/// If the receiver has not worked for 5 s, the publisher reports it as `offline`: its beacons become unavailable, and
/// their states are marked as not known.
public struct ListenerPublisher {
    /// The properties of the listener, and its beacons. They do not change while the listener runs.
    public struct Subject {
        /// The name of the listener.
        public var listener: String
        public var site: String?
        public var room: String?
        /// The known beacons of the sighting table, in the order of its tracks.
        public var known: [KnownBeacon]
        /// The names of the zones.
        public var zones: [String] = []
        public var rule = DistanceEstimate.Rule()
        /// True if advertising intervals can be measured from the times between reports.
        public var measuresIntervals = true
        /// The unique identifier of this run.
        public var boot: String
        /// The version of this program.
        public var version: String
        /// Converts a moment into wall-clock time as RFC 3339; returns `nil` if the wall-clock time is not known.
        public var time: (HeardInstant) -> String?
        /// Converts a moment into microseconds since 1970; returns `nil` if the wall-clock time is not known.
        public var unixMicroseconds: (HeardInstant) -> Int64? = { _ in nil }

        /// Creates a subject.
        public init(
            listener: String, site: String?, room: String?, known: [KnownBeacon], boot: String, version: String,
            time: @escaping (HeardInstant) -> String?
        ) {
            self.listener = listener
            self.site = site
            self.room = room
            self.known = known
            self.boot = boot
            self.version = version
            self.time = time
        }
    }

    /// The messages to publish after a round.
    public struct Output {
        /// States. For each topic, only the newest state must be published.
        public var retained: [Publication] = []
        /// Sightings. All of them must arrive, so they are kept until the broker acknowledges them.
        public var sightings: [Publication] = []
        /// Readings of this moment. If they cannot be sent at once, they are dropped.
        public var readings: [Publication] = []
    }

    /// Measurements of the receiver itself.
    public struct Measures: Hashable, Sendable {
        /// The time since the machine started, including sleep, in milliseconds.
        public var bootMilliseconds: Int
        /// The state of the receiver, as in the status file.
        public var state: String
        /// The number of reports since the start.
        public var reports: Int
        /// The number of lost reports since the start.
        public var lost: Int

        /// Creates measures.
        public init(bootMilliseconds: Int, state: String, reports: Int, lost: Int) {
            self.bootMilliseconds = bootMilliseconds
            self.state = state
            self.reports = reports
            self.lost = lost
        }
    }

    /// The name of the receiver, which is the name of the listener.
    public var receiver: String { subject.listener }
    /// The topics of the receiver.
    public let tree: TopicTree
    private let subject: Subject
    /// True if the states of beacons are published.
    private let publishesBeacons: Bool
    private let homeAssistant: HomeAssistant?
    private let espresense: ESPresense?
    private let theengs: Theengs?
    private let raddec: Raddec?
    private var watch: PresenceWatch
    private var beacons: [PublishedBeacon]
    /// The text of ``SightingBatch/knownNames``.
    private let knownNames: String
    /// The time at which the receiver first worked.
    private var begunAt: HeardInstant?
    private var lastRoundAt: HeardInstant?
    /// The number of reports at the end of the last round.
    private var lastReports = 0
    /// The number of the last batch of sightings.
    private var sequence = 0
    private var receiverPace = PublishingPace()
    private var lastReceiverState: String?
    /// The time of ESPresense's next telemetry message.
    private var telemetryDue: HeardInstant?
    /// The topics for which a conflict has been reported.
    private var conflicts: Set<String> = []

    /// A beacon, and the state that was last published.
    private struct PublishedBeacon {
        let name: String
        /// The indices of the beacon's tracks in the sighting table, one for each identity.
        var tracks: [Int]
        /// The listened time after which a never received beacon counts as absent, in microseconds.
        let silence: Int
        var state = BeaconState(isPresent: nil, room: nil, isKnown: false, level: nil, distance: nil, lastHeard: nil)
        var hasBattery = false
        var statePace = PublishingPace()
        var readingPace = PublishingPace()
    }

    /// Creates a publisher that has received nothing.
    public init(_ subject: Subject, _ section: BrokerSection) {
        self.subject = subject
        tree = TopicTree(site: subject.site, receiver: subject.listener)
        publishesBeacons = section.publishesBeacons
        homeAssistant = section.homeAssistant.map { [tree] in HomeAssistant(tree, $0, version: subject.version) }
        espresense = section.publishesESPresense ? ESPresense(receiver: subject.listener) : nil
        theengs = section.publishesTheengs ? Theengs(receiver: subject.listener) : nil
        raddec = section.publishesRaddec ? Raddec(receiver: subject.listener) : nil
        watch = PresenceWatch(names: subject.known.map(\.name))
        var published: [PublishedBeacon] = []
        for (track, group) in watch.groups.enumerated() {
            if group == published.count {
                let known = subject.known[track]
                let silence =
                    known.intervalMicroseconds.map {
                        ExitRule.silenceMicroseconds(
                            period: Double($0 + IntervalEstimate.meanDelayMicroseconds), loss: 0.5)
                    } ?? ExitRule.unknownMicroseconds
                published.append(PublishedBeacon(name: known.name, tracks: [], silence: silence))
            }
            published[group].tracks.append(track)
        }
        beacons = published
        knownNames = String(StableHash.of(published.map(\.name).sorted().joined(separator: "\n")), radix: 16)
    }

    /// The message that the broker publishes if the connection is lost.
    public var will: Publication { .status(tree.status, isOnline: false) }

    /// The discovery messages for Home Assistant; empty if the file does not request them. If a collector publishes the
    /// states of beacons, only the discovery messages of zones.
    public var discovery: [Publication] {
        guard let homeAssistant else { return [] }
        let entities = beacons.flatMap { homeAssistant.discovery($0.name, hasBattery: $0.hasBattery) }
        return (publishesBeacons ? entities : []) + subject.zones.map(homeAssistant.zone)
    }

    /// The topics to which this publisher may write retained messages.
    public var retainedTopics: Set<String> {
        var topics = Set(statusTopics + [tree.receiverState] + subject.zones.map(tree.zoneState))
        topics.formUnion(discovery.map(\.topic))
        if publishesBeacons {
            for beacon in beacons {
                topics.formUnion([tree.beaconState(beacon.name), tree.beaconAttributes(beacon.name)])
            }
        }
        return topics
    }

    /// The topics of the status messages `online` and `offline`.
    public var statusTopics: [String] { [tree.status] + (espresense.map { [$0.statusTopic] } ?? []) }

    // MARK: Conflicts with other receivers

    /// The topic filters of the messages that ``conflict(with:)`` needs. The listener also works if the broker refuses
    /// these subscriptions.
    public var conflictFilters: [String] {
        (subject.zones.isEmpty ? [] : [tree.zoneStateFilter])
            + (homeAssistant != nil && publishesBeacons ? [HomeAssistant.trackerFilter] : [])
    }

    /// Returns a warning if another program has published to a topic of this receiver. Each zone is reported once, and
    /// all beacons together once.
    ///
    /// - Parameter message: A message of a topic in ``conflictFilters``. A retained message is ignored, because it may
    ///   be from a receiver that is no longer used.
    public mutating func conflict(with message: Publication) -> String? {
        guard !message.isRetained, let root = JSONDocument.parse(message.payload).root else { return nil }
        if let zone = subject.zones.first(where: { tree.zoneState($0) == message.topic }) {
            guard let other = root["receiver"]?.string, other != subject.listener,
                conflicts.insert(message.topic).inserted
            else { return nil }
            return
                "the receiver \(TerminalText.quoted(other, to: 60)) publishes a zone \(TerminalText.quoted(zone, to: 60)), "
                + "too, and both write to \(message.topic): give each zone of the site its own name, or each site another "
                + "\"site\" in \"place\""
        }
        guard let status = root["availability_topic"]?.string, status != tree.status, publishesBeacons,
            discovery.contains(where: { $0.topic == message.topic }),
            conflicts.insert(HomeAssistant.trackerFilter).inserted
        else { return nil }
        return
            "\(TerminalText.quoted(status, to: 200)) is the status of another program that publishes the same beacons "
            + "for Home Assistant, which uses the last message: set \"beacons\": false in \"mqtt\" of all listeners, and "
            + "let one collector publish them"
    }

    // MARK: The receiver's state

    /// Records the time at which the receiver first works. Later calls change nothing.
    public mutating func begin(at now: HeardInstant) { begunAt = begunAt ?? now }

    private func isDeaf(at now: HeardInstant) -> Bool { begunAt == nil || watch.clock.isDoubtful(at: now) }

    /// Ends a round, and returns its messages. Must be called before the table begins the next round.
    ///
    /// - Parameter zones: The names of the zones that each beacon is inside, by the beacon's name. Beacons outside all
    ///   zones are missing.
    public mutating func endRound(
        _ table: SightingTable, at now: HeardInstant, _ measures: Measures, zones: [String: [String]] = [:]
    ) -> Output {
        watch.endRound(table)
        let window = lastRoundAt.map { now.microseconds(since: $0) / 1000 } ?? 1000
        lastRoundAt = now
        var output = Output()
        if begunAt != nil {
            addReceiver(measures, window, at: now, &output)
            for index in beacons.indices {
                publish(index, table, at: now, zones[beacons[index].name] ?? [], &output)
            }
            addSightings(table, measures, window, at: now, &output)
        }
        return output
    }

    /// Returns the last messages: the receiver is offline, and the states of its beacons are no longer known.
    public mutating func finish() -> [Publication] {
        guard begunAt != nil else { return [] }
        var messages: [Publication] = [.status(tree.status, isOnline: false)]
        if let espresense { messages.append(.status(espresense.statusTopic, isOnline: false)) }
        let off = ReceiverState(state: "off", deafSince: nil, reportsPerSecond: 0, lost: 0)
        messages.append(Publication(tree.receiverState, off.json, isRetained: true))
        for index in beacons.indices where beacons[index].state.isKnown && publishesBeacons {
            beacons[index].state.isKnown = false
            messages.append(
                Publication(tree.beaconState(beacons[index].name), beacons[index].state.json, isRetained: true))
        }
        return messages
    }

    // MARK: The receiver

    /// Adds the messages about the receiver itself.
    ///
    /// - Parameter window: The length of the round, in milliseconds.
    private mutating func addReceiver(
        _ measures: Measures, _ window: Int, at now: HeardInstant, _ output: inout Output
    ) {
        let isOnline = !isDeaf(at: now)
        output.retained.append(.status(tree.status, isOnline: isOnline))
        if let espresense { output.retained.append(.status(espresense.statusTopic, isOnline: isOnline)) }
        let rate = (measures.reports - lastReports) * 1000 / max(1, window)
        lastReports = measures.reports
        if lastReceiverState != measures.state || receiverPace.isDue(nil, at: now) {
            lastReceiverState = measures.state
            let state = ReceiverState(
                state: measures.state, deafSince: watch.clock.silentSince(at: now).flatMap(subject.time),
                reportsPerSecond: rate,
                lost: measures.lost)
            output.retained.append(Publication(tree.receiverState, state.json, isRetained: true))
        }
        guard let espresense, let begunAt else { return }
        if let telemetryDue, now < telemetryDue { return }
        telemetryDue = now.advanced(byMicroseconds: ESPresense.telemetryMicroseconds)
        let present = beacons.count { $0.state.isPresent == true }
        output.readings.append(
            espresense.telemetry(
                uptimeSeconds: now.microseconds(since: begunAt) / 1_000_000, version: subject.version,
                advertisements: measures.reports, seen: present, reported: present))
    }

    // MARK: A beacon

    /// Adds the messages about a beacon.
    private mutating func publish(
        _ index: Int, _ table: SightingTable, at now: HeardInstant, _ zones: [String], _ output: inout Output
    ) {
        let beacon = beacons[index]
        let newest = beacon.tracks.filter { table.tracks[$0].isHeard }
            .max { (table.tracks[$0].lastHeard ?? now) < (table.tracks[$1].lastHeard ?? now) }
        var state = beacon.state
        judge(&state, index, at: now)
        // A state that was never known is not published.
        guard state.isPresent != nil else { return }
        state.zones = zones
        if state.isPresent == false, state.isKnown {
            (state.level, state.distance) = (nil, nil)
        }
        if let newest {
            let track = table.tracks[newest]
            state.lastHeard = track.lastHeard.flatMap(subject.time)
            if state.isPresent == true, track.round.count > 0 {
                state.level = track.round.trimmedMean
                state.distance = track.distance(track.round, subject.rule)
            }
            if let battery = beacon.tracks.compactMap({ table.tracks[$0].telemetry?.batteryMillivolts }).last,
                battery > 0
            {
                state.batteryMillivolts = Int(battery)
            }
            if track.roundReports > 0, beacons[index].readingPace.isDue(state.distance?.meters, at: now) {
                let reading = reading(beacon.name, track)
                output.readings += [espresense?.device(reading), theengs?.device(reading)].compactMap(\.self)
                if let raddec, let time = track.lastHeard.flatMap(subject.unixMicroseconds),
                    let publication = raddec.device(reading, unixMilliseconds: Int(time / 1000))
                {
                    output.readings.append(publication)
                }
            }
        }
        state.isCloned = beacon.tracks.contains { table.tracks[$0].clones.finding != nil }
        let former = beacon.state
        let mustPublishNow =
            former.isCloned != state.isCloned || former.isPresent != state.isPresent
            || former.isKnown != state.isKnown || former.room != state.room || former.zones != state.zones
        let isDue = state != former && beacons[index].statePace.isDue(state.distance?.meters, at: now)
        guard mustPublishNow || isDue else { return }
        beacons[index].state = state
        guard publishesBeacons else { return }
        output.retained.append(Publication(tree.beaconState(beacon.name), state.json, isRetained: true))
        output.retained.append(Publication(tree.beaconAttributes(beacon.name), state.attributes, isRetained: true))
        if state.batteryMillivolts != nil, !beacon.hasBattery {
            beacons[index].hasBattery = true
            if let homeAssistant { output.retained.append(homeAssistant.battery(beacon.name)) }
        }
    }

    /// Updates the presence, the room and `isKnown` of a beacon's state.
    private func judge(_ state: inout BeaconState, _ index: Int, at now: HeardInstant) {
        switch watch.presence(of: index, at: now) {
        case .present: (state.isPresent, state.isKnown, state.room) = (true, true, subject.room)
        case .gone: (state.isPresent, state.isKnown, state.room) = (false, true, nil)
        case .unknown: state.isKnown = false
        case nil:
            if isDeaf(at: now) {
                state.isKnown = false
            } else if watch.clock.listened >= beacons[index].silence {
                (state.isPresent, state.isKnown, state.room) = (false, true, nil)
            }
        }
    }

    private func reading(_ name: String, _ track: BeaconTrack) -> BeaconReading {
        let deviation = track.round.standardDeviation ?? 0
        return BeaconReading(
            name: name, identity: track.known?.identity,
            // A group has no single device, so no address is published for it.
            address: track.known?.isGroup == true ? nil : track.sender?.address,
            isRandomAddress: track.sender?.isRandom ?? false, lastLevel: track.lastLevel.map(Int.init),
            meanLevel: track.round.trimmedMean, levelVariance: deviation * deviation, reports: track.roundReports,
            distance: track.distance(track.round, subject.rule), powerAtOneMeter: track.powerAtOneMeter,
            intervalMilliseconds: subject.measuresIntervals
                ? track.periodMicroseconds.map { Int(($0 / 1000).rounded()) } : nil)
    }

    // MARK: Sightings

    /// Adds a batch of sightings for each shard that contains beacons received in this round.
    private mutating func addSightings(
        _ table: SightingTable, _ measures: Measures, _ window: Int, at now: HeardInstant, _ output: inout Output
    ) {
        var beaconsOfShards: [Int: [SightingBatch.Beacon]] = [:]
        for index in beacons.indices {
            let tracks = beacons[index].tracks.filter { table.tracks[$0].roundReports > 0 }
            guard let lastHeard = tracks.compactMap({ table.tracks[$0].lastHeard }).max() else { continue }
            var tally = LevelTally()
            for track in tracks { tally.merge(table.tracks[track].round) }
            let name = beacons[index].name
            // A beacon sends telemetry rarely, and may send it with another of its identities, so all tracks are
            // searched.
            let telemetry = beacons[index].tracks.compactMap { table.tracks[$0].telemetry }.last
            let battery = telemetry?.batteryMillivolts.map { Int($0) } ?? 0
            beaconsOfShards[TopicTree.shard(of: name), default: []].append(
                SightingBatch.Beacon(
                    id: name, reports: tracks.reduce(0) { $0 + table.tracks[$1].roundReports }, mean: tally.trimmedMean,
                    minimum: tally.minimum, maximum: tally.maximum,
                    agoMilliseconds: lastHeard < now ? now.microseconds(since: lastHeard) / 1000 : 0,
                    batteryMillivolts: battery > 0 ? battery : nil,
                    temperature: telemetry?.temperature.map { Int(($0.celsius * 1000).rounded()) }))
        }
        for (shard, beacons) in beaconsOfShards.sorted(by: { $0.key < $1.key }) {
            sequence += 1
            let batch = SightingBatch(
                boot: subject.boot, sequence: sequence, bootMilliseconds: measures.bootMilliseconds,
                windowMilliseconds: window, knownNames: knownNames, beacons: beacons)
            output.sightings.append(Publication(tree.sightings(shard: shard), batch.json))
        }
    }
}
