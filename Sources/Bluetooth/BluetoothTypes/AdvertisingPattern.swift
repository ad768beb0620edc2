/// A repeating schedule of advertising intervals for one advertisement, such as 100 ms for 2 s and then 1000 ms for 8 s.
///
/// The host changes the interval at the end of each part: it disables the advertising set and enables it with the next
/// interval. A controller sends the first event of a set at once when it is enabled, so each part begins with an event.
public struct AdvertisingPattern: Hashable, Sendable {
    /// An interval, and the time for which it is kept.
    public struct Part: Hashable, Sendable {
        public let interval: RequestedInterval
        /// In microseconds; at least the interval.
        public let durationMicroseconds: Int

        /// No value is checked.
        public init(interval: RequestedInterval, durationMicroseconds: Int) {
            self.interval = interval
            self.durationMicroseconds = durationMicroseconds
        }
    }

    /// The position in the cycle at one moment.
    public struct Moment: Hashable, Sendable {
        /// The position of the part in ``parts``.
        public let part: Int
        /// The time until the next part begins, in microseconds; above 0.
        public let rest: Int
    }

    /// The possible numbers of parts.
    public static let countRange = 2...16
    /// The possible durations of a part: 0.5 s...1 day, in microseconds. Each change of the interval takes three commands
    /// and wakes up the machine.
    public static let durationRange = 500_000...86_400_000_000

    /// At least two, in the order in which they are sent.
    public let parts: [Part]

    /// Returns `nil` for fewer than two parts, and for one without a duration.
    public init?(_ parts: [Part]) {
        guard parts.count >= 2, parts.allSatisfy({ $0.durationMicroseconds > 0 }) else { return nil }
        self.parts = parts
    }

    /// The duration of all parts together, in microseconds.
    public var cycleMicroseconds: Int { parts.reduce(0) { $0 + $1.durationMicroseconds } }

    public var shortestInterval: AdvertisingInterval {
        parts.map(\.interval.interval).min() ?? AdvertisingInterval.legacyRange.lowerBound
    }

    public var longestInterval: AdvertisingInterval {
        parts.map(\.interval.interval).max() ?? AdvertisingInterval.legacyRange.upperBound
    }

    /// The part of the cycle at a time after the beginning of the first cycle.
    ///
    /// - Parameter elapsed: In microseconds; a negative time counts as 0.
    public func moment(after elapsed: Int) -> Moment {
        var place = max(0, elapsed) % cycleMicroseconds
        for (index, part) in parts.enumerated() {
            if place < part.durationMicroseconds {
                return Moment(part: index, rest: part.durationMicroseconds - place)
            }
            place -= part.durationMicroseconds
        }
        return Moment(part: 0, rest: parts[0].durationMicroseconds)
    }

    /// The mean number of events in a part: the one with which it begins, and those that follow before its end.
    public func events(inPart index: Int) -> Double {
        let interval = parts[index].interval.interval.microseconds
        let duration = parts[index].durationMicroseconds
        var events = 1.0
        // Event number k begins k intervals and k delays after the first one. Only for few k it is uncertain whether that
        // is before the end.
        let certain = max(0, (duration - 1) / (interval + Self.longestDelay))
        events += Double(certain)
        var number = certain + 1
        while number * interval < duration {
            events += Self.probability(sumOfDelays: number, below: duration - number * interval)
            number += 1
        }
        return events
    }

    /// The mean number of events in a cycle.
    public var eventsPerCycle: Double { parts.indices.reduce(0) { $0 + events(inPart: $1) } }

    /// The mean time between two events, in microseconds.
    public var meanPeriodMicroseconds: Double { Double(cycleMicroseconds) / eventsPerCycle }

    /// The interval with the same number of events, rounded to 0.625 ms and at least 20 ms.
    public var meanInterval: AdvertisingInterval {
        let wanted = Int(meanPeriodMicroseconds.rounded()) - AdvertisingInterval.meanDelayMicroseconds
        let range = AdvertisingInterval.extendedRange
        let interval = AdvertisingInterval(microseconds: max(0, wanted)) ?? range.upperBound
        return min(max(interval, range.lowerBound), range.upperBound)
    }

    /// The largest advDelay in microseconds.
    private static let longestDelay = 2 * AdvertisingInterval.meanDelayMicroseconds

    /// The probability that the sum of so many delays, each uniform over 0...10 ms, is below a limit in microseconds.
    ///
    /// It is exact for up to three delays. The distribution of more is nearly that of three, stretched.
    private static func probability(sumOfDelays count: Int, below limit: Int) -> Double {
        let part = Double(limit) / Double(longestDelay)
        switch count {
        case ...1: return min(1, max(0, part))
        case 2: return part <= 1 ? max(0, part) * max(0, part) / 2 : 1 - max(0, 2 - part) * max(0, 2 - part) / 2
        default:
            let shift = (part - Double(count) / 2) / (Double(count) / 3).squareRoot() + 1.5
            let place = min(3, max(0, shift))
            func cube(_ value: Double) -> Double { value > 0 ? value * value * value : 0 }
            return (cube(place) - 3 * cube(place - 1) + 3 * cube(place - 2)) / 6
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
    /// The digits of the duration in seconds.
    public var seconds: String { DecimalText.thousandths((durationMicroseconds + 500) / 1000) }
}
