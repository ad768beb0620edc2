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
        var times = curve.times
        unsafe times.withUnsafeMutableBufferPointer { times in
            for index in 0..<times.count { unsafe times[index] *= stepSeconds }
        }
        seconds = times
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

/// P(L ≤ t) on the times of the recursion: the integral of P(wait > s), over the mean wait.
struct LatencyCurve: Sendable {
    /// In steps, from 0 on, ascending.
    private(set) var times: [Double] = [0]
    /// The share received until then.
    private(set) var received: [Double] = [0]

    init(receivedPerStep: Double) {
        self.receivedPerStep = receivedPerStep
    }

    private let receivedPerStep: Double

    /// One more point, at the pace of the start.
    mutating func extend(to time: Double) {
        times.append(time)
        received.append(min(1, receivedPerStep * time))
    }

    /// Takes in what the recursion has completed by now.
    ///
    /// Points that later masses can still change, within the recursion's margin, are made anew the next time; all before
    /// them stay.
    mutating func extend(by recursion: GapRecursion) {
        let complete = Double(recursion.completeSteps)
        let final = complete - Double(recursion.marginSteps)
        let masses = recursion.histogram.masses
        var (waiting, sum, time, bin) = (settled.waiting, settled.sum, times[settled.points - 1], settled.bin)
        var count = settled.points
        let room = count + GapHistogram.bin(of: recursion.completeSteps) + 2 - bin
        times.grow(to: room)
        received.grow(to: room)
        let pace = receivedPerStep
        var settled = settled
        unsafe times.withUnsafeMutableBufferPointer { times in
            unsafe received.withUnsafeMutableBufferPointer { received in
                while time < complete {
                    // All bins up to the next zone are equally wide. A mass at step i stands for i - 1/2 to i + 1/2.
                    let (end, width) = GapHistogram.zone(of: bin)
                    var edge = Double(GapHistogram.firstStep(of: bin)) - 0.5
                    while bin < end, time < complete {
                        let mass = bin < masses.count ? masses[bin] : 0
                        edge += width
                        let next = min(complete, edge)
                        sum += pace * (next - time) * (waiting - mass / 2)
                        waiting = max(0, waiting - mass)
                        time = next
                        unsafe times[count] = time
                        unsafe received[count] = min(1, sum)
                        count += 1
                        bin += 1
                        if time < final { settled = Settled(points: count, bin: bin, waiting: waiting, sum: sum) }
                    }
                }
            }
        }
        self.settled = settled
        times.removeLast(times.count - count)
        received.removeLast(received.count - count)
        stillWaiting = waiting
    }

    /// A share that is not exceeded by some time in steps, not before the last point: the share received grows by ever
    /// less, because ever fewer wait.
    func bound(at time: Double) -> Double {
        guard let now = times.last, let reached = received.last else { return 1 }
        return reached + receivedPerStep * stillWaiting * max(0, time - now)
    }

    /// The share of waits that are longer than the last point.
    private var stillWaiting = 1.0

    /// How far the points are final: how many there are, the bin that follows, the share of waits that are longer, and
    /// the share received.
    private struct Settled: Sendable {
        var points = 1
        var bin = 0
        var waiting = 1.0
        var sum = 0.0
    }

    private var settled = Settled()

    /// Goes on without the recursion, if everything after now decays by the same factor from cycle to cycle, and says
    /// whether it did.
    ///
    /// The share received in the last cycles over that in as many cycles before says how fast the pace decays now.
    /// What is still to come over what the last cycles brought says how fast it will decay on the whole. Only where
    /// the two agree nothing slow is hidden (as it is near a resonance), and the last cycles repeat, scaled.
    mutating func continues(cycle: Double, until limit: Int, wanted: Int, share: Double) -> Bool {
        guard let now = times.last, let reached = received.last, reached < 1, Double(limit) > now else { return false }
        let width = (now / 3 / cycle).rounded(.down) * cycle
        guard width > 0 else { return false }
        let last = reached - self.share(at: now - width)
        let before = self.share(at: now - width) - self.share(at: now - 2 * width)
        guard last > 1e-4, before > last else { return false }
        let measured = log(before / last)
        let rest = (1 - reached) / last
        let conserved = log((1 + rest) / rest)
        guard abs(measured - conserved) < 0.003 * conserved else { return false }
        repeatLast(width, factor: exp(-conserved), until: Double(limit), wanted: Double(wanted), share: share)
        return true
    }

    private mutating func repeatLast(
        _ width: Double, factor: Double, until limit: Double, wanted: Double, share: Double
    ) {
        guard let now = times.last, let reached = received.last else { return }
        let from = times.firstIndex { $0 > now - width } ?? times.count - 1
        let begin = self.share(at: now - width)
        let pattern = (from..<times.count).map { (time: times[$0] - (now - width), share: received[$0] - begin) }
        let whole = reached - begin
        var scale = factor
        var start = now
        var base = reached
        while start < limit, start < wanted || base < share {
            // Points no closer than a thousandth of their time; that may be many rounds at once.
            let distance = start / 1000
            let rounds = max(1, (distance / width).rounded(.down))
            if rounds == 1 {
                var last = 0.0
                for point in pattern where point.time - last >= distance && start + point.time <= limit {
                    append(start + point.time, base + scale * point.share)
                    last = point.time
                }
            }
            start += rounds * width
            base += scale * whole * (1 - pow(factor, rounds)) / (1 - factor)
            scale *= pow(factor, rounds)
            if start <= limit { append(start, base) }
        }
    }

    private mutating func append(_ time: Double, _ share: Double) {
        guard let last = times.last, time > last else { return }
        times.append(time)
        received.append(min(1, max(received.last ?? 0, share)))
    }

    private func share(at time: Double) -> Double {
        var low = 0
        var high = times.count - 1
        while low < high {
            let middle = (low + high) / 2
            if times[middle] < time { low = middle + 1 } else { high = middle }
        }
        guard low > 0, times[low] > times[low - 1] else { return received[low] }
        let part = min(1, (time - times[low - 1]) / (times[low] - times[low - 1]))
        return received[low - 1] + part * (received[low] - received[low - 1])
    }
}
