internal import BeaconFrames
internal import BluetoothTypes
public import Sightings

/// One receiver's part in a count. Processes sightings, and returns the items that are found.
///
/// Call ``advance(to:)`` before each sighting, then ``receive(_:_:_:)``. The same calls always return the same items.
/// Rounds in which the receiver was deaf do not count.
public struct CountSession: Sendable {
    /// An item of another inventory.
    public struct Foreigner: Hashable, Sendable {
        /// The other inventory's name.
        public let inventory: String
        public let id: String
        public let name: String
        public let beacon: BeaconIdentity
    }

    /// The time at which a beacon was found, with its level and distance in the last round.
    public struct Finding: Hashable, Sendable {
        /// The beacon's number: the index of its item in the inventory.
        public let beacon: Int
        public let instant: HeardInstant
        /// The time for which the receiver had listened before it found the beacon, in microseconds.
        public let afterMicroseconds: Int
        /// The mean level of the last round, in dBm.
        public let level: Double?
        /// The distance in the last round, in metres.
        public let meters: Double?
        /// The number of rounds in which the beacon was near.
        public let rounds: Int
    }

    /// A summary of the packets received from a beacon so far.
    public struct Observation: Hashable, Sendable {
        public internal(set) var first: HeardInstant
        public internal(set) var last: HeardInstant
        public internal(set) var reports = 0
        /// The strongest level, in dBm.
        public internal(set) var bestLevel: Int?
        /// The shortest distance in all rounds, in metres.
        public internal(set) var nearestMeters: Double?
        public internal(set) var batteryMillivolts: Int?
        /// The learned advertising interval, in microseconds.
        public internal(set) var intervalMicroseconds: Int?
        public internal(set) var addresses = AddressWatch()
        /// True if the beacon was near in at least one round.
        public internal(set) var wasNear = false
        /// True if the observation has changed since the last call of ``CountSession/takeChanges()``.
        var isChanged = true
    }

    public let inventory: Inventory
    public let rule: CountRule
    /// The items of other inventories. The numbers of their beacons begin after the numbers of the beacons of
    /// ``inventory``.
    public let foreigners: [Foreigner]
    /// The observations, by the beacon's number.
    public private(set) var observations: [Int: Observation] = [:]
    /// The beacons that were found, by the beacon's number.
    public private(set) var findings: [Int: Finding] = [:]
    /// The time in which the receiver worked, in microseconds.
    public var listenedMicroseconds: Int { workingMicroseconds - doubtfulMicroseconds }
    /// The time in which the receiver did not work or may have failed, in microseconds.
    public var deafMicroseconds: Int { stoppedMicroseconds + doubtfulMicroseconds }
    /// The number of all reports.
    public var reports: Int { table.counts.reports }
    /// The number of reports of beacons that are in no inventory.
    public var strangerReports: Int { table.counts.strangers }

    private var table: SightingTable
    /// The last rounds in which each beacon was near.
    private var nearRounds: NearRounds
    private let distances: DistanceEstimate.Rule
    private var roundStart: HeardInstant?
    /// True if the receiver has worked without interruption since the start of the round.
    private var wasListened = true
    /// The time of the last call.
    private var clock: HeardInstant?
    private var isDeaf = false
    /// The time in which the receiver seemed to work, in microseconds. In a part of this time, it may have failed.
    private var workingMicroseconds = 0
    /// The time in which the receiver did not work, in microseconds.
    private var stoppedMicroseconds = 0
    private var warnings = BeaconWarnings()
    private var newWarnings: [String] = []

    /// - Parameters:
    ///   - others: Other inventories. Their items are foreign, except items with a beacon that `inventory` has too.
    ///   - rule: The rule to use; `nil` for the rule of the inventory.
    ///   - distances: The rule that converts levels to distances.
    public init(
        _ inventory: Inventory, others: [Inventory] = [], rule: CountRule? = nil,
        distances: DistanceEstimate.Rule = .init()
    ) {
        self.inventory = inventory
        self.rule = rule ?? inventory.rule
        self.distances = distances
        var knownBeacons = inventory.knownBeacons
        var identities = Set(inventory.items.map(\.beacon))
        var foreigners: [Foreigner] = []
        for other in others {
            for (item, beacon) in zip(other.items, other.knownBeacons) where identities.insert(item.beacon).inserted {
                foreigners.append(
                    Foreigner(inventory: other.name, id: item.id, name: item.name, beacon: item.beacon))
                knownBeacons.append(beacon)
            }
        }
        self.foreigners = foreigners
        table = SightingTable(known: knownBeacons, strangers: .counted)
        nearRounds = NearRounds(self.rule.memory)
    }

    /// The time at which ``advance(to:)`` must be called even if no report arrives; `nil` for never.
    public var nextWakeUp: HeardInstant? {
        roundStart?.advanced(byMicroseconds: CountRule.roundMicroseconds)
    }

    /// Starts the first round. Call this function when the receiver starts.
    public mutating func begin(at now: HeardInstant) {
        if clock == nil { clock = now }
        if roundStart == nil { roundStart = now }
    }

    /// Advances the time to `now`, and ends the rounds that are over.
    ///
    /// - Returns: The items that are found because of the completed rounds.
    public mutating func advance(to now: HeardInstant) -> [Finding] {
        begin(at: now)
        var newFindings: [Finding] = []
        while let start = roundStart {
            let end = start.advanced(byMicroseconds: CountRule.roundMicroseconds)
            guard end <= now else { break }
            pass(until: end)
            newFindings += closeRound(at: end)
            // If many rounds had no report, only the last 64 are processed, because older rounds have no effect.
            let idle = now.microseconds(since: end) / CountRule.roundMicroseconds
            if idle > 64 {
                let skipped = end.advanced(byMicroseconds: (idle - 64) * CountRule.roundMicroseconds)
                pass(until: skipped)
                roundStart = skipped
            } else {
                roundStart = end
            }
        }
        pass(until: now)
        return newFindings
    }

    /// Processes an advertisement whose data is in `range` of `octets`.
    public mutating func receive(_ sighting: Sighting, _ octets: Span<UInt8>, _ range: Range<Int>) {
        begin(at: sighting.instant)
        guard let beacon = table.receive(sighting, octets, range), beacon < table.knownCount else { return }
        var observation = observations[beacon] ?? Observation(first: sighting.instant, last: sighting.instant)
        observation.last = max(observation.last, sighting.instant)
        observation.reports += 1
        observation.isChanged = true
        if let level = sighting.rssi, level < 20, LevelTally.range.contains(level) {
            observation.bestLevel = max(observation.bestLevel ?? -128, Int(level))
        }
        if let sender = sighting.sender { observation.addresses.add(sender) }
        observations[beacon] = observation
        if beacon < inventory.items.count { newWarnings += warnings.take(beacon, in: table) }
    }

    /// Returns the warnings about beacons of items since the last call, one sentence each. No warning is repeated.
    public mutating func takeWarnings() -> [String] {
        defer { newWarnings = [] }
        return newWarnings
    }

    /// Marks the receiver as deaf from now on.
    public mutating func stopListening(at now: HeardInstant) {
        pass(until: now)
        isDeaf = true
        wasListened = false
        table.stopListening(at: now)
    }

    /// Marks the receiver as working again.
    public mutating func startListening(at now: HeardInstant) {
        pass(until: now)
        isDeaf = false
        table.startListening(at: now)
    }

    /// Ends the last round early, because no more reports will follow.
    public mutating func finish(at now: HeardInstant) -> [Finding] {
        let newFindings = advance(to: now)
        return newFindings + closeRound(at: now)
    }

    /// Returns the beacons whose observations have changed since the last call.
    public mutating func takeChanges() -> [(beacon: Int, observation: Observation)] {
        var changes: [(beacon: Int, observation: Observation)] = []
        for beacon in observations.keys.sorted() where observations[beacon]?.isChanged == true {
            observations[beacon]?.isChanged = false
            if let observation = observations[beacon] { changes.append((beacon, observation)) }
        }
        return changes
    }

    private var doubtfulMicroseconds: Int { clock.map(table.clock.doubtfulMicroseconds) ?? 0 }

    private mutating func pass(until now: HeardInstant) {
        guard let last = clock else {
            clock = now
            return
        }
        let step = now.microseconds(since: last)
        if isDeaf { stoppedMicroseconds += step } else { workingMicroseconds += step }
        clock = max(last, now)
    }

    private mutating func closeRound(at end: HeardInstant) -> [Finding] {
        defer {
            table.beginRound()
            wasListened = !isDeaf
        }
        var hits: [(beacon: Int, meters: Double, level: Double?)] = []
        for beacon in table.heardInRound where beacon < table.knownCount {
            let track = table.tracks[beacon]
            guard var observation = observations[beacon] else { continue }
            defer { observations[beacon] = observation }
            observation.batteryMillivolts =
                track.telemetry?.batteryMillivolts.map(Int.init) ?? observation.batteryMillivolts
            observation.intervalMicroseconds = track.interval.periodMicroseconds.map {
                max(0, Int($0.rounded()) - IntervalEstimate.meanDelayMicroseconds)
            }
            guard let meters = track.distance(track.round, distances)?.meters else { continue }
            observation.nearestMeters = min(observation.nearestMeters ?? .infinity, meters)
            guard rule.isNear(meters) else { continue }
            observation.wasNear = true
            if beacon < inventory.items.count { hits.append((beacon, meters, track.round.trimmedMean)) }
        }
        guard wasListened, !isDeaf else { return [] }
        // Sorts the beacons by distance, the nearest first.
        hits.sort { $0.meters == $1.meters ? $0.beacon < $1.beacon : $0.meters < $1.meters }
        let counts = nearRounds.addRound(hits.map(\.beacon))
        var newFindings: [Finding] = []
        for (beacon, rounds) in counts where findings[beacon] == nil {
            let hit = hits.first { $0.beacon == beacon }
            let finding = Finding(
                beacon: beacon, instant: end, afterMicroseconds: listenedMicroseconds, level: hit?.level,
                meters: hit?.meters, rounds: rounds)
            findings[beacon] = finding
            newFindings.append(finding)
        }
        return newFindings
    }
}

/// Detects from the senders' addresses that two beacons send one identity.
///
/// A beacon never uses a private address again after a change, so two addresses that alternate belong to two beacons.
/// Two different addresses of fixed kinds also belong to two beacons.
public struct AddressWatch: Hashable, Sendable {
    /// The last different senders, at most ``limit`` of them.
    public private(set) var senders: [Sender] = []
    /// True if two beacons send the same identity.
    public private(set) var isDuplicate = false
    private var last: Sender?

    /// The largest number of senders that are kept.
    public static let limit = 8

    init() {}

    mutating func add(_ sender: Sender) {
        guard sender != last else { return }
        last = sender
        if senders.contains(sender) {
            isDuplicate = true
            return
        }
        if Self.hasFixedAddress(sender), senders.contains(where: { Self.hasFixedAddress($0) }) { isDuplicate = true }
        if senders.count == Self.limit { senders.removeFirst() }
        senders.append(sender)
    }

    /// Returns true if an address is of a kind that does not change with time.
    private static func hasFixedAddress(_ sender: Sender) -> Bool {
        !sender.isRandom || sender.address.randomKind == .staticDevice
    }
}
