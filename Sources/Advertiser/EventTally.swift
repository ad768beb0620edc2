internal import HCI

/// How many advertising events a set has sent since it was enabled, and for whom: computed from the time on the air and
/// the mean period, because a legacy controller does not count them, and an extended one tells only at the end of a set.
struct EventTally: Hashable, Sendable {
    private let periodMicroseconds: Int
    /// Time on the air of each member up to ``since``.
    private var airtime: [Int]
    private var member = 0
    private var since: HCIInstant?

    init(members: Int, periodMicroseconds: Int) {
        self.periodMicroseconds = max(1, periodMicroseconds)
        airtime = [Int](repeating: 0, count: members)
    }

    /// `member` is on the air from now on, whoever was before.
    ///
    /// - Parameter isEnabled: the set has just been enabled, so that its first event comes at once.
    mutating func begin(_ member: Int, at now: HCIInstant, isEnabled: Bool = false) {
        end(at: now)
        guard airtime.indices.contains(member) else { return }
        self.member = member
        since = now
        // The event is in the middle of its time, of which the first half lies before the start.
        if isEnabled { airtime[member] += periodMicroseconds / 2 }
    }

    /// Nothing is on the air from now on, or since `instant`, which may lie in the past.
    mutating func end(at instant: HCIInstant) {
        if let since { airtime[member] += max(0, instant.microseconds(since: since)) }
        since = nil
    }

    func events(of member: Int, at now: HCIInstant) -> UInt64 {
        guard airtime.indices.contains(member) else { return 0 }
        return UInt64((airtime(of: member, at: now) + (periodMicroseconds + 1) / 2) / periodMicroseconds)
    }

    private func airtime(of member: Int, at now: HCIInstant) -> Int {
        guard let since, member == self.member else { return airtime[member] }
        return airtime[member] + max(0, now.microseconds(since: since))
    }
}
