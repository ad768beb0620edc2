internal import Sightings

/// Decides when an ephemeral id proves that its beacon is there.
///
/// Every device in reach can repeat an id while it is valid, and a receiver cannot find out which of two senders has
/// the key. So an id proves nothing if it comes from more senders, or at more different levels, than one beacon can
/// explain.
struct EphemeralIDProof: Sendable {
    /// Two senders within this time are present at once, in microseconds of listened time: 10 s.
    static let together = 10_000_000
    /// The number of addresses that a beacon may use for one id: it may change its address once before the id.
    static let mostSenders = 2
    /// After a change of the address an id proves nothing for this time, in microseconds: a device that repeats the id
    /// with a new address each time never proves it. It is less than the shortest silence after which a beacon is gone.
    static let settling = 5_000_000
    /// The largest difference between levels within ``together`` that one place explains, in dB: a beacon that is carried
    /// past, and a fade.
    static let widestLevels = 40
    /// The number of ids that are kept. A beacon can send several ids, each with its own rotation.
    private static let mostIDs = 8

    /// The senders and levels that were received with one id.
    private struct Use {
        let id: BeaconIdentity
        var senders: [Sender?] = []
        /// The last sender, and when it was received.
        var last: (sender: Sender?, received: Int)?
        /// The sender before the present one, and when it was last received.
        var previous: (sender: Sender?, received: Int)?
        var levels = LevelRange()
        /// When the sender last changed.
        var changed: Int?
        /// When the id last showed that several devices send it.
        var contested: Int?
    }

    /// The lowest and the highest level of the last 10 to 20 s.
    private struct LevelRange {
        /// The start of the range `current`. The range `before` ended then.
        private var start = 0
        private var current: ClosedRange<Int8>?
        private var before: ClosedRange<Int8>?

        /// Adds a level, and returns the difference between the highest and the lowest one, in dB.
        mutating func add(_ level: Int8, at now: Int) -> Int {
            if now - start >= 2 * together {
                (start, current, before) = (now, nil, nil)
            } else if now - start >= together {
                (start, current, before) = (now, nil, current)
            }
            let low = min(level, current?.lowerBound ?? level)
            let high = max(level, current?.upperBound ?? level)
            current = low...high
            return Int(max(high, before?.upperBound ?? high)) - Int(min(low, before?.lowerBound ?? low))
        }
    }

    /// In the order of their first reports.
    private var uses: [Use] = []

    /// Takes a report, and returns whether it proves the beacon.
    ///
    /// - Parameters:
    ///   - level: In dBm; `nil` if it is not available.
    ///   - now: In microseconds of listened time.
    mutating func accepts(_ identity: BeaconIdentity?, from sender: Sender?, level: Int8?, at now: Int) -> Bool {
        guard let identity, case .eddystoneEID = identity else { return false }
        let place = uses.firstIndex { $0.id == identity } ?? uses.count
        if place == uses.count { uses.append(Use(id: identity)) }
        let isNewest = place == uses.count - 1
        let isProof = Self.take(sender, level, isNewest: isNewest, at: now, &uses[place])
        if uses.count > Self.mostIDs { uses.removeFirst() }
        return isProof
    }

    private static func take(
        _ sender: Sender?, _ level: Int8?, isNewest: Bool, at now: Int, _ use: inout Use
    ) -> Bool {
        if let last = use.last, last.sender != sender {
            // A beacon may change its address once; it does not change it back.
            if let previous = use.previous, previous.sender == sender, now - previous.received < together {
                use.contested = now
            }
            (use.previous, use.changed) = (last, now)
        }
        use.last = (sender, now)
        if use.senders.count <= mostSenders, !use.senders.contains(where: { $0 == sender }) {
            // When the beacon sends its next id already, a new sender of this one only repeats it.
            if !isNewest, !use.senders.isEmpty { return false }
            use.senders.append(sender)
        }
        if let level, use.levels.add(level, at: now) > widestLevels { use.contested = now }
        guard use.senders.count <= mostSenders else { return false }
        return (use.contested.map { now - $0 >= together } ?? true)
            && (use.changed.map { now - $0 >= settling } ?? true)
    }
}
