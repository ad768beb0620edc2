internal import Airtime
internal import BluetoothTypes

/// The levels that a plan expects of each beacon at the receivers of an audit.
public struct ExpectedLevels: Sendable {
    /// By the name of the beacon, the mean level at each receiver in dBm; `nil` for a receiver without a place.
    private let levels: [String: [Double?]]
    /// σ of the shadowing of each link, in dB.
    private let shadowing: Double

    /// A level that is less than this below the plan is not reported, in dB.
    private static let tolerance = 6.0

    /// - Parameters:
    ///   - levels: By the name of the beacon, the mean level at each receiver in dBm, in the order of the receivers.
    ///   - shadowing: The standard deviation of the level of each link around its mean, in dB.
    public init(_ levels: [String: [Double?]], shadowing: Double) {
        self.levels = levels
        self.shadowing = shadowing
    }

    /// Returns how far a beacon is below the plan, in one sentence; `nil` if shadowing may explain it.
    ///
    /// The mean difference over the receivers has the deviation σ/√n. It is reported if it is so low by chance in one of
    /// a thousand audits.
    ///
    /// - Parameters:
    ///   - received: The level at each receiver in dBm; `nil` for receivers that received too little.
    ///   - advertisements: The number of advertisements of the audit.
    func weakness(of beacon: String, received: [Double?], advertisements: Int) -> String? {
        guard let expected = levels[beacon] else { return nil }
        let differences = zip(received, expected).compactMap { level, wanted in
            level.flatMap { level in wanted.map { level - $0 } }
        }
        guard !differences.isEmpty else { return nil }
        let mean = differences.reduce(0, +) / Double(differences.count)
        let error = shadowing / Double(differences.count).squareRoot()
        let allowed = -NormalDistribution.quantile(SilenceModel.rarity / Double(max(1, advertisements))) * error
        guard -mean > max(Self.tolerance, allowed) else { return nil }
        let places = differences.count == 1 ? "1 receiver" : "\(differences.count) receivers"
        return "\(NumberFormat.rounded(-mean, 1)) dB weaker than the plan expects, at \(places)"
    }
}

/// The lowest mean of some levels in a row, so that a beacon that becomes weaker during an audit is found.
struct LowestLevel: Sendable {
    /// The number of levels in a row.
    private static let length = 64
    /// With fewer levels nothing is known.
    private static let least = 20

    private var sum = 0
    private var count = 0
    private var lowest: Double?

    mutating func add(_ level: Int8) {
        sum += Int(level)
        count += 1
        guard count == Self.length else { return }
        lowest = min(lowest ?? .infinity, Double(sum) / Double(count))
        (sum, count) = (0, 0)
    }

    /// In dBm; `nil` with fewer than 20 levels.
    var value: Double? { lowest ?? (count >= Self.least ? Double(sum) / Double(count) : nil) }
}
