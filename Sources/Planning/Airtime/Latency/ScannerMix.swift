internal import BluetoothTypes

/// Scanners with their shares: the phones of the visitors of a site.
///
/// Each visitor has one scanner, drawn at random by the shares, and keeps it.
public struct ScannerMix: Hashable, Sendable {
    /// A scanner and the share of the visitors that have it.
    public struct Part: Hashable, Sendable {
        public let scanner: ScannerPreset
        /// Above 0 and at most 1. The shares of a mix add up to 1.
        public let share: Double
    }

    /// The scanners with their shares: at least one, in the given order.
    public let parts: [Part]

    /// The largest number of scanners in a mix.
    public static let countLimit = 32
    /// The smallest share of a scanner.
    private static let leastShare = 1e-9

    /// Creates a mix with the same scanner for all visitors.
    public init(_ scanner: ScannerPreset) { parts = [Part(scanner: scanner, share: 1)] }

    /// Creates a mix of scanners with weights on any scale. The shares are proportional to the weights.
    ///
    /// Throws for no scanner or more than 32, a name that occurs twice, a weight that is infinite or not above 0, and a
    /// weight below a billionth of the sum.
    public init(_ weighted: [(scanner: ScannerPreset, weight: Double)]) throws(AirtimeError) {
        guard !weighted.isEmpty else { throw .mix("a mix has at least one scanner") }
        guard weighted.count <= Self.countLimit else {
            throw .mix("a mix has at most \(Self.countLimit) scanners, not \(weighted.count)")
        }
        var names: Set<String> = []
        for (scanner, weight) in weighted {
            guard weight > 0, weight.isFinite else {
                throw .mix("the weight of \(scanner.name) must be a number above 0")
            }
            guard names.insert(scanner.name).inserted else {
                throw .mix("\(scanner.name) occurs twice: add up its weights")
            }
        }
        // Very large weights are scaled down, because their sum would be infinite.
        let scale = weighted.reduce(0) { $0 + $1.weight }.isFinite ? 1 : Double.greatestFiniteMagnitude
        let sum = weighted.reduce(0) { $0 + $1.weight / scale }
        parts = weighted.map { Part(scanner: $0.scanner, share: $0.weight / scale / sum) }
        if let smallest = parts.first(where: { $0.share < Self.leastShare }) {
            throw .mix("the weight of \(smallest.scanner.name) is less than a billionth of the mix: leave it out")
        }
    }

    /// The scanner of all visitors; nil if the mix has several scanners.
    public var only: ScannerPreset? { parts.count == 1 ? parts[0].scanner : nil }

    /// The scanner's name, or the mix such as `android-low-power 60 %, continuous 40 %`.
    public var name: String {
        only?.name
            ?? parts.map { "\($0.scanner.name) \(NumberFormat.percent($0.share))" }.joined(separator: ", ")
    }

    /// The name as a part of a sentence: `android-low-power`, `a mix of android-low-power 60 % and continuous 40 %`.
    public var phrase: String {
        guard only == nil else { return name }
        let names = parts.map { "\($0.scanner.name) \(NumberFormat.percent($0.share))" }
        return "a mix of \(names.dropLast().joined(separator: ", ")) and \(names[names.count - 1])"
    }

    /// True if at least one of the scanners does not listen all the time.
    public var pauses: Bool { parts.contains { $0.scanner.pauses } }

    /// The mean of a value over the visitors.
    func mean(_ value: (ScannerPreset) throws(AirtimeError) -> Double) throws(AirtimeError) -> Double {
        var sum = 0.0
        for part in parts { sum += part.share * (try value(part.scanner)) }
        return sum
    }
}

/// The latency with each scanner of a mix, and the latency of a visitor whose scanner is drawn by the shares.
public struct MixLatency: Equatable, Sendable {
    /// The latency with one scanner.
    public struct Part: Equatable, Sendable {
        public let scanner: ScannerPreset
        public let share: Double
        public let latency: LatencyDistribution
    }

    /// The latency with each scanner, in the order of the mix.
    public let parts: [Part]
    /// The distribution F(t) = Σ share·F_part(t). Its percentiles apply to all visitors together. They are not means of
    /// the scanners' percentiles.
    public let whole: LatencyDistribution

    /// Computes the latency with each scanner. The end of the curves is chosen as in
    /// ``LatencyModel/distribution(untilSeconds:horizonSeconds:)``.
    ///
    /// - Parameter model: The model with one of the scanners.
    public init(
        _ mix: ScannerMix, untilSeconds: Double = 0, horizonSeconds: Double = 3600,
        model: (ScannerPreset) throws(AirtimeError) -> LatencyModel
    ) throws(AirtimeError) {
        try self.init(
            mix, untilSeconds: untilSeconds, horizonSeconds: horizonSeconds, workLimit: LatencyModel.workLimit,
            model: model)
    }

    /// - Parameter workLimit: The number of additions after which a distribution is extrapolated.
    init(
        _ mix: ScannerMix, untilSeconds: Double, horizonSeconds: Double, workLimit: Int,
        model: (ScannerPreset) throws(AirtimeError) -> LatencyModel
    ) throws(AirtimeError) {
        var models: [LatencyModel] = []
        var latencies: [LatencyDistribution] = []
        for part in mix.parts {
            let model = try model(part.scanner)
            models.append(model)
            latencies.append(
                try model.distribution(
                    untilSeconds: untilSeconds, horizonSeconds: horizonSeconds, workLimit: workLimit))
        }
        // The curves of the other scanners are continued to the end of the curve of the slowest scanner.
        let end = latencies.reduce(0) { max($0, $1.horizonSeconds) }
        for index in models.indices where !latencies[index].isExhausted && latencies[index].horizonSeconds < end {
            latencies[index] = try models[index].distribution(
                untilSeconds: min(end, horizonSeconds), horizonSeconds: horizonSeconds, endsWhenExhausted: true,
                workLimit: workLimit)
        }
        parts = zip(mix.parts, latencies).map { Part(scanner: $0.scanner, share: $0.share, latency: $1) }
        whole = LatencyDistribution(mixing: parts)
    }
}
