public import BluetoothTypes

/// The time from a random instant until a scanner with one radio first receives an advertiser whose interval changes by
/// a pattern.
///
/// The instant is uniform over the cycle of the pattern and over the phase of the scanner, independently of each other.
/// Each part of the pattern begins with an event, and the next events follow at its interval and advDelay until the
/// part is over (see `AdvertisingPattern`). The model follows the distribution of the time of the next event, event by
/// event, for many starts: instants that are spread evenly over the cycle and over the phase of the scanner. Each event
/// is lost independently of the events before it.
public struct PatternLatencyModel: Hashable, Sendable {
    public let pattern: AdvertisingPattern
    /// N: the beacons in range of the scanner with this pattern, including the target beacon. Their cycles are
    /// independent.
    public let count: Int
    /// tau, the airtime of a packet in µs.
    public let airtimeMicroseconds: Double
    public let scanner: ScannerPreset
    /// c in µs, from the start of one copy to the start of the next.
    public let copySpacingMicroseconds: Double
    /// The probability that a packet is not destroyed by anything outside the fleet.
    public let otherClearProbability: Double

    /// Throws for an empty fleet, an interval outside 20 ms...10.24 s, a scan interval above 40.96 s, an airtime above
    /// 5 ms, a copy spacing shorter than the airtime or above 1 s, and a probability outside 0...1.
    public init(
        pattern: AdvertisingPattern, count: Int = 1, airtimeMicroseconds: Double, scanner: ScannerPreset,
        copySpacingMicroseconds: Double = 1000, otherClearProbability: Double = 1
    ) throws(AirtimeError) {
        // Packets on LE Coded are longer than the usual spacing.
        let copySpacingMicroseconds = max(copySpacingMicroseconds, airtimeMicroseconds)
        for part in pattern.parts {
            // The interval of each part must meet the limits of a constant interval.
            _ = try LatencyModel(
                group: AdvertiserGroup(
                    count: count, interval: part.interval.interval, airtimeMicroseconds: airtimeMicroseconds),
                preset: scanner, copySpacingMicroseconds: copySpacingMicroseconds,
                otherClearProbability: otherClearProbability)
        }
        self.pattern = pattern
        self.count = count
        self.airtimeMicroseconds = airtimeMicroseconds
        self.scanner = scanner
        self.copySpacingMicroseconds = copySpacingMicroseconds
        self.otherClearProbability = otherClearProbability
    }

    /// E in µs: the cycle divided by its mean number of events.
    public var meanPeriodMicroseconds: Double { pattern.meanPeriodMicroseconds }

    /// The probability that a packet is clear of the fleet on its channel: (1 - 2·tau/E)^(N-1), because the other
    /// beacons are at random places of their cycles.
    public var collisionFreeProbability: Double {
        pow(1 - 2 * airtimeMicroseconds / meanPeriodMicroseconds, Double(count - 1))
    }

    /// The probability that an event within a window is received.
    var clearProbability: Double {
        let clear = collisionFreeProbability * otherClearProbability
        let offered = Double(count) / meanPeriodMicroseconds * clear
        return clear / (1 + offered * scanner.deadTimeMicroseconds)
    }

    /// The distribution of the latency.
    ///
    /// The curve ends when the share received is 99.5 %, but not before `untilSeconds`, and at the latest at
    /// `horizonSeconds`, which is at most a day. Throws for times that are negative or not numbers, and for
    /// `untilSeconds` beyond the horizon.
    public func distribution(
        untilSeconds: Double = 0, horizonSeconds: Double = 3600
    ) throws(AirtimeError) -> LatencyDistribution {
        guard horizonSeconds > 0, horizonSeconds <= LatencyModel.longestHorizonSeconds else {
            throw .quantity(name: "a time limit in s", value: horizonSeconds)
        }
        guard untilSeconds >= 0, untilSeconds <= horizonSeconds else {
            throw .quantity(name: "a time in s", value: untilSeconds)
        }
        let trial = trial(horizonSeconds: horizonSeconds)
        var end = max(untilSeconds, trial.endSeconds)
        var curve = curve(starts: trial.starts, horizonSeconds: end)
        // The trial followed only a few starts. So the end that it estimated may be too early for the share that the
        // curve must reach.
        while curve.unreceived > 1 - Self.completeShare, end < horizonSeconds {
            end = min(horizonSeconds, end * 1.5)
            curve = self.curve(starts: trial.starts, horizonSeconds: end)
        }
        return curve.distribution
    }

    /// The result of a trial with a few starts. The trial estimates how long discovery takes.
    struct Trial {
        /// The time in s at which the distribution ends.
        let endSeconds: Double
        /// The number of starts of the distribution. A long curve needs fewer starts, because the time after each start
        /// then contains many windows of the scanner.
        let starts: Int
    }

    func trial(horizonSeconds: Double) -> Trial {
        var end = min(horizonSeconds, Self.firstHorizonSeconds)
        while true {
            let count = end > Self.firstHorizonSeconds * 4 ? Self.fewestStarts : Self.fewStarts
            let curve = curve(starts: count, horizonSeconds: end)
            if curve.unreceived < 1 - Self.completeShare || end >= horizonSeconds {
                let affordable = Int(Self.workLimit * Double(count) / Double(max(1, curve.work)))
                return Trial(
                    endSeconds: min(horizonSeconds, curve.time(ofShare: Self.completeShare).map { $0 * 1.25 } ?? end),
                    starts: min(Self.starts.upperBound, max(Self.starts.lowerBound, affordable)))
            }
            end = min(horizonSeconds, end * 4)
        }
    }

    /// The range of the number of starts of a distribution.
    private static let starts = 256...4096
    /// The numbers of starts of a trial with a short horizon, and of a trial with a long one.
    private static let (fewStarts, fewestStarts) = (128, 32)
    private static let firstHorizonSeconds = 15.0
    /// The approximate number of additions above which a distribution is computed with fewer starts.
    private static let workLimit = 100_000_000.0
    /// The share at which the distribution ends.
    private static let completeShare = 0.995

    /// Returns the curve from `starts` starts, each followed for `horizonSeconds`.
    ///
    /// - Parameter units: The length of a step in units of 0.625 ms: 1, or for a faster and coarser curve 2 or 4.
    func curve(starts: Int, horizonSeconds: Double, units: Int = 1) -> FirstReceptions {
        var receptions = FirstReceptions(self, horizonSeconds: horizonSeconds, units: units)
        receptions.follow(starts: starts)
        return receptions
    }
}

/// The times of the first receptions of many starts.
struct FirstReceptions: Sendable {
    /// A part of the pattern, with its times in steps.
    private struct Part {
        let interval: Int
        let duration: Int
    }

    /// The distribution of the time of the next event.
    private struct NextEvent {
        /// The step of the first element of ``masses``, counted from the beginning of the part.
        var firstStep: Int
        /// For each step from ``firstStep`` on, the probability that the next event is in this step.
        var masses: [Double]
        /// The probability that the part ends before the next event. The next event is then at the start of the next
        /// part.
        var massAfterEnd: Double
    }

    /// The share of all starts for which no event is received within the horizon.
    private(set) var unreceived = 0.0
    /// The approximate number of additions so far.
    private(set) var work = 0
    /// The share of all starts whose first reception is in each bin.
    private var bins: [Double]
    private let parts: [Part]
    private let cycle: Int
    /// The end of the curve, in steps after the instant.
    private let curveEnd: Double
    /// The length of a bin of the curve in steps.
    private let binSteps: Double
    /// The probability that an event is received, by the cell of the scanner's cycle in which it starts.
    private let receptionByCell: [Double]
    /// At index i: the sum of ``receptionByCell`` over the first i cells, for two cycles in a row. The difference of
    /// two sums shows without a loop whether a range has a covered cell.
    private let receptionSums: [Double]
    private let cellsPerStep: Double

    /// The length of a step in µs.
    private let step: Double
    /// The length of the range of advDelay, in steps.
    private let delay: Int
    /// The distributions of the sums of 0...7 delays.
    private let delaySums: [[Double]]

    /// The shortest bin in µs.
    private static let shortestBin = 5000.0
    /// The largest number of bins.
    private static let binLimit = 1_000_000.0
    /// The fixed work of an event, in additions. Each of its masses takes one more addition.
    private static let workOfEvent = 20
    /// The smallest probability that is still followed, as a share of the probability of a start.
    private static let smallest = 1e-5

    init(_ model: PatternLatencyModel, horizonSeconds: Double, units: Int) {
        let step = Double(units) * LatencyModel.stepMicroseconds
        self.step = step
        delay = 16 / units
        parts = model.pattern.parts.map {
            Part(
                interval: max(1, Int((Double($0.interval.interval.microseconds) / step).rounded())),
                duration: max(1, Int((Double($0.durationMicroseconds) / step).rounded())))
        }
        cycle = parts.reduce(0) { $0 + $1.duration }
        curveEnd = horizonSeconds * 1_000_000 / step
        let scan = ScannerCycle(
            pattern: model.scanner.pattern, airtime: model.airtimeMicroseconds,
            copySpacing: model.copySpacingMicroseconds, gap: model.scanner.windowGapMicroseconds)
        let cells = scan.share > 0.999_999 ? 1 : max(2, Int((scan.length / step).rounded()))
        cellsPerStep = cells == 1 ? 0 : Double(cells) * step / scan.length
        let clear = model.clearProbability
        receptionByCell = scan.shares(ofCells: cells).map { $0 * clear }
        var sum = 0.0
        var receptionSums = [0.0]
        receptionSums.reserveCapacity(2 * cells + 1)
        for _ in 0..<2 {
            for probability in receptionByCell {
                sum += probability
                receptionSums.append(sum)
            }
        }
        self.receptionSums = receptionSums
        binSteps = max(Self.shortestBin / step, curveEnd / Self.binLimit)
        bins = Array(repeating: 0, count: Int(curveEnd / binSteps) + 2)
        var delaySums = [[1.0]]
        while delaySums.count < 8 {
            var masses = delaySums[delaySums.count - 1]
            Self.spread(&masses, over: delay)
            delaySums.append(masses)
        }
        self.delaySums = delaySums
    }

    /// Follows starts that are spread evenly over the cycle and over the scanner's phase.
    mutating func follow(starts: Int) {
        for index in 0..<starts {
            let instant = (Double(index) + 0.5) / Double(starts) * Double(cycle)
            let cycles = Double(index) * 0.618_033_988_749_895 + 0.25
            let phase = (cycles - cycles.rounded(.down)) * Double(receptionByCell.count)
            follow(from: instant, phase: phase, weight: 1 / Double(starts))
        }
    }

    /// Follows one start.
    ///
    /// - Parameters:
    ///   - instant: The instant in the cycle, in steps.
    ///   - phase: The scanner's phase at the instant, in cells.
    private mutating func follow(from instant: Double, phase: Double, weight: Double) {
        var partIndex = 0
        var offset = instant
        while offset >= Double(parts[partIndex].duration), partIndex + 1 < parts.count {
            offset -= Double(parts[partIndex].duration)
            partIndex += 1
        }
        var next = firstEvent(in: parts[partIndex], after: offset, weight: weight)
        // The beginning of the part, in steps after the instant.
        var start = -offset
        while true {
            finish(parts[partIndex], &next, start: start, phase: phase, least: Self.smallest * weight)
            guard next.massAfterEnd > Self.smallest * weight else { break }
            start += Double(parts[partIndex].duration)
            if start >= curveEnd { break }
            partIndex = (partIndex + 1) % parts.count
            next = NextEvent(firstStep: 0, masses: [next.massAfterEnd], massAfterEnd: 0)
        }
        add(next.massAfterEnd, at: start)
    }

    /// Follows the events until the end of a part.
    ///
    /// - Parameter least: If the remaining probability is at most this value, it is counted as received immediately.
    private mutating func finish(_ part: Part, _ next: inout NextEvent, start: Double, phase: Double, least: Double) {
        while !next.masses.isEmpty {
            let room = part.duration - next.firstStep
            if room < next.masses.count {
                next.massAfterEnd += next.masses[max(0, room)...].reduce(0, +)
                next.masses.removeLast(next.masses.count - max(0, room))
                if next.masses.isEmpty { return }
            }
            work += next.masses.count + Self.workOfEvent
            let time = start + Double(next.firstStep)
            let remaining = receive(&next.masses, at: time, phase: phase)
            if time >= curveEnd || remaining <= least {
                add(remaining, at: time)
                next.masses = []
                return
            }
            next.firstStep += part.interval
            Self.spread(&next.masses, over: delay)
            trim(&next, least: least)
        }
    }

    /// Adds a probability to the curve, or to ``unreceived`` if the time lies beyond the horizon.
    private mutating func add(_ mass: Double, at time: Double) {
        let bin = Int(max(0, time) / binSteps)
        if time < curveEnd, bin < bins.count { bins[bin] += mass } else { unreceived += mass }
    }

    /// Moves the probability that the event is received from `masses` to the curve.
    ///
    /// - Returns: The probability that remains in `masses`.
    private mutating func receive(_ masses: inout [Double], at time: Double, phase: Double) -> Double {
        let cellPosition = phase + time * cellsPerStep
        let count = receptionByCell.count
        let firstCell = min(
            count - 1, Int(cellPosition - (cellPosition / Double(count)).rounded(.down) * Double(count)))
        var remaining = 0.0
        if masses.count <= count, receptionSums[firstCell + masses.count] <= receptionSums[firstCell] {
            for mass in masses { remaining += mass }
            return remaining
        }
        var cell = firstCell
        for index in masses.indices {
            let mass = masses[index]
            let receivedMass = mass * receptionByCell[cell]
            if receivedMass > 0 {
                masses[index] = mass - receivedMass
                let bin = Int((time + Double(index)) / binSteps)
                if bin < bins.count { bins[bin] += receivedMass } else { unreceived += receivedMass }
            }
            remaining += mass - receivedMass
            cell += 1
            if cell == count { cell = 0 }
        }
        return remaining
    }

    /// Spreads each mass over advDelay, which is uniform over `delay` steps.
    ///
    /// The loop runs from the end to the start, so that each mass is read before it is overwritten.
    private static func spread(_ masses: inout [Double], over delay: Int) {
        let count = masses.count
        for _ in 0..<delay { masses.append(0) }
        let scale = 1 / Double(2 * delay)
        // The sum of the masses in index - delay + 1 ... index.
        var sum = 0.0
        var index = count + delay - 1
        while index >= 0 {
            let mass = masses[index]
            let earlierSum = sum - mass + (index >= delay ? masses[index - delay] : 0)
            masses[index] = max(0, sum + earlierSum) * scale
            sum = earlierSum
            index -= 1
        }
    }

    /// Removes negligible masses at both ends of the list, so that it does not grow with each event.
    private func trim(_ next: inout NextEvent, least: Double) {
        let limit = least / Double(max(1, next.masses.count)) / 10
        while let lastMass = next.masses.last, lastMass < limit { next.masses.removeLast() }
        var trimmed = 0
        while trimmed < next.masses.count, next.masses[trimmed] < limit { trimmed += 1 }
        // Removal at the front moves all other masses, so it is worthwhile only for several masses at once.
        guard trimmed >= delay / 2 else { return }
        next.masses.removeFirst(trimmed)
        next.firstStep += trimmed
    }

    // MARK: The first event after the instant

    /// Returns the distribution of the first event after an instant. The instant is `offset` steps after the beginning
    /// of the part.
    private func firstEvent(in part: Part, after offset: Double, weight: Double) -> NextEvent {
        let latest = Int(offset)
        let earliest = max(0, latest - part.interval - delay)
        var masses = Array(repeating: 0.0, count: latest - earliest + 1)
        // Event number k begins k intervals and k delays after the beginning.
        var index = earliest / (part.interval + delay)
        while index * part.interval <= latest {
            add(event: index, of: part.interval, to: &masses, from: earliest)
            index += 1
        }
        Self.spread(&masses, over: delay)
        // The first event after the instant cannot be in a step up to the instant.
        let skipped = max(0, latest + 1 - (earliest + part.interval))
        let later = masses.dropFirst(skipped)
        let laterSum = later.reduce(0, +)
        let firstStep = earliest + part.interval + skipped
        guard laterSum > 0 else { return NextEvent(firstStep: firstStep, masses: [weight], massAfterEnd: 0) }
        return NextEvent(firstStep: firstStep, masses: later.map { $0 / laterSum * weight }, massAfterEnd: 0)
    }

    /// Adds the distribution of an event's time, in steps from `earliest` on.
    private func add(event eventIndex: Int, of interval: Int, to masses: inout [Double], from earliest: Int) {
        let base = eventIndex * interval - earliest
        if eventIndex < delaySums.count {
            for (index, mass) in delaySums[eventIndex].enumerated() where masses.indices.contains(base + index) {
                masses[base + index] += mass
            }
            return
        }
        // The sum of many delays is nearly normal.
        let mean = Double(eventIndex * delay) / 2
        let deviation = (Double(eventIndex) * (Double(delay * delay) / 12 + 1.0 / 6)).squareRoot()
        let low = max(0, base + Int(mean - 5 * deviation))
        let high = min(masses.count - 1, base + Int(mean + 5 * deviation) + 1)
        guard low <= high else { return }
        for index in low...high {
            masses[index] += NormalDistribution.density((Double(index - base) - mean) / deviation) / deviation
        }
    }
}

extension FirstReceptions {
    private var binSeconds: Double { binSteps * step / 1_000_000 }

    /// The time by which a share is received, in s; `nil` if the share is not received within the horizon.
    func time(ofShare share: Double) -> Double? {
        var sum = 0.0
        for (index, bin) in bins.enumerated() {
            if bin > 0, sum + bin >= share { return (Double(index) + (share - sum) / bin) * binSeconds }
            sum += bin
        }
        return nil
    }

    /// Returns the time by which the share `share` of all visitors of a mix has found the beacon, in s; `nil` if the
    /// time is beyond the horizon. All curves must have the same horizon.
    static func time(ofShare share: Double, in curves: [(share: Double, curve: FirstReceptions)]) -> Double? {
        guard var whole = curves.first?.curve else { return nil }
        for index in whole.bins.indices {
            whole.bins[index] = curves.reduce(0) { $0 + $1.share * $1.curve.bins[index] }
        }
        return whole.time(ofShare: share)
    }

    /// The share of all visitors of a mix that have not found the beacon within the horizon.
    static func unreceived(in curves: [(share: Double, curve: FirstReceptions)]) -> Double {
        curves.reduce(0) { $0 + $1.share * $1.curve.unreceived }
    }

    /// The mean time in s. After the horizon, the share that is not received is assumed to fall exponentially, as fast
    /// as in the second half of the horizon.
    var meanSeconds: Double {
        var sum = 0.0
        var late = 0.0
        for (index, bin) in bins.enumerated() {
            sum += bin * (Double(index) + 0.5) * binSeconds
            if index >= bins.count / 2 { late += bin }
        }
        let end = Double(bins.count) * binSeconds
        guard unreceived > 0 else { return sum }
        guard late > 0 else { return .infinity }
        return sum + unreceived * (end + end / 2 / naturalLogarithm((unreceived + late) / unreceived))
    }

    /// The curve in the form that the other models return.
    var distribution: LatencyDistribution {
        var seconds = [0.0]
        var shares = [0.0]
        var sum = 0.0
        for (index, bin) in bins.enumerated() {
            sum = min(1, sum + bin)
            // Points within a row of empty bins are left out: the curve is a straight line there.
            if bin == 0, index + 1 < bins.count, index > 0, bins[index - 1] == 0, bins[index + 1] == 0 { continue }
            seconds.append(Double(index + 1) * binSeconds)
            shares.append(sum)
        }
        return LatencyDistribution(seconds: seconds, receivedShare: shares, isExhausted: unreceived < 1e-6)
    }
}

extension LatencyDistribution {
    /// A curve from 0 to the horizon. Both lists have the same length and are in ascending order.
    init(seconds: [Double], receivedShare: [Double], isExhausted: Bool) {
        self.seconds = seconds
        self.receivedShare = receivedShare
        horizonSeconds = seconds[seconds.count - 1]
        self.isExhausted = isExhausted
        knownErrorReason = nil
    }
}

extension MixLatency {
    /// The latency of a beacon with a pattern for each scanner of a mix.
    ///
    /// - Parameter model: The model with one of the scanners.
    public init(
        _ mix: ScannerMix, untilSeconds: Double = 0, horizonSeconds: Double = 3600,
        pattern model: (ScannerPreset) throws(AirtimeError) -> PatternLatencyModel
    ) throws(AirtimeError) {
        var models: [PatternLatencyModel] = []
        var end = untilSeconds
        for part in mix.parts {
            let model = try model(part.scanner)
            models.append(model)
            // The slowest scanner decides how long the others are followed.
            end = max(end, model.trial(horizonSeconds: horizonSeconds).endSeconds)
        }
        var parts: [Part] = []
        for (part, model) in zip(mix.parts, models) {
            let latency = try model.distribution(untilSeconds: end, horizonSeconds: max(end, horizonSeconds))
            parts.append(Part(scanner: part.scanner, share: part.share, latency: latency))
        }
        self.init(parts)
    }

    private init(_ parts: [Part]) {
        self.parts = parts
        whole = LatencyDistribution(mixing: parts)
    }
}
