internal import Airtime

/// How long an advertisement that is all right may be silent, because losses come in runs.
///
/// What the planner's model makes of as many radios of the same interval on the air, with further losses until the share
/// that was heard comes out. Keeps what it has computed: use one for many questions.
public struct SilenceModel: Sendable {
    /// The probability that any advertisement of an audit is silent for longer.
    static let rarity = 0.001

    /// The octets that the model takes at most: longer advertisements are sent on other channels.
    private static let octetLimit = PacketTiming.payloadRange.upperBound

    private var models: [Question: RunsModel] = [:]

    /// What a model of losses depends on.
    private struct Question: Hashable {
        var radios: Int
        var interval: Double
        var octets: Int
        /// The probability that nothing but a collision destroys a packet, in hundredths.
        var clearPercent: Int
    }

    /// Nothing computed yet.
    public init() {}

    /// - Parameters:
    ///   - radios: On the air, this one included.
    ///   - interval: In microseconds.
    ///   - octets: Of the advertisement's data.
    /// - Returns: the share of events that no collision spoils, 0...1.
    mutating func clearShare(radios: Int, interval: Double, octets: Int) -> Double {
        runs(radios: radios, interval: interval, octets: octets, clear: 1)?.collisionFreeProbability ?? 1
    }

    /// The longest silence, in microseconds, that one of `advertisements` equal ones shows in an audit of a thousand.
    ///
    /// - Parameters:
    ///   - owed: Events that were sent in the time that was listened through.
    ///   - loss: The share of them that was lost, 0...1.
    mutating func longestSilence(
        radios: Int, interval: Double, octets: Int, owed: Double, loss: Double, advertisements: Int
    ) -> Double {
        let period = interval + AdvertisingDelay.meanMicroseconds
        let free = clearShare(radios: radios, interval: interval, octets: octets)
        let clear = free > 0 ? min(1, max(0.01, (1 - loss) / free)) : 1
        let allowed = Self.rarity / Double(max(1, advertisements))
        var length = 1
        if let runs = runs(radios: radios, interval: interval, octets: octets, clear: clear) {
            while length < 100_000,
                owed * (runs.lossRunProbability(length: length) - runs.lossRunProbability(length: length + 1)) > allowed
            {
                length += 1
            }
        }
        // Four standard deviations of as many delays, and the two halves of the periods at both ends.
        let spread = 4 * PeriodFold.delayDeviation * Double(length + 1).squareRoot()
        return Double(length + 1) * period + spread
    }

    private mutating func runs(radios: Int, interval: Double, octets: Int, clear: Double) -> RunsModel? {
        let octets = min(max(0, octets), Self.octetLimit)
        guard let airtime = try? PacketTiming.airtimeMicroseconds(payloadOctets: octets),
            let group = try? AdvertiserGroup(
                count: max(1, radios), intervalMicroseconds: interval, airtimeMicroseconds: airtime)
        else { return nil }
        // Rounded down, so that many advertisements share a model: more losses allow a longer silence.
        let percent = Int((min(1, max(0, clear)) * 100 + 1e-9).rounded(.down))
        let question = Question(radios: group.count, interval: interval, octets: octets, clearPercent: percent)
        if models[question] == nil {
            models[question] = try? RunsModel(group: group, otherClearProbability: Double(percent) / 100)
        }
        return models[question]
    }
}
