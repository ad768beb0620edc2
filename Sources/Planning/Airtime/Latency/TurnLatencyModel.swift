public import BluetoothTypes

/// The turns of an advertisement that shares the only advertising set of its controller with others.
///
/// The host divides time into slots of T_s + 5 ms, the set's mean period, and replaces the set's data at the slots'
/// boundaries. An event sends the advertisement to which the slot belongs in which it starts.
public struct SharedTurns: Hashable, Sendable {
    /// T_s, the interval of the set.
    public let setInterval: AdvertisingInterval
    /// For each slot, true if it belongs to the advertisement. The list repeats.
    public let isOwn: [Bool]

    /// Throws for a list without a slot of the advertisement.
    public init(setInterval: AdvertisingInterval, isOwn: [Bool]) throws(AirtimeError) {
        guard isOwn.contains(true) else { throw .quantity(name: "a number of turns", value: 0) }
        self.setInterval = setInterval
        self.isOwn = isOwn
    }

    /// E_s in µs: the length of a slot.
    public var slotMicroseconds: Double {
        Double(setInterval.microseconds) + AdvertisingDelay.meanMicroseconds
    }

    /// The length of all slots in µs.
    fileprivate var cycleMicroseconds: Double { slotMicroseconds * Double(isOwn.count) }

    /// Returns true if an event at this time, in µs from the beginning of the slots on, sends the advertisement.
    fileprivate func isOwn(at time: Double) -> Bool {
        let slot = Int((time / slotMicroseconds).rounded(.down)) % isOwn.count
        return isOwn[slot < 0 ? slot + isOwn.count : slot]
    }
}

/// The time from a random instant until a scanner with one radio first receives an advertisement that takes turns with
/// others on one advertising set.
///
/// The instant is uniform over the turns, over the set's period and over the phase of the scanner, independently of each
/// other. The model follows the distribution of the time of the set's next event, event by event, for many starts. advDelay
/// moves the events against the slots, so now and then an event falls into the slot of another advertisement. Losses come
/// in runs (``RunsModel``), because all boxes have the same set interval.
public struct TurnLatencyModel: Hashable, Sendable {
    public let turns: SharedTurns
    /// N equal boxes within range with T_s, including the target box; tau of the advertisement.
    public let group: AdvertiserGroup
    public let scanner: ScannerPreset
    /// The probability that a packet is not destroyed by anything outside the fleet.
    public let otherClearProbability: Double
    /// c in µs.
    private static let copySpacing = 1000.0

    /// Throws for what ``LatencyModel`` refuses.
    public init(
        turns: SharedTurns, count: Int, airtimeMicroseconds: Double, scanner: ScannerPreset,
        otherClearProbability: Double = 1
    ) throws(AirtimeError) {
        group = try AdvertiserGroup(
            count: count, interval: turns.setInterval, airtimeMicroseconds: airtimeMicroseconds)
        _ = try LatencyModel(
            group: group, preset: scanner, copySpacingMicroseconds: Self.copySpacing,
            otherClearProbability: otherClearProbability)
        self.turns = turns
        self.scanner = scanner
        self.otherClearProbability = otherClearProbability
    }

    /// The distribution of the latency.
    ///
    /// It ends when 99.5 % are received, not before `untilSeconds` and at `horizonSeconds` at the latest, which is at most
    /// a day. Throws for times that are negative or not numbers, and for `untilSeconds` beyond the horizon.
    public func distribution(
        untilSeconds: Double = 0, horizonSeconds: Double = 3600
    ) throws(AirtimeError) -> LatencyDistribution {
        guard horizonSeconds > 0, horizonSeconds <= LatencyModel.longestHorizonSeconds else {
            throw .quantity(name: "a horizon in s", value: horizonSeconds)
        }
        guard untilSeconds >= 0, untilSeconds <= horizonSeconds else {
            throw .quantity(name: "a time in s", value: untilSeconds)
        }
        let end = max(untilSeconds, try self.end(horizonSeconds: horizonSeconds))
        return try receptions(starts: Self.starts, horizonSeconds: end).distribution
    }

    /// The time in s at which the distribution ends: a few starts show how long discovery takes.
    func end(horizonSeconds: Double) throws(AirtimeError) -> Double {
        var end = min(horizonSeconds, Self.firstHorizonSeconds)
        while true {
            let trial = try receptions(starts: Self.fewStarts, horizonSeconds: end)
            if let time = trial.time(ofShare: Self.completeShare) { return min(horizonSeconds, time * 1.25) }
            if end >= horizonSeconds { return end }
            end = min(horizonSeconds, end * 4)
        }
    }

    /// The number of starts of a distribution, and of a trial.
    private static let starts = 512
    private static let fewStarts = 64
    private static let firstHorizonSeconds = 15.0
    /// The share at which the distribution ends.
    private static let completeShare = 0.995

    private func receptions(starts: Int, horizonSeconds: Double) throws(AirtimeError) -> TurnReceptions {
        let cycle = ScannerCycle(
            pattern: scanner.pattern, airtime: group.airtimeMicroseconds, copySpacing: Self.copySpacing,
            gap: scanner.windowGapMicroseconds)
        var receptions = TurnReceptions(
            turns, cycle, clear: try clearProbabilities(cycle), horizonSeconds: horizonSeconds)
        receptions.follow(starts: starts)
        return receptions
    }

    /// The probability that one of the advertisement's events within a window is received, by the number of such events
    /// that were lost before.
    private func clearProbabilities(_ cycle: ScannerCycle) throws(AirtimeError) -> [Double] {
        let alone = try LatencyModel(
            group: group, preset: scanner, otherClearProbability: otherClearProbability)
        let other = otherClearProbability * alone.scannerReadyProbability
        guard group.count > 1, cycle.share > 0 else { return [alone.collisionFreeProbability * other] }
        let runs = try RunsModel(
            group: group, otherClearProbability: other,
            samples: ObservedEvents.samples(
                Self.longestRun, samples: RunsModel.fewSamples, of: cycle,
                intervalMicroseconds: group.intervalMicroseconds,
                isSent: { sample, time in
                    turns.isOwn(at: time + Self.goldenPart(sample) * turns.cycleMicroseconds)
                }))
        return (0..<Self.longestRun).map { runs.clearAfterLosses($0) }
    }

    /// The number of losses in a row after which the probability of the next one stays the same.
    private static let longestRun = 6

    /// A number of 0..<1 for each start or sample: evenly spread, and independent of its number.
    fileprivate static func goldenPart(_ number: Int) -> Double {
        let turn = Double(number) * 0.618_033_988_749_895 + 0.25
        return turn - turn.rounded(.down)
    }
}

/// The times of the first receptions of many starts.
private struct TurnReceptions {
    /// The share that is received in each bin.
    private var bins: [Double]
    /// T_s, a slot, and advDelay in steps of 0.625 ms.
    private let interval: Int
    private let slot: Int
    private let delay: Int
    private let isOwn: [Bool]
    /// The covered share of each step of the scanner's cycle.
    private let covered: [Double]
    /// The probability that a covered event is received, by the number of covered events that were lost before.
    private let clear: [Double]
    /// In steps.
    private let horizon: Int

    private static let step = LatencyModel.stepMicroseconds
    /// The steps of a bin: 5 ms.
    private static let binSteps = 8
    /// Probabilities below this one are no longer followed, as a share of a start.
    private static let smallest = 1e-5

    init(_ turns: SharedTurns, _ cycle: ScannerCycle, clear: [Double], horizonSeconds: Double) {
        interval = Int(turns.setInterval.rawValue)
        delay = Int(AdvertisingDelay.maximumMicroseconds / Self.step)
        slot = interval + delay / 2
        isOwn = turns.isOwn
        covered = cycle.shares(ofCells: max(1, Int((cycle.length / Self.step).rounded())))
        self.clear = clear
        horizon = Int(horizonSeconds * 1_000_000 / Self.step)
        bins = Array(repeating: 0, count: horizon / Self.binSteps + 1)
    }

    /// Follows starts that are spread evenly over the turns and over the scanner's phase.
    mutating func follow(starts: Int) {
        for number in 0..<starts {
            let phase = Int((Double(number) + 0.5) / Double(starts) * Double(covered.count))
            let place = Int(TurnLatencyModel.goldenPart(number) * Double(slot * isOwn.count))
            follow(phase: phase, place: place, weight: 1 / Double(starts))
        }
    }

    /// - Parameters:
    ///   - phase: The scanner's phase at the instant, in steps.
    ///   - place: The place of the instant in the turns, in steps.
    private mutating func follow(phase: Int, place: Int, weight: Double) {
        // The first event follows after any part of a period: the density falls while the delay may be over.
        let mean = Double(slot)
        var first = 0
        // By the number of losses.
        var masses = [
            (0..<interval + delay).map { step in
                weight / mean * min(1, (Double(interval + delay - step) - 0.5) / Double(delay))
            }
        ]
        while first < horizon {
            guard receive(&masses, first: first, phase: phase, place: place) > Self.smallest * weight else { return }
            first += interval
            for losses in masses.indices { FirstReceptions.spread(&masses[losses], over: delay) }
        }
    }

    /// Removes what is received, and adds it to the bins.
    ///
    /// - Returns: The probability that is left.
    private mutating func receive(_ masses: inout [[Double]], first: Int, phase: Int, place: Int) -> Double {
        var rest = 0.0
        // Descending, so that a loss is not counted twice.
        for losses in masses.indices.reversed() {
            let target = min(losses + 1, clear.count - 1)
            let chance = clear[losses]
            var cell = (phase + first) % covered.count
            var slotPlace = (place + first) % slot
            var number = (place + first) / slot % isOwn.count
            for index in masses[losses].indices {
                let mass = masses[losses][index]
                if isOwn[number], covered[cell] > 0, mass > 0 {
                    let hit = mass * covered[cell]
                    let bin = (first + index) / Self.binSteps
                    if bin < bins.count { bins[bin] += hit * chance }
                    if target > losses {
                        if target == masses.count {
                            masses.append(Array(repeating: 0, count: masses[losses].count))
                        }
                        masses[losses][index] = mass - hit
                        masses[target][index] += hit * (1 - chance)
                    } else {
                        masses[losses][index] = mass - hit * chance
                    }
                    rest -= hit * chance
                }
                rest += mass
                cell += 1
                if cell == covered.count { cell = 0 }
                slotPlace += 1
                if slotPlace == slot {
                    slotPlace = 0
                    number = (number + 1) % isOwn.count
                }
            }
        }
        return rest
    }

    private var binSeconds: Double { Double(Self.binSteps) * Self.step / 1_000_000 }

    /// The time by which a share is received, in s; nil if it is not within the horizon.
    func time(ofShare share: Double) -> Double? { distribution.percentile(share) }

    var distribution: LatencyDistribution {
        var shares = [0.0]
        for bin in bins { shares.append(min(1, shares[shares.count - 1] + bin)) }
        let seconds = shares.indices.map { Double($0) * binSeconds }
        return LatencyDistribution(
            seconds: seconds, receivedShare: shares, isExhausted: shares[shares.count - 1] > 1 - 1e-6)
    }
}
