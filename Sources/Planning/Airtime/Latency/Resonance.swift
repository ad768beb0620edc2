/// A resonance of an advertising interval with a scanner: k mean periods are nearly m scan intervals, so the events
/// fall at nearly the same phases of the scan interval again and again, inside its window or outside it.
///
/// After k events the phase has moved by the drift k·E - m·I, and at random by the delays, with a standard deviation of
/// J·√(k/12). The phases of the k events are I/k apart. It takes many rounds of k events until the phases have swept
/// the gap between two neighboring phases. If this sweep is long, it is about the 95th percentile of the latency.
public struct Resonance: Hashable, Sendable {
    /// k, the number of events in a round.
    public let events: Int
    /// m, the number of scan intervals in a round.
    public let scanIntervals: Int
    /// The drift k·E - m·I in µs.
    public let driftMicroseconds: Double
    /// The time to sweep the gap, in s.
    public let sweepSeconds: Double
    /// The ratio of the sweep time to I/W·E. If events were independent, I/W·E would be the mean time until an event
    /// falls into a window of length W.
    public let slowness: Double

    /// Intervals with at least this slowness should be avoided.
    public static let avoidedSlowness = 2.0
    /// The longest sweep in s: about a year.
    private static let slowestSweep = 3e7

    /// The slowest resonance of an advertising interval in µs with a scanner, for packets of this airtime in µs. Nil
    /// for a scanner without pauses, and if each window contains an event.
    ///
    /// Throws for an interval outside 20 ms...10.24 s, an airtime that is not a positive number, and scan intervals
    /// above 40.96 s.
    public static func slowest(
        intervalMicroseconds: Double, pattern: ScanPattern, airtimeMicroseconds: Double
    ) throws(AirtimeError) -> Resonance? {
        guard LatencyModel.intervalRange.contains(intervalMicroseconds) else { throw .interval(intervalMicroseconds) }
        return try Search(pattern: pattern, airtime: airtimeMicroseconds).slowest(interval: intervalMicroseconds)
    }

    /// A range of advertising intervals to avoid.
    public struct Band: Hashable, Sendable {
        /// The first and last interval in µs, multiples of 0.625 ms.
        public let intervalsMicroseconds: ClosedRange<Double>
        /// The slowest resonance in the range.
        public let worst: Resonance
    }

    /// All ranges of intervals with a slowness of at least `avoidedSlowness`, within `range` (in µs).
    ///
    /// Checks every multiple of 0.625 ms. Throws the errors of `slowest`, for both ends of the range.
    public static func bands(
        within range: ClosedRange<Double>, pattern: ScanPattern, airtimeMicroseconds: Double
    ) throws(AirtimeError) -> [Band] {
        for end in [range.lowerBound, range.upperBound] where !LatencyModel.intervalRange.contains(end) {
            throw .interval(end)
        }
        let search = try Search(pattern: pattern, airtime: airtimeMicroseconds)
        let step = LatencyModel.stepMicroseconds
        let first = Int((range.lowerBound / step).rounded(.up))
        let last = Int((range.upperBound / step).rounded(.down))
        guard first <= last else { return [] }
        var bands: [Band] = []
        var openBand: (first: Int, worst: Resonance)?
        for unit in first...last + 1 {
            let resonance = unit <= last ? search.slowest(interval: Double(unit) * step) : nil
            if let resonance, resonance.slowness >= avoidedSlowness {
                if let band = openBand {
                    let worst = resonance.sweepSeconds > band.worst.sweepSeconds ? resonance : band.worst
                    openBand = (band.first, worst)
                } else {
                    openBand = (unit, resonance)
                }
            } else if let band = openBand {
                bands.append(
                    Band(
                        intervalsMicroseconds: Double(band.first) * step...Double(unit - 1) * step,
                        worst: band.worst))
                openBand = nil
            }
        }
        return bands
    }

    /// The search for one scanner.
    private struct Search {
        private let scanInterval: Double
        private let window: Double
        private let maximumEvents: Int

        init(pattern: ScanPattern, airtime: Double) throws(AirtimeError) {
            guard airtime > 0, airtime.isFinite else { throw .airtime(airtime) }
            guard pattern.intervalMicroseconds <= LatencyModel.longestScanInterval else {
                throw .scan(
                    windowMicroseconds: pattern.windowMicroseconds, intervalMicroseconds: pattern.intervalMicroseconds)
            }
            scanInterval = Double(pattern.intervalMicroseconds)
            let pauses = pattern.windowMicroseconds < pattern.intervalMicroseconds
            window = pauses ? Double(pattern.windowMicroseconds) - airtime : scanInterval
            // Longer rounds do not resonate. With more than I/W events in a round, neighboring phases are less than a
            // window apart, so no window is missed. With more than 64 events, the random delays add up to more than a
            // short window.
            maximumEvents = window > 0 ? Int(min(64, scanInterval / window)) : 0
        }

        func slowest(interval: Double) -> Resonance? {
            let period = interval + AdvertisingDelay.meanMicroseconds
            guard maximumEvents > 0, window < scanInterval, period > window else { return nil }
            var slowest: Resonance?
            for events in 1...maximumEvents {
                let span = Double(events) * period
                let scanIntervals = (span / scanInterval).rounded()
                let drift = span - scanIntervals * scanInterval
                guard scanIntervals >= 1, abs(drift) < window, Self.areCoprime(events, Int(scanIntervals)) else {
                    continue
                }
                let gap = scanInterval / Double(events) - window
                guard gap > 0 else { continue }
                let seconds = min(slowestSweep, sweep(gap: gap, drift: abs(drift), events: events) * span / 1_000_000)
                guard seconds > slowest?.sweepSeconds ?? 0 else { continue }
                slowest = Resonance(
                    events: events, scanIntervals: Int(scanIntervals), driftMicroseconds: drift, sweepSeconds: seconds,
                    slowness: seconds * 1_000_000 / (scanInterval / window * period))
            }
            return slowest
        }

        /// Returns the number of rounds n with n·drift + √n·spread = gap.
        private func sweep(gap: Double, drift: Double, events: Int) -> Double {
            let spread = AdvertisingDelay.maximumMicroseconds * (Double(events) / 12).squareRoot()
            let squareRootOfRounds = 2 * gap / (spread + (spread * spread + 4 * drift * gap).squareRoot())
            return squareRootOfRounds * squareRootOfRounds
        }

        private static func areCoprime(_ first: Int, _ second: Int) -> Bool {
            var (high, low) = (second, first)
            while low > 0 { (high, low) = (low, high % low) }
            return high == 1
        }
    }
}
