public import Sightings

/// What is sent, and how it is listened to, while a radio is qualified.
public enum QualificationPhase: String, Hashable, Sendable, CaseIterable {
    /// Legacy PDUs, as beacons send them.
    case legacy
    /// Extended PDUs with more octets than a legacy one holds.
    case extended
    /// Legacy PDUs, heard by a radio that sends a beacon meanwhile.
    case whileSending = "while-sending"
    /// Legacy PDUs, heard by a controller that is to leave duplicates out.
    case duplicatesFiltered = "duplicates-filtered"
}

/// What a controller's filter of duplicates does, by what it let through.
public enum DuplicateFilterKind: String, Hashable, Sendable {
    /// Everything comes all the same.
    case none
    /// Each address is reported once, whatever it sends afterwards.
    case address
    /// New data is reported, too.
    case addressAndData = "address-and-data"
    /// Duplicates are left out; by what they are told was not tried.
    case some
}

/// What one radio heard of one beacon that was surely sent, in one phase of a qualification.
///
/// The beacon's octets are known, so that nothing else counts, and its interval is.
public struct Delivery: Sendable {
    /// Gaps between two events that were heard, by how many were missed between them.
    public struct GapClass: Hashable, Sendable {
        /// The least of the class: 0, 1, 2, 4, 8, …; the next class begins at the next.
        public let missed: Int
        public let count: Int
    }

    public let phase: QualificationPhase
    /// The label of the radio that sent; `nil` for a beacon that is not this machine's.
    public let sender: String?
    /// The label of the radio that heard.
    public let receiver: String
    /// As it was configured, in microseconds, without the mean delay.
    public let intervalMicroseconds: Int
    /// Reports of all senders.
    public var reportsOfAll = 0
    /// Reports of the beacon with other octets than were sent.
    public var damaged = 0
    /// Reports that the kernel threw away; `nil` where it does not tell.
    public var lostInKernel: Int?
    /// How often scanning was turned on again.
    public var restarts = 0
    /// Why it was not tried, or not to the end: what the controller refused.
    public var refusal: String?
    /// Whether the sender said at the end that it does not advertise any more: another program has turned it off.
    public var isSenderOff = false

    private var listened = ListenedTime()
    private var events = HeardEvents()
    private var levels = LevelTally()
    private var changedAt: Int?

    /// Nothing heard yet, and nobody listens.
    public init(_ phase: QualificationPhase, from sender: String?, to receiver: String, intervalMicroseconds: Int) {
        self.phase = phase
        self.sender = sender
        self.receiver = receiver
        self.intervalMicroseconds = intervalMicroseconds
    }

    /// From now on everything that is sent can be heard.
    public mutating func begin(at now: HeardInstant) { listened.begin(at: now) }

    /// From now on nothing counts.
    public mutating func end(at now: HeardInstant) { listened.end(at: now) }

    /// The beacon was heard.
    ///
    /// - Parameter rssi: In dBm; `nil` where the receiver did not tell.
    public mutating func hear(at now: HeardInstant, rssi: Int8?) {
        guard listened.isOpen else { return }
        events.add(at: now)
        if let rssi { levels.add(rssi) }
    }

    /// The beacon sends other octets from now on, from the same address.
    public mutating func changeData(at now: HeardInstant) { changedAt = ListenedTime.microseconds(now) }
}

/// What follows from it.
extension Delivery {
    /// In microseconds.
    public var listenedMicroseconds: Int { listened.microseconds }
    /// Advertising events: what is heard of one on two channels counts once.
    public var heard: Int { events.times.count }
    /// Events that were sent in the time that was listened through.
    public var owed: Int { Int((Double(listenedMicroseconds) / period).rounded()) }
    /// Of the events owed, 0...1; `nil` where nothing was owed.
    public var share: Double? { owed > 0 ? min(1, Double(heard) / Double(owed)) : nil }
    /// With both ends of the time that was listened through.
    public var longestSilenceMicroseconds: Int { events.longestSilence(within: listened.spans) }
    /// In dBm; `nil` where no level was told.
    public var meanLevel: Double? { levels.mean }
    /// In dB; `nil` with fewer than two levels.
    public var levelDeviation: Double? { levels.standardDeviation }
    /// Of all senders; `nil` where nobody listened.
    public var reportsPerSecond: Double? {
        listenedMicroseconds > 0 ? Double(reportsOfAll) * 1_000_000 / Double(listenedMicroseconds) : nil
    }

    /// The mean time between two events, in microseconds. Some controllers add no delay to the interval: what was heard
    /// tells, where it has a rhythm that can be the sender's.
    private var period: Double {
        let interval = Double(intervalMicroseconds)
        guard let fold = PeriodFold(events.gaps(within: listened.spans)), fold.isRhythm,
            (0.99 * interval...1.01 * interval + 10_000).contains(fold.period)
        else { return interval + Double(IntervalEstimate.meanDelayMicroseconds) }
        return fold.period
    }

    /// In the order of their lengths; only those that occur.
    public var gaps: [GapClass] {
        let period = period
        var counts: [Int: Int] = [:]
        for gap in events.gaps(within: listened.spans) {
            let missed = max(0, Int((Double(gap) / period).rounded()) - 1)
            counts[missed == 0 ? 0 : 1 << (Int.bitWidth - 1 - missed.leadingZeroBitCount), default: 0] += 1
        }
        return counts.sorted { $0.key < $1.key }.map { GapClass(missed: $0.key, count: $0.value) }
    }

    /// What the filter of duplicates did; `nil` in other phases, and where nothing was heard.
    public var filter: DuplicateFilterKind? {
        guard phase == .duplicatesFiltered, heard > 0, let share else { return nil }
        if share >= 0.5 { return DuplicateFilterKind.none }
        guard let changedAt else { return .some }
        return events.times.contains { $0 >= changedAt } ? .addressAndData : .address
    }
}
