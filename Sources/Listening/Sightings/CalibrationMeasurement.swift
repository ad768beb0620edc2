/// A measurement of a beacon's level at 1 m, with one receiver and several headings of the beacon.
///
/// The level changes by 4 to 19 dB when the beacon is turned, and differs by up to 4.5 dB between the three channels.
/// So each heading counts the same, and the standard error is computed over the headings, not over the packets.
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
    /// The amount by which this receiver's levels exceed those of a reference receiver, in dB.
    public var referenceOffset = 0.0

    /// The levels of each leg.
    private var tallies: [LevelTally]
    /// The number of levels above the transmit power, which are impossible.
    private var tooLoud = 0
    /// The number of packets without a level.
    private var withoutLevel = 0
    private var senders = SenderChanges()

    /// - Parameter legs: The legs in the order in which they are measured; at least one.
    public init(legs: [Leg]) {
        self.legs = legs
        tallies = legs.map { _ in LevelTally() }
    }

    /// Takes a report of the beacon during a leg.
    public mutating func receive(_ sighting: Sighting, leg: Int) {
        senders.add(sighting.sender)
        guard tallies.indices.contains(leg) else { return }
        guard let level = sighting.rssi, LevelTally.range.contains(level) else {
            withoutLevel += 1
            return
        }
        if let radioPower, Int(level) > radioPower { tooLoud += 1 }
        tallies[leg].add(level)
    }

    /// The number of packets with a level.
    public var packets: Int { tallies.reduce(0) { $0 + $1.count } }

    /// The mean of all levels in dBm, with which a program finds the strongest beacon; `nil` without packets.
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
            let silent =
                withoutLevel > 0 ? " with a level and \(withoutLevel) without one" : ""
            return "\(packets) packets were received\(silent); a calibration needs \(Self.neededPackets)"
        }
        let fewest = legs.indices.min { tallies[$0].count < tallies[$1].count }
        if let fewest, tallies[fewest].count < Self.neededPacketsOfHeading {
            return "\(tallies[fewest].count) packets were received at \(legs[fewest].heading)° and "
                + "\(Self.meters(legs[fewest].meters)) m; each heading needs \(Self.neededPacketsOfHeading)"
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

    /// Returns the trimmed mean. 10 % is trimmed from each end, or 20 % if the lower tail is long because packets were
    /// shadowed.
    static func estimate(_ tally: LevelTally) -> (level: Double, trim: Double)? {
        guard let tenth = tally.trimmedMean(0.1), let low = tally.mean(ofLowest: 0.1),
            let high = tally.mean(ofHighest: 0.1)
        else { return nil }
        let isLong = tenth - low > 6 && tenth - low > 1.5 * (high - tenth)
        return isLong ? tally.trimmedMean(0.2).map { ($0, 0.2) } : (tenth, 0.1)
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
        let numbers = legs.reduce(into: [Int]()) {
            if $1.meters == meters, !$0.contains($1.heading) { $0.append($1.heading) }
        }
        return numbers.compactMap { number in
            let tally = merged { $0.meters == meters && $0.heading == number }
            return Self.estimate(tally).map { Level(number: number, level: $0.level, packets: tally.count) }
        }
    }

    /// The standard error of the mean over headings, in dB; `nil` for a single heading. If there are several distances,
    /// this is the largest of their standard errors.
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
    public struct Result: Hashable, Sendable {
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
        guard shortage == nil, let first = distances.first else { return nil }
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
        } else if first == 1 {
            power = Estimate(value: mean, interval: interval(mean, points.count))
        } else if let given = self.exponent {
            exponent = Estimate(value: given, interval: nil)
            let value = mean - given * points[0].decades
            power = Estimate(value: value, interval: interval(value, points.count))
        } else {
            return nil
        }
        let headings = self.headings(at: first)
        let numbers = legs.reduce(into: [Int]()) { if let one = $1.channel, !$0.contains(one) { $0.append(one) } }
        let channels = numbers.compactMap { number -> Level? in
            let tally = merged { $0.meters == first && $0.channel == number }
            return Self.estimate(tally).map { Level(number: number, level: $0.level, packets: tally.count) }
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
        let parts = tallies.compactMap { tally in tally.standardDeviation.map { ($0 * $0, Double(tally.count - 1)) } }
        let freedom = parts.reduce(0) { $0 + $1.1 }
        return freedom > 0 ? (parts.reduce(0) { $0 + $1.0 * $1.1 } / freedom).squareRoot() : nil
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
        if tooLoud > 0, let radioPower {
            warnings.append("\(tooLoud) readings are above the \(radioPower) dBm that are sent: the receiver is wrong")
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
            let some = min(wanted - taken, count(of: level))
            taken += some
            sum += some * Int(level)
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
        let squares = points.reduce(0) { $0 + ($1.x - meanX) * ($1.x - meanX) }
        guard squares > 1e-9 else { return nil }
        let slope = points.reduce(0) { $0 + ($1.x - meanX) * ($1.y - meanY) } / squares
        let intercept = meanY - slope * meanX
        let rest = points.reduce(0) { sum, point in
            let difference = point.y - intercept - slope * point.x
            return sum + difference * difference
        }
        guard points.count > 2 else {
            self.slope = .init(value: slope, interval: nil)
            self.intercept = .init(value: intercept, interval: nil)
            return
        }
        let variance = rest / (count - 2)
        let reach = Self.student(points.count - 2)
        let ofSlope = reach * (variance / squares).squareRoot()
        let ofIntercept = reach * (variance * (1 / count + meanX * meanX / squares)).squareRoot()
        self.slope = .init(value: slope, interval: slope - ofSlope...slope + ofSlope)
        self.intercept = .init(value: intercept, interval: intercept - ofIntercept...intercept + ofIntercept)
    }

    /// Returns Student's t for a 95 % interval with `freedom` degrees of freedom.
    static func student(_ freedom: Int) -> Double {
        let table = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228]
        guard freedom >= 1 else { return table[0] }
        return freedom <= table.count ? table[freedom - 1] : 1.96 + 2.4 / Double(freedom)
    }
}
