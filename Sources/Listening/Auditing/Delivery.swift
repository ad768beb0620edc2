public import Sightings

/// A phase of a qualification.
public enum QualificationPhase: String, Hashable, Sendable, CaseIterable {
    /// Legacy PDUs, as beacons send them.
    case legacy
    /// Extended PDUs with more data than a legacy PDU can hold.
    case extended
    /// Legacy PDUs, received by a radio that sends a beacon at the same time.
    case whileSending = "while-sending"
    /// Legacy PDUs, received by a controller whose duplicate filter is on.
    case duplicatesFiltered = "duplicates-filtered"
}

/// The behaviour of a controller's duplicate filter.
public enum DuplicateFilterKind: String, Hashable, Sendable {
    /// Duplicates are reported although the filter is on.
    case none
    /// Each address is reported once, even if it sends other data later.
    case address
    /// New data of the same address is reported.
    case addressAndData = "address-and-data"
    /// Duplicates are filtered. Whether new data is reported was not tested.
    case some
}

/// The reports of one beacon that a radio received in one phase of a qualification.
///
/// The beacon's data and interval are known, and it is certain that the beacon was sent.
public struct Delivery: Sendable {
    /// A class of gaps between received events, by the number of missed events.
    public struct GapClass: Equatable, Sendable {
        /// The smallest number of missed events in the class: 0, 1, 2, 4, 8, … Each class ends below the smallest
        /// number of the next class.
        public let missed: Int
        /// The number of gaps in the class.
        public let count: Int
    }

    public let phase: QualificationPhase
    /// The label of the sending radio; `nil` for a beacon of another machine.
    public let sender: String?
    /// The label of the receiving radio.
    public let receiver: String
    /// The configured interval in microseconds, without the mean delay.
    public let intervalMicroseconds: Int
    /// The number of reports from all senders.
    public var reportsFromAllSenders = 0
    /// The number of reports with the beacon's identity and wrong data.
    public var damaged = 0
    /// The number of reports that the kernel dropped; `nil` if it is not known.
    public var lostInKernel: Int?
    /// The number of times that the scan was restarted.
    public var restarts = 0
    /// The reason why the phase could not be completed, such as a command that the controller refused; `nil` if it was
    /// completed.
    public var refusal: String?
    /// True if the sender had stopped at the end of the phase, because another program turned it off.
    public var isSenderOff = false

    private var listened = ListenedTime()
    private var events = EventTimes()
    private var levels = LevelTally()
    /// The time of ``changeData(at:)`` in microseconds; `nil` before that call.
    private var changedAt: Int?

    /// Creates a delivery without reports.
    public init(_ phase: QualificationPhase, from sender: String?, to receiver: String, intervalMicroseconds: Int) {
        self.phase = phase
        self.sender = sender
        self.receiver = receiver
        self.intervalMicroseconds = intervalMicroseconds
    }

    /// Marks the receiver as working from now on.
    public mutating func begin(at now: HeardInstant) { listened.begin(at: now) }

    /// Marks the receiver as not working from now on.
    public mutating func end(at now: HeardInstant) { listened.end(at: now) }

    /// Takes a report of the beacon.
    ///
    /// - Parameter rssi: The level in dBm; `nil` if it was not reported.
    public mutating func receive(at now: HeardInstant, rssi: Int8?) {
        guard listened.isOpen else { return }
        events.add(at: now)
        if let rssi { levels.add(rssi) }
    }

    /// Marks the time from which the beacon sends other data from the same address.
    public mutating func changeData(at now: HeardInstant) { changedAt = ListenedTime.microseconds(now) }
}

/// The results of a delivery.
extension Delivery {
    /// The listened time in microseconds.
    public var listenedMicroseconds: Int { listened.microseconds }
    /// The number of received events. Reports of one event on several channels count once.
    public var heard: Int { events.times.count }
    /// The number of events that were due in the listened time.
    public var dueEvents: Int { Int((Double(listenedMicroseconds) / period).rounded()) }
    /// The share of due events that were received, 0...1; `nil` if no event was due.
    public var share: Double? { dueEvents > 0 ? min(1, Double(heard) / Double(dueEvents)) : nil }
    /// The longest silence within the listened time, including its start and end, in microseconds.
    public var longestSilenceMicroseconds: Int { events.longestSilence(within: listened.spans) }
    /// The mean level in dBm; `nil` if no report had a level.
    public var meanLevel: Double? { levels.mean }
    /// The standard deviation of the level in dB; `nil` with fewer than two levels.
    public var levelDeviation: Double? { levels.standardDeviation }
    /// The number of reports from all senders per second; `nil` without listened time.
    public var reportsPerSecond: Double? {
        listenedMicroseconds > 0 ? Double(reportsFromAllSenders) * 1_000_000 / Double(listenedMicroseconds) : nil
    }

    /// The mean time between two events in microseconds. If the events have a plausible rhythm, the time is measured,
    /// because some controllers add no random delay. Otherwise it is the configured interval plus the mean delay.
    private var period: Double {
        let interval = Double(intervalMicroseconds)
        guard let fold = PeriodFold(events.gaps(within: listened.spans)), fold.isRhythm,
            (0.99 * interval...1.01 * interval + 10_000).contains(fold.period)
        else { return interval + Double(IntervalEstimate.meanDelayMicroseconds) }
        return fold.period
    }

    /// The classes of gaps that occur, from the shortest gaps to the longest.
    public var gaps: [GapClass] {
        let period = period
        var counts: [Int: Int] = [:]
        for gap in events.gaps(within: listened.spans) {
            let missed = max(0, Int((Double(gap) / period).rounded()) - 1)
            counts[missed == 0 ? 0 : 1 << (Int.bitWidth - 1 - missed.leadingZeroBitCount), default: 0] += 1
        }
        return counts.sorted { $0.key < $1.key }.map { GapClass(missed: $0.key, count: $0.value) }
    }

    /// The behaviour of the duplicate filter; `nil` in other phases, and if nothing was received.
    public var filter: DuplicateFilterKind? {
        guard phase == .duplicatesFiltered, heard > 0, let share else { return nil }
        if share >= 0.5 { return DuplicateFilterKind.none }
        guard let changedAt else { return .some }
        return events.times.contains { $0 >= changedAt } ? .addressAndData : .address
    }
}
