/// Decides which known beacons are present. All durations are listened time: see ``ListeningClock``.
///
/// All identities with one name are one beacon. If the receiver may have failed, beacons become unknown, not gone. The
/// measurement of their silence continues when reports arrive again.
public struct PresenceWatch: Sendable {
    /// The presence of a beacon.
    public enum Presence: String, Hashable, Sendable {
        /// The beacon was received, and its silence is within the limit of ``ExitRule``.
        case present
        case gone
        /// The receiver may have failed, or does not report repeated advertisements.
        case unknown
    }

    /// For each position in the table, the index of the beacon, because a beacon may have several identities.
    public let groups: [Int]
    /// The clock of the table, as it was at the end of the last round.
    public private(set) var clock = ListeningClock()
    /// For each beacon, its positions in the table.
    private let positions: [[Int]]
    /// The presence after a long silence: `unknown` if the receiver does not report repeated advertisements.
    private let presenceAfterSilence: Presence
    /// For each position, the listened time at which the silence becomes too long; `nil` before the first report.
    private var deadlines: [Int?]

    /// - Parameters:
    ///   - names: The names of the known beacons of a table, in its order.
    ///   - hearsRepeats: Whether the receiver reports repeated advertisements. If not, a silent beacon may still be
    ///     present.
    public init(names: [String], hearsRepeats: Bool = true) {
        presenceAfterSilence = hearsRepeats ? .gone : .unknown
        var indices: [String: Int] = [:]
        var positions: [[Int]] = []
        groups = names.enumerated().map { position, name in
            let index = indices[name] ?? indices.count
            if indices.updateValue(index, forKey: name) == nil { positions.append([]) }
            positions[index].append(position)
            return index
        }
        self.positions = positions
        deadlines = names.map { _ in nil }
    }

    /// The number of beacons.
    public var count: Int { positions.count }

    /// Takes the beacons that were received in the round that has ended. Must be called before the table begins the
    /// next round.
    public mutating func endRound(_ table: SightingTable) {
        clock = table.clock
        for position in table.heardInRound where position < groups.count {
            let track = table.tracks[position]
            guard let heard = track.lastHeard else { continue }
            deadlines[position] = clock.listened(at: heard) + ExitRule.silenceMicroseconds(track, at: heard)
        }
    }

    /// Returns the presence of a beacon at the end of a round or later; `nil` if it was never received.
    ///
    /// - Parameter group: An index from ``groups``.
    public func presence(of group: Int, at now: HeardInstant) -> Presence? {
        guard let deadline = positions[group].compactMap({ deadlines[$0] }).max() else { return nil }
        if clock.isDoubtful(at: now) { return .unknown }
        return clock.presumedListened(at: now) < deadline ? .present : presenceAfterSilence
    }
}

/// The silence after which a beacon counts as gone, in listened time.
///
/// No fixed time suits all beacons: the time must be longer than the series of lost events that the beacon's interval
/// and loss cause. With this rule, a present beacon counts as gone by mistake once in 30 days.
public enum ExitRule {
    /// The limits of the silence, in microseconds: 10 s and 5 min.
    public static let rangeMicroseconds = 10_000_000...300_000_000
    /// The silence for a beacon whose interval is not known, in microseconds: 30 s, as in the Android library.
    public static let unknownMicroseconds = 30_000_000
    /// The number of permitted false exits of a beacon per second.
    public static let falseExitsPerSecond = 1.0 / (30 * 86_400)
    /// The smallest loss that is assumed, because the loss is measured over a few dozen events.
    static let leastLoss = 0.1
    /// The largest loss that is assumed. A beacon that is never received has no exit.
    static let mostLoss = 0.99

    /// Returns the silence, in microseconds, that a present beacon exceeds only once in 30 days: n·period with n =
    /// ⌈ln(ε·period/(1 - q))/ln q⌉ lost events in a row, within ``rangeMicroseconds``.
    ///
    /// - Parameters:
    ///   - period: The mean time between two transmitted events, in microseconds.
    ///   - loss: The share of lost events q, 0...1.
    public static func silenceMicroseconds(period: Double, loss: Double) -> Int {
        Int(
            min(
                max(unlimited(period: period, loss: loss), Double(rangeMicroseconds.lowerBound)),
                Double(rangeMicroseconds.upperBound)))
    }

    /// Returns the silence as ``silenceMicroseconds(period:loss:)`` does, but not limited to ``rangeMicroseconds``.
    static func unlimited(period: Double, loss: Double) -> Double {
        guard period > 0 else { return Double(unknownMicroseconds) }
        let loss = min(max(loss, leastLoss), mostLoss)
        let events = naturalLogarithm(falseExitsPerSecond * period / 1_000_000 / (1 - loss)) / naturalLogarithm(loss)
        return max(1, events.rounded(.up)) * period
    }

    /// Returns the silence after which the beacon counts as gone, in microseconds.
    static func silenceMicroseconds(_ track: BeaconTrack, at now: HeardInstant) -> Int {
        guard let period = track.periodMicroseconds else { return unknownMicroseconds }
        // A loss of one half is assumed until the loss is known.
        return silenceMicroseconds(period: period, loss: 1 - (track.share(until: now) ?? 0.5))
    }
}
