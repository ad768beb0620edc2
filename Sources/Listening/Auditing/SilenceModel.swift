internal import Airtime

/// Computes how long a correct advertisement may be silent because several events in a row are lost.
///
/// It uses the planner's model of collisions, in which all radios on the air have the interval of this advertisement.
/// It adds losses by other causes until the model loses the same share of events as the audit. Results are stored, so
/// use one `SilenceModel` for all advertisements of an audit.
public struct SilenceModel: Sendable {
    /// The probability that at least one correct advertisement of an audit is silent for longer than its limit.
    static let rarity = 0.001

    /// The maximum data length in the planner's model, in bytes. The data of longer advertisements is sent on other
    /// channels.
    private static let octetLimit = PacketTiming.payloadRange.upperBound

    private var models: [Parameters: RunsModel] = [:]

    /// The parameters of a model.
    private struct Parameters: Hashable {
        var radios: Int
        var interval: Double
        var octets: Int
        /// The probability that a packet is received if it does not collide, in percent.
        var clearPercent: Int
    }

    /// Creates a model without stored results.
    public init() {}

    /// - Parameters:
    ///   - radios: The number of radios on the air, including this one.
    ///   - interval: The interval in microseconds.
    ///   - octets: The length of the advertisement's data.
    /// - Returns: The share of events that are not lost by collisions, 0...1.
    mutating func clearShare(radios: Int, interval: Double, octets: Int) -> Double {
        runs(radios: radios, interval: interval, octets: octets, clear: 1)?.collisionFreeProbability ?? 1
    }

    /// Returns the limit of the silence in microseconds. In one of a thousand audits, at least one of `advertisements`
    /// correct advertisements like this one is silent for longer.
    ///
    /// - Parameters:
    ///   - dueEvents: The number of events that were due in the listened time.
    ///   - loss: The share of lost events, 0...1.
    mutating func longestSilence(
        radios: Int, interval: Double, octets: Int, dueEvents: Double, loss: Double, advertisements: Int
    ) -> Double {
        let period = interval + AdvertisingDelay.meanMicroseconds
        let collisionFreeShare = clearShare(radios: radios, interval: interval, octets: octets)
        let clear = collisionFreeShare > 0 ? min(1, max(0.01, (1 - loss) / collisionFreeShare)) : 1
        let allowed = Self.rarity / Double(max(1, advertisements))
        var length = 1
        if let runs = runs(radios: radios, interval: interval, octets: octets, clear: clear) {
            while length < 100_000,
                dueEvents * (runs.lossRunProbability(length: length) - runs.lossRunProbability(length: length + 1))
                    > allowed
            {
                length += 1
            }
        }
        // Four standard deviations of the sum of delays, including the partial periods at both ends.
        let spread = 4 * PeriodFold.delayDeviation * Double(length + 1).squareRoot()
        return Double(length + 1) * period + spread
    }

    private mutating func runs(radios: Int, interval: Double, octets: Int, clear: Double) -> RunsModel? {
        let octets = min(max(0, octets), Self.octetLimit)
        guard let airtime = try? PacketTiming.airtimeMicroseconds(payloadOctets: octets),
            let group = try? AdvertiserGroup(
                count: max(1, radios), intervalMicroseconds: interval, airtimeMicroseconds: airtime)
        else { return nil }
        // The percentage is rounded down, so that many advertisements share one model. More losses permit a longer
        // silence.
        let percent = Int((min(1, max(0, clear)) * 100 + 1e-9).rounded(.down))
        let parameters = Parameters(radios: group.count, interval: interval, octets: octets, clearPercent: percent)
        if models[parameters] == nil {
            models[parameters] = try? RunsModel(group: group, otherClearProbability: Double(percent) / 100)
        }
        return models[parameters]
    }
}
