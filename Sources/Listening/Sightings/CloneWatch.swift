/// Counts how often a sender returns, that is, how often it is received again after another sender. If this happens
/// often, both senders are present.
public struct SenderChanges: Hashable, Sendable {
    /// The number of times that a sender was received again after another sender.
    public private(set) var returns = 0

    private var lastSender: Sender?
    private var previousSender: Sender?

    /// Creates a count without senders.
    public init() {}

    /// The last two senders, the older one first; `nil` before there were two.
    var lastTwo: (Sender, Sender)? {
        guard let previousSender, let lastSender else { return nil }
        return (previousSender, lastSender)
    }

    /// Takes the sender of a report.
    public mutating func add(_ sender: Sender?) {
        guard sender != lastSender else { return }
        if lastSender != nil, previousSender == sender { returns += 1 }
        (previousSender, lastSender) = (lastSender, sender)
    }

    /// Sets the count to 0.
    mutating func forget() { returns = 0 }
}

/// Counts how often the level of one sender jumps and jumps back. If this happens often, two devices send with one
/// address.
public struct LevelJumps: Hashable, Sendable {
    /// The difference in dB that a jump exceeds. A jump is a change of the level between two reports within one second.
    public static let decibels = 30

    /// The number of jumps. A jump in the same direction as the last counted jump is not counted.
    public private(set) var count = 0

    private var last: (level: Int8, at: HeardInstant)?
    /// True if the level rose at the last jump; `nil` before the first one.
    private var lastWasUp: Bool?

    /// Creates a count without levels.
    public init() {}

    /// Takes a level in dBm.
    public mutating func add(_ level: Int8, at instant: HeardInstant) {
        if let last, instant.microseconds(since: last.at) <= 1_000_000 {
            let jump = Int(level) - Int(last.level)
            if abs(jump) > Self.decibels, lastWasUp != (jump > 0) {
                count += 1
                lastWasUp = jump > 0
            }
        }
        last = (level, instant)
    }

    /// Sets the count to 0.
    mutating func forget() { (count, lastWasUp) = (0, nil) }

    public static func == (left: Self, right: Self) -> Bool {
        left.count == right.count && left.last?.level == right.last?.level && left.last?.at == right.last?.at
            && left.lastWasUp == right.lastWasUp
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(count)
        hasher.combine(last?.level)
        hasher.combine(last?.at)
    }
}

/// Detects that two devices send one identity, for as long as a program listens.
///
/// An audit uses the same signs: returns of a sender, and jumps of the level. It counts them over its whole duration. A
/// program that listens for months counts them over a limited number of reports, so that rare chance events, such as
/// deep fades, do not add up.
public struct CloneWatch: Equatable, Sendable {
    /// The number of signs that cannot be chance: returns of senders in `senderReports` reports, or jumps of the level
    /// in `levelReports` reports.
    public static let signs = 5
    /// The number of reports in which the returns of senders are counted.
    static let senderReports = 1000
    /// The number of reports in which the jumps of levels are counted. If two devices send with one address, the level
    /// jumps at about half of the reports.
    static let levelReports = 32

    /// The way in which two devices send one identity.
    public enum Finding: Hashable, Sendable {
        /// From two addresses in turn.
        case addresses(Sender, Sender)
        /// From one address, at two levels.
        case levels
    }

    /// `nil` if one device sends the identity. A finding is withdrawn when the latest reports contain too few signs of
    /// a second device.
    public var finding: Finding? { bySender ?? byLevel }

    private var senders = SenderChanges()
    private var jumps = LevelJumps()
    private var bySender: Finding?
    private var byLevel: Finding?
    /// The number of reports in which the current count of `senders` was made.
    private var countedReports = 0
    /// The number of levels in which the current count of `jumps` was made.
    private var countedLevels = 0
    private var lastSender: Sender?

    /// Creates a watch without reports.
    public init() {}

    /// Takes a report of the identity.
    public mutating func add(_ sighting: Sighting) {
        senders.add(sighting.sender)
        countedReports += 1
        if senders.returns >= Self.signs, let (first, second) = senders.lastTwo {
            bySender = bySender ?? .addresses(first, second)
        }
        if countedReports == Self.senderReports {
            if senders.returns < Self.signs { bySender = nil }
            senders.forget()
            countedReports = 0
        }
        // Levels of different senders are not compared, because they always differ.
        if sighting.sender != lastSender { jumps = LevelJumps() }
        lastSender = sighting.sender
        guard let level = sighting.rssi, LevelTally.range.contains(level) else { return }
        jumps.add(level, at: sighting.instant)
        countedLevels += 1
        if jumps.count >= Self.signs { byLevel = .levels }
        if countedLevels == Self.levelReports {
            if jumps.count < Self.signs { byLevel = nil }
            jumps.forget()
            countedLevels = 0
        }
    }
}
