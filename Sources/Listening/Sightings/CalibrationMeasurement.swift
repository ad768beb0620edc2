/// A measurement of a beacon's level at 1 m, with one receiver and several headings of the beacon.
///
/// The level changes by 4 to 19 dB when the beacon is turned, and differs by up to 4.5 dB between the three channels.
/// So each heading has the same weight, and the standard error is computed over the headings, not over the packets.
public struct CalibrationMeasurement: Sendable {
    /// A part of the measurement in which nothing is moved.
    public struct Leg: Hashable, Sendable {
        /// The distance between beacon and receiver, in metres.
        public var meters: Double
        /// The angle by which the beacon is turned, in degrees.
        public var heading: Int
        /// The only advertising channel that the beacon uses; `nil` if it uses all channels.
        public var channel: Int?

        /// Creates a leg at this distance and heading.
        public init(meters: Double, heading: Int, channel: Int? = nil) {
            self.meters = meters
            self.heading = heading
            self.channel = channel
        }
    }

    /// The number of packets that a measurement needs in total.
    public static let neededPackets = 100
    /// The number of packets that a measurement needs for each heading.
    public static let neededPacketsOfHeading = 20
    /// The standard error in dB below which a measurement may end early, but not before ``shortestSeconds``.
    public static let wantedError = 0.5
    /// The shortest duration of a measurement, in seconds.
    public static let shortestSeconds = 20.0
    /// A difference between headings above this value, in dB, causes a warning.
    static let widestSpread = 10.0

    public let legs: [Leg]
    /// The transmit power, in dBm; `nil` if it is not known.
    public var radioPower: Int?
    /// The path-loss exponent n; `nil` to fit it.
    public var exponent: Double?
    /// The offset of this receiver's levels, in dB: positive if it reports higher levels than a reference receiver.
    public var referenceOffset = 0.0

    /// The levels of each leg.
    private var tallies: [LevelTally]
    /// The number of levels above the transmit power, which are impossible.
    private var tooStrong = 0
    /// The number of packets without a level.
    private var packetsWithoutLevel = 0
    private var senders = SenderChanges()

    /// - Parameter legs: The legs in the order in which they are measured. Must contain at least one leg.
    public init(legs: [Leg]) {
        self.legs = legs
        tallies = legs.map { _ in LevelTally() }
    }

    /// Takes a report of the beacon during a leg.
    public mutating func receive(_ sighting: Sighting, leg: Int) {
        senders.add(sighting.sender)
        guard tallies.indices.contains(leg) else { return }
        guard let level = sighting.rssi, LevelTally.range.contains(level) else {
            packetsWithoutLevel += 1
            return
        }
        if let radioPower, Int(level) > radioPower { tooStrong += 1 }
        tallies[leg].add(level)
    }

    /// The number of packets with a level.
    public var packets: Int { tallies.reduce(0) { $0 + $1.count } }

    /// The mean of all levels in dBm; `nil` without packets. A program compares the means of several beacons to find
    /// the strongest one.
    public var mean: Double? { merged { _ in true }.mean }

    /// Returns whether there are enough packets for a reliable result.
    ///
    /// - Parameter seconds: The duration of the measurement so far.
    public func isEnough(afterSeconds seconds: Double) -> Bool {
        guard seconds >= Self.shortestSeconds, shortage == nil, let error = standardError else { return false }
        return error < Self.wantedError
    }

    /// The reason why there is no result yet, as one sentence with the number of packets; `nil` if there are enough
    /// packets.
    public var shortage: String? {
        if packets < Self.neededPackets {
            let levelNote =
                packetsWithoutLevel > 0 ? " with a level and \(packetsWithoutLevel) without one" : ""
            return "\(packets) packets were received\(levelNote); a calibration needs \(Self.neededPackets)"
        }
        let leg = legs.indices.min { tallies[$0].count < tallies[$1].count }
        if let leg, tallies[leg].count < Self.neededPacketsOfHeading {
            return "\(tallies[leg].count) packets were received at \(legs[leg].heading)° and "
                + "\(Self.meters(legs[leg].meters)) m; each heading needs \(Self.neededPacketsOfHeading)"
        }
        return nil
    }

    private static func meters(_ value: Double) -> String {
        value == value.rounded() ? "\(Int(value))" : "\(value)"
    }

    private func merged(_ isTaken: (Leg) -> Bool) -> LevelTally {
        var tally = LevelTally()
        for index in legs.indices where isTaken(legs[index]) { tally.merge(tallies[index]) }
        return tally
    }

    // MARK: Results

    /// Returns the trimmed mean. 10 % of the levels are trimmed from each end, or 20 % if the lower tail is long
    /// because an obstacle weakened some packets.
    static func estimate(_ tally: LevelTally) -> (level: Double, trim: Double)? {
        guard let trimmedByTenth = tally.trimmedMean(0.1), let low = tally.mean(ofLowest: 0.1),
            let high = tally.mean(ofHighest: 0.1)
        else { return nil }
        let hasLongLowerTail = trimmedByTenth - low > 6 && trimmedByTenth - low > 1.5 * (high - trimmedByTenth)
        return hasLongLowerTail ? tally.trimmedMean(0.2).map { ($0, 0.2) } : (trimmedByTenth, 0.1)
    }

    /// The received level at one heading (a direction in degrees) or on one channel.
    public struct Level: Hashable, Sendable {
        /// The heading in degrees, or the number of the channel.
        public let number: Int
        /// The level in dBm.
        public let level: Double
        public let packets: Int
    }

    private var distances: [Double] { legs.reduce(into: []) { if !$0.contains($1.meters) { $0.append($1.meters) } } }

    /// Returns the levels of all headings at a distance, over all channels.
    private func headings(at meters: Double) -> [Level] {
        let headings = legs.reduce(into: [Int]()) {
            if $1.meters == meters, !$0.contains($1.heading) { $0.append($1.heading) }
        }
        return headings.compactMap { heading in
            let tally = merged { $0.meters == meters && $0.heading == heading }
            return Self.estimate(tally).map { Level(number: heading, level: $0.level, packets: tally.count) }
        }
    }

    /// The standard error of the mean over headings, in dB; `nil` for a single heading. If the legs have several
    /// distances, this is the largest standard error of a distance.
    public var standardError: Double? {
        distances.compactMap { meters -> Double? in
            let levels = headings(at: meters).map(\.level)
            return Self.deviation(levels).map { $0 / Double(levels.count).squareRoot() }
        }.max()
    }

    private static func deviation(_ values: [Double]) -> Double? {
        guard values.count > 1 else { return nil }
        let mean = values.reduce(0, +) / Double(values.count)
        return (values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(values.count - 1)).squareRoot()
    }

    /// A number with its 95 % confidence interval.
    public struct Estimate: Hashable, Sendable {
        public let value: Double
        /// The confidence interval; `nil` if there are too few measurements.
        public let interval: ClosedRange<Double>?
    }

    /// The result of a measurement.
    public struct Result: Equatable, Sendable {
        /// The level at 1 m in dBm, corrected by the reference offset.
        public let powerAtOneMeter: Estimate
        /// The standard error in dB; `nil` for a single heading.
        public let standardError: Double?
        public let packets: Int
        /// The standard deviation of packets around the mean of their heading, in dB.
        public let packetDeviation: Double?
        /// The headings at the first distance.
        public let headings: [Level]
        /// The channels at the first distance; empty if they were not measured separately.
        public let channels: [Level]
        /// The share that was trimmed from each end: the largest of all headings.
        public let trim: Double
        /// The path-loss exponent n, fitted or given; `nil` if all legs were at 1 m.
        public let exponent: Estimate?
        /// Possible problems with the measurement, one sentence each.
        public let warnings: [String]
    }

    /// The result; `nil` if there is a ``shortage``, or if the level at 1 m cannot be derived from the measured
    /// distances.
    public var result: Result? {
        guard shortage == nil, let firstDistance = distances.first else { return nil }
        let points = distances.flatMap { meters in
            self.headings(at: meters).map { (decades: -10 * log10(meters), level: $0.level - referenceOffset) }
        }
        let mean = points.reduce(0) { $0 + $1.level } / Double(points.count)
        var exponent: Estimate?
        let power: Estimate
        if distances.count > 1 {
            guard let line = LineFit(points.map { ($0.decades, $0.level) }) else { return nil }
            exponent = line.slope
            power = line.intercept
        } else if firstDistance == 1 {
            power = Estimate(value: mean, interval: interval(mean, points.count))
        } else if let givenExponent = self.exponent {
            exponent = Estimate(value: givenExponent, interval: nil)
            let value = mean - givenExponent * points[0].decades
            power = Estimate(value: value, interval: interval(value, points.count))
        } else {
            return nil
        }
        let headings = self.headings(at: firstDistance)
        let channelNumbers = legs.reduce(into: [Int]()) {
            if let channel = $1.channel, !$0.contains(channel) { $0.append(channel) }
        }
        let channels = channelNumbers.compactMap { channel -> Level? in
            let tally = merged { $0.meters == firstDistance && $0.channel == channel }
            return Self.estimate(tally).map { Level(number: channel, level: $0.level, packets: tally.count) }
        }
        return Result(
            powerAtOneMeter: power, standardError: standardError, packets: packets,
            packetDeviation: packetDeviation, headings: headings, channels: channels,
            trim: tallies.compactMap { Self.estimate($0)?.trim }.max() ?? 0.1, exponent: exponent,
            warnings: warnings(headings))
    }

    private func interval(_ value: Double, _ count: Int) -> ClosedRange<Double>? {
        standardError.map { value - LineFit.student(count - 1) * $0...value + LineFit.student(count - 1) * $0 }
    }

    private var packetDeviation: Double? {
        let variances = tallies.compactMap { tally in
            tally.standardDeviation.map { (variance: $0 * $0, weight: Double(tally.count - 1)) }
        }
        let weight = variances.reduce(0) { $0 + $1.weight }
        return weight > 0 ? (variances.reduce(0) { $0 + $1.variance * $1.weight } / weight).squareRoot() : nil
    }

    private func warnings(_ headings: [Level]) -> [String] {
        var warnings: [String] = []
        if headings.count == 1 {
            warnings.append(
                "one heading is not enough for a calibration: turning the beacon changes its level by 4 to 19 dB")
        }
        if let low = headings.map(\.level).min(), let high = headings.map(\.level).max(), high - low > Self.widestSpread
        {
            warnings.append("the headings differ by \(Int((high - low).rounded())) dB: look for metal near the beacon")
        }
        if senders.returns >= 3 { warnings.append("a second beacon has the same identity: turn one of them off") }
        if tooStrong > 0, let radioPower {
            warnings.append(
                "\(tooStrong) readings are above the \(radioPower) dBm that are sent: the receiver's levels are wrong")
        }
        return warnings
    }
}

extension LevelTally {
    fileprivate func mean(ofLowest share: Double) -> Double? { mean(ofFirst: share, from: Self.range.map { $0 }) }
    fileprivate func mean(ofHighest share: Double) -> Double? { mean(ofFirst: share, from: Self.range.reversed()) }

    private func mean(ofFirst share: Double, from levels: [Int8]) -> Double? {
        let wanted = max(1, Int(Double(count) * share))
        guard count > 0 else { return nil }
        var (taken, sum) = (0, 0)
        for level in levels where taken < wanted {
            let counted = min(wanted - taken, count(of: level))
            taken += counted
            sum += counted * Int(level)
        }
        return Double(sum) / Double(taken)
    }
}

/// A straight line fitted to points by least squares.
struct LineFit {
    let slope: CalibrationMeasurement.Estimate
    let intercept: CalibrationMeasurement.Estimate

    /// Fits a line. Returns `nil` if all points have the same x.
    init?(_ points: [(x: Double, y: Double)]) {
        let count = Double(points.count)
        guard count >= 2 else { return nil }
        let (meanX, meanY) = (points.reduce(0) { $0 + $1.x } / count, points.reduce(0) { $0 + $1.y } / count)
        let squaredDeviations = points.reduce(0) { $0 + ($1.x - meanX) * ($1.x - meanX) }
        guard squaredDeviations > 1e-9 else { return nil }
        let slope = points.reduce(0) { $0 + ($1.x - meanX) * ($1.y - meanY) } / squaredDeviations
        let intercept = meanY - slope * meanX
        let squaredResiduals = points.reduce(0) { sum, point in
            let difference = point.y - intercept - slope * point.x
            return sum + difference * difference
        }
        guard points.count > 2 else {
            self.slope = .init(value: slope, interval: nil)
            self.intercept = .init(value: intercept, interval: nil)
            return
        }
        let variance = squaredResiduals / (count - 2)
        let studentT = Self.student(points.count - 2)
        let slopeMargin = studentT * (variance / squaredDeviations).squareRoot()
        let interceptMargin = studentT * (variance * (1 / count + meanX * meanX / squaredDeviations)).squareRoot()
        self.slope = .init(value: slope, interval: slope - slopeMargin...slope + slopeMargin)
        self.intercept = .init(value: intercept, interval: intercept - interceptMargin...intercept + interceptMargin)
    }

    /// Returns Student's t for a 95 % interval with `freedom` degrees of freedom.
    static func student(_ freedom: Int) -> Double {
        let table = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228]
        guard freedom >= 1 else { return table[0] }
        return freedom <= table.count ? table[freedom - 1] : 1.96 + 2.4 / Double(freedom)
    }
}
