internal import BluetoothTypes
public import Listener
public import Sightings

/// Finds the beacon that is held to the receiver. It is the first beacon that was within half a metre and above -75 dBm
/// in at least four of the last rounds.
public struct NearestPick: Sendable {
    /// The beacon that was picked.
    public struct Answer: Hashable, Sendable {
        public let identity: BeaconIdentity
        /// The time from the start of the search to the pick, in microseconds.
        public let afterMicroseconds: Int
        /// The mean level of the last round, in dBm.
        public let level: Double
        /// The distance in the last round, in metres.
        public let meters: Double
        /// Other beacons that were within half a metre in the same round.
        public let others: [BeaconIdentity]
    }

    /// The beacon that was picked; `nil` until then.
    public private(set) var answer: Answer?
    /// The number of beacons within half a metre in the last completed round.
    public private(set) var atHand = 0
    private var table: SightingTable
    /// The last rounds in which each beacon was within half a metre.
    private var nearRounds: NearRounds
    /// The number of each beacon in ``nearRounds``, which is the index of its identity in ``identities``.
    private var numberOfIdentity: [BeaconIdentity: Int] = [:]
    private var identities: [BeaconIdentity] = []
    private let distances: DistanceEstimate.Rule
    /// The start of the search.
    private var searchStart: HeardInstant?
    private var roundStart: HeardInstant?
    private var isDeaf = false
    /// True if the receiver has worked without interruption since the start of the round.
    private var wasListened = true

    /// - Parameters:
    ///   - rule: The rule for the number of rounds. Its distance is not used.
    ///   - known: Beacons whose level at 1 m is known.
    public init(
        rule: CountRule = CountRule(), known: [KnownBeacon] = [], distances: DistanceEstimate.Rule = .init()
    ) {
        nearRounds = NearRounds(rule.memory)
        table = SightingTable(known: known, strangers: .kept(SightingTable.defaultStrangers))
        self.distances = distances
    }

    /// The time at which ``advance(to:)`` must be called even if no report arrives; `nil` for never.
    public var nextWakeUp: HeardInstant? {
        roundStart?.advanced(byMicroseconds: CountRule.roundMicroseconds)
    }

    /// Advances the time to `now`, and ends the round if it is over.
    public mutating func advance(to now: HeardInstant) {
        if searchStart == nil { searchStart = now }
        if roundStart == nil { roundStart = now }
        while let start = roundStart, answer == nil {
            let end = start.advanced(byMicroseconds: CountRule.roundMicroseconds)
            guard end <= now else { break }
            closeRound(at: end)
            let idle = now.microseconds(since: end) / CountRule.roundMicroseconds
            roundStart = idle > 64 ? end.advanced(byMicroseconds: (idle - 64) * CountRule.roundMicroseconds) : end
        }
    }

    /// Processes an advertisement whose data is in `range` of `octets`.
    public mutating func receive(_ sighting: Sighting, _ octets: Span<UInt8>, _ range: Range<Int>) {
        advance(to: sighting.instant)
        guard answer == nil else { return }
        table.receive(sighting, octets, range)
    }

    /// Marks the receiver as working or as deaf.
    public mutating func change(isListening: Bool) {
        isDeaf = !isListening
        if isDeaf { wasListened = false }
    }

    /// Ends the last round early, because no more reports will follow.
    public mutating func finish(at now: HeardInstant) {
        advance(to: now)
        if answer == nil { closeRound(at: now) }
    }

    private mutating func closeRound(at end: HeardInstant) {
        defer {
            table.beginRound()
            wasListened = !isDeaf
        }
        guard wasListened, !isDeaf else { return }
        var hits: [(number: Int, meters: Double, level: Double)] = []
        for index in table.heardInRound {
            let track = table.tracks[index]
            let meters = track.distance(track.round, distances)?.meters
            guard let identity = track.identity, let level = track.round.trimmedMean, let meters,
                CountRule.isAtHand(meters, level: level)
            else { continue }
            // An ephemeral id changes soon, so it cannot identify an item.
            if case .eddystoneEID = identity { continue }
            hits.append((number(of: identity), meters, level))
        }
        atHand = hits.count
        hits.sort { $0.meters == $1.meters ? $0.number < $1.number : $0.meters < $1.meters }
        // If several beacons are found in one round, the nearest of them is picked.
        let foundBeacons = nearRounds.addRound(hits.map(\.number))
        guard let nearest = foundBeacons.first, let hit = hits.first(where: { $0.number == nearest.beacon }),
            let searchStart
        else { return }
        answer = Answer(
            identity: identities[nearest.beacon], afterMicroseconds: end.microseconds(since: searchStart),
            level: hit.level, meters: hit.meters,
            others: hits.filter { $0.number != nearest.beacon }.map { identities[$0.number] })
    }

    private mutating func number(of identity: BeaconIdentity) -> Int {
        if let number = numberOfIdentity[identity] { return number }
        // This limits the memory: an attacker may send new identities all the time, each in only one round.
        if identities.count > 100_000 {
            numberOfIdentity.removeAll()
            identities.removeAll()
            nearRounds.removeAll()
        }
        numberOfIdentity[identity] = identities.count
        identities.append(identity)
        return identities.count - 1
    }
}

/// Listens to a source until one beacon is held to the receiver.
public final class NearestListener: SightingConsumer {
    private var pick: NearestPick
    private let inventory: Inventory
    private let onProgress: (Int) -> Void
    private let onWarning: (String) -> Void

    /// - Parameters:
    ///   - known: Beacons of other files, such as profiles, whose level at 1 m is known.
    ///   - onProgress: Called with the number of beacons within half a metre, from time to time.
    ///   - onWarning: Called with sentences about the adapter or the recording.
    public init(
        _ inventory: Inventory, known: [KnownBeacon], distances: DistanceEstimate.Rule,
        onProgress: @escaping (Int) -> Void, onWarning: @escaping (String) -> Void
    ) {
        let describedBeacons = inventory.beacons.map {
            KnownBeacon(
                name: $0.name ?? "\($0.identity)", identity: $0.identity,
                calibrationAtOneMeter: $0.calibrationAtOneMeter)
        }
        pick = NearestPick(rule: inventory.rule, known: describedBeacons + known, distances: distances)
        self.inventory = inventory
        self.onProgress = onProgress
        self.onWarning = onWarning
    }

    /// Listens until a beacon was held to the receiver in enough rounds.
    ///
    /// - Throws: `ListenerServiceError` if nothing can be received; `InventoryError` if no beacon was near enough, or
    ///   the nearest beacon belongs to another item.
    public func run(_ source: SightingSource) throws -> NearestPick.Answer {
        try source.run(self)
        guard let answer = pick.answer else {
            throw InventoryError(
                .busy,
                "no beacon was within half a metre and above -75 dBm in at least four of six seconds: hold the beacon "
                    + "closer, or name it with --beacon")
        }
        if let item = inventory.items.first(where: { $0.beacon == answer.identity }) {
            throw InventoryError(
                .request,
                "the nearest beacon, \(answer.identity), already belongs to \(item.id): move that item away")
        }
        return answer
    }

    public var nextWakeUp: HeardInstant? { pick.nextWakeUp }
    public var isSatisfied: Bool { pick.answer != nil }
    public func advance(to now: HeardInstant) { pick.advance(to: now) }

    public func receive(_ report: HeardReport, _ octets: Span<UInt8>, _ range: Range<Int>) {
        pick.receive(report.sighting, octets, range)
    }

    public func change(_ state: ListeningState, at now: HeardInstant) { pick.change(isListening: state.isListening) }
    public func handleIdle(at now: HeardInstant) { onProgress(pick.atHand) }
    public func say(_ sentence: String, isWarning: Bool) { if isWarning { onWarning(sentence) } }
    public func finish(at now: HeardInstant) { pick.finish(at: now) }
}
