internal import Airtime
internal import Positioning
internal import Sightings

/// Where one beacon is, second by second: its cells, its room, and whether it is there at all.
struct BeaconTrail: Sendable {
    /// What the receivers are in the second that ends.
    struct Surroundings {
        let plan: RoomPlan
        let isAlive: [Bool]
        /// Living ones with a place that said something in this second, by receiver and as a list.
        let hasSpoken: [Bool]
        let spoken: [Int]
        /// Those that said something of late.
        let isRecent: [Bool]
        /// When each receiver said something last.
        let lastLines: [Int?]
        /// Whether something that a dead receiver would hear is heard by no living one.
        let hasBlindCells: Bool
        let hasDead: Bool
        /// When the second ended, in milliseconds.
        let end: Int
    }

    /// What one receiver heard of it in the second.
    private struct Sound {
        var receiver: Int
        var sum = 0.0
        var levels = 0
        var reports = 0
        var mean: Double? { levels > 0 ? sum / Double(levels) : nil }
    }

    let name: String
    private(set) var identity: String?
    private(set) var isPresent = false
    private(set) var isKnown = false
    /// The likeliest room.
    private(set) var room: Int?
    private(set) var probability: Double?
    /// The room that was told last, as long as it is there.
    private(set) var toldRoom: Int?
    private(set) var since: Int?
    private(set) var lastHeard: Int?
    /// Who heard it loudest in the last second in which it was heard.
    private(set) var loudest: (receiver: Int, level: Double?)?
    /// Of its telemetry, in millivolts and in thousandths of a degree Celsius.
    private(set) var batteryMillivolts: Int?
    private(set) var temperature: Int?

    private var power: Double
    /// In dBm; the usual one where nobody knows.
    var powerAtOneMeter: Int { Int(power) }
    private let periodSeconds: Double?
    /// Of powers at 1 m that nobody knows, in dB.
    private var offsets: [Double]
    /// Its cells; `nil` where nothing is known of them.
    private(set) var filter: CellFilter?
    private var lastUpdate = 0
    /// Until then what an earlier run has left is believed, in milliseconds.
    private var settling: Int?
    private var sounds: [Sound] = []
    /// When each receiver heard it last.
    private var hearers: [Int: Int] = [:]
    private var silenceSeconds = 0
    /// Quiet seconds of which nobody knows yet whether they were listened through.
    private var openSeconds = 0
    private var listenedSeconds = 0
    private var heardSeconds = 0
    private var sureSeconds = 0
    /// Without a plan: who would be the room, and for how many seconds.
    private var challenger: (room: Int, seconds: Int)?

    /// A beacon that nobody knows is so much louder or weaker than usual, in dB, with a standard deviation of 6.
    private static let unknownOffsets = [-12.0, -6, 0, 6, 12]
    /// A level counts by a mixture: this share of the packets came past a body, which costs so many dB.
    static let shadowed = (share: 0.1, decibels: 6.0)
    /// Of the packets that are loud enough so many are received.
    static let delivered = 0.8
    /// Losses come in runs: whatever was not heard, it is no surer than this that it was not there.
    static let leastChance = 0.05
    /// Who has heard it in the last minute must be alive for its silence to mean anything.
    static let coverMilliseconds = 60_000
    /// Silence says where it is not once in so many milliseconds.
    static let quietStep = 5000
    /// A room is known from this probability on; more is asked where a receiver is missing, and for several seconds.
    static let sure = 0.95
    /// And stays known down to this one.
    static let stillSure = 0.75
    static let surerWithDead = (probability: 0.999, seconds: 3)
    /// The exit rule needs so many seconds to have learned how often it is heard.
    static let learningSeconds = 16
    /// A room without a plan changes when another receiver hears it so much louder, in dB, for so many seconds.
    static let louder = (decibels: 6.0, seconds: 3)

    init(name: String, identity: String?, described: CollectorFile.Beacon?, power: Int?) {
        self.name = name
        self.identity = identity
        let power = described?.calibrationAtOneMeter ?? power
        self.power = power.map(Double.init) ?? RoomPlan.usualPower
        offsets = power == nil ? Self.unknownOffsets : [0]
        periodSeconds = described?.intervalMicroseconds.map { Double($0 + 5000) / 1_000_000 }
    }

    /// Takes what a receiver heard in the second that goes on.
    ///
    /// - Parameter level: With the receiver's offset.
    mutating func hear(_ heard: ReceiverLine.Heard, level: Double?, from receiver: Int) {
        if identity == nil { identity = heard.identity }
        if let battery = heard.batteryMillivolts { batteryMillivolts = battery }
        if let celsius = heard.temperature { temperature = celsius }
        // Of one that was there before a restart it is known only now.
        if lastHeard == nil, filter == nil, offsets.count > 1, let told = heard.powerAtOneMeter {
            (power, offsets) = (Double(told), [0])
        }
        let place = sounds.firstIndex { $0.receiver == receiver } ?? sounds.count
        if place == sounds.count { sounds.append(Sound(receiver: receiver)) }
        sounds[place].reports += heard.reports
        guard let level else { return }
        sounds[place].sum += level * Double(heard.reports)
        sounds[place].levels += heard.reports
    }

    /// What has become of it when a second is over.
    enum Change: Hashable, Sendable {
        case enter
        /// - Parameter from: The room that was told last.
        case exit(from: Int?)
        case room(from: Int?)
        case unknown(from: Int?)
        case known
    }

    /// It was there when an earlier run ended.
    mutating func resume(room: Int?, since: Int, isKnown: Bool, at time: Int) {
        (isPresent, self.since) = (true, since)
        (self.room, toldRoom, self.isKnown) = (room, room, isKnown && room != nil)
        settling = time + SightingCollector.deadAfter
    }

    /// Ends a second.
    mutating func endSecond(_ now: Surroundings, _ workspace: inout CellWorkspace) -> [Change] {
        defer { sounds.removeAll(keepingCapacity: true) }
        var changes: [Change] = []
        let wasKnown = isKnown
        if sounds.isEmpty {
            guard isPresent, !isSettling(now) else { return [] }
            endQuietSecond(now, &workspace)
            if silenceSeconds >= exitSeconds {
                let room = toldRoom
                leave(at: now.end)
                return [.exit(from: room)]
            }
        } else {
            if !isPresent {
                isPresent = true
                since = now.end
                changes.append(.enter)
            }
            listenedSeconds += 1
            heardSeconds += 1
            (silenceSeconds, openSeconds) = (0, 0)
            lastHeard = now.end
            for sound in sounds { hearers[sound.receiver] = now.end }
            let best = sounds.max { ($0.mean ?? -200, $1.receiver) < ($1.mean ?? -200, $0.receiver) }
            loudest = best.map { ($0.receiver, $0.mean) }
            update(now, &workspace)
        }
        judge(now)
        // What was known before a restart is known until the receivers have spoken.
        if wasKnown, !isKnown, isSettling(now) { (isKnown, room) = (true, toldRoom) }
        if isKnown, let room, room != toldRoom {
            changes.append(.room(from: toldRoom))
            toldRoom = room
        }
        if wasKnown != isKnown { changes.append(isKnown ? .known : .unknown(from: toldRoom)) }
        return changes
    }

    private func isSettling(_ now: Surroundings) -> Bool { settling.map { now.end < $0 } ?? false }

    /// Silence counts only while everybody who could have heard it listened.
    private mutating func endQuietSecond(_ now: Surroundings, _ workspace: inout CellWorkspace) {
        hearers = hearers.filter { (lastHeard ?? now.end) - $0.value <= Self.coverMilliseconds }
        if isCovered(now) {
            // A receiver that has died is found out late: only what it says afterwards proves that it listened.
            openSeconds += 1
            if hearers.keys.allSatisfy({ (now.lastLines[$0] ?? 0) >= now.end - 1000 }) {
                listenedSeconds += openSeconds
                silenceSeconds += openSeconds
                openSeconds = 0
            }
        } else {
            openSeconds = 0
        }
        // Of who was not heard since the start nobody has cells.
        if lastHeard != nil, now.end - lastUpdate >= Self.quietStep { update(now, &workspace) }
    }

    private func isCovered(_ now: Surroundings) -> Bool {
        guard !now.hasBlindCells else { return false }
        // Who would hear what was not heard since the start, nobody knows.
        guard lastHeard != nil else { return now.isAlive.contains(true) }
        return !hearers.isEmpty && hearers.keys.allSatisfy { now.isAlive[$0] }
    }

    /// The silence that no run of losses explains.
    private var exitSeconds: Int {
        let usual = (ExitRule.unknownMicroseconds + 999_999) / 1_000_000
        guard listenedSeconds >= Self.learningSeconds, heardSeconds > 0 else { return usual }
        // Of each second it was heard in so many: a run of silent seconds is as likely as a run of lost events.
        let loss = 1 - Double(heardSeconds) / Double(listenedSeconds)
        let period = max(1, periodSeconds ?? 1)
        return (ExitRule.silenceMicroseconds(period: period * 1_000_000, loss: loss) + 999_999) / 1_000_000
    }

    private mutating func leave(at end: Int) {
        (isPresent, isKnown) = (false, true)
        (room, toldRoom, probability, filter, loudest, challenger) = (nil, nil, nil, nil, nil, nil)
        hearers = [:]
        (silenceSeconds, openSeconds, sureSeconds) = (0, 0, 0)
        (since, settling) = (end, nil)
    }

    // MARK: The cells

    private mutating func update(_ now: Surroundings, _ workspace: inout CellWorkspace) {
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

    /// How many packets a receiver should have heard.
    private func owed(in seconds: Double) -> Double {
        max(Double(sounds.map(\.reports).max() ?? 0), periodSeconds.map { (seconds / $0).rounded(.down) } ?? 1)
    }

    private func evidence(
        _ now: Surroundings, _ powers: [Int], _ owed: Double, _ workspace: inout CellWorkspace
    ) -> BeaconEvidence {
        let heard = sounds.compactMap { sound -> BeaconEvidence.Heard? in
            guard now.isAlive[sound.receiver], let row = now.plan.levels.rows[sound.receiver], let level = sound.mean
            else { return nil }
            return .init(receiver: sound.receiver, row: row, level: LevelTable.units(level))
        }
        // A receiver that heard it without a level says no more than that.
        func rows() -> [Int] {
            sounds.filter { now.hasSpoken[$0.receiver] }.compactMap { now.plan.levels.rows[$0.receiver] }
        }
        let silence: BeaconEvidence.Silence
        if sounds.isEmpty {
            let sums = workspace.recent.sums(now.plan, now.isRecent, powers: powers, owed: owed)
            silence = .sums(sums, except: [])
        } else if heard.isEmpty {
            let sums = workspace.spoken.sums(now.plan, now.hasSpoken, powers: powers, owed: owed)
            silence = .sums(sums, except: rows())
        } else if let sums = workspace.spoken.worthwhileSums(now.plan, now.hasSpoken, powers: powers, owed: owed) {
            silence = .sums(sums, except: rows())
        } else {
            let unclear = sounds.filter { $0.mean == nil }.map(\.receiver)
            silence = .receivers(unclear.isEmpty ? now.spoken : now.spoken.filter { !unclear.contains($0) })
        }
        return BeaconEvidence(now.plan, powers: powers, heard: heard, silence: silence, owed: owed)
    }

    // MARK: Without a plan

    private mutating func chooseLoudest(_ now: Surroundings) {
        lastUpdate = now.end
        let rooms = now.plan.roomOfReceiver
        let heard = sounds.filter { rooms[$0.receiver] != nil && $0.mean != nil }
        guard let best = heard.max(by: { ($0.mean ?? -200) < ($1.mean ?? -200) }),
            let new = rooms[best.receiver]
        else { return }
        let own = heard.filter { rooms[$0.receiver] == room }.compactMap(\.mean).max() ?? -200
        guard let room, room != new, (best.mean ?? -200) - own >= Self.louder.decibels else {
            if room == nil || room == new { self.room = new }
            challenger = nil
            return
        }
        let seconds = challenger.map { $0.room == new ? $0.seconds + 1 : 1 } ?? 1
        challenger = (new, seconds)
        if seconds >= Self.louder.seconds {
            self.room = new
            challenger = nil
        }
    }

    // MARK: What is sure

    private mutating func judge(_ now: Surroundings) {
        let isFresh = lastHeard.map { now.end - $0 < Self.quietStep } ?? false
        guard room != nil, isFresh || isCovered(now) else {
            (isKnown, sureSeconds) = (false, 0)
            return
        }
        guard let probability else {
            // The loudest of the receivers, with one missing, is anybody.
            isKnown = !now.hasDead
            return
        }
        sureSeconds = probability >= Self.surerWithDead.probability ? sureSeconds + 1 : 0
        let limit = isKnown && room == toldRoom ? Self.stillSure : Self.sure
        isKnown = now.hasDead ? sureSeconds >= Self.surerWithDead.seconds : probability >= limit
    }
}
