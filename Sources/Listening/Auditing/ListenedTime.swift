public import Sightings

/// The periods in which a receiver listened, in microseconds.
///
/// A silence counts only within these periods.
public struct ListenedTime: Hashable, Sendable {
    /// The periods in order, without overlap.
    private(set) var spans: [ClosedRange<Int>] = []
    /// The start of the current period; `nil` while the receiver does not listen.
    private var periodStart: Int?
    /// The end of the last period, in microseconds.
    private var latest = 0

    /// Creates a time without periods.
    public init() {}

    static func microseconds(_ instant: HeardInstant) -> Int { Int(clamping: instant.nanoseconds / 1000) }

    /// True if the receiver is listening now.
    var isOpen: Bool { periodStart != nil }

    /// Begins a period at `now`, unless one has begun.
    public mutating func begin(at now: HeardInstant) {
        guard periodStart == nil else { return }
        periodStart = max(latest, Self.microseconds(now))
    }

    /// Ends the current period at `now`.
    public mutating func end(at now: HeardInstant) {
        guard let periodStart else { return }
        self.periodStart = nil
        latest = max(periodStart, Self.microseconds(now))
        if latest > periodStart { spans.append(periodStart...latest) }
    }

    /// Returns the periods in which at least one of several receivers listened.
    static func union(_ times: [ListenedTime]) -> [ClosedRange<Int>] {
        var merged: [ClosedRange<Int>] = []
        for span in times.flatMap(\.spans).sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = merged.last, span.lowerBound <= last.upperBound {
                merged[merged.count - 1] = last.lowerBound...max(last.upperBound, span.upperBound)
            } else {
                merged.append(span)
            }
        }
        return merged
    }

    /// The total time in microseconds.
    public var microseconds: Int { Self.length(spans) }

    static func length(_ spans: [ClosedRange<Int>]) -> Int {
        spans.reduce(0) { $0 + $1.upperBound - $1.lowerBound }
    }
}

/// The times of the received events of one advertisement, in microseconds, in order.
struct EventTimes: Sendable {
    private(set) var times: [Int] = []

    init() {}

    init(_ times: [Int]) { self.times = times }

    /// Adds a report. Reports of one event on several channels count once.
    mutating func add(at instant: HeardInstant) {
        let now = ListenedTime.microseconds(instant)
        if let last = times.last, now - last < IntervalEstimate.sameEventMicroseconds { return }
        times.append(now)
    }

    /// Returns the events that at least one receiver has received. Times less than `window` microseconds apart are one
    /// event, because the clocks of receivers differ.
    static func union(_ all: [EventTimes], window: Int) -> EventTimes {
        guard all.count > 1 else { return all.first ?? EventTimes() }
        var merged = EventTimes()
        for time in all.flatMap(\.times).sorted() {
            if let last = merged.times.last, time - last < window { continue }
            merged.times.append(time)
        }
        return merged
    }

    /// Returns the gaps between successive events within one period of listening.
    func gaps(within spans: [ClosedRange<Int>]) -> [Int] {
        var gaps: [Int] = []
        for events in eventRanges(spans) {
            for index in events.indices.dropFirst() { gaps.append(times[index] - times[index - 1]) }
        }
        return gaps
    }

    /// Returns the longest silence within one period of listening. The time before the first event of a period and the
    /// time after the last one count, too.
    func longestSilence(within spans: [ClosedRange<Int>]) -> Int {
        var longest = 0
        for (span, events) in zip(spans, eventRanges(spans)) {
            var last = span.lowerBound
            for index in events {
                longest = max(longest, times[index] - last)
                last = times[index]
            }
            longest = max(longest, span.upperBound - last)
        }
        return longest
    }

    /// Returns the range of indices in ``times`` of the events in each period.
    private func eventRanges(_ spans: [ClosedRange<Int>]) -> [Range<Int>] {
        var next = 0
        return spans.map { span in
            while next < times.count, times[next] < span.lowerBound { next += 1 }
            let first = next
            while next < times.count, times[next] <= span.upperBound { next += 1 }
            return first..<next
        }
    }
}
