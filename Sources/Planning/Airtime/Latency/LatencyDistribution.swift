/// The distribution of the time until an advertiser is first received, up to a horizon.
public struct LatencyDistribution: Hashable, Sendable {
    /// The times of the curve, in seconds, ascending from 0 to the horizon.
    public let seconds: [Double]
    /// The share that is received by the time at the same index of ``seconds``; it never falls.
    public let receivedShare: [Double]
    /// The end of the curve in s. Shares above the last value of ``receivedShare`` have no percentile.
    public let horizonSeconds: Double
    /// True if the share received within the horizon is 1, except for at most a millionth.
    public let isExhausted: Bool
    /// The reason for which the distribution may be more than 2 % wrong; nil if there is no such reason.
    public let knownErrorReason: String?

    /// True if the distribution may be more than 2 % wrong.
    public var knownErrorExceeds2Percent: Bool { knownErrorReason != nil }

    /// Creates the curve from the probabilities that the first event received is event number 0, 1, 2 and so on.
    ///
    /// The time begins at a random instant of a period, and all instants are equally likely. So the time until event
    /// number k (from 0) is k whole periods plus a uniformly distributed part of a period. The share received therefore
    /// rises in a straight line from k·E to (k + 1)·E. The delays of the first `spreadEvents` events round the corners
    /// between these lines.
    ///
    /// - Parameters:
    ///   - received: At index k, the probability that event number k is the first one received.
    ///   - spreadEvents: The number of first events whose delays do not depend on whether the events are received.
    init(
        received: [Double], intervalMicroseconds: Double, delayMicroseconds: Double, spreadEvents: Int,
        horizonSeconds: Double, extrapolatedFromSeconds: Double?
    ) {
        let period = (intervalMicroseconds + delayMicroseconds / 2) / 1_000_000
        let delay = delayMicroseconds / 1_000_000
        let total = min(1, received.reduce(0, +))
        let isComplete = total > 1 - 1e-6
        let corners = CornerRounding(received: received, isComplete: isComplete, period: period, delay: delay)
        var times = [0.0]
        var shares = [0.0]
        var sum = 0.0
        func append(_ time: Double, _ share: Double) {
            guard time > times[times.count - 1], times[times.count - 1] < horizonSeconds else { return }
            let share = min(1, max(share, shares[shares.count - 1]))
            if time <= horizonSeconds {
                times.append(time)
                shares.append(share)
            } else {
                let fraction = (horizonSeconds - times[times.count - 1]) / (time - times[times.count - 1])
                times.append(horizonSeconds)
                shares.append(shares[shares.count - 1] + fraction * (share - shares[shares.count - 1]))
            }
        }
        for event in 0..<received.count + (isComplete ? 1 : 0) {
            let share = event < received.count ? received[event] : 0
            let points = delay > 0 && event <= spreadEvents ? Self.pointsPerPeriod : 1
            for point in 1...points {
                let progress = Double(point) / Double(points)
                let time = (Double(event) + progress) * period
                append(
                    time, sum + progress * share + (points > 1 ? corners.rounding(at: time, upTo: spreadEvents) : 0))
            }
            sum += share
        }
        seconds = times
        receivedShare = shares
        self.horizonSeconds = times[times.count - 1]
        isExhausted = isComplete
        knownErrorReason = extrapolatedFromSeconds.map {
            "discovery takes so many events that times after \(Int($0.rounded())) s are extrapolated"
        }
    }

    private static let pointsPerPeriod = 64

    /// The distribution of all visitors together: the sum of the shares received with each scanner, each times the
    /// scanner's share.
    ///
    /// If the curves of some scanners are not exhausted, the sum ends at the earliest end of these curves. If all
    /// curves are exhausted, it ends at the latest end.
    init(mixing parts: [MixLatency.Part]) {
        if parts.count == 1 {
            self = parts[0].latency
            return
        }
        let latencies = parts.map(\.latency)
        let firstEnd = latencies.filter { !$0.isExhausted }.map(\.horizonSeconds).min()
        let end = firstEnd ?? latencies.reduce(0) { max($0, $1.horizonSeconds) }
        var times = latencies.flatMap { $0.seconds.filter { $0 < end } }.sorted()
        times.append(end)
        var distinct = [0.0]
        for time in times where time > distinct[distinct.count - 1] { distinct.append(time) }
        seconds = distinct
        var shares = Array(repeating: 0.0, count: distinct.count)
        for part in parts { part.latency.add(part.share, to: &shares, at: distinct) }
        receivedShare = shares.map { min(1, $0) }
        horizonSeconds = end
        isExhausted = firstEnd == nil
        knownErrorReason =
            parts.first { $0.latency.knownErrorReason != nil }.flatMap { part in
                part.latency.knownErrorReason.map { "with \(part.scanner.name), \($0)" }
            }
    }

    /// Adds `share` times the share received at each of `times` to the sum at the same index. The times ascend. For
    /// times after the end of the curve, the share received counts as 1.
    private func add(_ share: Double, to sums: inout [Double], at times: [Double]) {
        var next = 0
        for (index, time) in times.enumerated() {
            while next < seconds.count, seconds[next] < time { next += 1 }
            guard next < seconds.count else {
                sums[index] += share
                continue
            }
            guard next > 0 else {
                sums[index] += share * receivedShare[0]
                continue
            }
            let (low, high) = (receivedShare[next - 1], receivedShare[next])
            let fraction = (time - seconds[next - 1]) / (seconds[next] - seconds[next - 1])
            sums[index] += share * (low + fraction * (high - low))
        }
    }

    /// The mean time in s; nil if more than 1 % of the beacons are not received within the horizon, because their times
    /// are unknown.
    ///
    /// After the end of the curve, the share that is not received is assumed to fall exponentially. Its rate is the
    /// mean rate in the last part of the curve, in which this share fell to a quarter.
    public var meanSeconds: Double? {
        guard let last = receivedShare.last, last >= 0.99 else { return nil }
        var area = 0.0
        for index in 1..<seconds.count {
            let unreceivedShare = 1 - (receivedShare[index - 1] + receivedShare[index]) / 2
            area += unreceivedShare * (seconds[index] - seconds[index - 1])
        }
        let unreceivedAtEnd = 1 - last
        guard unreceivedAtEnd > 1e-6, let secondsBefore = percentile(1 - 4 * unreceivedAtEnd) else { return area }
        return area + unreceivedAtEnd * (horizonSeconds - secondsBefore) / log(4)
    }

    /// The time by which the share `share` of all beacons is received, in s; nil if this share is not received within
    /// the horizon, and for shares outside 0..<1.
    public func percentile(_ share: Double) -> Double? {
        guard share >= 0, share < 1, let last = receivedShare.last, share <= last else { return nil }
        let index = receivedShare.firstIndexOnward { $0 >= share }
        guard index > 0 else { return seconds[0] }
        let low = receivedShare[index - 1]
        let high = receivedShare[index]
        let fraction = high > low ? (share - low) / (high - low) : 1
        return seconds[index - 1] + fraction * (seconds[index] - seconds[index - 1])
    }

    /// The share received within `time` seconds. For a time beyond the horizon, 1 if ``isExhausted``, otherwise nil.
    public func received(within time: Double) -> Double? {
        guard time >= 0 else { return time.isNaN ? nil : 0 }
        guard time <= horizonSeconds else { return isExhausted ? 1 : nil }
        let index = seconds.firstIndexOnward { $0 >= time }
        guard index > 0 else { return receivedShare[0] }
        let width = seconds[index] - seconds[index - 1]
        let fraction = width > 0 ? (time - seconds[index - 1]) / width : 1
        return receivedShare[index - 1] + fraction * (receivedShare[index] - receivedShare[index - 1])
    }

    /// The share not yet received after `time` seconds. For a time beyond the horizon, 0 if ``isExhausted``, otherwise
    /// nil.
    public func undiscovered(after time: Double) -> Double? {
        received(within: time).map { max(0, 1 - $0) }
    }
}

extension [Double] {
    /// Returns the first index whose element fulfills `condition`, or the last index if no element does. All elements
    /// after an element that fulfills the condition must fulfill it too.
    fileprivate func firstIndexOnward(where condition: (Double) -> Bool) -> Int {
        var low = 0
        var high = count - 1
        while low < high {
            let middle = (low + high) / 2
            if condition(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

/// The effect of the delays on a curve that has one straight line for each event: the delays round the corners between
/// the lines.
private struct CornerRounding {
    let received: [Double]
    /// True if the curve ends with the last event.
    let isComplete: Bool
    /// E, the mean period between advertising events in s.
    let period: Double
    /// J, the maximum of advDelay in s.
    let delay: Double

    /// Returns the share that the rounding of the corners near `time` adds to the straight lines. Only the corners up
    /// to number `last` are rounded.
    func rounding(at time: Double, upTo last: Int) -> Double {
        let deviation = delay * (Double(last) / 12).squareRoot()
        let first = max(1, Int((time - 4 * deviation) / period))
        let end = min(last, isComplete ? received.count : received.count - 1, Int((time + 4 * deviation) / period) + 1)
        guard first <= end else { return 0 }
        return (first...end).reduce(0) { sum, event in
            let before = received[event - 1]
            let after = event < received.count ? received[event] : 0
            return sum + (after - before) / period * excess(after: event, at: time - Double(event) * period)
        }
    }

    /// Returns E[max(0, x + d)] - max(0, x), where d is the deviation of a sum of `events` delays from its mean. The
    /// deviation is uniform for one event, and treated as normal for more.
    private func excess(after events: Int, at x: Double) -> Double {
        let distance = abs(x)
        if events == 1 {
            let overlap = delay / 2 - distance
            return overlap > 0 ? overlap * overlap / (2 * delay) : 0
        }
        let deviation = delay * (Double(events) / 12).squareRoot()
        let deviations = distance / deviation
        return deviation
            * (NormalDistribution.density(deviations) - deviations * NormalDistribution.cumulative(-deviations))
    }
}
