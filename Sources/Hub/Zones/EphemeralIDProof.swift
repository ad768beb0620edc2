internal import Sightings

/// Decides when an ephemeral id proves that its beacon is present.
///
/// While an id is valid, every device in range can repeat it, and a receiver cannot find out which sender has the key.
/// So an id proves nothing if it comes from more addresses than one beacon uses, or if its levels differ more than the
/// levels of one beacon can.
struct EphemeralIDProof: Sendable {
    /// Two senders that are received within this time count as present at the same time, in microseconds of listened
    /// time: 10 s.
    static let overlapMicroseconds = 10_000_000
    /// The number of addresses that a beacon may use for one id: it may change its address once during the validity of
    /// the id.
    static let mostSenders = 2
    /// The time after a change of the address during which an id proves nothing, in microseconds. This pause prevents a
    /// proof by a device that repeats the id from a new address in each report. The pause is shorter than the shortest
    /// silence after which a beacon counts as gone.
    static let addressChangePause = 5_000_000
    /// The largest plausible difference in dB between the levels of one beacon in the last 10 to 20 s. The limit is
    /// high because the beacon may be carried past the receiver, and its signal may fade.
    static let widestLevels = 40
    /// The number of ids that are kept. A beacon can send several ids that change at different times.
    private static let mostIDs = 8

    /// The senders and levels that were received with one id.
    private struct Use {
        let id: BeaconIdentity
        var senders: [Sender?] = []
        /// The sender of the last report, and the time of that report.
        var last: (sender: Sender?, received: Int)?
        /// The sender before the last change of sender, and the time of that sender's last report.
        var previous: (sender: Sender?, received: Int)?
        var levels = LevelRange()
        /// The time of the last change of sender.
        var changedAt: Int?
        /// The last time at which reports showed that several devices send the id.
        var contestedAt: Int?
    }

    /// The lowest and the highest level of the last 10 to 20 s, kept in two consecutive ranges.
    private struct LevelRange {
        /// The time at which the range `current` began and the range `previous` ended.
        private var start = 0
        private var current: ClosedRange<Int8>?
        private var previous: ClosedRange<Int8>?

        /// Adds a level, and returns the difference between the highest and the lowest one, in dB.
        mutating func add(_ level: Int8, at now: Int) -> Int {
            if now - start >= 2 * overlapMicroseconds {
                (start, current, previous) = (now, nil, nil)
            } else if now - start >= overlapMicroseconds {
                (start, current, previous) = (now, nil, current)
            }
            let low = min(level, current?.lowerBound ?? level)
            let high = max(level, current?.upperBound ?? level)
            current = low...high
            return Int(max(high, previous?.upperBound ?? high)) - Int(min(low, previous?.lowerBound ?? low))
        }
    }

    /// The ids that are kept, in the order of their first reports.
    private var uses: [Use] = []

    /// Adds a report. Returns true if the report proves the presence of the beacon.
    ///
    /// - Parameters:
    ///   - level: The level in dBm; `nil` if the report has none.
    ///   - now: The time of the report, in microseconds of listened time.
    mutating func accepts(_ identity: BeaconIdentity?, from sender: Sender?, level: Int8?, at now: Int) -> Bool {
        guard let identity, case .eddystoneEID = identity else { return false }
        let index = uses.firstIndex { $0.id == identity } ?? uses.count
        if index == uses.count { uses.append(Use(id: identity)) }
        let isNewest = index == uses.count - 1
        let isProof = Self.add(sender, level, isNewest: isNewest, at: now, &uses[index])
        if uses.count > Self.mostIDs { uses.removeFirst() }
        return isProof
    }

    private static func add(
        _ sender: Sender?, _ level: Int8?, isNewest: Bool, at now: Int, _ use: inout Use
    ) -> Bool {
        if let last = use.last, last.sender != sender {
            // A beacon never returns to its previous address, so two devices send the id.
            if let previous = use.previous, previous.sender == sender, now - previous.received < overlapMicroseconds {
                use.contestedAt = now
            }
            (use.previous, use.changedAt) = (last, now)
        }
        use.last = (sender, now)
        if use.senders.count <= mostSenders, !use.senders.contains(where: { $0 == sender }) {
            // The beacon already sends its next id, so a new sender of this old id must be another device that repeats
            // it.
            if !isNewest, !use.senders.isEmpty { return false }
            use.senders.append(sender)
        }
        if let level, use.levels.add(level, at: now) > widestLevels { use.contestedAt = now }
        guard use.senders.count <= mostSenders else { return false }
        return (use.contestedAt.map { now - $0 >= overlapMicroseconds } ?? true)
            && (use.changedAt.map { now - $0 >= addressChangePause } ?? true)
    }
}
