public import HCI

/// Decides which identity of a crowd each advertising set sends, and until when. It also counts the turns.
///
/// The identities take turns in their order. A set sends one identity for the dwell time, then the next one that no
/// other set sends. If there are as many sets as identities, every identity stays on the air.
///
/// Time is a parameter. The caller carries out a turn with commands and reports its results, so a turn takes as long as
/// the commands do.
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
        /// The identity that the set sends, or that waits until the set can be enabled; `nil` if there is neither.
        var identity: Int?
        /// The time at which the controller confirmed that the set is enabled; `nil` while the set is off.
        var enabledAt: HCIInstant?
        /// The time at which the command to enable the set was sent.
        var commandSentAt: HCIInstant?
        /// The earliest time of the next attempt while the set is off.
        var retryAt = HCIInstant.distantPast
        /// The beginning of the set's last turn; `nil` before the first turn, and after a pause.
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
    /// The number of turns whose length is known, and the sum of these lengths in microseconds. A length is the time
    /// from the beginning of a turn to the beginning of the next turn on the same set.
    private var lengths = (count: 0, sum: 0)
    /// The number of measured times between the beginnings of two turns of one identity, and their sum in microseconds.
    private var gaps = (count: 0, sum: 0)
    private var slots: [Slot]
    /// The position of the identity that gets the next turn, unless another set sends it.
    private var nextIdentity = 0
    /// `true` if a turn was ever postponed.
    private var hasPostponed = false

    /// A rotation in which nothing is on the air.
    ///
    /// - Parameters:
    ///   - identities: At least 1.
    ///   - sets: The number of advertising sets, at least 1. At most as many sets are used as there are identities.
    ///   - dwellMicroseconds: The time for which a set sends an identity.
    public init(identities: Int, sets: Int, dwellMicroseconds: Int) {
        tallies = [Tally](repeating: Tally(), count: max(1, identities))
        slots = [Slot](repeating: Slot(), count: max(1, min(sets, identities)))
        self.dwellMicroseconds = dwellMicroseconds
    }

    /// `true` if there are as many sets as identities, so that no set ever changes its identity.
    public var isConstant: Bool { sets == identities }

    /// The time at which ``take(at:)`` returns a turn; `nil` for never.
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

    /// Notes that the set is off.
    ///
    /// - Parameters:
    ///   - sent: The time at which the command to turn the set off was sent.
    ///   - now: The time at which the command was answered.
    ///   - isLost: `true` if the set was off already, so that it is not known how long it was on the air.
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

    /// Notes that a turn has begun.
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

    /// Notes that a turn could not begin: the set is off, and its identity waits until `instant`.
    public mutating func postpone(_ turn: Turn, until instant: HCIInstant) {
        hasPostponed = true
        slots[turn.set].identity = turn.identity
        slots[turn.set].enabledAt = nil
        slots[turn.set].retryAt = instant
        // A pause is not part of the length of a turn.
        slots[turn.set].previousBegin = nil
    }

    /// Notes that the controller has no memory for the set of `turn`. Afterwards only the sets with lower positions are
    /// used, and the identity of `turn` gets the next turn.
    public mutating func withdraw(_ turn: Turn) {
        slots = Array(slots.prefix(max(1, turn.set)))
        nextIdentity = turn.identity
    }

    // MARK: What was counted

    /// The mean time from the beginning of a turn to the beginning of the next turn on the same set, in microseconds;
    /// `nil` before the second turn of a set.
    public var turnMicroseconds: Int? { lengths.count > 0 ? lengths.sum / lengths.count : nil }

    /// The mean time between the beginnings of two turns of an identity, in microseconds. It is computed from
    /// ``turnMicroseconds`` until all identities together have repeated their turns once, and measured afterwards.
    /// `nil` if the length of no turn is known.
    public var roundMicroseconds: Int? {
        if gaps.count >= identities { return gaps.sum / gaps.count }
        return turnMicroseconds.map { $0 * identities / sets }
    }

    /// The number of turns of all identities.
    public var turns: Int { tallies.reduce(0) { $0 + $1.turns } }

    /// The number of turns that ended early.
    public var lostTurns: Int { tallies.reduce(0) { $0 + $1.lostTurns } }

    /// The number of turns that every identity has had.
    public var rounds: Int { tallies.map(\.turns).min() ?? 0 }

    /// The time from the first turn to `now`, in microseconds; 0 before it.
    public func elapsedMicroseconds(at now: HCIInstant) -> Int {
        begunAt.map { max(0, now.microseconds(since: $0)) } ?? 0
    }

    /// The identity with the longest time between the beginnings of two turns, and that time in microseconds; `nil`
    /// before an identity has had two turns.
    public var slowest: (identity: Int, gap: Int)? {
        let identity = tallies.indices.max { tallies[$0].longestGap < tallies[$1].longestGap }
        return identity.flatMap { tallies[$0].longestGap > 0 ? ($0, tallies[$0].longestGap) : nil }
    }

    /// Returns the broken invariants, one sentence each; empty if all hold.
    public func check() -> [String] {
        var problems: [String] = []
        let assigned = slots.compactMap(\.identity)
        if Set(assigned).count < assigned.count { problems.append("two sets have one identity") }
        if assigned.contains(where: { !tallies.indices.contains($0) }) { problems.append("a set has no identity") }
        for slot in slots where slot.enabledAt != nil && slot.identity == nil {
            problems.append("a set sends nothing")
        }
        // A postponed set falls behind the others, so the numbers of turns are compared only if no turn was ever
        // postponed.
        let counts = tallies.map(\.turns)
        if !hasPostponed, let least = counts.min(), let most = counts.max(), most - least > 1 {
            problems.append("an identity had \(most - least) turns fewer than another one")
        }
        if tallies.contains(where: { $0.lostTurns > $0.turns }) { problems.append("more turns are lost than began") }
        return problems
    }
}
