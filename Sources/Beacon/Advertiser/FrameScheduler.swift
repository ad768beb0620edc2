public import BluetoothTypes
public import HCI

/// Decides which of several advertisements a shared advertising set sends, and when it changes to the next one.
///
/// The controller does not report each event, so the scheduler divides time into slots. The length of a slot is the
/// set's mean period, T_s + 5 ms, so one event is expected in each slot. Each slot is assigned to one advertisement: of
/// the advertisements whose next event is due, the advertisement with the earliest deadline (Pfair scheduling, Baruah
/// et al. 1996). At every moment, each advertisement has had its share of events, plus or minus one. Because of
/// advDelay, the random delay after each interval, an event may be sent in the slot before or after its own. Both are
/// equally likely.
///
/// The caller passes the time, so the same times give the same schedule.
public struct FrameScheduler: Hashable, Sendable {
    /// The interval T_s of the set.
    public let setInterval: AdvertisingInterval
    /// The position of the advertisement on the air.
    public private(set) var current = 0

    /// The mean period of each advertisement. This value, ``pace`` and ``releases`` are in units of 2⁻²⁰ × 0.625 ms.
    private let periods: [Int]
    /// The exact mean period that the set needs; the schedule advances by this time with each slot. If T_s was rounded
    /// down, this period is slightly longer than a real slot, so that the surplus events are spread evenly.
    private let pace: Int
    /// The time at which the next event of each advertisement may be sent, relative to the first free slot.
    private var releases: [Int]
    /// The position of the advertisement that the set sends from ``nextChangeTime`` on.
    private var nextMember = 0
    /// The time at which ``nextMember`` replaces ``current``; `nil` before the start, and for a single advertisement.
    private var nextChangeTime: HCIInstant?

    /// If more slots than this are skipped, the schedule starts again and does not catch up.
    private static let maximumSkippedSlots = 64
    /// The largest number of slots that are assigned in advance.
    private static let maximumSlotsAhead = 4096

    /// Creates a schedule for advertisements with these intervals; `nil` if the list is empty, or if no interval of the
    /// set is short enough.
    public init?(_ intervals: [AdvertisingInterval]) {
        let pace = SharedPace(intervals)
        guard let interval = pace.interval else { return nil }
        setInterval = interval
        periods = intervals.map { $0.steps << SharedPace.fractionBits }
        self.pace = pace.period
        releases = [Int](repeating: 0, count: intervals.count)
        current = pick()
    }

    /// The mean time between two events of the set, in microseconds: the length of a slot.
    public var slotMicroseconds: Int { setInterval.meanPeriodMicroseconds }

    /// Returns the mean time between two events of an advertisement, in microseconds. It is slightly less than
    /// requested if T_s was rounded down.
    public func meanPeriodMicroseconds(of member: Int) -> Int {
        guard periods.indices.contains(member), periods.count > 1 else { return slotMicroseconds }
        let (high, low) = slotMicroseconds.multipliedFullWidth(by: periods[member])
        return pace.dividingFullWidth((high, low)).quotient
    }

    /// The time at which ``current`` changes next; `nil` if it never changes, and before the start.
    public var nextChange: HCIInstant? { nextChangeTime }

    /// Starts the schedule, or continues it after a break. Call this when the set was enabled with the data of
    /// ``current``.
    ///
    /// The controller sends the first event at once. The first slot is taken to have begun half a slot earlier, so that
    /// each event is expected in the middle of a slot.
    public mutating func start(at now: HCIInstant) {
        if nextChangeTime == nil {
            findNextMember(from: now, firstSlot: slotMicroseconds / 2)
        } else {
            nextChangeTime = now.advanced(byMicroseconds: slotMicroseconds / 2)
        }
    }

    /// Advances the schedule to `now`. Returns true if ``current`` has changed.
    ///
    /// If the call is late, the missed slots are counted for the current advertisement, because the set sent it during
    /// that time. The other advertisements then get more of the following slots.
    public mutating func advance(to now: HCIInstant) -> Bool {
        guard let due = nextChangeTime, due <= now else { return false }
        let previous = current
        let missedSlots = now.microseconds(since: due) / slotMicroseconds
        if missedSlots > Self.maximumSkippedSlots {
            releases = [Int](repeating: 0, count: periods.count)
            current = pick()
            findNextMember(from: now, firstSlot: slotMicroseconds)
        } else {
            assign(current, slots: missedSlots)
            current = nextMember
            let start = due.advanced(byMicroseconds: missedSlots * slotMicroseconds)
            findNextMember(from: start, firstSlot: slotMicroseconds)
        }
        return current != previous
    }

    /// Finds the advertisement that follows the current one, and the time at which it begins. The first slot of the
    /// current advertisement ends `firstSlot` microseconds after `start`.
    private mutating func findNextMember(from start: HCIInstant, firstSlot: Int) {
        guard periods.count > 1 else { return }
        var length = firstSlot
        nextMember = pick()
        var slots = 0
        while nextMember == current, slots < Self.maximumSlotsAhead {
            length += slotMicroseconds
            nextMember = pick()
            slots += 1
        }
        nextChangeTime = start.advanced(byMicroseconds: length)
    }

    /// Assigns the next slot to an advertisement, and returns its position.
    private mutating func pick() -> Int {
        var chosenMember = 0
        var chosenDeadline = Int.max
        var chosenIsDue = false
        for member in periods.indices {
            let deadline = releases[member] + periods[member]
            let memberIsDue = releases[member] < pace
            // In rare cases, because of rounding, no event is due yet. Then the event with the earliest deadline is
            // sent early.
            guard memberIsDue == chosenIsDue ? deadline < chosenDeadline : memberIsDue else { continue }
            (chosenMember, chosenDeadline, chosenIsDue) = (member, deadline, memberIsDue)
        }
        assign(chosenMember, slots: 1)
        return chosenMember
    }

    private mutating func assign(_ member: Int, slots: Int) {
        guard releases.indices.contains(member), slots > 0 else { return }
        releases[member] += slots * periods[member]
        for index in releases.indices { releases[index] -= slots * pace }
    }
}

/// The interval of an advertising set that sends each of several advertisements often enough.
///
/// An advertisement with the interval T needs one event in T + 5 ms on average: its interval plus the mean advDelay. A
/// set with the interval T_s sends one event in T_s + 5 ms. So T_s is the largest interval (in steps of 0.625 ms) with
/// Σ (T_s + 5 ms) / (T + 5 ms) ≤ 1.
///
/// All values are integers. 5 ms are eight steps of 0.625 ms, so each period is a whole number of steps.
public struct SharedPace: Hashable, Sendable {
    /// The interval T_s of the set; `nil` if even an interval of 0 is too long.
    public let interval: AdvertisingInterval?
    /// The exact period that the members need, in units of 2⁻²⁰ × 0.625 ms, rounded down.
    let period: Int

    /// The mean advDelay (5 ms) in steps of 0.625 ms.
    static let delaySteps = AdvertisingInterval.meanDelayMicroseconds / 625
    /// The number of binary digits after the binary point in ``period``.
    static let fractionBits = 20

    /// - Parameter intervals: The advertisements' intervals, at least one.
    public init(_ intervals: [AdvertisingInterval]) {
        // The sum of the rates (1 / mean period in steps) in units of 2⁻⁹⁶, rounded down. This unit is so small that
        // the rounding changes no period by a whole step.
        let one = UInt128(1) << 96
        let rate = intervals.reduce(UInt128(0)) { $0 + one / UInt128($1.steps) }
        guard rate > 0 else {
            interval = nil
            period = 0
            return
        }
        period = Int(clamping: (one << Self.fractionBits) / rate)
        let steps = UInt32(clamping: one / rate)
        interval = steps >= UInt32(Self.delaySteps) ? AdvertisingInterval(rawValue: steps - 8) : nil
    }

    /// The number of advertising events that advertisements with these intervals need in 1000 s, rounded to the nearest
    /// integer.
    static func eventsPerThousandSeconds(_ intervals: [AdvertisingInterval]) -> Int {
        // The sum is in units of 10⁻⁶ Hz; only the result is rounded to the nearest integer.
        let sum = intervals.reduce(0) { $0 + 1_000_000_000_000 / $1.meanPeriodMicroseconds }
        return (sum + 500) / 1000
    }
}

extension AdvertisingInterval {
    /// The mean period in steps of 0.625 ms.
    var steps: Int { Int(rawValue) + SharedPace.delaySteps }
}
