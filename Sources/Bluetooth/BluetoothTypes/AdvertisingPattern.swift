/// A repeating schedule of advertising intervals for one advertisement, such as 100 ms for 2 s and then 1000 ms for 8
/// s.
///
/// The host changes the interval at the end of each part: it disables the advertising set and enables it with the next
/// interval. A controller sends the first event of a set as soon as the set is enabled, so each part begins with an
/// event.
public struct AdvertisingPattern: Hashable, Sendable {
    /// An advertising interval and the time for which the beacon uses it.
    public struct Part: Hashable, Sendable {
        public let interval: RequestedInterval
        /// The duration of the part in microseconds. It must be at least one interval.
        public let durationMicroseconds: Int

        /// A part with these values, which are not checked.
        public init(interval: RequestedInterval, durationMicroseconds: Int) {
            self.interval = interval
            self.durationMicroseconds = durationMicroseconds
        }
    }

    /// A position in the cycle.
    public struct Position: Hashable, Sendable {
        /// The index of the current part in ``parts``.
        public let part: Int
        /// The time until the next part begins, in microseconds; above 0.
        public let rest: Int
    }

    /// The allowed numbers of parts in a pattern.
    public static let countRange = 2...16
    /// The allowed durations of a part: 0.5 s...1 day, in microseconds. Shorter parts would wake up the machine too
    /// often: each change of the interval takes three HCI commands.
    public static let durationRange = 500_000...86_400_000_000

    /// The parts of one cycle in the order of sending; at least two.
    public let parts: [Part]

    /// A pattern of these parts; `nil` if there are fewer than two, or if the duration of a part is not above 0.
    public init?(_ parts: [Part]) {
        guard parts.count >= 2, parts.allSatisfy({ $0.durationMicroseconds > 0 }) else { return nil }
        self.parts = parts
    }

    /// The duration of all parts together, in microseconds.
    public var cycleMicroseconds: Int { parts.reduce(0) { $0 + $1.durationMicroseconds } }

    /// The shortest interval of all parts.
    public var shortestInterval: AdvertisingInterval {
        parts.map(\.interval.interval).min() ?? AdvertisingInterval.legacyRange.lowerBound
    }

    /// The longest interval of all parts.
    public var longestInterval: AdvertisingInterval {
        parts.map(\.interval.interval).max() ?? AdvertisingInterval.legacyRange.upperBound
    }

    /// Returns the position in the cycle at a time after the start of the first cycle.
    ///
    /// - Parameter elapsed: The time since the start of the first cycle, in microseconds; a negative time counts as 0.
    public func position(after elapsed: Int) -> Position {
        var offset = max(0, elapsed) % cycleMicroseconds
        for (index, part) in parts.enumerated() {
            if offset < part.durationMicroseconds {
                return Position(part: index, rest: part.durationMicroseconds - offset)
            }
            offset -= part.durationMicroseconds
        }
        return Position(part: 0, rest: parts[0].durationMicroseconds)
    }

    /// Returns the mean number of advertising events in a part: the event at its start, and the later events before its
    /// end.
    public func events(inPart index: Int) -> Double {
        let interval = parts[index].interval.interval.microseconds
        let duration = parts[index].durationMicroseconds
        var events = 1.0
        // Event k starts k intervals and k random delays after the first event. Events 1 to `certain` start before the
        // end of the part even with the longest delays. Later events start before the end only with some probability.
        let certain = max(0, (duration - 1) / (interval + Self.longestDelay))
        events += Double(certain)
        var event = certain + 1
        while event * interval < duration {
            events += Self.probability(sumOfDelays: event, below: duration - event * interval)
            event += 1
        }
        return events
    }

    /// The mean number of advertising events in a cycle.
    public var eventsPerCycle: Double { parts.indices.reduce(0) { $0 + events(inPart: $1) } }

    /// The mean time between two advertising events, in microseconds.
    public var meanPeriodMicroseconds: Double { Double(cycleMicroseconds) / eventsPerCycle }

    /// The constant interval that gives the same mean number of events per second, rounded to 0.625 ms and at least 20
    /// ms.
    public var meanInterval: AdvertisingInterval {
        let microseconds = Int(meanPeriodMicroseconds.rounded()) - AdvertisingInterval.meanDelayMicroseconds
        let range = AdvertisingInterval.extendedRange
        let interval = AdvertisingInterval(microseconds: max(0, microseconds)) ?? range.upperBound
        return min(max(interval, range.lowerBound), range.upperBound)
    }

    /// The largest advDelay in microseconds.
    private static let longestDelay = 2 * AdvertisingInterval.meanDelayMicroseconds

    /// Returns the probability that the sum of `count` random delays, each uniform over 0...10 ms, is below `limit`
    /// microseconds.
    ///
    /// The result is exact for up to three delays. For more delays, it is an approximation: the distribution of three
    /// delays is scaled so that its mean and its variance are correct.
    private static func probability(sumOfDelays count: Int, below limit: Int) -> Double {
        // The limit as a multiple of the longest delay.
        let limit = Double(limit) / Double(longestDelay)
        switch count {
        case ...1: return min(1, max(0, limit))
        case 2: return limit <= 1 ? max(0, limit) * max(0, limit) / 2 : 1 - max(0, 2 - limit) * max(0, 2 - limit) / 2
        default:
            let stretched = (limit - Double(count) / 2) / (Double(count) / 3).squareRoot() + 1.5
            let limitOfThree = min(3, max(0, stretched))
            func cube(_ value: Double) -> Double { value > 0 ? value * value * value : 0 }
            return (cube(limitOfThree) - 3 * cube(limitOfThree - 1) + 3 * cube(limitOfThree - 2)) / 6
        }
    }
}

extension AdvertisingPattern: CustomStringConvertible {
    /// The parts in order: `100 ms for 2 s, 1000 ms for 8 s`.
    public var description: String {
        parts.map { "\($0.interval.milliseconds) ms for \($0.seconds) s" }.joined(separator: ", ")
    }
}

extension AdvertisingPattern.Part {
    /// The duration in seconds as decimal text, such as `2` or `0.5`.
    public var seconds: String { DecimalText.thousandths((durationMicroseconds + 500) / 1000) }
}
