internal import BluetoothTypes
internal import Sightings

/// Judges whether received events follow a pattern of intervals.
///
/// The interval alternates, so it is not measured. Two conditions are checked instead. Apart from gaps that losses
/// explain, each gap between two received events must be one or two periods of a part of the pattern. The number of
/// received events must not be clearly larger than the number that the pattern has in the same time.
struct PatternRhythm: Sendable {
    private let pattern: AdvertisingPattern

    init(_ pattern: AdvertisingPattern) {
        self.pattern = pattern
    }

    /// The number of events, as a multiple of the expected number, above which the excess cannot be chance.
    private static let excess = 1.2
    /// The smallest share of fitting gaps that counts as right, divided by the expected share. It is below 1, because a
    /// gap in which the interval changes fits no part of the pattern.
    private static let leastShare = 0.6

    /// The smallest number of cycles that is judged. In a shorter time, the number of events depends on the part of the
    /// cycle in which the receiver listened.
    private static let fewestCycles = 4

    /// Returns whether `spans` are long enough to judge the number of events.
    func covers(_ spans: [ClosedRange<Int>]) -> Bool {
        ListenedTime.length(spans) >= Self.fewestCycles * pattern.cycleMicroseconds
    }

    /// Returns whether the events show another rhythm. With too few events or cycles for a judgement, returns `false`.
    ///
    /// - Parameters:
    ///   - events: The events of one receiver.
    ///   - spans: The times in which that receiver listened.
    func isWrong(_ events: EventTimes, within spans: [ClosedRange<Int>]) -> Bool {
        let gaps = events.gaps(within: spans).filter { $0 >= IntervalEstimate.sameEventMicroseconds }
        guard gaps.count >= PeriodFold.needed, covers(spans) else { return false }
        let share = receivedShare(gaps)
        if share > Self.excess { return true }
        // If losses are independent of each other, a gap is one period with the probability 1 - lost, and two periods
        // with the probability lost · (1 - lost).
        let lost = 1 - min(1, share)
        let fitting = gaps.count(where: fits)
        return Double(fitting) < Self.leastShare * (1 - lost * lost) * Double(gaps.count)
    }

    /// Returns the number of received events, divided by the number that the pattern has in the same time.
    private func receivedShare(_ gaps: [Int]) -> Double {
        Double(gaps.count) * pattern.meanPeriodMicroseconds / Double(max(1, gaps.reduce(0, +)))
    }

    private func fits(_ gap: Int) -> Bool {
        pattern.parts.contains { part in
            let period = part.interval.interval.meanPeriodMicroseconds
            return (1...2).contains { count in
                let allowed = 8_700 * Double(count).squareRoot() + 1_000
                return abs(Double(gap - count * period)) <= allowed
            }
        }
    }
}
