/// The estimate, in a widely read thesis, of how often N beacons may advertise, and the errors of this estimate.
///
/// The thesis assigns each packet a slot q = 526 µs (376 µs airtime and 150 µs T_IFS). It assumes that the i-th packet
/// of a second arrives with probability 1 - q·i. If `a` packets are sent in a second, S(a) = Σ_{i<a} (1 - q·i) of them
/// arrive. S is largest at a = 1902, where it is 951.07; the thesis divides both numbers by N. Section 7.2.6 of the
/// thesis prints the results: with 250 beacons, each should send 7.6 advertisements a second, of which 3.8 arrive; with
/// 130 beacons, 14.6 and 7.3.
public struct ThesisFormula: Hashable, Sendable {
    /// N, the number of beacons in range, at least 1.
    public let beacons: Int

    /// q in µs.
    public static let slotMicroseconds = 526.0
    /// The `a` with the largest S(a), in packets a second: the largest `a` for which all terms 1 - q·i of S(a) are
    /// positive.
    public static let bestOfferedPerSecond = 1902.0

    /// Throws for fewer than one beacon.
    public init(beacons: Int) throws(AirtimeError) {
        guard beacons > 0 else { throw .count(beacons) }
        self.beacons = beacons
    }

    /// Returns S(a) in packets a second. Here `a` is the number of packets that all beacons together send in a second
    /// on one channel. Above ``bestOfferedPerSecond``, S(a) falls and finally becomes negative. This is an error of the
    /// formula.
    public static func arrivingPerSecond(ofOffered offered: Double) -> Double {
        offered - slotMicroseconds / 1_000_000 * offered * (offered - 1) / 2
    }

    /// The advertisements per second that each beacon should send according to the thesis.
    public var offeredPerSecondPerBeacon: Double { Self.bestOfferedPerSecond / Double(beacons) }

    /// The advertisements per second of each beacon that arrive according to the thesis.
    public var arrivingPerSecondPerBeacon: Double {
        Self.arrivingPerSecond(ofOffered: Self.bestOfferedPerSecond) / Double(beacons)
    }

    /// The exact values at the thesis's rate, with the longest legacy packet.
    public struct Truth: Hashable, Sendable {
        /// The share of packets that are clear at the rate of ``ThesisFormula/offeredPerSecondPerBeacon``.
        public let collisionFreeProbability: Double
        /// The advertisements per second of each beacon that arrive at the rate of
        /// ``ThesisFormula/offeredPerSecondPerBeacon``.
        public let arrivingPerSecondPerBeacon: Double
        /// The advertisements per second that each beacon should send so that as many packets as possible arrive:
        /// 1/(2·tau·N).
        public let bestOfferedPerSecondPerBeacon: Double
        /// The advertisements per second of each beacon that arrive at the rate ``bestOfferedPerSecondPerBeacon``.
        public let bestArrivingPerSecondPerBeacon: Double
    }

    /// The exact values for an airtime of 376 µs. `nil` for fewer than 48 beacons, because the thesis' rate is then
    /// above the 40 advertisements a second that a controller can send (at an interval of 20 ms).
    public var truth: Truth? {
        let airtime = 376.0
        let period = 1_000_000 / offeredPerSecondPerBeacon
        guard let best = try? BestInterval(beacons: beacons, airtimeMicroseconds: airtime),
            let atThesis = try? Self.model(beacons, period, airtime),
            let atBest = try? Self.model(beacons, best.throughputMeanPeriodMicroseconds, airtime)
        else { return nil }
        return Truth(
            collisionFreeProbability: atThesis.collisionFreeProbability,
            arrivingPerSecondPerBeacon: atThesis.arrivalsPerSecondPerBeacon,
            bestOfferedPerSecondPerBeacon: 1_000_000 / best.throughputMeanPeriodMicroseconds,
            bestArrivingPerSecondPerBeacon: atBest.arrivalsPerSecondPerBeacon)
    }

    private static func model(
        _ beacons: Int, _ period: Double, _ airtime: Double
    ) throws(AirtimeError) -> CollisionModel {
        let interval = period - AdvertisingDelay.meanMicroseconds
        guard interval >= 20_000 else { throw .interval(interval) }
        return try CollisionModel(beacons: beacons, intervalMicroseconds: interval, airtimeMicroseconds: airtime)
    }
}

extension ThesisFormula {
    /// The errors of the formula, each as a sentence.
    public static let faults: [String] = [
        "It counts only the later packet of a colliding pair as lost; both are lost.",
        "It adds the probabilities of collisions; independent probabilities of survival must be multiplied, and then "
            + "the share never falls below zero.",
        "It assumes 526 µs as the vulnerable time, which includes 150 µs of silence; a packet is destroyed by every "
            + "packet that starts within one airtime before or after its own start, 752 µs in all.",
        "It assumes three times the rate for three channels; but a scanner with one radio listens on one channel at a time, "
            + "and equal firmware sends its three copies at the same spacing, so they collide together.",
    ]
}
