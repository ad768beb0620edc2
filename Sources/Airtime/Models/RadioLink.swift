/// From a beacon's transmitter to one receiver: how loud it arrives, and how far it is heard.
///
/// Symbols: P the radio power in dBm, antenna gains included; S the receiver's sensitivity in dBm; σ the standard
/// deviation of the log-normal shadowing in dB. The level at d meters is P - PL(d) + N(0, σ).
public struct RadioLink: Hashable, Sendable {
    /// P: what the transmitter emits. Never the measured power of a beacon's payload, which is a level at 1 m.
    public let radioPowerDBm: Double
    /// S: the level above which the receiver decodes.
    public let sensitivityDBm: Double
    public let pathLoss: PathLoss
    /// σ.
    public let shadowingDecibels: Double

    /// Refuses a radio power outside -127...40 dBm, a sensitivity outside -150...0 dBm, and a shadowing outside
    /// 0...20 dB.
    public init(
        radioPowerDBm: Double, sensitivityDBm: Double, pathLoss: PathLoss, shadowingDecibels: Double = 0
    ) throws(AirtimeError) {
        try Quantity.check(radioPowerDBm, in: -127...40, "a radio power (-127...40 dBm)")
        try Quantity.check(sensitivityDBm, in: -150...0, "a sensitivity (-150...0 dBm)")
        try Quantity.check(shadowingDecibels, in: 0...20, "a shadowing (0...20 dB)")
        self.radioPowerDBm = radioPowerDBm
        self.sensitivityDBm = sensitivityDBm
        self.pathLoss = pathLoss
        self.shadowingDecibels = shadowingDecibels
    }

    /// The mean level in dBm at `distance` meters, with `extra` dB of walls in between.
    public func meanLevelDBm(atMeters distance: Double, extraLossDecibels extra: Double = 0) throws(AirtimeError)
        -> Double
    {
        try Quantity.check(extra, in: 0...1_000_000, "a loss of walls (0 dB or more)")
        return radioPowerDBm - (try pathLoss.decibels(atMeters: distance)) - extra
    }

    /// P(level ≥ S) = Φ((P - PL(d) - S)/σ); 0 or 1 without shadowing.
    public func audibleProbability(
        atMeters distance: Double, extraLossDecibels extra: Double = 0
    ) throws(AirtimeError) -> Double {
        let margin = try meanLevelDBm(atMeters: distance, extraLossDecibels: extra) - sensitivityDBm
        guard shadowingDecibels > 0 else { return margin >= 0 ? 1 : 0 }
        return NormalDistribution.cumulative(margin / shadowingDecibels)
    }

    /// The detection range in meters: the farthest distance at which the beacon is above the sensitivity with
    /// `probability`, at the median level for 1/2. 0 when there is none; infinite where the path loss has an end (the
    /// thesis') and the link carries it.
    ///
    /// Refuses a probability outside 0.001...0.999 (with shadowing, no distance is sure).
    public func rangeMeters(probability: Double = 0.5) throws(AirtimeError) -> Double {
        guard probability >= 0.001, probability <= 0.999 else { throw .share(probability) }
        let reserve = shadowingDecibels * NormalDistribution.quantile(probability)
        return try pathLoss.meters(atDecibels: radioPowerDBm - sensitivityDBm - reserve)
    }
}
