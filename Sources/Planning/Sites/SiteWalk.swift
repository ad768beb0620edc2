public import Airtime

/// A walk along a path through a floor.
public struct SiteWalk: Hashable, Sendable {
    /// The corners of the path.
    public let corners: [FloorPosition]
    /// The walking speed in m/s.
    public let speed: Double

    /// Throws for fewer than two corners, and a speed outside 0.01...100 m/s.
    public init(corners: [FloorPosition], speed: Double) throws(AirtimeError) {
        guard corners.count >= 2 else {
            throw .quantity(name: "a number of corners of a path", value: Double(corners.count))
        }
        guard speed >= 0.01, speed <= 100 else {
            throw .quantity(name: "a walking speed in m/s (0.01...100)", value: speed)
        }
        self.corners = corners
        self.speed = speed
    }

    /// The length of the path in m.
    public var length: Double { zip(corners, corners.dropFirst()).reduce(0) { $0 + $1.0.distance(to: $1.1) } }

    /// The result of a walk.
    public struct Result: Equatable, Sendable {
        /// The duration of the walk in s.
        public let duration: Double
        /// The mean number of beacons that are received during the walk.
        public let seen: Double
        /// The probability that at least one beacon is received during the walk.
        public let seenAnyProbability: Double
        /// ``seenAnyProbability`` with each scanner, in the order of the mix.
        public let seenAnyByScanner: [Double]
        /// The longest part of the path, in m, on which every beacon has a probability of reception below one half.
        public let longestGap: Double
    }

    /// The largest number of places at which a walk is examined.
    static let placeLimit = 2000

    /// Returns the result of the walk through the floor of `coverage`. A beacon is in range where its probability of
    /// reception is at least one half. It is found if its latency is shorter than its time in range. The latency is
    /// computed with the share of clear packets at the place where the beacon is strongest. A scanner finds each beacon
    /// independently of the others. A visitor uses one scanner on the whole path.
    public func result(in coverage: inout SiteCoverage) throws(AirtimeError) -> Result {
        let places = self.places
        let step = places.count > 1 ? length / Double(places.count - 1) : 0
        var reached: [Int: (steps: Int, audible: Double, clear: Double)] = [:]
        var gap = (current: 0, longest: 0)
        for place in places {
            let clear = coverage.model.reception(at: place).collisionFreeProbability
            var isGap = true
            for beaconIndex in coverage.model.near(place) {
                let audible = coverage.model.link(beaconIndex, at: place).audible
                guard audible >= 0.5 else { continue }
                isGap = false
                let known = reached[beaconIndex]
                let isBetter = audible > known?.audible ?? 0
                reached[beaconIndex] = (
                    (known?.steps ?? 0) + 1, isBetter ? audible : known?.audible ?? audible,
                    isBetter ? clear : known?.clear ?? clear
                )
            }
            gap.current = isGap ? gap.current + 1 : 0
            gap.longest = max(gap.longest, gap.current)
        }
        var seen = 0.0
        var parts: [(share: Double, seenNone: Double)] = []
        for (beaconIndex, visit) in reached.sorted(by: { $0.key < $1.key }) {
            let received = try coverage.receivedByScanner(
                coverage.model.beacons[beaconIndex], clear: visit.clear, within: Double(visit.steps) * step / speed)
            if parts.isEmpty { parts = received.map { ($0.share, 1) } }
            for (index, part) in received.enumerated() {
                let probability = visit.audible * part.received
                seen += part.share * probability
                parts[index].seenNone *= 1 - probability
            }
        }
        let seenNone = parts.isEmpty ? 1 : parts.reduce(0) { $0 + $1.share * $1.seenNone }
        return Result(
            duration: length / speed, seen: seen, seenAnyProbability: 1 - seenNone,
            seenAnyByScanner: parts.map { 1 - $0.seenNone },
            longestGap: min(length, Double(gap.longest) * step))
    }

    /// The places at which the walk is examined: one place every half metre; on long paths, the distance between two
    /// places is larger.
    private var places: [FloorPosition] {
        let count = max(2, min(Self.placeLimit, Int(length / 0.5) + 1))
        let step = length / Double(count - 1)
        var result: [FloorPosition] = []
        var (walked, nextDistance) = (0.0, 0.0)
        for (from, to) in zip(corners, corners.dropFirst()) {
            let side = from.distance(to: to)
            while result.count < count - 1, side > 0, nextDistance <= walked + side {
                result.append(from.toward(to, share: (nextDistance - walked) / side))
                nextDistance = Double(result.count) * step
            }
            walked += side
        }
        if let end = corners.last { result.append(end) }
        return result
    }
}
