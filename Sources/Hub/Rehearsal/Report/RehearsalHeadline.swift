internal import BluetoothTypes

extension RehearsalReport {
    /// The result in one sentence: how many promises do not hold, and their causes.
    public var headline: String {
        let broken = promises.filter { $0.verdict == .broken }
        let unjudged = promises.count { $0.verdict == .unjudged }
        let judged = promises.count - unjudged
        guard !promises.isEmpty else { return "The rehearsal has no promises to compare." }
        guard !broken.isEmpty else {
            if unjudged == 0 { return judged == 1 ? "The only promise holds." : "All \(judged) promises hold." }
            return judged == 0
                ? "None of \(NumberFormat.count(unjudged, "promise")) can be judged."
                : "All \(judged) promises that can be judged hold; \(unjudged) cannot be judged."
        }
        let causes = causes(of: broken)
        let unnamed = causes.count - Self.namedCauses
        let ending = unnamed > 0 ? "; and \(unnamed) more" : ""
        return
            "\(broken.count) of \(NumberFormat.count(judged, "promise")) \(broken.count == 1 ? "does" : "do") not hold: "
            + causes.prefix(Self.namedCauses).joined(separator: "; ") + ending + "."
    }

    /// The largest number of causes in the headline.
    private static let namedCauses = 3

    /// The causes of broken promises: each planted fault that explains broken promises, and each subject with broken
    /// promises that no planted fault explains.
    private func causes(of broken: [RehearsalPromise]) -> [String] {
        var order: [String] = []
        var kinds: [String: [String]] = [:]
        for promise in broken {
            let planted = promise.fault.flatMap { faults.indices.contains($0) ? faults[$0] : nil }
            let beacon = promise.beacon.flatMap { beacons.indices.contains($0) ? beacons[$0].name : nil }
            let cause = planted.map { "\($0.words) (planted)" } ?? beacon ?? promise.subject
            if kinds[cause] == nil { order.append(cause) }
            let words = planted == nil ? promise.kind.words : ""
            if kinds[cause]?.contains(words) != true { kinds[cause, default: []].append(words) }
        }
        return order.map { cause in
            let words = (kinds[cause] ?? []).filter { !$0.isEmpty }
            guard !words.isEmpty else { return cause }
            return "\(cause): \(words.joined(separator: ", "))\(faults.isEmpty ? "" : " (not planted)")"
        }
    }

    /// The worst verdict on each beacon; nil if no promise is about the beacon.
    var verdicts: [RehearsalPromise.Verdict?] {
        var verdicts = [RehearsalPromise.Verdict?](repeating: nil, count: beacons.count)
        for promise in promises {
            guard let beacon = promise.beacon, beacons.indices.contains(beacon) else { continue }
            if promise.verdict.rank < verdicts[beacon]?.rank ?? .max { verdicts[beacon] = promise.verdict }
        }
        return verdicts
    }

    /// By beacon: the measured share of visits in which phones detect the beacon in time, 0...1, at the place where the
    /// share is smallest; nil if it was not measured.
    var detectedShares: [Double?] {
        var shares = [Double?](repeating: nil, count: beacons.count)
        for promise in promises where promise.kind == .detection && promise.unit == "%" {
            guard let beacon = promise.beacon, beacons.indices.contains(beacon), let measured = promise.measured else {
                continue
            }
            shares[beacon] = min(shares[beacon] ?? 1, max(0, min(1, measured / 100)))
        }
        return shares
    }
}
