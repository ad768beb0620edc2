public import Airtime
internal import BluetoothTypes
internal import Configuration
internal import Messaging
public import Sightings
public import Store

/// Combines the lines of all receivers of a site: which beacons are present, in which room, and with which probability.
///
/// Time is that of the lines, in milliseconds since 1970, and advances second by second. No single line changes it by
/// much: lines that leap ahead wait until three of them agree. A receiver that sends nothing for 15 s, or reports that it
/// is deaf, is dead. The silence of a dead receiver, and of a receiver that receives nothing, is ignored. Beacons that
/// only such a receiver could receive become unknown.
public struct SightingCollector: Sendable {
    public let file: CollectorFile
    let plan: RoomPlan
    private(set) var trails: [BeaconTrail] = []
    /// The index of each trail, by name or, for a stranger, by identity.
    private var numbers: [String: Int] = [:]
    /// The beacons of the file, by name.
    private let described: [String: CollectorFile.Beacon]
    /// The names of the file's beacons, by the text of their identity.
    private let namesOfIdentities: [String: String]
    private let receiverNumbers: [String: Int]
    private(set) var receivers: [Receiver]
    public private(set) var counts = Counts()
    /// The start of the current second; `nil` before the first line.
    private var start: Int?
    /// False until a second line, or the machine's clock, agrees with the time of the first line.
    private var isTimeAgreed = false
    private var leaping = LeapingLines()
    /// Lines before the first one, while the time is not agreed.
    private var earlier = LeapingLines()
    /// The sum of all calls of ``shift(by:)``, in milliseconds.
    private var shifted = 0
    /// The beacons of an earlier run, until the time is agreed.
    private var resumed: [Stay] = []
    /// The identities of beacons without a name, if they are only counted.
    private var strangers: Set<String> = []
    /// The number of each text of ``SightingBatch/knownNames``. They follow the numbers of the receivers, which stand for
    /// receivers whose batches have no such text.
    private var vocabularies: [String: Int] = [:]
    /// The number of trails of beacons that the file does not describe.
    private var undescribed = 0
    /// True if sightings are kept for ``takeSightings()``.
    public var keepsSightings = false
    private var sightings: [SightingRow] = []
    private var blindCells: BlindCells
    private var workspace = CellWorkspace()
    /// The number of beacons between two calls of `goesOn`.
    private static let beaconsBetween = 4

    /// The state of one receiver.
    struct Receiver: Sendable {
        var lastLine: Int?
        var isDeaf = false
        /// True if it has ended, or its broker says that it is gone.
        var isOff = false
        /// True if it sent a line in the current second.
        var hasSpoken = false
        var isAlive = false
        var reports = 0
        var runs = ReceiverRuns()
        /// The time that the receiver certainly listened.
        var clock = ListeningClock()
        /// The names that it knows, as a number that receivers with the same names share; `nil` if its lines name all.
        var vocabulary: Int?
        /// True if it sends nothing, so that it is dead.
        var isTimedOut: Bool { !isAlive && !isDeaf }
    }

    /// The lines that came, and those that were not used.
    public struct Counts: Hashable, Sendable {
        public var lines = 0
        public var reports = 0
        /// Lines that came twice.
        public var duplicates = 0
        /// Lines that came after their second was over.
        public var late = 0
        /// Lines of receivers that the file does not name.
        public var unknownReceivers = 0
        /// Lines with a time that other lines contradict.
        public var wrongClocks = 0
        /// Beacons without a name, if they are only counted.
        public var strangers = 0
        /// Reports of beacons beyond ``limit``.
        public var crowded = 0
    }

    /// A change of a beacon or of a receiver.
    public struct Event: Hashable, Sendable {
        /// The kind of the change.
        public enum Kind: String, Hashable, Sendable, CaseIterable {
            case enter, room, unknown, known, exit
            /// A receiver has died, or lives again.
            case receiverDead = "receiver-dead"
            case receiverAlive = "receiver-alive"
        }

        public var kind: Kind
        public var unixMilliseconds: Int
        /// Unique, and the same on all collectors that get the same lines.
        public var id = ""
        public var beacon: String?
        public var receiver: String?
        /// The room now, and the room of the event before.
        public var room: String?
        public var from: String?
        public var floor: String?
        /// The probability of the room; `nil` if it is not known.
        public var probability: Double?
        /// On the floor plan; `nil` without one.
        public var position: FloorPosition?
        /// The time of the last enter or exit, in milliseconds since 1970.
        public var since: Int?
        /// Why it is certain that the receivers worked until the beacon left; `nil` unless it left.
        public var proof: ListeningClock.Proof?
        /// Why the room is not known; `nil` if it is known, or the beacon has left.
        public var reason: UnknownReason?
    }

    /// The time without a line, in milliseconds, after which a receiver is dead.
    public static let deadAfter = 15_000
    /// The largest age of a line before the current second, in milliseconds, with which it still changes presence.
    public static let lateness = 2000
    /// The largest difference between the time of a line and its arrival, in milliseconds, with which it is live.
    public static let liveMilliseconds = 60_000
    /// After this number of empty seconds nothing changes any more.
    static let quiet = 400
    /// The largest number of beacons that the file does not describe. Those that it describes always have room.
    public static let limit = 20_000
    /// The largest number of different vocabularies.
    private static let vocabularyLimit = 1000

    /// Creates a collector that has received nothing.
    ///
    /// - Parameter plan: The rooms of the same file.
    public init(_ file: CollectorFile, _ plan: RoomPlan) {
        self.file = file
        self.plan = plan
        described = Dictionary(file.beacons.map { ($0.name, $0) }) { first, _ in first }
        namesOfIdentities = Dictionary(file.beacons.map { ("\($0.identity)", $0.name) }) { first, _ in first }
        receiverNumbers = Dictionary(file.receivers.enumerated().map { ($1.name, $0) }) { first, _ in first }
        receivers = file.receivers.map { _ in Receiver() }
        blindCells = BlindCells(plan)
    }

    // MARK: Lines

    /// Takes a line.
    ///
    /// - Parameters:
    ///   - name: The receiver, for lines that do not name it.
    ///   - arrival: The time of arrival in milliseconds since 1970, for lines without a time.
    ///   - isLive: True if `arrival` is the time of this machine's clock. Then a line that agrees with it needs no other
    ///     line that agrees, and a line of the near future has a fast clock, so that its arrival is its time.
    ///   - goesOn: As for ``advance(to:goesOn:)``.
    /// - Returns: the changes in the seconds before the line.
    public mutating func take(
        _ line: ReceiverLine, from name: String?, arrival: Int, isLive: Bool = false, goesOn: () -> Bool = { true }
    ) -> [Event] {
        counts.lines += 1
        guard let receiver = (line.receiver ?? name).flatMap({ receiverNumbers[$0] }) else {
            counts.unknownReceivers += 1
            return []
        }
        var time = line.unixMilliseconds ?? arrival
        if isLive, (1...Self.liveMilliseconds).contains(time - arrival) { time = arrival }
        if let number = line.number {
            switch receivers[receiver].runs.take(number, arrival: time) {
            case .again:
                counts.duplicates += 1
                return []
            case .timeless:
                counts.late += 1
                return []
            case .ahead:
                counts.wrongClocks += 1
                return []
            case .at(let moment): time = moment
            }
        }
        let timed = TimedLine(line: line, receiver: receiver, time: time)
        let isCertain =
            isLive ? abs(time - arrival) <= Self.liveMilliseconds : line.unixMilliseconds == nil
        return follow(timed, isCertain: isCertain, goesOn)
    }

    /// Takes a line if its time is possible.
    ///
    /// - Parameter isCertain: True if its time is known from a clock and not only from the line.
    private mutating func follow(_ line: TimedLine, isCertain: Bool, _ goesOn: () -> Bool) -> [Event] {
        guard let start else {
            isTimeAgreed = isCertain
            return use(line, goesOn)
        }
        if !isTimeAgreed {
            if let events = agree(line, start, isCertain: isCertain, goesOn) { return events }
        }
        guard line.time > start + LeapingLines.step, !isCertain else {
            // A line that comes late does not show that the waiting lines have a wrong clock.
            if line.time >= start - LeapingLines.step { counts.wrongClocks += leaping.take().count }
            return use(line, goesOn)
        }
        counts.wrongClocks += leaping.add(line)
        guard leaping.agree else { return [] }
        return useLeapingLines(goesOn)
    }

    /// Decides whether the time is certain. Until a second line agrees, it comes from one clock, which may be wrong.
    ///
    /// - Returns: the changes if the line is taken or waits; `nil` if it is taken as any other line.
    private mutating func agree(
        _ line: TimedLine, _ start: Int, isCertain: Bool, _ goesOn: () -> Bool
    ) -> [Event]? {
        func agrees(_ other: TimedLine) -> Bool { abs(other.time - line.time) <= LeapingLines.step }
        if isCertain || abs(line.time - start) <= LeapingLines.step {
            counts.wrongClocks += earlier.take().count
            (isTimeAgreed, resumed) = (true, [])
            return nil
        }
        // A batch that comes late is no evidence.
        guard line.line.unixMilliseconds != nil else { return nil }
        if let other = (leaping.lines + earlier.lines).first(where: agrees) {
            startAgain(without: leaping.lines.count + earlier.lines.count)
            isTimeAgreed = true
            return use(other, goesOn) + use(line, goesOn)
        }
        guard line.time < start else { return nil }
        counts.wrongClocks += earlier.add(line)
        guard earlier.agree else { return [] }
        let lines = earlier.take()
        startAgain(without: leaping.lines.count + 1)
        isTimeAgreed = true
        return lines.enumerated().flatMap { place, line in
            place == 0 ? use(line, goesOn) : follow(line, isCertain: false, goesOn)
        }
    }

    /// Takes the waiting lines. The first one sets the time; others that are far ahead of it wait again.
    private mutating func useLeapingLines(_ goesOn: () -> Bool) -> [Event] {
        let lines = leaping.take()
        isTimeAgreed = true
        var events: [Event] = []
        for (place, line) in lines.enumerated() {
            events += place == 0 ? use(line, goesOn) : follow(line, isCertain: false, goesOn)
        }
        return events
    }

    /// Forgets everything but the counts and the beacons that ``resume(_:at:)`` has named.
    ///
    /// - Parameter wrong: The number of lines with a wrong clock so far.
    private mutating func startAgain(without wrong: Int) {
        var new = SightingCollector(file, plan)
        (new.counts, new.strangers) = (counts, strangers)
        (new.keepsSightings, new.resumed) = (keepsSightings, resumed)
        new.counts.wrongClocks += wrong
        self = new
    }

    private mutating func use(_ timed: TimedLine, _ goesOn: () -> Bool) -> [Event] {
        let (line, receiver, time) = (timed.line, timed.receiver, timed.time)
        if !resumed.isEmpty, trails.isEmpty { restore(at: time) }
        let events = pass(to: time, goesOn)
        if let start, time < start - Self.lateness {
            counts.late += 1
            note(line, receiver, at: time, isLate: true)
            return events
        }
        note(line, receiver, at: time, isLate: false)
        receivers[receiver].lastLine = max(receivers[receiver].lastLine ?? time, time)
        receivers[receiver].hasSpoken = true
        if let isListening = line.isListening {
            (receivers[receiver].isDeaf, receivers[receiver].isOff) = (!isListening, line.isOff)
        }
        if line.provesReception { receivers[receiver].clock.receive(at: instant(time)) }
        if !line.beacons.isEmpty { receivers[receiver].vocabulary = vocabulary(of: line, receiver) }
        for heard in line.beacons { take(heard, from: receiver) }
        return events
    }

    private mutating func vocabulary(of line: ReceiverLine, _ receiver: Int) -> Int? {
        guard line.number != nil else { return nil }
        guard let names = line.knownNames else { return receiver }
        if let number = vocabularies[names] { return number }
        guard vocabularies.count < Self.vocabularyLimit else { return receiver }
        vocabularies[names] = receivers.count + vocabularies.count
        return vocabularies[names]
    }

    private mutating func take(_ heard: ReceiverLine.Heard, from receiver: Int) {
        counts.reports += heard.reports
        receivers[receiver].reports += heard.reports
        guard let key = name(of: heard) else {
            if strangers.count < Self.limit, let identity = heard.identity { strangers.insert(identity) }
            counts.strangers = strangers.count
            return
        }
        let number: Int
        if let known = numbers[key] {
            number = known
        } else {
            guard described[key] != nil || undescribed < Self.limit else {
                counts.crowded += 1
                return
            }
            if described[key] == nil { undescribed += 1 }
            number = trails.count
            numbers[key] = number
            trails.append(
                BeaconTrail(
                    name: key, identity: heard.identity ?? described[key].map { "\($0.identity)" },
                    described: described[key], power: heard.powerAtOneMeter))
        }
        let offset = Double(file.receivers[receiver].levelOffset)
        trails[number].hear(
            heard, level: heard.level.map { $0 + offset }, from: receiver, receivers[receiver].vocabulary)
    }

    /// The name of a beacon; `nil` for strangers that are only counted.
    private func name(of heard: ReceiverLine.Heard) -> String? {
        heard.identity.flatMap { namesOfIdentities[$0] } ?? heard.name ?? (file.listsStrangers ? heard.identity : nil)
    }

    // MARK: Sightings and presence

    private mutating func note(_ line: ReceiverLine, _ receiver: Int, at time: Int, isLate: Bool) {
        guard keepsSightings else { return }
        let given = file.receivers[receiver]
        for heard in line.beacons {
            guard let name = name(of: heard) else { continue }
            // A line without a number has its time as number.
            let batch = SightingRow.Batch(
                boot: line.number?.boot ?? "line", sequence: Int64(line.number?.sequence ?? time))
            sightings.append(
                SightingRow(
                    receiver: given.name, beacon: name, milliseconds: Int64(time), reports: heard.reports,
                    level: heard.level.map { $0 + Double(given.levelOffset) }, batch: batch, isLate: isLate))
        }
    }

    /// Returns the sightings since the last call; none without ``keepsSightings``.
    public mutating func takeSightings() -> [SightingRow] {
        defer { sightings.removeAll(keepingCapacity: true) }
        return sightings
    }

    /// A beacon that is present, for the next run.
    public struct Stay: Hashable, Sendable {
        public var beacon: String
        /// `nil` if it is not known.
        public var room: String?
        /// The time of the enter event, in milliseconds since 1970.
        public var since: Int
        public var isKnown: Bool
    }

    /// Continues where an earlier run has ended: the beacons are present without an enter event, and leave if no
    /// receiver receives them.
    ///
    /// - Parameter time: Now, in milliseconds since 1970. Later stays are ignored.
    public mutating func resume(_ stays: [Stay], at time: Int) {
        resumed = stays
        restore(at: time)
    }

    private mutating func restore(at time: Int) {
        for stay in resumed where stay.since <= time && numbers[stay.beacon] == nil {
            let known = described[stay.beacon]
            guard known != nil || undescribed < Self.limit else { continue }
            if known == nil { undescribed += 1 }
            numbers[stay.beacon] = trails.count
            var trail = BeaconTrail(
                name: stay.beacon, identity: known.map { "\($0.identity)" }, described: known, power: nil)
            // Rooms of several floors may have this name.
            let rooms = plan.rooms.indices.filter { plan.rooms[$0].name == stay.room }
            trail.resume(
                room: rooms.count == 1 ? rooms[0] : nil, since: stay.since, isKnown: stay.isKnown && rooms.count <= 1,
                at: time)
            trails.append(trail)
        }
    }

    /// True if the collector's time is that of a clock which shows `milliseconds` since 1970.
    func follows(_ milliseconds: Int) -> Bool { start.map { abs($0 - milliseconds) <= Self.liveMilliseconds } ?? true }

    /// The beacons that are present now.
    public var stays: [Stay] {
        trails.filter(\.isPresent).map { trail in
            Stay(
                beacon: trail.name, room: trail.reportedRoom.map { plan.rooms[$0].name }, since: trail.since ?? 0,
                isKnown: trail.isKnown)
        }
    }

    // MARK: Time

    /// A time in milliseconds since 1970 as a moment of the receivers' clocks, which are never set.
    private func instant(_ time: Int) -> HeardInstant {
        HeardInstant(nanoseconds: 0).advanced(byMicroseconds: (time - shifted) * 1000)
    }

    /// Ends every second that is over by `time`.
    ///
    /// - Parameter goesOn: Called often, because a second may take long at a large site. If it returns false, the rest is
    ///   left out, so that a process can end when it is asked to.
    /// - Returns: the changes.
    public mutating func advance(to time: Int, goesOn: () -> Bool = { true }) -> [Event] {
        (isTimeAgreed, resumed) = (true, [])
        return pass(to: time, goesOn)
    }

    private mutating func pass(to time: Int, _ goesOn: () -> Bool) -> [Event] {
        guard var start else {
            // With whole seconds, collectors that get the same lines give events the same ids.
            self.start = time - time % 1000
            return []
        }
        var events: [Event] = []
        var passed = 0
        while start + 1000 <= time, goesOn() {
            start += 1000
            events += endSecond(start, goesOn)
            passed += 1
            // All receivers are dead by now.
            if passed == Self.quiet { start += (time - start) / 1000 * 1000 }
        }
        self.start = start
        return events
    }

    /// Ends the current second, because no more lines come.
    public mutating func finish(goesOn: () -> Bool = { true }) -> [Event] {
        var events: [Event] = []
        counts.wrongClocks += earlier.take().count
        // After a short pause, the last lines need not agree.
        while let first = leaping.lines.first {
            guard let start, first.time - start <= LeapingLines.pause else {
                counts.wrongClocks += leaping.take().count
                break
            }
            events += useLeapingLines(goesOn)
        }
        guard let start else { return events }
        return events + advance(to: start + 1000, goesOn: goesOn)
    }

    /// Changes all times, because this machine's clock was set. Nothing else changes.
    ///
    /// - Parameter milliseconds: Positive if the clock was set forward.
    public mutating func shift(by milliseconds: Int) {
        // Seconds still begin with whole seconds.
        let step = Int((Double(milliseconds) / 1000).rounded()) * 1000
        start = start.map { $0 + step }
        shifted += step
        for number in receivers.indices {
            receivers[number].lastLine = receivers[number].lastLine.map { $0 + step }
            receivers[number].runs.shift(by: milliseconds)
        }
        for number in trails.indices { trails[number].shift(by: step) }
    }

    private mutating func endSecond(_ end: Int, _ goesOn: () -> Bool) -> [Event] {
        var events: [Event] = []
        for number in receivers.indices {
            let isAlive =
                !receivers[number].isDeaf
                && receivers[number].lastLine.map { end - $0 <= Self.deadAfter } ?? false
            guard isAlive != receivers[number].isAlive else { continue }
            receivers[number].isAlive = isAlive
            blindCells.change(number, isAlive: isAlive)
            let kind = isAlive ? Event.Kind.receiverAlive : .receiverDead
            events.append(
                Event(
                    kind: kind, unixMilliseconds: end, id: id(kind, file.receivers[number].name, at: end),
                    receiver: file.receivers[number].name))
        }
        let isAlive = receivers.map(\.isAlive)
        let moment = instant(end)
        let isCertain = receivers.indices.map {
            isAlive[$0] && receivers[$0].clock.lastReport != nil && !receivers[$0].clock.isDoubtful(at: moment)
        }
        let isPlaced = receivers.indices.map { isAlive[$0] && plan.levels.rows[$0] != nil }
        let hasSpoken = receivers.indices.map { isPlaced[$0] && receivers[$0].hasSpoken }
        let now = BeaconTrail.ReceiverStates(
            plan: plan, isAlive: isAlive, isCertain: isCertain, hasSpoken: hasSpoken,
            spoken: hasSpoken.indices.filter { hasSpoken[$0] },
            isRecent: receivers.indices.map {
                isPlaced[$0] && receivers[$0].lastLine ?? 0 >= end - BeaconTrail.quietStep
            },
            lastReports: receivers.map { $0.clock.lastReport.map { Int($0.nanoseconds / 1_000_000) + shifted } },
            periods: receivers.map(\.clock.period), vocabularies: receivers.map(\.vocabulary),
            hasBlindCells: blindCells.exist,
            hasDead: isAlive.contains(false), end: end)
        for number in trails.indices {
            guard number % Self.beaconsBetween > 0 || goesOn() else { break }
            for change in trails[number].endSecond(now, &workspace) {
                events.append(event(change, of: trails[number], at: end))
            }
        }
        for number in receivers.indices { receivers[number].hasSpoken = false }
        return events
    }

    private func event(_ change: BeaconTrail.Change, of trail: BeaconTrail, at time: Int) -> Event {
        var event = Event(kind: .enter, unixMilliseconds: time, beacon: trail.name)
        var from: Int?
        switch change {
        case .enter: event.kind = .enter
        case .exit(let room, let proof): (event.kind, from, event.proof) = (.exit, room, proof)
        case .known: event.kind = .known
        case .unknown(let room): (event.kind, from) = (.unknown, room)
        case .room(let room): (event.kind, from) = (.room, room)
        }
        event.from = from.map { plan.rooms[$0].name }
        if trail.isKnown, let room = trail.room {
            event.room = plan.rooms[room].name
            event.floor = plan.rooms[room].floor
        }
        event.id = id(event.kind, trail.name, at: time)
        event.since = trail.since
        if trail.isPresent {
            event.probability = trail.probability
            event.position = trail.filter.flatMap(plan.place)?.position
            event.reason = unknownReason(of: trail)
        }
        return event
    }

    private func id(_ kind: Event.Kind, _ name: String, at time: Int) -> String {
        // Ids of one moment sort in the order of the events.
        let order = Event.Kind.allCases.firstIndex(of: kind) ?? 0
        return "\(file.name)-\(time)-\(order)\(String(StableHash.of("\(kind.rawValue) \(name)"), radix: 16))"
    }
}
