internal import Sightings

/// Decides when an ephemeral id proves that its beacon is there.
///
/// Every device in range can repeat an id while the id is valid, and a receiver cannot find out which of two senders
/// has the key. So an id proves nothing if it comes from more senders than one beacon can have, or at levels that
/// differ more than those of one beacon can.
struct EphemeralIDProof: Sendable {
    /// Two senders that are received within this time are present at the same time, in microseconds of listened time:
    /// 10 s.
    static let overlapMicroseconds = 10_000_000
    /// The number of addresses that a beacon may use for one id: it may change its address once during the validity of
    /// the id.
    static let mostSenders = 2
    /// After a change of the address an id proves nothing for this time, in microseconds. So a device that repeats the
    /// id with a new address each time never proves anything. The time is less than the shortest silence after which a
    /// beacon is gone.
    static let addressChangePause = 5_000_000
    /// The largest difference between levels that one beacon can cause, in dB, if it is carried past the receiver and
    /// its signal fades. The levels of the last 10 to 20 s are compared.
    static let widestLevels = 40
    /// The number of ids that are kept. A beacon can send several ids, each of which changes at its own times.
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
        /// The time of the last sign that several devices send the id.
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

    /// Adds a report. Returns whether the report proves the presence of the beacon.
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
            // A beacon may change its address, but does not return to its previous address: two devices send the id.
            if let previous = use.previous, previous.sender == sender, now - previous.received < overlapMicroseconds {
                use.contestedAt = now
            }
            (use.previous, use.changedAt) = (last, now)
        }
        use.last = (sender, now)
        if use.senders.count <= mostSenders, !use.senders.contains(where: { $0 == sender }) {
            // The beacon already sends its next id, so a new sender of this old id can only be a device that repeats
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
