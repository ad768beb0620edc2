internal import Glibc

/// The condition under which a beacon counts as found: it was near in at least ``neededHits`` of the last rounds. A
/// round lasts one second.
public struct CountRule: Hashable, Sendable {
    /// The number of rounds in which a beacon must be near to be found.
    public static let neededHits = 4
    /// The length of a round, in microseconds.
    public static let roundMicroseconds = 1_000_000
    /// The number of rounds within which a beacon should be found.
    public static let goalRounds = 6
    /// The share of present beacons that should be found within ``goalRounds``.
    public static let goal = 0.98

    /// The kinds of ``RoundMemory``, with their names in the file.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        case window
        case sharedQueue = "shared-queue"
    }

    /// The data that is kept from earlier rounds.
    public enum RoundMemory: Hashable, Sendable {
        /// The last rounds of each beacon.
        case window(rounds: Int)
        /// One queue of sightings for all beacons. If k beacons are near, each beacon has 1/k of the queue. So if the
        /// capacity is below 4·k, no beacon is found.
        case sharedQueue(capacity: Int)
    }

    public var memory = RoundMemory.window(rounds: 6)
    /// The distance up to which a beacon is near, in millimetres.
    public var withinMillimetres = 1000

    /// The default rule: a window of six rounds, and 1 m.
    public init() {}

    static let roundLimits = neededHits...60
    static let capacityLimits = neededHits...100_000
    /// The range of ``withinMillimetres``.
    static let distanceLimits = 100...100_000

    /// The kind of the memory.
    public var kind: Kind {
        switch memory {
        case .window: .window
        case .sharedQueue: .sharedQueue
        }
    }

    /// Returns true if a beacon at this distance in metres is near: from 0 to ``withinMillimetres``. An unknown
    /// distance is not near.
    public func isNear(_ meters: Double?) -> Bool {
        guard let meters else { return false }
        return meters >= 0 && meters <= Double(withinMillimetres) / 1000
    }

    /// Returns true if a beacon is held to the receiver: at most 0.5 m away, and above -75 dBm.
    ///
    /// - Parameters:
    ///   - meters: The distance; `nil` if it is not known.
    ///   - level: The level in dBm; `nil` if it is not known.
    public static func isAtHand(_ meters: Double?, level: Double?) -> Bool {
        guard let meters, let level else { return false }
        return meters >= 0 && meters <= 0.5 && level > -75
    }

    /// Returns the probability that a beacon is found within ``goalRounds``, that is, the probability of at least
    /// ``neededHits`` hits.
    ///
    /// - Parameter heard: The probability that the beacon is near in a round.
    public static func chance(heard: Double) -> Double {
        let (heard, rounds) = (min(1, max(0, heard)), goalRounds)
        var (chance, combinations) = (0.0, 1.0)
        for hits in 0...rounds {
            if hits > 0 { combinations = combinations * Double(rounds - hits + 1) / Double(hits) }
            guard hits >= neededHits else { continue }
            chance += combinations * Glibc.pow(heard, Double(hits)) * Glibc.pow(1 - heard, Double(rounds - hits))
        }
        return min(1, chance)
    }

    /// Returns the probability that a beacon is found within ``goalRounds`` if half of the advertisements are lost.
    ///
    /// - Parameter intervalMicroseconds: The advertising interval of the beacon, in microseconds.
    public static func chance(intervalMicroseconds: Int) -> Double {
        let events = Double(roundMicroseconds) / Double(max(1, intervalMicroseconds) + 5000)
        return chance(heard: 1 - Glibc.pow(0.5, events))
    }
}

/// Counts in how many of the last rounds each beacon was near. Beacons are identified by numbers.
struct NearRounds: Sendable {
    private let memory: CountRule.RoundMemory
    /// For each beacon, the number of the last round in which it was near, and one bit for each round. A bit is set if
    /// the beacon was near; the lowest bit is the last of these rounds.
    private var windows: [Int: (hits: UInt64, round: Int)] = [:]
    /// The shared queue: the numbers of the beacons. The elements before ``queueStart`` have been removed from the
    /// queue.
    private var queue: [Int] = []
    private var queueStart = 0
    /// The number of times that each beacon is in the queue.
    private var timesInQueue: [Int: Int] = [:]
    /// The number of rounds so far.
    private var round = 0

    init(_ memory: CountRule.RoundMemory) {
        self.memory = memory
    }

    /// Removes all rounds.
    mutating func removeAll() { self = NearRounds(memory) }

    /// Adds a round in which the receiver worked all the time.
    ///
    /// - Parameter near: The beacons that were near, nearest first.
    /// - Returns: The beacons of `near` that were near in enough rounds, with the number of these rounds.
    mutating func addRound(_ near: [Int]) -> [(beacon: Int, hits: Int)] {
        switch memory {
        case .window(let rounds):
            round += 1
            return near.compactMap { beacon in
                let earlier = windows[beacon] ?? (0, round)
                let age = round - earlier.round
                let shifted = age < 64 ? earlier.hits << UInt64(age) : 0
                let mask = rounds >= 64 ? UInt64.max : (1 << UInt64(rounds)) - 1
                let hits = (shifted | 1) & mask
                windows[beacon] = (hits, round)
                return hits.nonzeroBitCount >= CountRule.neededHits ? (beacon, hits.nonzeroBitCount) : nil
            }
        case .sharedQueue(let capacity):
            var found: [(beacon: Int, hits: Int)] = []
            for beacon in near {
                queue.append(beacon)
                timesInQueue[beacon, default: 0] += 1
                if queue.count - queueStart > capacity {
                    timesInQueue[queue[queueStart], default: 1] -= 1
                    queueStart += 1
                }
                if let hits = timesInQueue[beacon], hits >= CountRule.neededHits { found.append((beacon, hits)) }
            }
            if queueStart > capacity {
                queue.removeFirst(queueStart)
                queueStart = 0
            }
            return found
        }
    }
}
