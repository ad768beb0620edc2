internal import Glibc

/// When a beacon counts as found: it was near in more than ``neededHits`` - 1 of the last rounds of a second.
public struct CountRule: Hashable, Sendable {
    /// "More than three of the same."
    public static let neededHits = 4
    /// A round's length, in microseconds.
    public static let roundMicroseconds = 1_000_000
    /// Nobody waits longer for a beacon, in rounds of a second.
    public static let patienceRounds = 6
    /// Of the beacons that are there, those that are found in that time.
    public static let goal = 0.98

    /// The words for the two ways of remembering.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        case window
        case sharedQueue = "shared-queue"
    }

    /// What is remembered of earlier rounds.
    public enum Memory: Hashable, Sendable {
        /// For each beacon its last rounds.
        case window(rounds: Int)
        /// For all beacons together so many sightings, of which the first one goes when another one comes. With k beacons
        /// near each has a k-th of it: below a capacity of 4k none is ever found.
        case sharedQueue(capacity: Int)
    }

    public var memory = Memory.window(rounds: 6)
    /// Up to here a beacon of the list is near, in millimetres.
    public var withinMillimetres = 1000

    /// A window of six rounds, and 1 m.
    public init() {}

    static let roundLimits = neededHits...60
    static let capacityLimits = neededHits...100_000
    /// In millimetres.
    static let distanceLimits = 100...100_000

    /// Which of the two it is.
    public var kind: Kind {
        switch memory {
        case .window: .window
        case .sharedQueue: .sharedQueue
        }
    }

    /// By list: whether a beacon that is on the list is near, by its distance in metres. Both ends belong to it, and an
    /// unknown distance is none.
    public func isNear(_ meters: Double?) -> Bool {
        guard let meters else { return false }
        return meters >= 0 && meters <= Double(withinMillimetres) / 1000
    }

    /// Nearest: whether a beacon is close enough to be the one on the thing that is held there.
    ///
    /// - Parameters:
    ///   - meters: At most 0.5; `nil` where the distance is not known.
    ///   - level: Above -75 dBm.
    public static func isAtHand(_ meters: Double?, level: Double?) -> Bool {
        guard let meters, let level else { return false }
        return meters >= 0 && meters <= 0.5 && level > -75
    }

    /// The chance that a beacon is found within so many rounds, when each of them hears it near with probability
    /// `heard`: that of ``neededHits`` or more among them.
    public static func chance(heard: Double, rounds: Int = patienceRounds) -> Double {
        guard rounds >= neededHits else { return 0 }
        let heard = min(1, max(0, heard))
        var (chance, ways) = (0.0, 1.0)
        for hits in 0...rounds {
            if hits > 0 { ways = ways * Double(rounds - hits + 1) / Double(hits) }
            if hits >= neededHits { chance += ways * power(heard, hits) * power(1 - heard, rounds - hits) }
        }
        return min(1, chance)
    }

    private static func power(_ base: Double, _ exponent: Int) -> Double {
        exponent == 0 ? 1 : Glibc.pow(base, Double(exponent))
    }

    /// The same for a beacon of this interval, in microseconds, of whose advertisements every second one is lost.
    public static func chance(intervalMicroseconds: Int) -> Double {
        let events = Double(roundMicroseconds) / Double(max(1, intervalMicroseconds) + 5000)
        return chance(heard: 1 - Glibc.pow(0.5, events))
    }
}

/// Counts in how many of the last rounds each beacon was near, by the numbers of the beacons.
struct NearRounds: Sendable {
    private let memory: CountRule.Memory
    private var windows: [Int: (hits: UInt64, round: Int)] = [:]
    private var queue: [Int] = []
    private var queueStart = 0
    private var queued: [Int: Int] = [:]
    /// How many rounds were listened through.
    private var round = 0

    init(_ memory: CountRule.Memory) {
        self.memory = memory
    }

    /// Forgets all rounds.
    mutating func removeAll() { self = NearRounds(memory) }

    /// Takes a round, which was listened through.
    ///
    /// - Parameter near: The beacons that were near in it, nearest first.
    /// - Returns: those of `near` that have been so often enough, with their hits.
    mutating func take(_ near: [Int]) -> [(beacon: Int, hits: Int)] {
        switch memory {
        case .window(let rounds):
            round += 1
            return near.compactMap { beacon in
                let old = windows[beacon] ?? (0, round)
                let age = round - old.round
                let shifted = age < 64 ? old.hits << UInt64(age) : 0
                let mask = rounds >= 64 ? UInt64.max : (1 << UInt64(rounds)) - 1
                let hits = (shifted | 1) & mask
                windows[beacon] = (hits, round)
                return hits.nonzeroBitCount >= CountRule.neededHits ? (beacon, hits.nonzeroBitCount) : nil
            }
        case .sharedQueue(let capacity):
            var enough: [(beacon: Int, hits: Int)] = []
            for beacon in near {
                queue.append(beacon)
                queued[beacon, default: 0] += 1
                if queue.count - queueStart > capacity {
                    queued[queue[queueStart], default: 1] -= 1
                    queueStart += 1
                }
                if let hits = queued[beacon], hits >= CountRule.neededHits { enough.append((beacon, hits)) }
            }
            if queueStart > capacity {
                queue.removeFirst(queueStart)
                queueStart = 0
            }
            return enough
        }
    }
}
