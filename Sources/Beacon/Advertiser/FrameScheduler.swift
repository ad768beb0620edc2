public import BluetoothTypes
public import HCI

/// Whose data an advertising set holds, and until when, where several advertisements share it.
///
/// A host does not see the events of a legacy advertiser, so it turns by time: the set's time is cut into slots of its
/// mean period T_s + 5 ms, in each of which one event is due, and each slot is given to one advertisement. Which one is
/// decided by the earliest deadline of those whose next event is due (Pfair scheduling, Baruah et al. 1996), so that each
/// has at every moment what it is owed, one event more or less. advDelay lets the events drift against the slots: an
/// event may fall into the slot before or after its own, for every advertisement as often in either direction.
///
/// A value: time is handed in, and the same times give the same turns.
public struct FrameScheduler: Hashable, Sendable {
    /// The interval to run the set at.
    public let setInterval: AdvertisingInterval
    /// Which advertisement is on the air, counted in the order in which they were handed in.
    public private(set) var current = 0

    /// Owed one event in each; in 2⁻²⁰ steps of 0.625 ms, as all that follows.
    private let periods: [Int]
    /// How much of its periods an advertisement lives through in a slot. It is a little more than the slot's own length
    /// where T_s was rounded down, so that what is sent beyond what is owed is spread evenly.
    private let pace: Int
    /// When each one's next event may be sent, from the first slot on that is not given away.
    private var releases: [Int]
    /// Who follows the current one, and when.
    private var next = 0
    private var boundary: HCIInstant?

    /// After more skipped slots than this the schedule starts again instead of catching up.
    private static let maximumSkippedSlots = 64
    /// Slots that are given away in advance at most.
    private static let foresight = 4096

    /// `nil` where no interval is short enough, or no advertisement is there.
    public init?(_ intervals: [AdvertisingInterval]) {
        let pace = SharedPace(intervals)
        guard let interval = pace.interval else { return nil }
        setInterval = interval
        periods = intervals.map { $0.steps << SharedPace.fractionBits }
        self.pace = pace.period
        releases = [Int](repeating: 0, count: intervals.count)
        current = pick()
    }

    /// The mean time between two events of the set, which is the length of a slot.
    public var slotMicroseconds: Int { setInterval.meanPeriodMicroseconds }

    /// The mean time between two events of an advertisement: a little less than it asks for where T_s was rounded down.
    public func meanPeriodMicroseconds(of member: Int) -> Int {
        guard periods.indices.contains(member), periods.count > 1 else { return slotMicroseconds }
        let (high, low) = slotMicroseconds.multipliedFullWidth(by: periods[member])
        return pace.dividingFullWidth((high, low)).quotient
    }

    /// When ``current`` changes next; `nil` for never, and before the start.
    public var nextTurn: HCIInstant? { boundary }

    /// The set has been enabled, with the data of ``current``. After a break everybody goes on where they stood.
    ///
    /// The first event comes at once, so slots begin half a slot before: each event is then due in the middle of one.
    public mutating func start(at now: HCIInstant) {
        if boundary == nil {
            lookAhead(from: now, first: slotMicroseconds / 2)
        } else {
            boundary = now.advanced(byMicroseconds: slotMicroseconds / 2)
        }
    }

    /// Gives the set to whoever's turn it is by now. Returns whether that is somebody else than before.
    ///
    /// A host that comes late by whole slots has given them to whoever was on the air; the others are made up to.
    public mutating func turn(at now: HCIInstant) -> Bool {
        guard let due = boundary, due <= now else { return false }
        let before = current
        let late = now.microseconds(since: due) / slotMicroseconds
        if late > Self.maximumSkippedSlots {
            releases = [Int](repeating: 0, count: periods.count)
            current = pick()
            lookAhead(from: now, first: slotMicroseconds)
        } else {
            give(current, slots: late)
            current = next
            lookAhead(from: due.advanced(byMicroseconds: late * slotMicroseconds), first: slotMicroseconds)
        }
        return current != before
    }

    /// Finds who comes after the current one, whose first slot begins at `start`.
    private mutating func lookAhead(from start: HCIInstant, first: Int) {
        guard periods.count > 1 else { return }
        var length = first
        next = pick()
        var slots = 0
        while next == current, slots < Self.foresight {
            length += slotMicroseconds
            next = pick()
            slots += 1
        }
        boundary = start.advanced(byMicroseconds: length)
    }

    /// Gives the next slot away.
    private mutating func pick() -> Int {
        var chosen = 0
        var chosenDeadline = Int.max
        var isDue = false
        for member in periods.indices {
            let deadline = releases[member] + periods[member]
            let memberIsDue = releases[member] < pace
            // Where nobody's event is due yet, which rounding brings about once in a long while, somebody is early.
            guard memberIsDue == isDue ? deadline < chosenDeadline : memberIsDue else { continue }
            (chosen, chosenDeadline, isDue) = (member, deadline, memberIsDue)
        }
        give(chosen, slots: 1)
        return chosen
    }

    private mutating func give(_ member: Int, slots: Int) {
        guard releases.indices.contains(member), slots > 0 else { return }
        releases[member] += slots * periods[member]
        for index in releases.indices { releases[index] -= slots * pace }
    }
}

/// How fast one advertising set must run to give each of several advertisements its share.
///
/// An advertisement of interval T is owed one event in each T + 5 ms on average: its own interval and the mean advDelay.
/// A set of interval T_s sends one in each T_s + 5 ms, whosever data it holds, so T_s is the largest interval (in steps
/// of 0.625 ms) with Σ (T_s + 5 ms) / (T + 5 ms) ≤ 1.
///
/// All in integers: 5 ms are eight steps, so periods are whole numbers of steps.
public struct SharedPace: Hashable, Sendable {
    /// T_s; `nil` where even the shortest thinkable interval, 0, would be too long.
    public let interval: AdvertisingInterval?
    /// The exact period that the members need, in 2⁻²⁰ steps of 0.625 ms, rounded down.
    let period: Int

    /// Steps of 0.625 ms in the mean advDelay.
    static let delaySteps = AdvertisingInterval.meanDelayMicroseconds / 625
    /// Binary digits of a step that are kept.
    static let fractionBits = 20

    /// - Parameter intervals: of the advertisements, at least one.
    public init(_ intervals: [AdvertisingInterval]) {
        // 1 / period in units of 2⁻⁹⁶, rounded down: exact to far below what a step of any period needs.
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

    /// Advertising events that `intervals` need in a second, in thousandths, rounded to the nearest.
    static func eventsPerThousandSeconds(_ intervals: [AdvertisingInterval]) -> Int {
        // Microhertz, then rounded once.
        let sum = intervals.reduce(0) { $0 + 1_000_000_000_000 / $1.meanPeriodMicroseconds }
        return (sum + 500) / 1000
    }
}

extension AdvertisingInterval {
    /// The mean period in steps of 0.625 ms.
    var steps: Int { Int(rawValue) + SharedPace.delaySteps }
}
