internal import Airtime
internal import Positioning
internal import Sightings

/// Judges second by second where one beacon is: its cells, its room, and whether it is present.
struct BeaconTrail: Sendable {
    /// The receivers in the second that ends.
    struct ReceiverStates {
        let plan: RoomPlan
        let isAlive: [Bool]
        /// For each receiver, true if it is alive and has received something recently, so that its silence means something.
        let isCertain: [Bool]
        /// The living receivers with a position that sent a line in this second, by receiver and as a list.
        let hasSpoken: [Bool]
        let spoken: [Int]
        /// The living receivers with a position that sent a line in the last ``quietStep``, by receiver.
        let isRecent: [Bool]
        /// The time at which each receiver last received anything, in milliseconds.
        let lastReports: [Int?]
        /// The number of each receiver's period of listening.
        let periods: [Int]
        /// The names that each receiver knows, as a number; `nil` for a receiver that names all.
        let vocabularies: [Int?]
        /// True if there are cells that only dead receivers cover.
        let hasBlindCells: Bool
        /// True if at least one receiver is not alive.
        let hasDead: Bool
        /// The end of the second, in milliseconds.
        let end: Int
    }

    /// The reports of one receiver in the second.
    private struct Sound {
        var receiver: Int
        /// The sum of the levels in dBm, and their number.
        var sum = 0.0
        var levels = 0
        var reports = 0
        var mean: Double? { levels > 0 ? sum / Double(levels) : nil }
    }

    /// The highest level of the receivers in a room, averaged over some seconds.
    private struct RoomLevel {
        /// The weight of the latest second in the average.
        private static let weight = 0.2

        /// In dBm.
        private(set) var average: Double
        /// The number of seconds with reports.
        private(set) var seconds = 1
        /// The end of the last second with a report, in milliseconds.
        private(set) var end: Int

        init(_ level: Double, end: Int) { (average, self.end) = (level, end) }

        mutating func add(_ level: Double, end: Int) {
            average += Self.weight * (level - average)
            seconds += 1
            self.end = end
        }
    }

    let name: String
    private(set) var identity: String?
    private(set) var isPresent = false
    private(set) var isKnown = false
    /// The most likely room.
    private(set) var room: Int?
    private(set) var probability: Double?
    /// The room of the last event; `nil` after an exit.
    private(set) var reportedRoom: Int?
    /// The time of the last enter or exit, in milliseconds since 1970.
    private(set) var since: Int?
    /// The time of the last report, in milliseconds since 1970.
    private(set) var lastHeard: Int?
    /// The receivers because of which the room is not known.
    private(set) var silent: [Int] = []
    /// The receivers that received the beacon at its last report or shortly before it.
    var recentReceivers: [Int] { Array(hearers.keys) }
    /// The receiver with the highest level in the last second with reports, and that level in dBm.
    private(set) var loudest: (receiver: Int, level: Double?)?
    /// From its telemetry, in millivolts and in thousandths of a degree Celsius.
    private(set) var batteryMillivolts: Int?
    private(set) var temperature: Int?

    /// The power at 1 m from which ``offsets`` count, in dBm.
    private var power: Double
    /// In dBm; a usual value if it is not known.
    var powerAtOneMeter: Int { Int(power) }
    /// The configured time between two packets; `nil` if it is not known.
    private let periodSeconds: Double?
    /// The differences from ``power`` that are possible, in dB. The filter has a plane for each.
    private var offsets: [Double]
    /// The probabilities of the cells; `nil` if nothing is known.
    private(set) var filter: CellFilter?
    /// The time of the last calculation of the cells, in milliseconds since 1970.
    private var lastUpdate = 0
    /// The time in milliseconds since 1970 until which the state of an earlier run is kept.
    private var restoredUntil: Int?
    private var sounds: [Sound] = []
    /// The vocabularies of the receivers that have named the beacon: a few, so an array is fastest.
    private var vocabularies: [Int] = []
    /// The time of the last report of each receiver.
    private var hearers: [Int: Int] = [:]
    /// The seconds of the present silence in which the receivers certainly worked.
    private var silenceSeconds = 0
    /// Silent seconds in which it is not yet known whether the receivers worked.
    private var openSeconds = 0
    /// Why it is certain that the receivers worked during the silence: `restart` if one of them was dead meanwhile.
    private var proof = ListeningClock.Proof.report
    /// Each receiver numbers its periods of listening. This sum of the numbers changes when any receiver begins a new one.
    private var periods = 0
    /// The seconds in which the receivers worked, and those of them with a report of the beacon.
    private var listenedSeconds = 0
    private var heardSeconds = 0
    /// For how many seconds in a row the room has had the probability of ``surerWithDead``.
    private var sureSeconds = 0
    /// Without a plan, until a room is chosen: the rooms that have received the beacon lately.
    private var roomLevels: [Int: RoomLevel] = [:]
    /// Without a plan: the room that may become the new one, and for how many seconds it has been louder.
    private var challenger: (room: Int, seconds: Int)?

    /// The differences of an unknown beacon's power from the usual one, in dB. Their standard deviation is 6 dB.
    private static let unknownOffsets = [-12.0, -6, 0, 6, 12]
    /// The share of packets that are assumed to pass a body, and the attenuation by the body.
    static let shadowed = (share: 0.1, decibels: 6.0)
    /// The share of packets above the sensitivity that are received.
    static let delivered = 0.8
    /// The least likelihood of silence, because losses come in runs.
    static let leastChance = 0.05
    /// Silence counts only while all receivers work that have received the beacon in this time before its last report.
    static let coverMilliseconds = 60_000
    /// The time between two uses of silence as evidence of where the beacon is not, in milliseconds.
    static let quietStep = 5000
    /// The least probability with which a room becomes known.
    static let sure = 0.95
    /// The least probability with which the room of the last event stays known.
    static let stillSure = 0.75
    /// While a receiver is dead: the least probability of a known room, and for how many seconds it must have lasted.
    static let surerWithDead = (probability: 0.999, seconds: 3)
    /// The number of seconds in which the exit rule learns how often the beacon is received.
    static let learningSeconds = 16
    /// Without a plan, the first room must have this average level above that of each other room, and reports in this number
    /// of seconds if other rooms have received the beacon too.
    static let loudest = (decibels: 5.0, seconds: 3)
    /// Without a plan, the room changes if the level at another receiver is this much higher for this time.
    static let louder = (decibels: 6.0, seconds: 3)

    init(name: String, identity: String?, described: CollectorFile.Beacon?, power: Int?) {
        self.name = name
        self.identity = identity
        let power = described?.calibrationAtOneMeter ?? power
        self.power = power.map(Double.init) ?? RoomPlan.usualPower
        offsets = power == nil ? Self.unknownOffsets : [0]
        periodSeconds = described?.intervalMicroseconds.map { Double($0 + 5000) / 1_000_000 }
    }

    /// Takes reports of the current second.
    ///
    /// - Parameters:
    ///   - level: In dBm, with the receiver's offset.
    ///   - vocabulary: The names that the receiver knows, as a number; `nil` if it names all.
    mutating func hear(
        _ heard: ReceiverLine.Heard, level: Double?, from receiver: Int, _ vocabulary: Int?
    ) {
        if let vocabulary, !vocabularies.contains(vocabulary) { vocabularies.append(vocabulary) }
        if identity == nil { identity = heard.identity }
        if let battery = heard.batteryMillivolts { batteryMillivolts = battery }
        if let celsius = heard.temperature { temperature = celsius }
        // After a restart, the power at 1 m comes with the first report.
        if lastHeard == nil, filter == nil, offsets.count > 1, let atOneMeter = heard.powerAtOneMeter {
            (power, offsets) = (Double(atOneMeter), [0])
        }
        let place = sounds.firstIndex { $0.receiver == receiver } ?? sounds.count
        if place == sounds.count { sounds.append(Sound(receiver: receiver)) }
        sounds[place].reports += heard.reports
        guard let level else { return }
        sounds[place].sum += level * Double(heard.reports)
        sounds[place].levels += heard.reports
    }

    /// A change at the end of a second.
    enum Change: Hashable, Sendable {
        case enter
        /// - Parameter from: The room of the last event.
        case exit(from: Int?, ListeningClock.Proof)
        case room(from: Int?)
        case unknown(from: Int?)
        case known
    }

    /// Restores a beacon that was present when an earlier run ended.
    mutating func resume(room: Int?, since: Int, isKnown: Bool, at time: Int) {
        (isPresent, self.since) = (true, since)
        (self.room, reportedRoom, self.isKnown) = (room, room, isKnown && room != nil)
        restoredUntil = time + SightingCollector.deadAfter
    }

    /// Adds `milliseconds` to all times, because the clock was set.
    mutating func shift(by milliseconds: Int) {
        since = since.map { $0 + milliseconds }
        lastHeard = lastHeard.map { $0 + milliseconds }
        restoredUntil = restoredUntil.map { $0 + milliseconds }
        lastUpdate += milliseconds
        hearers = hearers.mapValues { $0 + milliseconds }
    }

    /// Ends a second, and returns the changes.
    mutating func endSecond(_ now: ReceiverStates, _ workspace: inout CellWorkspace) -> [Change] {
        defer { sounds.removeAll(keepingCapacity: true) }
        var changes: [Change] = []
        let wasKnown = isKnown
        if sounds.isEmpty {
            guard isPresent, !keepsRestoredState(now) else { return [] }
            endQuietSecond(now, &workspace)
            if silenceSeconds >= exitSeconds {
                let room = reportedRoom
                leave(at: now.end)
                return [.exit(from: room, proof)]
            }
        } else {
            if !isPresent {
                isPresent = true
                since = now.end
                changes.append(.enter)
            }
            listenedSeconds += 1
            heardSeconds += 1
            (silenceSeconds, openSeconds, proof) = (0, 0, .report)
            lastHeard = now.end
            for sound in sounds { hearers[sound.receiver] = now.end }
            let best = sounds.max { ($0.mean ?? -200, $1.receiver) < ($1.mean ?? -200, $0.receiver) }
            loudest = best.map { ($0.receiver, $0.mean) }
            update(now, &workspace)
        }
        judge(now)
        // What was known before a restart stays known until the receivers have sent lines.
        if wasKnown, !isKnown, keepsRestoredState(now) { (isKnown, room) = (true, reportedRoom) }
        silent = isKnown ? [] : silentReceivers(now)
        if isKnown, let room, room != reportedRoom {
            changes.append(.room(from: reportedRoom))
            reportedRoom = room
        }
        if wasKnown != isKnown { changes.append(isKnown ? .known : .unknown(from: reportedRoom)) }
        return changes
    }

    private func keepsRestoredState(_ now: ReceiverStates) -> Bool { restoredUntil.map { now.end < $0 } ?? false }

    /// Silence counts only while all receivers work that could have received the beacon.
    private mutating func endQuietSecond(_ now: ReceiverStates, _ workspace: inout CellWorkspace) {
        hearers = hearers.filter { (lastHeard ?? now.end) - $0.value <= Self.coverMilliseconds }
        // It is not known which receivers would receive a beacon that was not received since the start.
        let covering = hearers.isEmpty ? Array(now.periods.indices) : Array(hearers.keys)
        let before = periods
        periods = covering.reduce(0) { $0 + now.periods[$1] }
        // A receiver has received nothing for so long that it may have failed meanwhile.
        if periods != before { openSeconds = 0 }
        openSeconds = isCovered(now) ? openSeconds + 1 : 0
        if !covering.allSatisfy({ now.isAlive[$0] }) { proof = .restart }
        // A failed receiver is noticed late. Only a later report of the receiver proves that it has worked.
        let witnesses = hearers.isEmpty ? covering.filter { now.isAlive[$0] } : covering
        let proven = witnesses.map { now.lastReports[$0] ?? 0 }.min() ?? 0
        let start = now.end - openSeconds * 1000
        let certain = min(openSeconds, max(0, (proven + 1000 - start) / 1000))
        listenedSeconds += certain
        silenceSeconds += certain
        openSeconds -= certain
        // A beacon that was not received since the start has no cells.
        if lastHeard != nil, now.end - lastUpdate >= Self.quietStep { update(now, &workspace) }
    }

    private func isCovered(_ now: ReceiverStates) -> Bool {
        guard !now.hasBlindCells else { return false }
        guard lastHeard != nil else {
            // It is not known which receivers would receive a beacon that was not received since the start, nor which of
            // them know its name. So none of those that are alive may be in doubt.
            guard now.isAlive.indices.allSatisfy({ now.isCertain[$0] || !now.isAlive[$0] }) else { return false }
            return now.isCertain.indices.contains { now.isCertain[$0] && now.vocabularies[$0] == nil }
                || now.isCertain.allSatisfy(\.self)
        }
        return !hearers.isEmpty && hearers.keys.allSatisfy { now.isCertain[$0] && knows($0, now) }
    }

    /// Returns true if a receiver would name the beacon, so that its silence means something.
    private func knows(_ receiver: Int, _ now: ReceiverStates) -> Bool {
        now.vocabularies[receiver].map(vocabularies.contains) ?? true
    }

    /// The silence that a run of losses does not explain, in seconds.
    private var exitSeconds: Int {
        let usual = (ExitRule.unknownMicroseconds + 999_999) / 1_000_000
        guard listenedSeconds >= Self.learningSeconds, heardSeconds > 0 else { return usual }
        // The share of silent seconds is used as the loss, because both come in runs.
        let loss = 1 - Double(heardSeconds) / Double(listenedSeconds)
        let period = max(1, periodSeconds ?? 1)
        return (ExitRule.silenceMicroseconds(period: period * 1_000_000, loss: loss) + 999_999) / 1_000_000
    }

    private mutating func leave(at end: Int) {
        (isPresent, isKnown) = (false, true)
        (room, reportedRoom, probability, filter, loudest, challenger) = (nil, nil, nil, nil, nil, nil)
        (hearers, roomLevels) = ([:], [:])
        (silenceSeconds, openSeconds, sureSeconds) = (0, 0, 0)
        (since, restoredUntil) = (end, nil)
    }

    // MARK: The cells

    private mutating func update(_ now: ReceiverStates, _ workspace: inout CellWorkspace) {
        guard now.plan.cellCount > 0 else {
            chooseLoudest(now)
            return
        }
        let seconds = filter == nil ? 0 : Double(now.end - lastUpdate) / 1000
        var filter = self.filter ?? begun(now.plan)
        self.filter = nil
        lastUpdate = now.end
        filter.pass(seconds: seconds, &workspace.scratch)
        let powers = offsets.map { LevelTable.units(power + $0) }
        let owed = owed(in: max(1, seconds))
        var evidence = evidence(now, powers, owed, &workspace)
        filter.hear(&evidence, &workspace.scratch)
        workspace.spoken.note(evidence.asked, powers: powers, owed: owed)
        let rooms = now.plan.roomProbabilities(filter)
        self.filter = filter
        let best = rooms.indices.max { (rooms[$0], $1) < (rooms[$1], $0) }
        room = best.flatMap { rooms[$0] > 1 - rooms.reduce(0, +) ? $0 : nil }
        probability = room.map { rooms[$0] }
    }

    private func begun(_ plan: RoomPlan) -> CellFilter {
        let priors = offsets.map { exp(-$0 * $0 / 72) }
        let sum = priors.reduce(0, +)
        return plan.filter.sparse(prior: priors.map { $0 / sum })
    }

    /// The number of packets that a receiver should have received.
    private func owed(in seconds: Double) -> Double {
        max(Double(sounds.map(\.reports).max() ?? 0), periodSeconds.map { (seconds / $0).rounded(.down) } ?? 1)
    }

    private func evidence(
        _ now: ReceiverStates, _ powers: [Int], _ owed: Double, _ workspace: inout CellWorkspace
    ) -> BeaconEvidence {
        let heard = sounds.compactMap { sound -> BeaconEvidence.Heard? in
            guard now.isAlive[sound.receiver], let row = now.plan.levels.rows[sound.receiver], let level = sound.mean
            else { return nil }
            return .init(receiver: sound.receiver, row: row, level: LevelTable.units(level))
        }
        let candidates = sounds.isEmpty ? now.isRecent.indices.filter { now.isRecent[$0] } : now.spoken
        let knowing = candidates.filter { knows($0, now) }
        let unknowing = candidates.filter { !knows($0, now) }.compactMap { now.plan.levels.rows[$0] }
        // A report without a level is no evidence of silence.
        let unclear = sounds.filter { $0.mean == nil }.map(\.receiver)
        func rows() -> [Int] {
            sounds.filter { now.hasSpoken[$0.receiver] }.compactMap { now.plan.levels.rows[$0.receiver] }
                + unknowing
        }
        let silence: BeaconEvidence.Silence
        if knowing.count < unknowing.count {
            silence = .receivers(knowing.filter { !unclear.contains($0) })
        } else if sounds.isEmpty {
            let sums = workspace.recent.sums(now.plan, now.isRecent, powers: powers, owed: owed)
            silence = .sums(sums, except: unknowing)
        } else if heard.isEmpty {
            let sums = workspace.spoken.sums(now.plan, now.hasSpoken, powers: powers, owed: owed)
            silence = .sums(sums, except: rows())
        } else if let sums = workspace.spoken.worthwhileSums(now.plan, now.hasSpoken, powers: powers, owed: owed) {
            silence = .sums(sums, except: rows())
        } else {
            silence = .receivers(unclear.isEmpty ? knowing : knowing.filter { !unclear.contains($0) })
        }
        return BeaconEvidence(now.plan, powers: powers, heard: heard, silence: silence, owed: owed)
    }

    // MARK: Without a plan

    private mutating func chooseLoudest(_ now: ReceiverStates) {
        lastUpdate = now.end
        var levels: [Int: Double] = [:]
        for sound in sounds {
            guard let room = now.plan.roomOfReceiver[sound.receiver], let level = sound.mean else { continue }
            levels[room] = max(levels[room] ?? level, level)
        }
        guard let new = levels.max(by: { ($0.value, $1.key) < ($1.value, $0.key) }) else { return }
        guard let room else { return chooseFirst(levels, now) }
        guard room != new.key, new.value - (levels[room] ?? -200) >= Self.louder.decibels else {
            challenger = nil
            return
        }
        let seconds = challenger.map { $0.room == new.key ? $0.seconds + 1 : 1 } ?? 1
        challenger = (new.key, seconds)
        if seconds >= Self.louder.seconds { (self.room, challenger) = (new.key, nil) }
    }

    /// Chooses the first room if the level in one room is clearly the highest.
    ///
    /// - Parameter levels: The highest level of the second in each room, in dBm.
    private mutating func chooseFirst(_ levels: [Int: Double], _ now: ReceiverStates) {
        for (room, level) in levels {
            if roomLevels[room] == nil {
                roomLevels[room] = RoomLevel(level, end: now.end)
            } else {
                roomLevels[room]?.add(level, end: now.end)
            }
        }
        roomLevels = roomLevels.filter { now.end - $0.value.end < Self.quietStep }
        let rooms = loudestRooms
        guard rooms.count == 1, let first = rooms.first,
            roomLevels.count == 1 || roomLevels[first]?.seconds ?? 0 >= Self.loudest.seconds
        else { return }
        (room, roomLevels) = (first, [:])
    }

    /// Without a floor plan, until a room is chosen: the room with the highest level and the rooms whose level is nearly
    /// as high, the highest level first.
    var loudestRooms: [Int] {
        let ranked = roomLevels.sorted { ($0.value.average, $1.key) > ($1.value.average, $0.key) }
        return ranked.prefix { ranked[0].value.average - $0.value.average < Self.loudest.decibels }.map(\.key)
    }

    // MARK: Known or unknown

    /// The receivers that could receive the beacon but may have failed.
    private func silentReceivers(_ now: ReceiverStates) -> [Int] {
        let isFresh = lastHeard.map { now.end - $0 < Self.quietStep } ?? false
        let doubtful = now.isCertain.indices.filter { isFresh ? !now.isAlive[$0] : !now.isCertain[$0] }
        let near = doubtful.filter { hearers[$0] != nil }
        return near.isEmpty && (isFresh || hearers.isEmpty || now.hasBlindCells) ? doubtful : near
    }

    private mutating func judge(_ now: ReceiverStates) {
        let isFresh = lastHeard.map { now.end - $0 < Self.quietStep } ?? false
        guard room != nil, isFresh || isCovered(now) else {
            (isKnown, sureSeconds) = (false, 0)
            return
        }
        guard let probability else {
            // Without a floor plan, the room is that of the highest level. A failed receiver could have received a higher
            // level.
            isKnown = !now.hasDead
            return
        }
        sureSeconds = probability >= Self.surerWithDead.probability ? sureSeconds + 1 : 0
        let limit = isKnown && room == reportedRoom ? Self.stillSure : Self.sure
        isKnown = now.hasDead ? sureSeconds >= Self.surerWithDead.seconds : probability >= limit
    }
}
