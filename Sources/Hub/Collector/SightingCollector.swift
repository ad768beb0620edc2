public import Airtime
internal import BluetoothTypes
internal import Configuration
internal import Messaging
public import Sightings
public import Store

/// Combines the lines of all receivers of a site. Computes which beacons are present, in which room, and with which
/// probability.
///
/// The collector's time is the time in the lines, in milliseconds since 1970, and advances second by second. A single
/// line cannot advance it by much: a line whose time is far ahead waits until at least three such lines agree. A
/// receiver is dead if it sends nothing for 15 s, or reports that it receives nothing. A dead receiver's silence is
/// ignored. The rooms of beacons that only dead receivers could receive become unknown. A receiver may have stopped up to
/// 15 s before it counts as dead. So an exit waits until each receiver has sent a line after the silence, or is dead.
public struct SightingCollector: Sendable {
    public let file: CollectorFile
    let plan: RoomPlan
    private(set) var trails: [BeaconTrail] = []
    /// The index of each trail, by the name of its beacon, or by the beacon's identity if it has no name.
    private var trailIndices: [String: Int] = [:]
    /// The beacons of the file, by name.
    private let fileBeacons: [String: CollectorFile.Beacon]
    /// The names of the beacons of the file, by the text of their identity.
    private let namesOfIdentities: [String: String]
    /// The index of each receiver, by name.
    private let receiverIndices: [String: Int]
    private(set) var receivers: [Receiver]
    public private(set) var counts = Counts()
    /// The start of the current second; `nil` before the first line.
    private var start: Int?
    /// True if a second line or the machine's clock agrees with the time of the first line.
    private var isTimeAgreed = false
    /// Lines whose time is far ahead of the collector's time.
    private var linesAhead = WaitingLines()
    /// Lines that are older than the first line, kept until the time is agreed.
    private var earlierLines = WaitingLines()
    /// The time by which ``shift(by:)`` has changed all times so far, in milliseconds.
    private var clockShiftMilliseconds = 0
    /// The beacons that were present at the end of an earlier run. They are kept until the time is agreed,
    /// because they are restored again if the collector starts again with another time.
    private var resumed: [Stay] = []
    /// The identities of beacons without a name, if such beacons are only counted.
    private var unknownIdentities: Set<String> = []
    /// The id of each set of beacon names, by the text of ``SightingBatch/knownNames``. If the batches of a receiver
    /// have no such text, the id is the index of the receiver. So the ids in this dictionary are larger than all
    /// indices of receivers.
    private var nameSetIDs: [String: Int] = [:]
    /// The number of trails of beacons that are not in the file.
    private var undescribedCount = 0
    /// True if sightings are kept for ``takeSightings()``.
    public var keepsSightings = false
    private var sightings: [SightingRow] = []
    private var blindCells: BlindCells
    private var workspace = CellWorkspace()
    /// The number of beacons between two calls of `shouldContinue`.
    private static let beaconsPerCheck = 4

    /// The state of one receiver.
    struct Receiver: Sendable {
        /// The time of the newest line, in milliseconds since 1970.
        var lastLine: Int?
        /// True if the receiver reported that it does not work.
        var isDeaf = false
        /// True if the receiver has ended, or the broker has reported that it is offline.
        var isOff = false
        /// True if the receiver sent a line in the current second.
        var hasSentLine = false
        /// True if the receiver sent a line within the last ``SightingCollector/deadAfter`` milliseconds and is not
        /// deaf.
        var isAlive = false
        /// The number of series of lines, which long pauses separate.
        var lines = LineSeries()
        var reports = 0
        var runs = ReceiverRuns()
        /// The time during which the receiver certainly worked.
        var clock = ListeningClock()
        /// The id of the set of beacon names that the receiver knows. Receivers with the same names have the same id.
        /// `nil` if the receiver reports all beacons.
        var nameSet: Int?
        /// True if the receiver is dead because it sends no lines.
        var isTimedOut: Bool { !isAlive && !isDeaf }
    }

    /// The numbers of lines and reports that arrived, and of lines and beacons that were not used.
    public struct Counts: Hashable, Sendable {
        public var lines = 0
        public var reports = 0
        /// Lines that arrived twice.
        public var duplicateLines = 0
        /// Lines that arrived too late to change the presence of beacons.
        public var late = 0
        /// Lines of receivers that are not in the file.
        public var unknownReceivers = 0
        /// Lines with a time that other lines contradict.
        public var wrongClocks = 0
        /// Different beacons without a name that are only counted.
        public var strangers = 0
        /// The number of times that a beacon was ignored because ``limit`` was reached.
        public var crowded = 0
    }

    /// A change of a beacon or of a receiver.
    public struct Event: Hashable, Sendable {
        /// The kind of the change.
        public enum Kind: String, Hashable, Sendable, CaseIterable {
            case enter, room, unknown, known, exit
            /// A receiver has become dead.
            case receiverDead = "receiver-dead"
            /// A receiver has become alive.
            case receiverAlive = "receiver-alive"
        }

        public var kind: Kind
        public var unixMilliseconds: Int
        /// The unique id of the event. All collectors that receive the same lines compute the same id.
        public var id = ""
        public var beacon: String?
        public var receiver: String?
        /// The present room; `nil` if it is not known.
        public var room: String?
        /// The room of the previous event; `nil` if there was none.
        public var from: String?
        public var floor: String?
        /// The probability of the room; `nil` if it is not known.
        public var probability: Double?
        /// The estimated position on the floor; `nil` without a floor plan.
        public var position: FloorPosition?
        /// The time of the last enter or exit, in milliseconds since 1970.
        public var since: Int?
        /// The proof that the receivers worked until the beacon left; `nil` if the event is not an exit.
        public var proof: ListeningClock.Proof?
        /// The reason why the room is not known; `nil` if it is known, or the beacon has left.
        public var reason: UnknownReason?
    }

    /// The time without a line, in milliseconds, after which a receiver is dead.
    public static let deadAfter = 15_000
    /// The largest age of a line that can still change the presence of beacons, in milliseconds before the current
    /// second.
    public static let lateness = 2000
    /// The largest difference between the time and the arrival of a live line, in milliseconds.
    public static let liveMilliseconds = 60_000
    /// The number of seconds without a line after which all receivers are dead, so that further seconds change nothing.
    static let quietSeconds = 400
    /// The largest number of beacons that are not in the file.
    public static let limit = 20_000
    /// The largest number of different sets of beacon names.
    private static let nameSetLimit = 1000

    /// Creates a collector that has received nothing.
    ///
    /// - Parameter plan: The room plan of the same file.
    public init(_ file: CollectorFile, _ plan: RoomPlan) {
        self.file = file
        self.plan = plan
        fileBeacons = Dictionary(file.beacons.map { ($0.name, $0) }) { first, _ in first }
        namesOfIdentities = Dictionary(file.beacons.map { ("\($0.identity)", $0.name) }) { first, _ in first }
        receiverIndices = Dictionary(file.receivers.enumerated().map { ($1.name, $0) }) { first, _ in first }
        receivers = file.receivers.map { _ in Receiver() }
        blindCells = BlindCells(plan)
    }

    // MARK: Lines

    /// Processes a line.
    ///
    /// - Parameters:
    ///   - name: The name of the receiver, for lines that do not contain it.
    ///   - arrival: The time of arrival in milliseconds since 1970, for lines without a time.
    ///   - isLive: True if `arrival` was read from this machine's clock. A line whose time agrees with `arrival` is
    ///     then used at once. If the line's time is up to 60 s later, the line's clock is fast, and `arrival` is used
    ///     instead.
    ///   - shouldContinue: Called often. If it returns false, this function returns without doing the remaining work.
    /// - Returns: The changes in the seconds before the line.
    public mutating func process(
        _ line: ReceiverLine, from name: String?, arrival: Int, isLive: Bool = false,
        shouldContinue: () -> Bool = { true }
    ) -> [Event] {
        counts.lines += 1
        guard let receiver = (line.receiver ?? name).flatMap({ receiverIndices[$0] }) else {
            counts.unknownReceivers += 1
            return []
        }
        var unixMilliseconds = line.unixMilliseconds ?? arrival
        if isLive, (1...Self.liveMilliseconds).contains(unixMilliseconds - arrival) { unixMilliseconds = arrival }
        if let batchNumber = line.number {
            switch receivers[receiver].runs.process(batchNumber, arrival: unixMilliseconds) {
            case .again:
                counts.duplicateLines += 1
                return []
            case .timeless:
                counts.late += 1
                return []
            case .ahead:
                counts.wrongClocks += 1
                return []
            case .at(let time): unixMilliseconds = time
            }
        }
        let timed = TimedLine(line: line, receiver: receiver, unixMilliseconds: unixMilliseconds)
        let isCertain =
            isLive ? abs(unixMilliseconds - arrival) <= Self.liveMilliseconds : line.unixMilliseconds == nil
        return useOrKeep(timed, isCertain: isCertain, shouldContinue)
    }

    /// Uses a line if its time is certain or not far ahead of the collector's time. Otherwise keeps the line until
    /// later.
    ///
    /// - Parameter isCertain: True if the line's time is confirmed by this machine's clock.
    private mutating func useOrKeep(_ line: TimedLine, isCertain: Bool, _ shouldContinue: () -> Bool) -> [Event] {
        guard let start else {
            isTimeAgreed = isCertain
            return use(line, shouldContinue)
        }
        if !isTimeAgreed {
            if let events = agreeOnTime(line, start, isCertain: isCertain, shouldContinue) { return events }
        }
        guard line.unixMilliseconds > start + WaitingLines.maximumLead, !isCertain else {
            // A line near the collector's time shows that the clock of the waiting lines is wrong. A line that arrives
            // late does not show this.
            if line.unixMilliseconds >= start - WaitingLines.maximumLead {
                counts.wrongClocks += linesAhead.take().count
            }
            return use(line, shouldContinue)
        }
        counts.wrongClocks += linesAhead.add(line)
        guard linesAhead.agree else { return [] }
        return useLinesAhead(shouldContinue)
    }

    /// Decides whether the collector's time is agreed. Before that, it depends on a single clock, which may be wrong.
    ///
    /// - Returns: The changes if the line was used here or waits; `nil` if the caller must process it like any other
    ///   line.
    private mutating func agreeOnTime(
        _ line: TimedLine, _ start: Int, isCertain: Bool, _ shouldContinue: () -> Bool
    ) -> [Event]? {
        func agrees(_ other: TimedLine) -> Bool {
            abs(other.unixMilliseconds - line.unixMilliseconds) <= WaitingLines.maximumLead
        }
        if isCertain || abs(line.unixMilliseconds - start) <= WaitingLines.maximumLead {
            counts.wrongClocks += earlierLines.take().count
            (isTimeAgreed, resumed) = (true, [])
            return nil
        }
        // A line without a time of its own, such as a batch that may be late, proves nothing about the time.
        guard line.line.unixMilliseconds != nil else { return nil }
        if let other = (linesAhead.lines + earlierLines.lines).first(where: agrees) {
            startAgain(without: linesAhead.lines.count + earlierLines.lines.count)
            isTimeAgreed = true
            return use(other, shouldContinue) + use(line, shouldContinue)
        }
        guard line.unixMilliseconds < start else { return nil }
        counts.wrongClocks += earlierLines.add(line)
        guard earlierLines.agree else { return [] }
        let lines = earlierLines.take()
        startAgain(without: linesAhead.lines.count + 1)
        isTimeAgreed = true
        return lines.enumerated().flatMap { index, line in
            index == 0 ? use(line, shouldContinue) : useOrKeep(line, isCertain: false, shouldContinue)
        }
    }

    /// Uses the waiting lines. The first line sets the collector's time; lines that are far ahead of this time wait
    /// again.
    private mutating func useLinesAhead(_ shouldContinue: () -> Bool) -> [Event] {
        let lines = linesAhead.take()
        isTimeAgreed = true
        var events: [Event] = []
        for (index, line) in lines.enumerated() {
            events += index == 0 ? use(line, shouldContinue) : useOrKeep(line, isCertain: false, shouldContinue)
        }
        return events
    }

    /// Resets the state except the counts and the beacons that were passed to ``resume(_:at:)``.
    ///
    /// - Parameter wrongCount: The number of lines to add to the count of lines with a wrong clock.
    private mutating func startAgain(without wrongCount: Int) {
        var restarted = SightingCollector(file, plan)
        (restarted.counts, restarted.unknownIdentities) = (counts, unknownIdentities)
        (restarted.keepsSightings, restarted.resumed) = (keepsSightings, resumed)
        restarted.counts.wrongClocks += wrongCount
        self = restarted
    }

    private mutating func use(_ timed: TimedLine, _ shouldContinue: () -> Bool) -> [Event] {
        let (line, receiver, unixMilliseconds) = (timed.line, timed.receiver, timed.unixMilliseconds)
        if !resumed.isEmpty, trails.isEmpty { restore(at: unixMilliseconds) }
        let events = endSeconds(until: unixMilliseconds, shouldContinue)
        if let start, unixMilliseconds < start - Self.lateness {
            counts.late += 1
            keepSightings(line, receiver, at: unixMilliseconds, isLate: true)
            return events
        }
        keepSightings(line, receiver, at: unixMilliseconds, isLate: false)
        receivers[receiver].lines.add(pause: receivers[receiver].lastLine.map { unixMilliseconds - $0 })
        receivers[receiver].lastLine = max(receivers[receiver].lastLine ?? unixMilliseconds, unixMilliseconds)
        receivers[receiver].hasSentLine = true
        if let isListening = line.isListening {
            (receivers[receiver].isDeaf, receivers[receiver].isOff) = (!isListening, line.isOff)
        }
        if line.provesReception { receivers[receiver].clock.receive(at: instant(unixMilliseconds)) }
        if !line.beacons.isEmpty { receivers[receiver].nameSet = nameSet(of: line, receiver) }
        for beacon in line.beacons { add(beacon, from: receiver) }
        return events
    }

    /// Returns the id of the set of beacon names that a receiver knows, according to one of its lines; `nil` if the
    /// receiver reports all beacons.
    private mutating func nameSet(of line: ReceiverLine, _ receiver: Int) -> Int? {
        guard line.number != nil else { return nil }
        guard let names = line.knownNames else { return receiver }
        if let id = nameSetIDs[names] { return id }
        guard nameSetIDs.count < Self.nameSetLimit else { return receiver }
        nameSetIDs[names] = receivers.count + nameSetIDs.count
        return nameSetIDs[names]
    }

    private mutating func add(_ beacon: ReceiverLine.Beacon, from receiver: Int) {
        counts.reports += beacon.reports
        receivers[receiver].reports += beacon.reports
        guard let key = name(of: beacon) else {
            if unknownIdentities.count < Self.limit, let identity = beacon.identity {
                unknownIdentities.insert(identity)
            }
            counts.strangers = unknownIdentities.count
            return
        }
        let index: Int
        if let existing = trailIndices[key] {
            index = existing
        } else {
            guard fileBeacons[key] != nil || undescribedCount < Self.limit else {
                counts.crowded += 1
                return
            }
            if fileBeacons[key] == nil { undescribedCount += 1 }
            index = trails.count
            trailIndices[key] = index
            trails.append(
                BeaconTrail(
                    name: key, identity: beacon.identity ?? fileBeacons[key].map { "\($0.identity)" },
                    fileBeacon: fileBeacons[key], power: beacon.powerAtOneMeter))
        }
        let offset = Double(file.receivers[receiver].levelOffset)
        trails[index].add(
            beacon, level: beacon.level.map { $0 + offset }, from: receiver, receivers[receiver].nameSet)
    }

    /// Returns the name of a beacon, or its identity if it has no name; `nil` for beacons that are only counted.
    private func name(of beacon: ReceiverLine.Beacon) -> String? {
        beacon.identity.flatMap { namesOfIdentities[$0] } ?? beacon.name
            ?? (file.listsStrangers ? beacon.identity : nil)
    }

    // MARK: Sightings and presence

    /// Keeps the sightings of a line for ``takeSightings()``.
    private mutating func keepSightings(
        _ line: ReceiverLine, _ receiver: Int, at unixMilliseconds: Int, isLate: Bool
    ) {
        guard keepsSightings else { return }
        let fileReceiver = file.receivers[receiver]
        for beacon in line.beacons {
            guard let name = name(of: beacon) else { continue }
            // The batch number of a line without a number is the time of the line.
            let batch = SightingRow.Batch(
                boot: line.number?.boot ?? "line", sequence: Int64(line.number?.sequence ?? unixMilliseconds))
            sightings.append(
                SightingRow(
                    receiver: fileReceiver.name, beacon: name, milliseconds: Int64(unixMilliseconds),
                    reports: beacon.reports, level: beacon.level.map { $0 + Double(fileReceiver.levelOffset) },
                    batch: batch, isLate: isLate))
        }
    }

    /// Returns the sightings since the last call. If ``keepsSightings`` is false, returns none.
    public mutating func takeSightings() -> [SightingRow] {
        defer { sightings.removeAll(keepingCapacity: true) }
        return sightings
    }

    /// The stay of a beacon that is present at the site, as it is saved for the next run.
    public struct Stay: Hashable, Sendable {
        public var beacon: String
        /// The name of the room; `nil` if it is not known.
        public var room: String?
        /// The time of the enter event, in milliseconds since 1970.
        public var since: Int
        public var isKnown: Bool
    }

    /// Restores the beacons that were present at the end of an earlier run. They are present without a new enter event,
    /// and leave if no receiver receives them.
    ///
    /// - Parameter unixMilliseconds: The present time. Stays that begin later are ignored.
    public mutating func resume(_ stays: [Stay], at unixMilliseconds: Int) {
        resumed = stays
        restore(at: unixMilliseconds)
    }

    private mutating func restore(at unixMilliseconds: Int) {
        for stay in resumed where stay.since <= unixMilliseconds && trailIndices[stay.beacon] == nil {
            let fileBeacon = fileBeacons[stay.beacon]
            guard fileBeacon != nil || undescribedCount < Self.limit else { continue }
            if fileBeacon == nil { undescribedCount += 1 }
            trailIndices[stay.beacon] = trails.count
            var trail = BeaconTrail(
                name: stay.beacon, identity: fileBeacon.map { "\($0.identity)" }, fileBeacon: fileBeacon, power: nil)
            // Rooms on different floors may have the same name. It is then not known in which of these rooms the beacon
            // is.
            let rooms = plan.rooms.indices.filter { plan.rooms[$0].name == stay.room }
            trail.resume(
                room: rooms.count == 1 ? rooms[0] : nil, since: stay.since, isKnown: stay.isKnown && rooms.count <= 1,
                at: unixMilliseconds)
            trails.append(trail)
        }
    }

    /// Returns true if the collector's time agrees with a clock that shows `milliseconds` since 1970.
    func follows(_ milliseconds: Int) -> Bool { start.map { abs($0 - milliseconds) <= Self.liveMilliseconds } ?? true }

    /// The present stays of all beacons.
    public var stays: [Stay] {
        trails.filter(\.isPresent).map { trail in
            Stay(
                beacon: trail.name, room: trail.reportedRoom.map { plan.rooms[$0].name }, since: trail.since ?? 0,
                isKnown: trail.isKnown)
        }
    }

    // MARK: Time

    /// Converts a time in milliseconds since 1970 into a moment for the receivers' ``ListeningClock``. The moment does
    /// not depend on changes of this machine's clock.
    private func instant(_ unixMilliseconds: Int) -> HeardInstant {
        HeardInstant(nanoseconds: 0).advanced(byMicroseconds: (unixMilliseconds - clockShiftMilliseconds) * 1000)
    }

    /// Ends all seconds that end at or before `unixMilliseconds`.
    ///
    /// - Parameter shouldContinue: Called often, because a second of a large site may take long to process. If it
    ///   returns false, this function returns without doing the remaining work, so that a signal can end the process
    ///   quickly.
    /// - Returns: The changes.
    public mutating func advance(to unixMilliseconds: Int, shouldContinue: () -> Bool = { true }) -> [Event] {
        (isTimeAgreed, resumed) = (true, [])
        return endSeconds(until: unixMilliseconds, shouldContinue)
    }

    private mutating func endSeconds(until unixMilliseconds: Int, _ shouldContinue: () -> Bool) -> [Event] {
        guard var start else {
            // Seconds begin at whole seconds, so that collectors that receive the same lines compute the same ids of
            // events.
            self.start = unixMilliseconds - unixMilliseconds % 1000
            return []
        }
        var events: [Event] = []
        var endedSeconds = 0
        while start + 1000 <= unixMilliseconds, shouldContinue() {
            start += 1000
            events += endSecond(start, shouldContinue)
            endedSeconds += 1
            // After this many seconds without a line, all receivers are dead, so the remaining seconds are skipped.
            if endedSeconds == Self.quietSeconds { start += (unixMilliseconds - start) / 1000 * 1000 }
        }
        self.start = start
        return events
    }

    /// Uses the waiting lines, and ends the current second. Call it after the last line.
    public mutating func finish(shouldContinue: () -> Bool = { true }) -> [Event] {
        var events: [Event] = []
        counts.wrongClocks += earlierLines.take().count
        // No further line can agree with the waiting lines, so they are used without agreement. They are dropped if
        // they are very far ahead of the collector's time.
        while let first = linesAhead.lines.first {
            guard let start, first.unixMilliseconds - start <= WaitingLines.longestGap else {
                counts.wrongClocks += linesAhead.take().count
                break
            }
            events += useLinesAhead(shouldContinue)
        }
        guard let start else { return events }
        return events + advance(to: start + 1000, shouldContinue: shouldContinue)
    }

    /// Returns the time of the last report of a receiver in milliseconds since 1970, by the present wall clock; `nil`
    /// if there was no report.
    func lastReportUnixMilliseconds(of receiver: Int) -> Int? {
        receivers[receiver].clock.lastReport.map { Int($0.nanoseconds / 1_000_000) + clockShiftMilliseconds }
    }

    /// Adds a step of this machine's clock to all times. Nothing else changes.
    ///
    /// - Parameter milliseconds: The time by which the clock was set; positive if it was set forward.
    public mutating func shift(by milliseconds: Int) {
        // Shift by whole seconds, so that seconds still begin at whole seconds.
        let step = Int((Double(milliseconds) / 1000).rounded()) * 1000
        start = start.map { $0 + step }
        clockShiftMilliseconds += step
        for index in receivers.indices {
            receivers[index].lastLine = receivers[index].lastLine.map { $0 + step }
            receivers[index].runs.shift(by: milliseconds)
        }
        for index in trails.indices { trails[index].shift(by: step) }
    }

    private mutating func endSecond(_ end: Int, _ shouldContinue: () -> Bool) -> [Event] {
        var events: [Event] = []
        for index in receivers.indices {
            let isAlive =
                !receivers[index].isDeaf
                && receivers[index].lastLine.map { end - $0 <= Self.deadAfter } ?? false
            guard isAlive != receivers[index].isAlive else { continue }
            receivers[index].isAlive = isAlive
            blindCells.change(index, isAlive: isAlive)
            let kind = isAlive ? Event.Kind.receiverAlive : .receiverDead
            events.append(
                Event(
                    kind: kind, unixMilliseconds: end, id: id(kind, file.receivers[index].name, at: end),
                    receiver: file.receivers[index].name))
        }
        let isAlive = receivers.map(\.isAlive)
        let moment = instant(end)
        let isCertain = receivers.indices.map {
            isAlive[$0] && receivers[$0].clock.lastReport != nil && !receivers[$0].clock.isDoubtful(at: moment)
        }
        let isPlaced = receivers.indices.map { isAlive[$0] && plan.levels.rows[$0] != nil }
        let hasSentLine = receivers.indices.map { isPlaced[$0] && receivers[$0].hasSentLine }
        let linesOfLivingReceivers = receivers.filter(\.isAlive).compactMap(\.lastLine)
        let now = BeaconTrail.ReceiverStates(
            plan: plan, isAlive: isAlive, isCertain: isCertain, hasSentLine: hasSentLine,
            senders: hasSentLine.indices.filter { hasSentLine[$0] },
            isRecent: receivers.indices.map {
                isPlaced[$0] && receivers[$0].lastLine ?? 0 >= end - BeaconTrail.quietStep
            },
            lastReports: receivers.indices.map(lastReportUnixMilliseconds),
            lastLines: receivers.map(\.lastLine), oldestLastLine: linesOfLivingReceivers.min() ?? .max,
            lineSeries: receivers.map(\.lines.count),
            periods: receivers.map(\.clock.period), nameSets: receivers.map(\.nameSet),
            hasBlindCells: blindCells.mayExist,
            hasDead: isAlive.contains(false), end: end)
        for index in trails.indices {
            guard index % Self.beaconsPerCheck > 0 || shouldContinue() else { break }
            for change in trails[index].endSecond(now, &workspace) {
                events.append(event(change, of: trails[index], at: end))
            }
        }
        for index in receivers.indices { receivers[index].hasSentLine = false }
        return events
    }

    private func event(_ change: BeaconTrail.Change, of trail: BeaconTrail, at unixMilliseconds: Int) -> Event {
        var event = Event(kind: .enter, unixMilliseconds: unixMilliseconds, beacon: trail.name)
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
        event.id = id(event.kind, trail.name, at: unixMilliseconds)
        event.since = trail.since
        if trail.isPresent {
            event.probability = trail.probability
            event.position = trail.filter.flatMap(plan.location)?.position
            event.reason = unknownReason(of: trail)
        }
        return event
    }

    private func id(_ kind: Event.Kind, _ name: String, at unixMilliseconds: Int) -> String {
        // The order of the kinds is part of the id, so that sorting by id sorts events of the same time by kind.
        let order = Event.Kind.allCases.firstIndex(of: kind) ?? 0
        let hash = String(StableHash.of("\(kind.rawValue) \(name)"), radix: 16)
        return "\(file.name)-\(unixMilliseconds)-\(order)\(hash)"
    }
}
