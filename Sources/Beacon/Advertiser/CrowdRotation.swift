public import HCI

/// Decides which identity of a crowd each advertising set sends, and for how long. It also counts the turns.
///
/// A crowd is a number of beacons (identities) that one controller sends in turn. A set sends one identity for the
/// dwell time: this is a turn. It then sends the next identity in the list that no other set sends. If there are as
/// many sets as identities, every identity stays on the air.
///
/// The caller passes the time, carries out each turn with commands, and reports the results. So a turn lasts for the
/// dwell time plus the time that the commands take.
public struct CrowdRotation: Sendable {
    /// An identity that a set sends next.
    public struct Turn: Hashable, Sendable {
        /// The position of the set, from 0.
        public let set: Int
        /// The position of the identity, from 0.
        public let identity: Int
    }

    /// The counts of one identity's turns.
    public struct Tally: Hashable, Sendable {
        /// The number of turns that began.
        public fileprivate(set) var turns = 0
        /// The number of turns that another program or the controller ended early.
        public fileprivate(set) var lostTurns = 0
        /// The longest time between the beginnings of two turns, in microseconds; 0 before the second turn.
        public fileprivate(set) var longestGap = 0
        fileprivate var lastBegin: HCIInstant?
    }

    private struct Slot: Sendable {
        /// The identity that the set sends, or will send as soon as the set can be enabled; `nil` if there is none.
        var identity: Int?
        /// The time at which the controller confirmed that the set is enabled; `nil` while the set is off.
        var enabledAt: HCIInstant?
        /// The time at which the command to enable the set was sent.
        var commandSentAt: HCIInstant?
        /// The earliest time of the next attempt while the set is off.
        var retryAt = HCIInstant.distantPast
        /// The time at which the set's last turn began; `nil` before the first turn, and after a pause.
        var previousBegin: HCIInstant?
    }

    /// The number of identities.
    public var identities: Int { tallies.count }
    /// The number of sets that send at the same time.
    public var sets: Int { slots.count }
    /// The time for which a set sends an identity, in microseconds.
    public let dwellMicroseconds: Int
    /// The counts of each identity.
    public private(set) var tallies: [Tally]
    /// The shortest and the longest time on the air of a turn that has ended, in microseconds; `nil` before the first
    /// end.
    public private(set) var airtimes: ClosedRange<Int>?
    /// The time of the first turn; `nil` before it.
    public private(set) var begunAt: HCIInstant?
    /// The number of turns whose length is known, and the sum of these lengths in microseconds. The length of a turn is
    /// the time until the next turn on the same set begins.
    private var lengths = (count: 0, sum: 0)
    /// The number of measured times between the beginnings of two turns of one identity, and their sum in microseconds.
    private var gaps = (count: 0, sum: 0)
    private var slots: [Slot]
    /// The position of the identity that gets the next turn. If another set sends it, it is skipped.
    private var nextIdentity = 0
    /// `true` if a turn was ever postponed.
    private var hasPostponed = false

    /// A rotation before its first turn.
    ///
    /// - Parameters:
    ///   - identities: At least 1.
    ///   - sets: The number of advertising sets, at least 1. If there are more sets than identities, the other sets are
    ///     not used.
    ///   - dwellMicroseconds: The time for which a set sends an identity.
    public init(identities: Int, sets: Int, dwellMicroseconds: Int) {
        tallies = [Tally](repeating: Tally(), count: max(1, identities))
        slots = [Slot](repeating: Slot(), count: max(1, min(sets, identities)))
        self.dwellMicroseconds = dwellMicroseconds
    }

    /// `true` if there are as many sets as identities, so that no set ever changes its identity.
    public var isConstant: Bool { sets == identities }

    /// The time from which ``take(at:)`` returns a turn; `nil` if no turn will become due.
    public var nextTurn: HCIInstant? {
        slots.compactMap(due).min()
    }

    private func due(_ slot: Slot) -> HCIInstant? {
        guard let enabledAt = slot.enabledAt else { return slot.retryAt }
        return isConstant ? nil : enabledAt.advanced(byMicroseconds: dwellMicroseconds)
    }

    /// Returns the turn that has been due for the longest time; `nil` if none is due. The set keeps its old identity
    /// until ``end(_:sent:at:isLost:)``.
    public mutating func take(at now: HCIInstant) -> Turn? {
        let candidates = slots.indices.compactMap { index in due(slots[index]).map { (index, $0) } }
        guard let (set, due) = candidates.min(by: { $0.1 < $1.1 }), due <= now else { return nil }
        if slots[set].enabledAt == nil, let identity = slots[set].identity { return Turn(set: set, identity: identity) }
        let identitiesOfOtherSets = Set(slots.indices.filter { $0 != set }.compactMap { slots[$0].identity })
        while identitiesOfOtherSets.contains(nextIdentity) { nextIdentity = (nextIdentity + 1) % identities }
        defer { nextIdentity = (nextIdentity + 1) % identities }
        return Turn(set: set, identity: nextIdentity)
    }

    /// Records that a set was turned off.
    ///
    /// - Parameters:
    ///   - sent: The time at which the command to turn the set off was sent.
    ///   - now: The time at which the command was answered.
    ///   - isLost: `true` if the set had already been turned off by something else, so that its time on the air is not
    ///     known.
    public mutating func end(_ set: Int, sent: HCIInstant, at now: HCIInstant, isLost: Bool = false) {
        guard let enabledAt = slots[set].enabledAt, let enableSentAt = slots[set].commandSentAt,
            let identity = slots[set].identity
        else { return }
        if isLost {
            tallies[identity].lostTurns += 1
        } else {
            let shortest = max(0, sent.microseconds(since: enabledAt))
            let longest = max(shortest, now.microseconds(since: enableSentAt))
            airtimes = airtimes.map { min($0.lowerBound, shortest)...max($0.upperBound, longest) } ?? shortest...longest
        }
        slots[set].enabledAt = nil
        slots[set].identity = nil
    }

    /// Records that a turn has begun.
    ///
    /// - Parameters:
    ///   - sent: The time at which the command to enable the set was sent.
    ///   - now: The time at which the command was answered.
    public mutating func begin(_ turn: Turn, sent: HCIInstant, at now: HCIInstant) {
        if let last = tallies[turn.identity].lastBegin {
            let gap = max(0, now.microseconds(since: last))
            gaps = (gaps.count + 1, gaps.sum + gap)
            tallies[turn.identity].longestGap = max(tallies[turn.identity].longestGap, gap)
        }
        if let previous = slots[turn.set].previousBegin {
            lengths = (lengths.count + 1, lengths.sum + max(0, now.microseconds(since: previous)))
        }
        tallies[turn.identity].turns += 1
        tallies[turn.identity].lastBegin = now
        slots[turn.set] = Slot(identity: turn.identity, enabledAt: now, commandSentAt: sent, previousBegin: now)
        begunAt = begunAt ?? now
    }

    /// Records that a turn could not begin. The set is off, and the next attempt for the same identity is at `instant`.
    public mutating func postpone(_ turn: Turn, until instant: HCIInstant) {
        hasPostponed = true
        slots[turn.set].identity = turn.identity
        slots[turn.set].enabledAt = nil
        slots[turn.set].retryAt = instant
        // A pause is not part of the length of a turn.
        slots[turn.set].previousBegin = nil
    }

    /// Records that the controller has no memory for the set of `turn`. From now on, only the sets with lower positions
    /// are used. The identity of `turn` is the next identity to be sent.
    public mutating func withdraw(_ turn: Turn) {
        slots = Array(slots.prefix(max(1, turn.set)))
        nextIdentity = turn.identity
    }

    // MARK: What was counted

    /// The mean time from the beginning of a turn to the beginning of the next turn on the same set, in microseconds;
    /// `nil` before the second turn of a set.
    public var turnMicroseconds: Int? { lengths.count > 0 ? lengths.sum / lengths.count : nil }

    /// The mean time between the beginnings of two turns of an identity, in microseconds. Until at least as many of
    /// these times have been measured as there are identities, the mean is computed from ``turnMicroseconds``. `nil`
    /// before the length of a turn is known.
    public var roundMicroseconds: Int? {
        if gaps.count >= identities { return gaps.sum / gaps.count }
        return turnMicroseconds.map { $0 * identities / sets }
    }

    /// The number of turns of all identities.
    public var turns: Int { tallies.reduce(0) { $0 + $1.turns } }

    /// The number of turns that ended early.
    public var lostTurns: Int { tallies.reduce(0) { $0 + $1.lostTurns } }

    /// The smallest number of turns of an identity: every identity has had at least as many.
    public var rounds: Int { tallies.map(\.turns).min() ?? 0 }

    /// Returns the time from the first turn to `now`, in microseconds; 0 before the first turn.
    public func elapsedMicroseconds(at now: HCIInstant) -> Int {
        begunAt.map { max(0, now.microseconds(since: $0)) } ?? 0
    }

    /// The identity with the longest time between the beginnings of two turns, and that time in microseconds; `nil`
    /// before an identity has had two turns.
    public var slowest: (identity: Int, gap: Int)? {
        let identity = tallies.indices.max { tallies[$0].longestGap < tallies[$1].longestGap }
        return identity.flatMap { tallies[$0].longestGap > 0 ? ($0, tallies[$0].longestGap) : nil }
    }

    /// Returns one sentence for each broken invariant; empty if there is none.
    public func check() -> [String] {
        var problems: [String] = []
        let assigned = slots.compactMap(\.identity)
        if Set(assigned).count < assigned.count { problems.append("two sets have one identity") }
        if assigned.contains(where: { !tallies.indices.contains($0) }) { problems.append("a set has no identity") }
        for slot in slots where slot.enabledAt != nil && slot.identity == nil {
            problems.append("a set sends nothing")
        }
        // After a postponed turn, the numbers of turns may differ by more than 1, so they are compared only if no turn
        // was ever postponed.
        let counts = tallies.map(\.turns)
        if !hasPostponed, let least = counts.min(), let most = counts.max(), most - least > 1 {
            problems.append("an identity had \(most - least) turns fewer than another one")
        }
        if tallies.contains(where: { $0.lostTurns > $0.turns }) { problems.append("more turns are lost than began") }
        return problems
    }
}
