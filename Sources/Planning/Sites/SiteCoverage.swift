public import Airtime

/// The reception and the time to detection at each place of a floor.
public struct SiteCoverage: Sendable {
    /// One point of the coverage.
    public struct Point: Equatable, Sendable {
        public let reception: SiteReception
        /// The time in s within which the best beacon is received with the target's probability; nil if this
        /// probability is not reached.
        ///
        /// The best beacon is received at all with the probability `audible`. So this time is the percentile
        /// p/`audible` of the latency, where p is the target's probability.
        public let detectionSeconds: Double?
        /// The probability that the best beacon is received within the target time. With a target of n beacons, the
        /// probability for the n-th best beacon; 0 if the place receives fewer beacons.
        public let detectedShare: Double
        /// The values of ``detectedShare`` with each scanner, in the order of the mix.
        public let detectedByScanner: [Double]
        /// With a target of several beacons: the number of beacons that are each received within the target time with
        /// the target's probability; nil with a target of one.
        public var beaconsInTime: Int?
        /// The share of packets that do not collide: the lowest share among the beacons that the target needs.
        let clear: Double
    }

    /// The target for all places.
    public struct Target: Hashable, Sendable {
        public let seconds: Double
        public let probability: Double
        /// The number of beacons that must each be received within the time with the probability.
        public let beacons: Int

        /// The target of a site that has none: within 10 s with a probability of 0.9.
        public static let usual = Target(checkedSeconds: 10, checkedProbability: 0.9)

        private init(checkedSeconds seconds: Double, checkedProbability probability: Double) {
            self.seconds = seconds
            self.probability = probability
            beacons = 1
        }

        /// Throws for times outside 0.01 s...1 h, probabilities outside 0.01...0.9999, and numbers of beacons outside
        /// ``beaconRange``.
        public init(seconds: Double, probability: Double, beacons: Int = 1) throws(AirtimeError) {
            guard seconds >= 0.01, seconds <= 3600 else {
                throw .quantity(name: "a time in s (0.01...3600)", value: seconds)
            }
            guard probability >= 0.01, probability <= 0.9999 else { throw .share(probability) }
            guard Self.beaconRange.contains(beacons) else {
                throw .quantity(name: "a number of beacons (1...100)", value: Double(beacons))
            }
            self.seconds = seconds
            self.probability = probability
            self.beacons = beacons
        }

        /// The range of ``beacons``.
        public static let beaconRange = 1...100
    }

    public let model: SiteModel
    public let target: Target
    private let scanners: ScannerMix
    private var times: DetectionTimes

    public init(model: SiteModel, scanners: ScannerMix, target: Target) {
        self.model = model
        self.target = target
        self.scanners = scanners
        times = DetectionTimes(
            scanners: scanners, background: model.background, horizonSeconds: target.seconds * 10)
    }

    /// Returns the reception and the time to detection at one place.
    public mutating func point(at position: FloorPosition) throws(AirtimeError) -> Point {
        if target.beacons > 1 { return try pointOfSeveral(at: position) }
        let reception = model.reception(at: position)
        guard let best = reception.best else {
            return Point(
                reception: reception, detectionSeconds: nil, detectedShare: 0,
                detectedByScanner: scanners.parts.map { _ in 0 }, clear: reception.collisionFreeProbability)
        }
        let beacon = model.beacons[best.beacon]
        let clear = reception.collisionFreeProbability
        let seconds = try time(beacon, clear: clear, audible: best.audible)
        let receivedShare = try times.received(beacon, clear: clear, within: target.seconds)
        let sharesByScanner =
            scanners.only == nil
            ? try times.receivedByScanner(beacon, clear: clear, within: target.seconds) : [receivedShare]
        return Point(
            reception: reception, detectionSeconds: seconds, detectedShare: best.audible * receivedShare,
            detectedByScanner: sharesByScanner.map { best.audible * $0 }, clear: clear)
    }

    /// Returns, for each of `times` in s, the probability that the best beacon at a point is received within this time;
    /// empty if no beacon is received. With a target of n beacons, the n-th best beacon counts.
    public mutating func shares(at point: Point, within times: [Double]) throws(AirtimeError) -> [Double] {
        guard let best = point.reception.best else { return [] }
        if target.beacons > 1 { return try sharesOfSeveral(at: point.reception.position, within: times) }
        let clear = point.reception.collisionFreeProbability
        var shares: [Double] = []
        for time in times {
            let receivedShare = try self.times.received(model.beacons[best.beacon], clear: clear, within: time)
            shares.append(best.audible * receivedShare)
        }
        return shares
    }

    /// The probability that a visitor who is in range of a beacon for `seconds` receives it.
    mutating func received(
        _ beacon: SiteBeacon, clear: Double, within seconds: Double
    ) throws(AirtimeError) -> Double {
        try times.received(beacon, clear: clear, within: seconds)
    }

    /// The time in s within which a beacon that is above the sensitivity with the probability `audible` is received
    /// with the target's probability; nil if this probability is not reached.
    mutating func time(_ beacon: SiteBeacon, clear: Double, audible: Double) throws(AirtimeError) -> Double? {
        let share = target.probability / audible
        return share < 1 ? try times.time(beacon, clear: clear, share: share) : nil
    }

    /// The number of scanners of the mix.
    var scannerCount: Int { scanners.parts.count }

    /// Returns, for each scanner of the mix, its share of the visitors, and the probability that a visitor with this
    /// scanner who is in range of a beacon for `seconds` receives it.
    mutating func receivedByScanner(
        _ beacon: SiteBeacon, clear: Double, within seconds: Double
    ) throws(AirtimeError) -> [(share: Double, received: Double)] {
        let received = try times.receivedByScanner(beacon, clear: clear, within: seconds)
        return zip(scanners.parts, received).map { ($0.share, $1) }
    }

    /// Returns places of a square grid inside an outline, or inside the bounds if there is no outline. Their number is
    /// about `limit` or smaller. It can exceed `limit` by one row and one column, because both ends of a side have
    /// places: a square with a limit of 4 has 9 places, with a limit of 400 it has 441.
    ///
    /// - Returns: the places row by row, and their spacing in m.
    public static func grid(
        over bounds: FloorBounds, outline: FloorOutline?, limit: Int
    ) -> (positions: [FloorPosition], spacing: Double) {
        let area = max(bounds.width * bounds.height, 1e-6)
        let longest = max(bounds.width, bounds.height, 1e-3)
        // A spacing of half a metre is fine enough. A corridor has a small area, so the number of places along the
        // longer side is limited too.
        let spacing = max(0.5, (area / Double(max(1, limit))).squareRoot(), longest / Double(max(1, limit)))
        var positions: [FloorPosition] = []
        let (columns, rows) = (Int(bounds.width / spacing) + 1, Int(bounds.height / spacing) + 1)
        let firstPosition = FloorPosition(
            x: bounds.low.x + (bounds.width - Double(columns - 1) * spacing) / 2,
            y: bounds.low.y + (bounds.height - Double(rows - 1) * spacing) / 2)
        for row in 0..<rows {
            for column in 0..<columns {
                let position = FloorPosition(
                    x: firstPosition.x + Double(column) * spacing, y: firstPosition.y + Double(row) * spacing)
                if outline?.contains(position) ?? true { positions.append(position) }
            }
        }
        return (positions, spacing)
    }
}
