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
