/// What was counted of the packets of one receiver, or of all.
public struct ReceptionTally: SimulationTally, Hashable {
    /// Copies on all channels; hits: those that arrived above the sensitivity.
    public internal(set) var audible = ShareTally()
    /// Audible copies; hits: those that no collision destroyed.
    public internal(set) var clear = ShareTally()
    /// Advertising events with an audible copy; hits: those with a clear one, to a receiver of all three channels.
    public internal(set) var anyClear = ShareTally()
    /// Advertising events; hits: those of which the scanner received a copy.
    public internal(set) var received = ShareTally()
    /// Audible copies whose predecessor on the channel was audible and destroyed; hits: those destroyed as well.
    public internal(set) var lossAfterLoss = ShareTally()
    /// At index K-1: audible copies with K-1 audible predecessors on the channel; hits: those of which all K were
    /// destroyed.
    public internal(set) var runs: [ShareTally] = []
    /// From a random instant to the beginning of the first event, after it, that was received.
    public internal(set) var latency = LatencyTally()

    public init() {}

    public mutating func merge(_ next: ReceptionTally) {
        audible.merge(next.audible)
        clear.merge(next.clear)
        anyClear.merge(next.anyClear)
        received.merge(next.received)
        lossAfterLoss.merge(next.lossAfterLoss)
        runs.merge(next.runs)
        latency.merge(next.latency)
    }
}

/// What a batch of an ``AirSimulation`` counted.
public struct AirTally: SimulationTally, Hashable {
    /// One beacon at all receivers.
    public struct Beacon: Hashable, Sendable {
        /// Audible copies; hits: those that no collision destroyed.
        public internal(set) var clear = ShareTally()
        /// Advertising events; hits: those of which a scanner received a copy.
        public internal(set) var received = ShareTally()
        /// Whether it was received at all within the batch.
        public internal(set) var seen = ShareTally()

        mutating func merge(_ next: Beacon) {
            clear.merge(next.clear)
            received.merge(next.received)
            seen.merge(next.seen)
        }
    }

    /// All counted beacons at all receivers.
    public internal(set) var all = ReceptionTally()
    /// By the receivers' index.
    public internal(set) var receivers: [ReceptionTally] = []
    /// By the advertisers' index; empty shares for those that are not counted.
    public internal(set) var beacons: [Beacon] = []
    /// Of beacons with a given start, by the number of the event, 0 first: audible copies on channel 37, and those
    /// among them that were clear.
    public internal(set) var clearByEvent: [ShareTally] = []

    public init() {}

    public mutating func merge(_ next: AirTally) {
        all.merge(next.all)
        clearByEvent.merge(next.clearByEvent)
        if receivers.isEmpty {
            receivers = next.receivers
        } else {
            for (index, receiver) in next.receivers.enumerated() where index < receivers.count {
                receivers[index].merge(receiver)
            }
        }
        if beacons.isEmpty {
            beacons = next.beacons
        } else {
            for (index, beacon) in next.beacons.enumerated() where index < beacons.count {
                beacons[index].merge(beacon)
            }
        }
    }
}

extension [ShareTally] {
    /// Merges entry by entry; the longer list keeps its end.
    mutating func merge(_ next: [ShareTally]) {
        if count < next.count { self += repeatElement(ShareTally(), count: next.count - count) }
        for (index, tally) in next.enumerated() { self[index].merge(tally) }
    }
}

/// What a batch remembers of one beacon at one receiver.
struct AirLink {
    /// What was seen of the copies of the event that is on the air.
    struct Event: OptionSet {
        let rawValue: UInt8
        static let audible = Event(rawValue: 1)
        static let clear = Event(rawValue: 2)
        static let received = Event(rawValue: 4)
    }

    var event: Event = []
    var isSeen = false
    /// The first instant whose wait has not ended.
    var nextInstant = 0
    /// By channel: audible copies in a row, and destroyed ones among the last of them.
    private var audible = SIMD4<UInt16>()
    private var lost = SIMD4<UInt16>()

    /// A copy in the line of its channel: how many audible ones stand in a row, how many of the last were destroyed,
    /// and how many had been before.
    struct Line {
        var audible: Int
        var lost: Int
        var lostBefore: Int
    }

    mutating func follow(_ channel: Int, isAudible: Bool, isLost: Bool) -> Line {
        let lostBefore = lost[channel]
        let limit = UInt16(AirSimulation.longestRun)
        audible[channel] = isAudible ? min(audible[channel] + 1, limit) : 0
        lost[channel] = isLost ? min(lost[channel] + 1, limit) : 0
        return Line(audible: Int(audible[channel]), lost: Int(lost[channel]), lostBefore: Int(lostBefore))
    }
}

/// What a batch counts at one receiver.
struct ReceptionCounts {
    var copies = 0
    var audible = 0
    var clear = 0
    var events = 0
    var audibleEvents = 0
    var clearEvents = 0
    var received = 0
    var latency = LatencyTally()
    private var losses = 0
    private var lossesAgain = 0
    /// By the length of the line, up to the longest run that is counted.
    private var lines = [Int](repeating: 0, count: AirSimulation.longestRun + 1)
    private var lostLines = [Int](repeating: 0, count: AirSimulation.longestRun + 1)

    mutating func count(_ line: AirLink.Line) {
        lines[line.audible] += 1
        lostLines[line.lost] += 1
        if line.lostBefore > 0, line.audible > 0 {
            losses += 1
            if line.lost > 0 { lossesAgain += 1 }
        }
    }

    mutating func add(_ other: ReceptionCounts) {
        copies += other.copies
        audible += other.audible
        clear += other.clear
        events += other.events
        audibleEvents += other.audibleEvents
        clearEvents += other.clearEvents
        received += other.received
        losses += other.losses
        lossesAgain += other.lossesAgain
        for length in lines.indices {
            lines[length] += other.lines[length]
            lostLines[length] += other.lostLines[length]
        }
        latency.merge(other.latency)
    }

    var lossAfterLoss: ShareTally { ShareTally(hits: lossesAgain, trials: losses) }

    /// At index K-1 the lines of at least K copies, and those whose last K were destroyed.
    var runs: [ShareTally] {
        (1...AirSimulation.longestRun).map { length in
            ShareTally(hits: lostLines[length...].reduce(0, +), trials: lines[length...].reduce(0, +))
        }
    }
}

/// What a batch counts of one beacon at all receivers.
struct BeaconCounts {
    var audible = 0
    var clear = 0
    var events = 0
    var received = 0
    var links = 0
    var seen = 0
}

extension ReceptionTally {
    init(_ counts: ReceptionCounts) {
        audible = ShareTally(hits: counts.audible, trials: counts.copies)
        clear = ShareTally(hits: counts.clear, trials: counts.audible)
        anyClear = ShareTally(hits: counts.clearEvents, trials: counts.audibleEvents)
        received = ShareTally(hits: counts.received, trials: counts.events)
        lossAfterLoss = counts.lossAfterLoss
        runs = counts.runs
        latency = counts.latency
    }
}

extension AirTally.Beacon {
    init(_ counts: BeaconCounts) {
        clear = ShareTally(hits: counts.clear, trials: counts.audible)
        received = ShareTally(hits: counts.received, trials: counts.events)
        seen = ShareTally(hits: counts.seen, trials: counts.links)
    }
}
