/// The distribution of the time until an advertiser is first received, up to a horizon.
public struct LatencyDistribution: Hashable, Sendable {
    /// The times of the curve, in seconds, ascending from 0 to the horizon.
    public let seconds: [Double]
    /// The share that has been received by the time of the same index; never falls.
    public let receivedShare: [Double]
    /// How far the curve reaches. Shares not reached by then have no percentile.
    public let horizonSeconds: Double
    /// Whether all but a millionth is received within the horizon, so that later times are known as well.
    public let isExhausted: Bool
    /// The share of paths that was too unlikely to be followed: a bound of the numerical error.
    public let neglectedShare: Double
    /// Why the model is known to be more than 2 % off in this case; nil when it is not.
    public let knownErrorReason: String?

    /// Whether the model is known to be more than 2 % off in this case.
    public var knownErrorExceeds2Percent: Bool { knownErrorReason != nil }

    init(curve: LatencyCurve, stepSeconds: Double, isExhausted: Bool, lostMass: Double, knownError: String?) {
        seconds = curve.times.map { $0 * stepSeconds }
        receivedShare = curve.received
        horizonSeconds = seconds.last ?? 0
        self.isExhausted = isExhausted
        neglectedShare = lostMass
        knownErrorReason = knownError
    }

    /// The time by which `share` of all are received, in seconds; nil where that is not reached within the horizon,
    /// and for what is no share between 0 and 1.
    public func percentile(_ share: Double) -> Double? {
        guard share >= 0, share < 1, let last = receivedShare.last, share <= last else { return nil }
        let index = receivedShare.firstIndexOnward { $0 >= share }
        guard index > 0 else { return seconds[0] }
        let low = receivedShare[index - 1]
        let high = receivedShare[index]
        let part = high > low ? (share - low) / (high - low) : 1
        return seconds[index - 1] + part * (seconds[index] - seconds[index - 1])
    }

    /// The share received within `time` seconds; nil beyond the horizon of a curve that does not end.
    public func received(within time: Double) -> Double? {
        guard time >= 0 else { return time.isNaN ? nil : 0 }
        guard time <= horizonSeconds else { return isExhausted ? 1 : nil }
        let index = seconds.firstIndexOnward { $0 >= time }
        guard index > 0 else { return receivedShare[0] }
        let width = seconds[index] - seconds[index - 1]
        let part = width > 0 ? (time - seconds[index - 1]) / width : 1
        return receivedShare[index - 1] + part * (receivedShare[index] - receivedShare[index - 1])
    }

    /// The share not yet received after `time` seconds; nil beyond the horizon of a curve that does not end.
    public func undiscovered(after time: Double) -> Double? {
        received(within: time).map { max(0, 1 - $0) }
    }
}

extension [Double] {
    /// The first index whose element fulfills `condition`, which holds for all that follow; the last index when none.
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
