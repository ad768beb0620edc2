internal import Airtime
internal import BluetoothTypes
internal import Configuration

/// The levels that a plan expects of each beacon at the receivers of an audit.
public struct ExpectedLevels: Sendable {
    /// By the name of the beacon, the mean level at each receiver in dBm; `nil` for a receiver without a place.
    private let levels: [String: [Double?]]
    /// σ of the shadowing of each link, in dB.
    private let shadowing: Double
    /// By the name of the beacon, the probability that at least one receiver is in range of it.
    private let chancesInReach: [String: Double]

    /// A difference from the plan up to this value is never reported, in dB.
    private static let tolerance = 6.0

    /// - Parameters:
    ///   - levels: By the name of the beacon, the mean level at each receiver in dBm, in the order of the receivers.
    ///   - shadowing: The standard deviation of the level of each link around its mean, in dB.
    ///   - reach: By the name of the beacon, the probability that at least one receiver is in range of it. Beacons
    ///     without a known probability are absent.
    public init(_ levels: [String: [Double?]], shadowing: Double, reach: [String: Double] = [:]) {
        self.levels = levels
        self.shadowing = shadowing
        chancesInReach = reach
    }

    /// Returns the probability that at least one receiver is in range of a beacon, if it is below 99 %; otherwise
    /// `nil`. With such a low probability, silence is no sign of a fault.
    func chanceOfSilentBeacon(_ beacon: String) -> Double? {
        chancesInReach[beacon].flatMap { $0 < 0.99 ? $0 : nil }
    }

    /// A level that is lower than the plan expects, with the reason in one sentence.
    enum Finding: Hashable {
        /// The beacon is weak at its receivers.
        case weak(String)
        /// The beacon is weak at one receiver, and other receivers receive it at the expected level.
        case obstructed(String)
    }

    /// Returns a finding if the levels of a beacon are below those of the plan; `nil` if shadowing may explain the
    /// difference.
    ///
    /// A difference is reported if chance would cause it in at most one of a thousand audits. The mean difference over
    /// n receivers has the standard deviation σ/√n. The receiver with the lowest level is compared with the plan and
    /// with the mean of the other receivers, so a beacon that is weak at only one receiver does not count as weak.
    ///
    /// - Parameters:
    ///   - received: The level at each receiver in dBm; `nil` for receivers that received too little.
    ///   - receivers: The names of the receivers.
    ///   - advertisements: The number of advertisements of the audit.
    func finding(of beacon: String, received: [Double?], receivers: [String], advertisements: Int) -> Finding? {
        guard let expected = levels[beacon] else { return nil }
        let differences = zip(receivers, zip(received, expected)).compactMap { name, levels in
            levels.0.flatMap { level in levels.1.map { (receiver: name, decibels: level - $0) } }
        }
        guard !differences.isEmpty else { return nil }
        let rarity = SilenceModel.rarity / Double(max(1, advertisements))
        if let reason = obstruction(differences, rarity: rarity) { return .obstructed(reason) }
        let mean = differences.reduce(0) { $0 + $1.decibels } / Double(differences.count)
        let error = shadowing / Double(differences.count).squareRoot()
        guard -mean > max(Self.tolerance, -NormalDistribution.quantile(rarity) * error) else { return nil }
        let receiverCount = NumberFormat.count(differences.count, "receiver")
        return .weak("\(NumberFormat.rounded(-mean, 1)) dB weaker than the plan expects, at \(receiverCount)")
    }

    /// Returns the reason if the beacon is weak at exactly one of several receivers; otherwise `nil`.
    private func obstruction(_ differences: [(receiver: String, decibels: Double)], rarity: Double) -> String? {
        guard differences.count > 1, let lowest = differences.min(by: { $0.decibels < $1.decibels }) else { return nil }
        let others = Double(differences.count - 1)
        let mean = (differences.reduce(0) { $0 + $1.decibels } - lowest.decibels) / others
        let deviations = -NormalDistribution.quantile(rarity / Double(differences.count))
        // The mean of the other receivers has a deviation, too.
        let allowed = max(Self.tolerance, deviations * shadowing * (1 + 1 / others).squareRoot())
        guard abs(mean) <= Self.tolerance, -lowest.decibels > allowed, mean - lowest.decibels > allowed else {
            return nil
        }
        let otherReceivers = differences.count == 2 ? "the other receiver" : "\(differences.count - 1) other receivers"
        let name = TerminalText.line(lowest.receiver)
        return
            "\(NumberFormat.rounded(-lowest.decibels, 1)) dB weaker than the plan expects at \(name), and as expected at "
            + "\(otherReceivers): something between the beacon and \(name) weakens it"
    }
}

/// The lowest mean of 64 levels in a row, so that a beacon that becomes weaker during an audit is found.
struct LowestLevel: Sendable {
    /// The number of levels in a row.
    private static let length = 64
    /// The smallest number of levels from which a mean is computed.
    private static let fewest = 20

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

    /// The lowest mean in dBm; `nil` with fewer than 20 levels.
    var value: Double? { lowest ?? (count >= Self.fewest ? Double(sum) / Double(count) : nil) }
}
