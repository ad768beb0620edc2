internal import Airtime
internal import Positioning
internal import Sightings

/// Decides second by second whether one beacon is present, and estimates its cells and its room.
struct BeaconTrail: Sendable {
    /// The states of all receivers in the second that ends.
    struct ReceiverStates {
        let plan: RoomPlan
        let isAlive: [Bool]
        /// For each receiver, true if it is alive and has received reports recently. Only the silence of such a
        /// receiver shows that a beacon is not in range.
        let isCertain: [Bool]
        /// For each receiver, true if it is alive, has a position, and sent a line in this second.
        let hasSentLine: [Bool]
        /// The indices of the receivers for which ``hasSentLine`` is true.
        let senders: [Int]
        /// For each receiver, true if it is alive, has a position, and sent a line within the last ``quietStep``
        /// milliseconds.
        let isRecent: [Bool]
        /// For each receiver, the time of its last report of any device, in milliseconds since 1970.
        let lastReports: [Int?]
        /// The time of each receiver's newest line, in milliseconds since 1970.
        let lastLines: [Int?]
        /// The earliest of these times among the receivers that are alive. Each of them may have stopped after its
        /// newest line.
        let oldestLastLine: Int
        /// For each receiver, the number of its series of lines (`LineSeries.count`).
        let lineSeries: [Int]
        /// For each receiver, the number of listening periods that it has begun (`ListeningClock.period`).
        let periods: [Int]
        /// For each receiver, the id of the set of beacon names that it knows; `nil` if it reports all beacons.
        let nameSets: [Int?]
        /// True if there may be cells that are covered only by dead receivers.
        let hasBlindCells: Bool
        /// True if at least one receiver is not alive.
        let hasDead: Bool
        /// The end of the second, in milliseconds since 1970.
        let end: Int
    }

    /// The reports of the beacon that one receiver received in the current second.
    private struct Reception {
        var receiver: Int
        /// The sum of the levels of all reports that have a level, in dBm.
        var levelSum = 0.0
        /// The number of reports that have a level.
        var levelCount = 0
        var reports = 0
        /// The mean level in dBm; `nil` if no report had a level.
        var mean: Double? { levelCount > 0 ? levelSum / Double(levelCount) : nil }
    }

    /// The level in a room, that is, the highest level at its receivers, averaged over some seconds.
    private struct RoomLevel {
        /// The weight of the latest second in the average.
        private static let weight = 0.2

        /// The average level, in dBm.
        private(set) var average: Double
        /// The number of seconds with reports.
        private(set) var seconds = 1
        /// The end of the last second with a report, in milliseconds since 1970.
        private(set) var end: Int

        init(_ level: Double, end: Int) { (average, self.end) = (level, end) }

        mutating func add(_ level: Double, end: Int) {
            average += Self.weight * (level - average)
            seconds += 1
            self.end = end
        }
    }

    /// A room that may replace the beacon's room, because the level there has been clearly higher.
    private struct Challenger {
        let room: Int
        /// The sum of ``ReceiverStates/lineSeries`` of the receivers of the beacon's room. If it changes, one of them
        /// was silent for longer than usual.
        let lineSeries: Int
        /// The number of seconds in a row in which the level was higher.
        var seconds = 0
        /// The end of the second in which ``seconds`` became sufficient, in milliseconds since 1970; `nil` if it is not
        /// sufficient yet.
        var sufficientAt: Int?
    }

    let name: String
    private(set) var identity: String?
    private(set) var isPresent = false
    private(set) var isKnown = false
    /// The index of the most likely room; `nil` if no room is likely enough.
    private(set) var room: Int?
    private(set) var probability: Double?
    /// The room of the last event; `nil` after an exit.
    private(set) var reportedRoom: Int?
    /// The time of the last enter or exit, in milliseconds since 1970.
    private(set) var since: Int?
    /// The time of the last report, in milliseconds since 1970.
    private(set) var lastHeard: Int?
    /// If the room is not known: the indices of the receivers that may have failed.
    private(set) var silent: [Int] = []
    /// The receivers that received the beacon at its last report or shortly before it.
    var recentReceivers: [Int] { Array(lastReportTimes.keys) }
    /// The receiver with the highest level in the last second with reports, and that level in dBm.
    private(set) var loudest: (receiver: Int, level: Double?)?
    /// The battery voltage from the beacon's telemetry, in millivolts.
    private(set) var batteryMillivolts: Int?
    /// The temperature from the beacon's telemetry, in thousandths of a degree Celsius.
    private(set) var temperature: Int?

    /// The power at 1 m in dBm, without the ``offsets``.
    private var power: Double
    /// The power at 1 m in dBm; a typical value if it is not known.
    var powerAtOneMeter: Int { Int(power) }
    /// The mean time between two packets in seconds, computed from the configured interval; `nil` if the interval is
    /// not known.
    private let periodSeconds: Double?
    /// The possible differences from ``power``, in dB. The filter has a plane for each difference.
    private var offsets: [Double]
    /// The probabilities of the cells; `nil` before the first report, and without a floor plan.
    private(set) var filter: CellFilter?
    /// The time of the last calculation of the cells, in milliseconds since 1970.
    private var lastUpdate = 0
    /// The time until which the restored state of an earlier run is kept, in milliseconds since 1970.
    private var restoredUntil: Int?
    /// The reports of the current second, by receiver.
    private var receptions: [Reception] = []
    /// The ids of the sets of beacon names (see ``ReceiverStates/nameSets``) of the receivers that have reported the
    /// beacon. There are few of them, so an array is faster than a set.
    private var nameSets: [Int] = []
    /// The time of the last report of the beacon by each receiver, in milliseconds since 1970.
    private var lastReportTimes: [Int: Int] = [:]
    /// The number of seconds of the present silence in which the receivers certainly worked.
    private var silenceSeconds = 0
    /// The number of seconds of the present silence after the ``silenceSeconds``. In these seconds, no later report has
    /// proven yet that the receivers worked.
    private var unprovenSeconds = 0
    /// The proof that the receivers worked during the silence: `restart` if one of them was dead in the meantime,
    /// otherwise `report`.
    private var proof = ListeningClock.Proof.report
    /// The sum of ``ReceiverStates/periods`` of the receivers that cover the beacon. A new sum means that one of them
    /// has begun a new period.
    private var periodSum = 0
    /// The number of seconds in which the receivers worked.
    private var listenedSeconds = 0
    /// The number of ``listenedSeconds`` with a report of the beacon.
    private var heardSeconds = 0
    /// The number of successive seconds in which the room's probability has been at least
    /// ``knownWithDead``.
    private var sureSeconds = 0
    /// The levels of the rooms whose receivers have received the beacon recently. Used only without a floor plan, until
    /// a room is chosen.
    private var roomLevels: [Int: RoomLevel] = [:]
    /// Without a floor plan: the room that may become the beacon's room.
    private var challenger: Challenger?
    /// Without a floor plan: the number of seconds with reports that are still needed until the room is certain. It is
    /// set after a receiver was dead, because the room may have changed unnoticed.
    private var unconfirmedSeconds = 0

    /// The possible differences of an unknown power from the usual power, in dB. Their standard deviation is 6 dB.
    private static let unknownOffsets = [-12.0, -6, 0, 6, 12]
    /// The assumed share of packets that pass through a human body, and the attenuation by the body in dB.
    static let bodyShadow = (share: 0.1, decibels: 6.0)
    /// The share of packets that are received if their level is above the sensitivity.
    static let deliveredShare = 0.8
    /// The lower limit of the likelihood of silence. It is not 0, because many packets in a row are often lost.
    static let leastSilenceLikelihood = 0.05
    /// The receivers that received the beacon within this time before its last report, in milliseconds, count as
    /// covering it. Silence counts only if all of these receivers work.
    static let coverMilliseconds = 60_000
    /// The time between two updates of the cells during a silence, in milliseconds. The silence excludes cells near
    /// working receivers.
    static let quietStep = 5000
    /// The smallest probability with which a room becomes known.
    static let knownProbability = 0.95
    /// The smallest probability with which the room of the last event stays known.
    static let staysKnownProbability = 0.75
    /// While a receiver is dead, a room is known only if it has had at least this probability for this number of
    /// seconds in a row.
    static let knownWithDead = (probability: 0.999, seconds: 3)
    /// The number of ``listenedSeconds`` from which the exit rule uses the measured share of seconds with reports.
    /// Before that, the rule uses an assumed share.
    static let learningSeconds = 16
    /// Without a floor plan: the number of dB by which the average level of the first room must exceed the level of
    /// every other room. If receivers of other rooms have received the beacon too, the first room also needs reports in
    /// this number of seconds.
    static let clearlyLoudest = (decibels: 5.0, seconds: 3)
    /// Without a floor plan: the room changes if the level in another room is higher by this number of dB for this
    /// number of seconds. After a receiver was dead, the room becomes known after this number of seconds in which no
    /// other room has such a level.
    static let clearlyLouder = (decibels: 6.0, seconds: 3)

    /// - Parameters:
    ///   - fileBeacon: The beacon in the collector file; `nil` if the file does not contain it.
    ///   - power: The power at 1 m in dBm that the beacon sends; `nil` if it is not known.
    init(name: String, identity: String?, fileBeacon: CollectorFile.Beacon?, power: Int?) {
        self.name = name
        self.identity = identity
        let power = fileBeacon?.calibrationAtOneMeter ?? power
        self.power = power.map(Double.init) ?? RoomPlan.usualPower
        offsets = power == nil ? Self.unknownOffsets : [0]
        periodSeconds = fileBeacon?.intervalMicroseconds.map { Double($0 + 5000) / 1_000_000 }
    }

    /// Adds reports of the beacon by one receiver to the current second.
    ///
    /// - Parameters:
    ///   - level: The mean level in dBm, corrected by the receiver's offset; `nil` if no report had a level.
    ///   - nameSet: The id of the set of beacon names that the receiver knows; `nil` if it reports all beacons.
    mutating func add(
        _ beacon: ReceiverLine.Beacon, level: Double?, from receiver: Int, _ nameSet: Int?
    ) {
        if let nameSet, !nameSets.contains(nameSet) { nameSets.append(nameSet) }
        if identity == nil { identity = beacon.identity }
        if let battery = beacon.batteryMillivolts { batteryMillivolts = battery }
        if let thousandths = beacon.temperature { temperature = thousandths }
        // A beacon that was restored after a restart gets its power at 1 m from the first report that contains it.
        if lastHeard == nil, filter == nil, offsets.count > 1, let atOneMeter = beacon.powerAtOneMeter {
            (power, offsets) = (Double(atOneMeter), [0])
        }
        let index = receptions.firstIndex { $0.receiver == receiver } ?? receptions.count
        if index == receptions.count { receptions.append(Reception(receiver: receiver)) }
        receptions[index].reports += beacon.reports
        guard let level else { return }
        receptions[index].levelSum += level * Double(beacon.reports)
        receptions[index].levelCount += beacon.reports
    }

    /// A change of the beacon's presence or room at the end of a second.
    enum Change: Hashable, Sendable {
        case enter
        /// - Parameter from: The room of the last event.
        case exit(from: Int?, ListeningClock.Proof)
        case room(from: Int?)
        case unknown(from: Int?)
        case known
    }

    /// Restores the state of a beacon that was present at the end of an earlier run.
    mutating func resume(room: Int?, since: Int, isKnown: Bool, at time: Int) {
        (isPresent, self.since) = (true, since)
        (self.room, reportedRoom, self.isKnown) = (room, room, isKnown && room != nil)
        restoredUntil = time + SightingCollector.deadAfter
    }

    /// Adds `milliseconds` to all times, because this machine's clock was set.
    mutating func shift(by milliseconds: Int) {
        since = since.map { $0 + milliseconds }
        lastHeard = lastHeard.map { $0 + milliseconds }
        restoredUntil = restoredUntil.map { $0 + milliseconds }
        lastUpdate += milliseconds
        lastReportTimes = lastReportTimes.mapValues { $0 + milliseconds }
        if let sufficientAt = challenger?.sufficientAt { challenger?.sufficientAt = sufficientAt + milliseconds }
    }

    /// Ends the current second, and returns its changes.
    mutating func endSecond(_ now: ReceiverStates, _ workspace: inout CellWorkspace) -> [Change] {
        defer { receptions.removeAll(keepingCapacity: true) }
        var changes: [Change] = []
        let wasKnown = isKnown
        if receptions.isEmpty {
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
            (silenceSeconds, unprovenSeconds, proof) = (0, 0, .report)
            lastHeard = now.end
            for reception in receptions { lastReportTimes[reception.receiver] = now.end }
            let best = receptions.max { ($0.mean ?? -200, $1.receiver) < ($1.mean ?? -200, $0.receiver) }
            loudest = best.map { ($0.receiver, $0.mean) }
            update(now, &workspace)
        }
        judge(now)
        // A room that was known before a restart stays known for a while, until the receivers have had time to send
        // lines.
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

    /// Ends a second without a report of the beacon. Such a second counts as silence only if every receiver that could
    /// have received the beacon was working.
    private mutating func endQuietSecond(_ now: ReceiverStates, _ workspace: inout CellWorkspace) {
        lastReportTimes = lastReportTimes.filter { (lastHeard ?? now.end) - $0.value <= Self.coverMilliseconds }
        // Before the first report since the start, it is not known which receivers cover the beacon, so all of them
        // must work.
        let covering = lastReportTimes.isEmpty ? Array(now.periods.indices) : Array(lastReportTimes.keys)
        let formerPeriodSum = periodSum
        periodSum = covering.reduce(0) { $0 + now.periods[$1] }
        // If the sum has changed, a receiver has begun a new period: it had received nothing for so long that it may
        // have failed.
        if periodSum != formerPeriodSum { unprovenSeconds = 0 }
        unprovenSeconds = isCovered(now) ? unprovenSeconds + 1 : 0
        if !covering.allSatisfy({ now.isAlive[$0] }) { proof = .restart }
        // A failed receiver is detected late. Only a later report of the receiver proves that it worked during the
        // silence.
        let witnesses = lastReportTimes.isEmpty ? covering.filter { now.isAlive[$0] } : covering
        // The beacon may also have moved to a receiver that has not received it yet, and that has stopped, too. The exit
        // is allowed by a later line of that receiver, or if it is dead and others cover all cells.
        let provenUntil = min(witnesses.map { now.lastReports[$0] ?? 0 }.min() ?? 0, now.oldestLastLine)
        let start = now.end - unprovenSeconds * 1000
        let provenSeconds = min(unprovenSeconds, max(0, (provenUntil + 1000 - start) / 1000))
        listenedSeconds += provenSeconds
        silenceSeconds += provenSeconds
        unprovenSeconds -= provenSeconds
        // Before the first report since the start, the beacon has no cells to update.
        if lastHeard != nil, now.end - lastUpdate >= Self.quietStep { update(now, &workspace) }
    }

    /// Returns true if all receivers that could receive the beacon certainly work and would report it.
    private func isCovered(_ now: ReceiverStates) -> Bool {
        guard !now.hasBlindCells else { return false }
        guard lastHeard != nil else {
            // Before the first report since the start, it is not known which receivers cover the beacon or know its
            // name. So every receiver that is alive must certainly work.
            guard now.isAlive.indices.allSatisfy({ now.isCertain[$0] || !now.isAlive[$0] }) else { return false }
            return now.isCertain.indices.contains { now.isCertain[$0] && now.nameSets[$0] == nil }
                || now.isCertain.allSatisfy(\.self)
        }
        return !lastReportTimes.isEmpty && lastReportTimes.keys.allSatisfy { now.isCertain[$0] && knows($0, now) }
    }

    /// Returns true if a receiver reports this beacon whenever it receives it. Otherwise, a missing report of the
    /// receiver is no evidence.
    private func knows(_ receiver: Int, _ now: ReceiverStates) -> Bool {
        now.nameSets[receiver].map(nameSets.contains) ?? true
    }

    /// The number of silent seconds after which the beacon counts as gone. Lost packets cannot explain such a long
    /// silence.
    private var exitSeconds: Int {
        let assumedSeconds = (ExitRule.unknownMicroseconds + 999_999) / 1_000_000
        guard listenedSeconds >= Self.learningSeconds, heardSeconds > 0 else { return assumedSeconds }
        // The share of silent seconds is used as the share of lost packets. So the exit rule allows for several lost
        // packets in a row.
        let loss = 1 - Double(heardSeconds) / Double(listenedSeconds)
        let period = max(1, periodSeconds ?? 1)
        return (ExitRule.silenceMicroseconds(period: period * 1_000_000, loss: loss) + 999_999) / 1_000_000
    }

    private mutating func leave(at end: Int) {
        (isPresent, isKnown) = (false, true)
        (room, reportedRoom, probability, filter, loudest, challenger) = (nil, nil, nil, nil, nil, nil)
        (lastReportTimes, roomLevels) = ([:], [:])
        (silenceSeconds, unprovenSeconds, sureSeconds, unconfirmedSeconds) = (0, 0, 0, 0)
        (since, restoredUntil) = (end, nil)
    }

    // MARK: The cells

    private mutating func update(_ now: ReceiverStates, _ workspace: inout CellWorkspace) {
        guard now.plan.cellCount > 0 else {
            chooseLoudest(now)
            return
        }
        let seconds = filter == nil ? 0 : Double(now.end - lastUpdate) / 1000
        var filter = self.filter ?? initialFilter(now.plan)
        self.filter = nil
        lastUpdate = now.end
        filter.predict(seconds: seconds, &workspace.scratch)
        let powers = offsets.map { LevelTable.units(power + $0) }
        let expectedPackets = expectedPackets(in: max(1, seconds))
        var evidence = evidence(now, powers, expectedPackets, &workspace)
        filter.update(&evidence, &workspace.scratch)
        workspace.current.note(evidence.computedStates, powers: powers, expectedPackets: expectedPackets)
        let rooms = now.plan.roomProbabilities(filter)
        self.filter = filter
        let best = rooms.indices.max { (rooms[$0], $1) < (rooms[$1], $0) }
        room = best.flatMap { rooms[$0] > 1 - rooms.reduce(0, +) ? $0 : nil }
        probability = room.map { rooms[$0] }
    }

    /// Returns the filter for a beacon before its first report.
    private func initialFilter(_ plan: RoomPlan) -> CellFilter {
        let priors = offsets.map { exp(-$0 * $0 / 72) }
        let sum = priors.reduce(0, +)
        return plan.filter.sparse(prior: priors.map { $0 / sum })
    }

    /// Returns the number of packets that a receiver would receive in `seconds` if no packet were lost.
    private func expectedPackets(in seconds: Double) -> Double {
        max(Double(receptions.map(\.reports).max() ?? 0), periodSeconds.map { (seconds / $0).rounded(.down) } ?? 1)
    }

    private func evidence(
        _ now: ReceiverStates, _ powers: [Int], _ expectedPackets: Double, _ workspace: inout CellWorkspace
    ) -> BeaconEvidence {
        let measured = receptions.compactMap { reception -> BeaconEvidence.Reception? in
            guard now.isAlive[reception.receiver], let row = now.plan.levels.rows[reception.receiver],
                let level = reception.mean
            else { return nil }
            return .init(receiver: reception.receiver, row: row, level: LevelTable.units(level))
        }
        let candidates = receptions.isEmpty ? now.isRecent.indices.filter { now.isRecent[$0] } : now.senders
        let reporting = candidates.filter { knows($0, now) }
        let rowsNotReporting = candidates.filter { !knows($0, now) }.compactMap { now.plan.levels.rows[$0] }
        // A receiver whose reports have no level did receive the beacon, so it must not count as silent.
        let withoutLevel = receptions.filter { $0.mean == nil }.map(\.receiver)
        func rowsNotSilent() -> [Int] {
            receptions.filter { now.hasSentLine[$0.receiver] }.compactMap { now.plan.levels.rows[$0.receiver] }
                + rowsNotReporting
        }
        let silence: BeaconEvidence.Silence
        if reporting.count < rowsNotReporting.count {
            silence = .receivers(reporting.filter { !withoutLevel.contains($0) })
        } else if receptions.isEmpty {
            let sums = workspace.recent.sums(now.plan, now.isRecent, powers: powers, expectedPackets: expectedPackets)
            silence = .sums(sums, except: rowsNotReporting)
        } else if measured.isEmpty {
            let sums = workspace.current.sums(
                now.plan, now.hasSentLine, powers: powers, expectedPackets: expectedPackets)
            silence = .sums(sums, except: rowsNotSilent())
        } else if let sums = workspace.current.worthwhileSums(
            now.plan, now.hasSentLine, powers: powers, expectedPackets: expectedPackets)
        {
            silence = .sums(sums, except: rowsNotSilent())
        } else {
            silence = .receivers(
                withoutLevel.isEmpty ? reporting : reporting.filter { !withoutLevel.contains($0) })
        }
        return BeaconEvidence(
            now.plan, powers: powers, receptions: measured, silence: silence, expectedPackets: expectedPackets)
    }

    // MARK: Without a plan

    private mutating func chooseLoudest(_ now: ReceiverStates) {
        lastUpdate = now.end
        var levels: [Int: Double] = [:]
        for reception in receptions {
            guard let room = now.plan.roomOfReceiver[reception.receiver], let level = reception.mean else { continue }
            levels[room] = max(levels[room] ?? level, level)
        }
        guard let strongest = levels.max(by: { ($0.value, $1.key) < ($1.value, $0.key) }) else { return }
        guard !now.hasDead else {
            // The dead receiver could have received a higher level.
            (roomLevels, challenger) = ([:], nil)
            if !keepsRestoredState(now) { unconfirmedSeconds = Self.clearlyLouder.seconds }
            return
        }
        guard let room else { return chooseFirst(levels, now) }
        guard room != strongest.key, strongest.value - (levels[room] ?? -200) >= Self.clearlyLouder.decibels else {
            challenger = nil
            unconfirmedSeconds = max(0, unconfirmedSeconds - 1)
            return
        }
        challenge(room, by: strongest.key, now)
    }

    /// Counts a second in which the level in another room was clearly higher than in the beacon's room. Changes the
    /// room after enough of these seconds.
    ///
    /// If a receiver of the beacon's room sends no line, it may have failed. So the room changes only when each
    /// receiver of the beacon's room has sent a later line, with or without the beacon. If one of these receivers was
    /// silent for longer than usual, the count begins again.
    private mutating func challenge(_ room: Int, by other: Int, _ now: ReceiverStates) {
        let receivers = now.plan.roomOfReceiver.indices.filter { now.plan.roomOfReceiver[$0] == room }
        let lineSeries = receivers.reduce(0) { $0 + now.lineSeries[$1] }
        var challenger = Challenger(room: other, lineSeries: lineSeries)
        if let former = self.challenger, former.room == other, former.lineSeries == lineSeries { challenger = former }
        challenger.seconds += 1
        if challenger.seconds == Self.clearlyLouder.seconds { challenger.sufficientAt = now.end }
        self.challenger = challenger
        guard let sufficientAt = challenger.sufficientAt,
            receivers.allSatisfy({ now.lastLines[$0] ?? 0 >= sufficientAt - 1000 })
        else { return }
        (self.room, self.challenger, unconfirmedSeconds) = (other, nil, 0)
    }

    /// Chooses the beacon's first room if the level in one room is clearly the highest.
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
        guard rooms.count == 1, let loudestRoom = rooms.first,
            roomLevels.count == 1 || roomLevels[loudestRoom]?.seconds ?? 0 >= Self.clearlyLoudest.seconds
        else { return }
        if roomLevels[loudestRoom]?.seconds ?? 0 >= Self.clearlyLoudest.seconds { unconfirmedSeconds = 0 }
        (room, roomLevels) = (loudestRoom, [:])
    }

    /// Without a floor plan, until a room is chosen: the room with the highest level, followed by the rooms with nearly
    /// the same level.
    var loudestRooms: [Int] {
        let ranked = roomLevels.sorted { ($0.value.average, $1.key) > ($1.value.average, $0.key) }
        return ranked.prefix { ranked[0].value.average - $0.value.average < Self.clearlyLoudest.decibels }.map(\.key)
    }

    // MARK: Known or unknown

    /// The receivers that could receive the beacon but may have failed.
    private func silentReceivers(_ now: ReceiverStates) -> [Int] {
        let isFresh = lastHeard.map { now.end - $0 < Self.quietStep } ?? false
        let doubtful = now.isCertain.indices.filter { isFresh ? !now.isAlive[$0] : !now.isCertain[$0] }
        let near = doubtful.filter { lastReportTimes[$0] != nil }
        return near.isEmpty && (isFresh || lastReportTimes.isEmpty || now.hasBlindCells) ? doubtful : near
    }

    /// Decides whether the room is known.
    private mutating func judge(_ now: ReceiverStates) {
        let isFresh = lastHeard.map { now.end - $0 < Self.quietStep } ?? false
        guard room != nil, isFresh || isCovered(now) else {
            (isKnown, sureSeconds) = (false, 0)
            return
        }
        guard let probability else {
            // Without a floor plan, the room is the room with the highest level. The level at a failed receiver could
            // have been higher.
            isKnown = !now.hasDead && unconfirmedSeconds == 0
            return
        }
        sureSeconds = probability >= Self.knownWithDead.probability ? sureSeconds + 1 : 0
        let leastProbability = isKnown && room == reportedRoom ? Self.staysKnownProbability : Self.knownProbability
        isKnown = now.hasDead ? sureSeconds >= Self.knownWithDead.seconds : probability >= leastProbability
    }
}
