/// Collisions at a receiver that keeps the stronger of two packets. The model computes two kinds of ideal receivers; a
/// real receiver is between them.
///
/// Symbols: θ the signal-to-interference ratio, in dB, from which the wanted packet survives an overlap; σ the
/// log-normal shadowing of every link; D_j the mean level of the wanted beacon minus the mean level of interferer j, in
/// dB (10·n·log10(d_j/d_0) plus the difference of radio powers); z the wanted link's own shadowing in σ. z is the same
/// for all interferers, so P(SIR_j < θ | z) = Φ((θ - D_j - σ·z)/σ) is multiplied over the interferers first and
/// averaged over z ~ N(0,1) last. Averaging each factor before the multiplication would give a value that is too low:
/// 0.375 instead of 0.428 with 249 interferers at ten times the distance (n = 2.03, T = 100 ms, θ = 21 dB, σ = 4 dB).
///
/// Assumptions: as in ``CollisionModel``; the wanted packet is compared with each interferer alone, not with the sum of
/// their powers. So if the sum of all powers disturbs a receiver, the values of both ideal receivers are upper bounds.
/// ``AirSimulation`` can add the powers. Packets of other devices (the background) always destroy the wanted packet.
///
/// By the specification, θ is at most 21 dB (co-channel C/I, Core Specification 5.4, Vol 6 Part A 4.2); common silicon
/// on LE 1M needs 6...14 dB.
public struct CaptureModel: Hashable, Sendable {
    /// Equal interfering beacons that are received at the same mean level.
    public struct Interferers: Hashable, Sendable {
        /// The interfering beacons, without the target beacon.
        public let group: AdvertiserGroup
        /// D_j in dB, positive if the target beacon is stronger.
        public let advantageDecibels: Double

        /// Throws for an advantage outside -300...300 dB.
        public init(_ group: AdvertiserGroup, advantageDecibels: Double) throws(AirtimeError) {
            try Quantity.check(advantageDecibels, in: -300...300, "a difference of levels (-300...300 dB)")
            self.group = group
            self.advantageDecibels = advantageDecibels
        }
    }

    /// The probability that the target packet survives, for two ideal receivers. The value of a real receiver is
    /// between these two values.
    public struct Band: Hashable, Sendable {
        /// The value of a receiver that stays with the first packet, even if a stronger packet follows. A real receiver
        /// stays with a packet only while it decodes this packet, so the value of a real receiver is slightly higher.
        public let stayingWithFirst: Double
        /// The value of a receiver that changes to a stronger packet at any time.
        public let fullCapture: Double
        /// The value of ``CollisionModel``, without capture.
        public let withoutCapture: Double
    }

    /// tau_0, the airtime of the target packet in µs; with extended PDUs, the airtime of the packet on one primary
    /// channel.
    public let airtimeMicroseconds: Double
    /// The auxiliary packets of the target beacon; nil for legacy PDUs.
    public let extended: ExtendedTraffic?
    public let interferers: [Interferers]
    /// θ, the signal-to-interference ratio from which a packet survives, in dB.
    public let thresholdDecibels: Double
    /// σ, the standard deviation of the shadowing, in dB.
    public let shadowingDecibels: Double
    /// The target beacon's mean level above the receiver's sensitivity, in dB; infinite to treat every interferer as
    /// strong enough to be received.
    public let marginDecibels: Double
    public let background: BackgroundLoad

    /// Throws for an airtime that is not a positive number, θ outside 0...40 dB, σ outside 0...20 dB, a margin that is
    /// NaN, and interferers that send so often that one of them could hit a packet twice.
    public init(
        airtimeMicroseconds: Double, extended: ExtendedTraffic? = nil, interferers: [Interferers],
        thresholdDecibels: Double = 12, shadowingDecibels: Double = 0, marginDecibels: Double = .infinity,
        background: BackgroundLoad = .none
    ) throws(AirtimeError) {
        guard airtimeMicroseconds > 0, airtimeMicroseconds.isFinite else { throw .airtime(airtimeMicroseconds) }
        try Quantity.check(thresholdDecibels, in: 0...40, "a capture threshold (0...40 dB)")
        try Quantity.check(shadowingDecibels, in: 0...20, "a shadowing (0...20 dB)")
        guard !marginDecibels.isNaN else {
            throw .quantity(name: "a margin over the sensitivity", value: marginDecibels)
        }
        for group in interferers.map(\.group) where group.count > 0 {
            let primary = airtimeMicroseconds + group.airtimeMicroseconds
            let extendedWindow =
                extended.flatMap { target in group.extended.map { target.spanMicroseconds(against: $0) } } ?? 0
            let longestWindow = max(primary, extendedWindow)
            guard group.intervalMicroseconds >= longestWindow else {
                throw .saturated(intervalMicroseconds: group.intervalMicroseconds, windowMicroseconds: longestWindow)
            }
        }
        self.airtimeMicroseconds = airtimeMicroseconds
        self.extended = extended
        self.interferers = interferers
        self.thresholdDecibels = thresholdDecibels
        self.shadowingDecibels = shadowingDecibels
        self.marginDecibels = marginDecibels
        self.background = background
    }

    /// The values of both ideal receivers, and the value without capture. The computing time is proportional to the
    /// number of interferers; with shadowing it is 321 times as long as without.
    public var band: Band {
        let nodes = shadowingDecibels > 0 ? NormalDistribution.nodes : [(z: 0, weight: 1)]
        let audibleProbabilities = interferers.map { probabilityBelow(marginDecibels - $0.advantageDecibels, at: 0) }
        let logBackground = background.logClearProbability(ofPrimary: airtimeMicroseconds, auxiliaries: extended)
        let windows = interferers.map { meanWindow(of: $0.group) }
        var staying = 0.0
        var full = 0.0
        for node in nodes {
            var stayingLog = logBackground
            var fullLog = logBackground
            for (index, interferer) in interferers.enumerated() {
                let group = interferer.group
                let destroyingProbability = probabilityBelow(
                    thresholdDecibels - interferer.advantageDecibels, at: node.z)
                // Every overlap with one interferer has the same levels. So either each overlap destroys the event, or
                // none does.
                let overlapProbability = windows[index] / group.meanPeriodMicroseconds
                let earlierProbability = group.airtimeMicroseconds / group.meanPeriodMicroseconds
                let count = Double(group.count)
                fullLog += count * log1p(-overlapProbability * destroyingProbability)
                // An earlier packet on the primary channel blocks the receiver if it is above the sensitivity, and
                // destroys the target packet if it is above the threshold. To do either, its level only has to be above
                // the lower of these two limits, so the larger of the two probabilities applies. An auxiliary packet
                // cannot be blocked: the receiver only begins to listen when the packet is due.
                stayingLog +=
                    count
                    * log1p(
                        -(earlierProbability * max(destroyingProbability, audibleProbabilities[index])
                            + (overlapProbability - earlierProbability) * destroyingProbability))
            }
            staying += node.weight * exp(stayingLog)
            full += node.weight * exp(fullLog)
        }
        var withoutLog = logBackground
        for group in interferers.map(\.group) {
            withoutLog += Double(group.count) * log1p(-meanWindow(of: group) / group.meanPeriodMicroseconds)
        }
        return Band(
            stayingWithFirst: min(1, staying), fullCapture: min(1, full), withoutCapture: exp(withoutLog))
    }

    /// Returns the mean length, in µs, of the window of start times at which an event of `group` overlaps with a packet
    /// that the reception of the target event needs.
    private func meanWindow(of group: AdvertiserGroup) -> Double {
        guard let extended, let groupExtended = group.extended else {
            return airtimeMicroseconds + group.airtimeMicroseconds
        }
        return extended.meanWindowMicroseconds(against: groupExtended)
    }

    /// θ in dB by the specification: the co-channel ratio from which every receiver must decode the wanted packet.
    public static let specifiedThresholdDecibels = 21.0
    /// θ in dB of common silicon, between 6 and 14.
    public static let commonThresholdDecibels = 12.0

    /// The probability that a packet survives the overlap with another one: Φ((D - θ)/(σ·√2)), because both links have
    /// their own shadowing; 0 or 1 without shadowing.
    ///
    /// - Parameter advantageDecibels: D, the mean level of the packet minus that of the other packet, in dB.
    ///
    /// Throws for an advantage outside -300...300 dB, a threshold outside 0...40 dB and a shadowing outside 0...20 dB.
    public static func survivalProbability(
        advantageDecibels: Double, thresholdDecibels: Double, shadowingDecibels: Double
    ) throws(AirtimeError) -> Double {
        try Quantity.check(advantageDecibels, in: -300...300, "a difference of levels (-300...300 dB)")
        try Quantity.check(thresholdDecibels, in: 0...40, "a capture threshold (0...40 dB)")
        try Quantity.check(shadowingDecibels, in: 0...20, "a shadowing (0...20 dB)")
        let margin = advantageDecibels - thresholdDecibels
        guard shadowingDecibels > 0 else { return margin >= 0 ? 1 : 0 }
        return NormalDistribution.cumulative(margin / shadowingDecibels / 2.0.squareRoot())
    }

    /// Returns Φ((limit - σ·z)/σ). Without shadowing, returns 1 for a limit above 0 and 0 otherwise, because the wanted
    /// packet survives if the ratio equals θ.
    private func probabilityBelow(_ limit: Double, at z: Double) -> Double {
        guard shadowingDecibels > 0 else { return limit > 0 ? 1 : 0 }
        return NormalDistribution.cumulative(limit / shadowingDecibels - z)
    }
}
