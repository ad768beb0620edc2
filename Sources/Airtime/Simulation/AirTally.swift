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
