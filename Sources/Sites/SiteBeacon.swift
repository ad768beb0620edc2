public import Airtime

/// A beacon at a place: how often, how long and how loud.
public struct SiteBeacon: Hashable, Sendable {
    public let name: String
    public let position: FloorPosition
    /// T in µs.
    public let intervalMicroseconds: Double
    /// tau in µs.
    public let airtimeMicroseconds: Double
    /// What its antenna radiates, in dBm.
    public let radioPower: Double
    /// What it sends beside the advertisement that it is detected by, each of count 1: they fill the air, but never hit
    /// its own packets.
    public let companions: [AdvertiserGroup]

    /// Refuses what `AdvertiserGroup` refuses, places that are no numbers, and a radio power outside -127...20 dBm.
    public init(
        name: String, position: FloorPosition, intervalMicroseconds: Double, airtimeMicroseconds: Double,
        radioPower: Double, companions: [AdvertiserGroup] = []
    ) throws(AirtimeError) {
        _ = try AdvertiserGroup(
            count: 1, intervalMicroseconds: intervalMicroseconds, airtimeMicroseconds: airtimeMicroseconds)
        guard position.x.isFinite, position.y.isFinite else {
            throw .quantity(name: "a position", value: position.x.isFinite ? position.y : position.x)
        }
        guard radioPower >= -127, radioPower <= 20 else {
            throw .quantity(name: "a radio power in dBm (-127...20)", value: radioPower)
        }
        self.name = name
        self.position = position
        self.intervalMicroseconds = intervalMicroseconds
        self.airtimeMicroseconds = airtimeMicroseconds
        self.radioPower = radioPower
        self.companions = companions
    }

    /// E in µs.
    var meanPeriodMicroseconds: Double { intervalMicroseconds + AdvertisingDelay.meanMicroseconds }
}

/// How radio waves reach a receiver on this floor, and what it can still hear.
public struct SiteRadio: Hashable, Sendable {
    /// The mean loss over a distance, without walls.
    public let pathLoss: PathLoss
    /// σ of the shadowing on each link, in dB.
    public let shadowing: Double
    /// The weakest power that is received, in dBm.
    public let sensitivity: Double

    /// Refuses a shadowing outside 0...20 dB and a sensitivity outside -130...0 dBm.
    public init(
        pathLoss: PathLoss, shadowing: Double, sensitivity: Double
    ) throws(AirtimeError) {
        guard shadowing >= 0, shadowing <= 20 else {
            throw .quantity(name: "a shadowing in dB (0...20)", value: shadowing)
        }
        guard sensitivity >= -130, sensitivity <= 0 else {
            throw .quantity(name: "a sensitivity in dBm (-130...0)", value: sensitivity)
        }
        self.shadowing = shadowing
        self.sensitivity = sensitivity
        self.pathLoss = pathLoss
    }

    /// The mean loss in dB over a distance in m; no distance on a floor is too long for a formula.
    func meanLoss(_ distance: Double) -> Double { (try? pathLoss.decibels(atMeters: distance)) ?? .infinity }

    /// The distance in m, at most `limit`, at which a transmitter is still heard when shadowing helps by so many standard
    /// deviations: by 4, and beyond it is heard with a probability below 1 in 30,000.
    func reach(radioPower: Double, limit: Double, deviations: Double = 4) -> Double {
        let lost = radioPower - sensitivity + deviations * shadowing
        guard meanLoss(limit) > lost else { return limit }
        var (near, far) = (0.0, limit)
        for _ in 0..<40 {
            let middle = (near + far) / 2
            if meanLoss(middle) > lost { far = middle } else { near = middle }
        }
        return far
    }
}
