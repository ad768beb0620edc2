internal import Airtime
internal import Configuration

/// Puts together what all receivers of a site hear: who is there, in which room, and how surely.
///
/// Time is that of the lines, in milliseconds since 1970, and goes on second by second. A receiver that says nothing for
/// 15 s, or that it is deaf, is dead: that it hears nothing counts for nothing, and what only it could hear is unknown.
public struct SightingCollector: Sendable {
    public let file: CollectorFile
    let plan: RoomPlan
    private(set) var trails: [BeaconTrail] = []
    /// Of each trail, by name or, for a stranger, identity.
    private var numbers: [String: Int] = [:]
    private let described: [String: CollectorFile.Beacon]
    private let namesOfIdentities: [String: String]
    private let receiverNumbers: [String: Int]
    private(set) var receivers: [Receiver]
    public private(set) var counts = Counts()
    /// When the second that goes on began; `nil` before the first line.
    private var start: Int?
    private var strangers: Set<String> = []
    /// What is true of the dead receivers as they are.
    private var hasBlindCells: Bool

    /// What one receiver is.
    struct Receiver: Sendable {
        var lastLine: Int?
        var isDeaf = false
        /// In the second that goes on.
        var hasSpoken = false
        var isAlive = false
        var lines = 0
        var reports = 0
        /// The last sequence of each boot, at most ``boots`` of them.
        var sequences: [(boot: String, sequence: Int)] = []
        var clock = BootClock()

        static let boots = 4
    }

    /// What came in, and what was not taken.
    public struct Counts: Hashable, Sendable {
        public var lines = 0
        public var reports = 0
        /// Lines that came twice.
        public var duplicates = 0
        /// Lines of a time that was over.
        public var late = 0
        /// Lines of receivers that the file does not name.
        public var unknownReceivers = 0
        /// Lines whose clock is more than a day ahead.
        public var wrongClocks = 0
        /// Beacons without a name, where they are only counted.
        public var strangers = 0
        /// Beacons that were one too many.
        public var crowded = 0
    }

    /// Something that has changed.
    public struct Event: Hashable, Sendable {
        /// What has.
        public enum Kind: String, Hashable, Sendable, CaseIterable {
            case enter, exit, room, unknown, known
            /// A receiver is dead, or alive again.
            case receiverDead = "receiver-dead"
            case receiverAlive = "receiver-alive"
        }

        public var kind: Kind
        public var unixMilliseconds: Int
        public var beacon: String?
        public var receiver: String?
        /// Where it is now, and where it was told to be before.
        public var room: String?
        public var from: String?
        public var floor: String?
    }

    /// After so many milliseconds without a line a receiver is dead.
    public static let deadAfter = 15_000
    /// What is so much older than the second that goes on comes too late for presence.
    public static let lateness = 2000
    /// A line whose clock is farther ahead than this is not believed.
    static let jump = 86_400_000
    /// After so many empty seconds nothing changes any more.
    static let quiet = 400
    /// Beacons that are followed at most.
    public static let limit = 20_000

    /// - Parameter plan: Of the same file.
    public init(_ file: CollectorFile, _ plan: RoomPlan) {
        self.file = file
        self.plan = plan
        described = Dictionary(file.beacons.map { ($0.name, $0) }) { first, _ in first }
        namesOfIdentities = Dictionary(file.beacons.map { ("\($0.identity)", $0.name) }) { first, _ in first }
        receiverNumbers = Dictionary(file.receivers.enumerated().map { ($1.name, $0) }) { first, _ in first }
        receivers = file.receivers.map { _ in Receiver() }
        hasBlindCells = true
    }

    // MARK: Lines

    /// Takes a line.
    ///
    /// - Parameters:
    ///   - name: Who heard it, where the line does not say.
    ///   - arrival: When it came, in milliseconds since 1970, for lines without a time.
    /// - Returns: what has changed before it.
    public mutating func take(_ line: ReceiverLine, from name: String?, arrival: Int) -> [Event] {
        counts.lines += 1
        guard let receiver = (line.receiver ?? name).flatMap({ receiverNumbers[$0] }) else {
            counts.unknownReceivers += 1
            return []
        }
        var time = line.unixMilliseconds ?? arrival
        if let number = line.number {
            guard receivers[receiver].isNew(number) else {
                counts.duplicates += 1
                return []
            }
            time = receivers[receiver].clock.unixMilliseconds(number.bootMilliseconds, arrival: time)
        }
        if let start, time > start + Self.jump {
            counts.wrongClocks += 1
            return []
        }
        let events = advance(to: time)
        if let start, time < start - Self.lateness {
            counts.late += 1
            return events
        }
        receivers[receiver].lastLine = max(receivers[receiver].lastLine ?? time, time)
        receivers[receiver].lines += 1
        receivers[receiver].hasSpoken = true
        if let isListening = line.isListening { receivers[receiver].isDeaf = !isListening }
        for heard in line.beacons { take(heard, from: receiver) }
        return events
    }

    private mutating func take(_ heard: ReceiverLine.Heard, from receiver: Int) {
        counts.reports += heard.reports
        receivers[receiver].reports += heard.reports
        let name = heard.identity.flatMap { namesOfIdentities[$0] } ?? heard.name
        guard let key = name ?? (file.listsStrangers ? heard.identity : nil) else {
            if strangers.count < Self.limit, let identity = heard.identity { strangers.insert(identity) }
            counts.strangers = strangers.count
            return
        }
        let number: Int
        if let known = numbers[key] {
            number = known
        } else {
            guard trails.count < Self.limit else {
                counts.crowded += 1
                return
            }
            number = trails.count
            numbers[key] = number
            trails.append(
                BeaconTrail(
                    name: key, identity: heard.identity ?? described[key].map { "\($0.identity)" },
                    described: described[key], power: heard.powerAtOneMeter))
        }
        let offset = Double(file.receivers[receiver].levelOffset)
        trails[number].hear(heard, level: heard.level.map { $0 + offset }, from: receiver)
    }

    // MARK: Time

    /// Lets time pass: every second that is over by `time` is judged.
    public mutating func advance(to time: Int) -> [Event] {
        guard var start else {
            self.start = time
            return []
        }
        var events: [Event] = []
        var passed = 0
        while start + 1000 <= time {
            start += 1000
            events += endSecond(start)
            passed += 1
            // Everybody is dead by now.
            if passed == Self.quiet { start += (time - start) / 1000 * 1000 }
        }
        self.start = start
        return events
    }

    /// Nothing more comes: the second that goes on ends.
    public mutating func finish() -> [Event] {
        guard let start else { return [] }
        return advance(to: start + 1000)
    }

    private mutating func endSecond(_ end: Int) -> [Event] {
        var events: [Event] = []
        var hasChanged = false
        for number in receivers.indices {
            let isAlive =
                !receivers[number].isDeaf
                && receivers[number].lastLine.map { end - $0 <= Self.deadAfter } ?? false
            guard isAlive != receivers[number].isAlive else { continue }
            receivers[number].isAlive = isAlive
            hasChanged = true
            events.append(
                Event(
                    kind: isAlive ? .receiverAlive : .receiverDead, unixMilliseconds: end,
                    receiver: file.receivers[number].name))
        }
        if hasChanged { hasBlindCells = findBlindCells() }
        let isAlive = receivers.map(\.isAlive)
        let now = BeaconTrail.Surroundings(
            plan: plan, receivers: file.receivers, isAlive: isAlive, hasSpoken: receivers.map(\.hasSpoken),
            lastLines: receivers.map(\.lastLine),
            hasBlindCells: hasBlindCells, hasDead: isAlive.contains(false), end: end)
        for number in trails.indices {
            for change in trails[number].endSecond(now) { events.append(event(change, of: trails[number], at: end)) }
        }
        for number in receivers.indices { receivers[number].hasSpoken = false }
        return events
    }

    private func event(_ change: BeaconTrail.Change, of trail: BeaconTrail, at time: Int) -> Event {
        var event = Event(kind: .enter, unixMilliseconds: time, beacon: trail.name)
        switch change {
        case .enter: event.kind = .enter
        case .exit: event.kind = .exit
        case .known: event.kind = .known
        case .unknown: event.kind = .unknown
        case .room(let from):
            event.kind = .room
            event.from = from.map { plan.rooms[$0].name }
        }
        if trail.isKnown, let room = trail.room {
            event.room = plan.rooms[room].name
            event.floor = plan.rooms[room].floor
        }
        return event
    }

    /// Whether a dead receiver would hear a usual beacon somewhere where no living one does.
    private func findBlindCells() -> Bool {
        let placed = receivers.indices.filter { !plan.levels[$0].isEmpty }
        // Nobody knows what those hear that stand nowhere.
        if receivers.indices.contains(where: { plan.levels[$0].isEmpty && !receivers[$0].isAlive }) { return true }
        return (0..<plan.cellCount).contains { cell in
            func isHeard(_ receiver: Int) -> Bool { plan.audible(receiver, cell, power: RoomPlan.usualPower) >= 0.5 }
            return placed.contains { !receivers[$0].isAlive && isHeard($0) }
                && !placed.contains { receivers[$0].isAlive && isHeard($0) }
        }
    }
}

extension SightingCollector.Receiver {
    /// Whether a line has not come before; batches of one run come in their order.
    fileprivate mutating func isNew(_ number: ReceiverLine.Number) -> Bool {
        guard let place = sequences.firstIndex(where: { $0.boot == number.boot }) else {
            if sequences.count == Self.boots { sequences.removeFirst() }
            sequences.append((number.boot, number.sequence))
            return true
        }
        guard number.sequence > sequences[place].sequence else { return false }
        sequences[place].sequence = number.sequence
        return true
    }
}

/// What a receiver's clock since its start is by ours: the way of a line takes time, and the shortest way is the truth.
struct BootClock: Sendable {
    /// The smallest difference of each of the last minutes, newest last.
    private var differences: [(minute: Int, least: Int)] = []
    /// Minutes that count.
    static let minutes = 5

    /// - Parameter arrival: When it came.
    mutating func unixMilliseconds(_ bootMilliseconds: Int, arrival: Int) -> Int {
        let (minute, difference) = (arrival / 60_000, arrival - bootMilliseconds)
        if let last = differences.last, last.minute == minute {
            differences[differences.count - 1].least = min(last.least, difference)
        } else {
            differences.append((minute, difference))
        }
        // A machine that was started again has another clock.
        differences.removeAll { $0.minute <= minute - Self.minutes || abs($0.least - difference) > 3_600_000 }
        return bootMilliseconds + (differences.map(\.least).min() ?? difference)
    }
}
