public import Sightings

/// The stretches of time in which a receiver could hear, in microseconds of the clock of hearing.
///
/// Silence counts only while somebody listens.
public struct ListenedTime: Hashable, Sendable {
    /// In their order; they do not touch.
    private(set) var spans: [ClosedRange<Int>] = []
    private var since: Int?
    private var latest = 0

    /// Nobody has listened yet.
    public init() {}

    static func microseconds(_ instant: HeardInstant) -> Int { Int(clamping: instant.nanoseconds / 1000) }

    /// Whether it can be heard just now.
    var isOpen: Bool { since != nil }

    /// From now on it can be heard.
    public mutating func begin(at now: HeardInstant) {
        guard since == nil else { return }
        since = max(latest, Self.microseconds(now))
    }

    /// From now on nothing can be heard.
    public mutating func end(at now: HeardInstant) {
        guard let since else { return }
        self.since = nil
        latest = max(since, Self.microseconds(now))
        if latest > since { spans.append(since...latest) }
    }

    /// The time in which at least one of several could hear.
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

    /// The whole of it, in microseconds.
    public var microseconds: Int { Self.length(spans) }

    static func length(_ spans: [ClosedRange<Int>]) -> Int {
        spans.reduce(0) { $0 + $1.upperBound - $1.lowerBound }
    }
}

/// When the events of one advertisement were heard, in microseconds, in their order.
struct HeardEvents: Sendable {
    private(set) var times: [Int] = []

    init() {}

    init(_ times: [Int]) { self.times = times }

    /// A report; those of one event on several channels are one.
    mutating func add(at instant: HeardInstant) {
        let now = ListenedTime.microseconds(instant)
        if let last = times.last, now - last < IntervalEstimate.sameEventMicroseconds { return }
        times.append(now)
    }

    /// What several receivers heard. Their clocks may differ by as much as `window` microseconds.
    static func union(_ all: [HeardEvents], window: Int) -> HeardEvents {
        guard all.count > 1 else { return all.first ?? HeardEvents() }
        var merged = HeardEvents()
        for time in all.flatMap(\.times).sorted() {
            if let last = merged.times.last, time - last < window { continue }
            merged.times.append(time)
        }
        return merged
    }

    /// The times between events within one stretch of listening.
    func gaps(within spans: [ClosedRange<Int>]) -> [Int] {
        var gaps: [Int] = []
        for events in stretches(spans) {
            for index in events.indices.dropFirst() { gaps.append(times[index] - times[index - 1]) }
        }
        return gaps
    }

    /// The longest time within one stretch of listening in which nothing was heard, its ends included.
    func longestSilence(within spans: [ClosedRange<Int>]) -> Int {
        var longest = 0
        for (span, events) in zip(spans, stretches(spans)) {
            var last = span.lowerBound
            for index in events {
                longest = max(longest, times[index] - last)
                last = times[index]
            }
            longest = max(longest, span.upperBound - last)
        }
        return longest
    }

    /// Which events lie in each stretch.
    private func stretches(_ spans: [ClosedRange<Int>]) -> [Range<Int>] {
        var next = 0
        return spans.map { span in
            while next < times.count, times[next] < span.lowerBound { next += 1 }
            let first = next
            while next < times.count, times[next] <= span.upperBound { next += 1 }
            return first..<next
        }
    }
}
