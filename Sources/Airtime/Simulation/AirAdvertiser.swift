/// One beacon in an ``AirSimulation``. What does not fit is refused by the simulation.
public struct AirAdvertiser: Hashable, Sendable {
    /// When the first advertising event begins.
    public enum Start: Hashable, Sendable {
        /// Long ago: a batch begins at a random instant of its period.
        case longAgo
        /// So many µs after the batch's beginning: `.at(0)` for all is a fleet that is powered on together.
        case at(microseconds: Double)
    }

    public var position = FloorPosition(x: 0, y: 0)
    /// T, by the advertiser's own clock.
    public var intervalMicroseconds: Double
    /// tau of each copy.
    public var airtimeMicroseconds: Double
    /// How long after the copy on channel 37 those on 38 and 39 start. Each copy ends before the next starts.
    public var secondCopyMicroseconds = 1000.0
    public var thirdCopyMicroseconds = 2000.0
    /// How much longer a second of this clock is, in millionths.
    public var clockDriftPPM = 0.0
    public var radioPowerDBm = 0.0
    public var start = Start.longAgo
    /// Which box it is one of several advertisements of: they share a radio, and never meet each other. `nil` for a box of
    /// its own.
    public var box: Int?
    /// Whether it is counted; otherwise it only fills the air.
    public var isCounted = true

    public init(intervalMicroseconds: Double, airtimeMicroseconds: Double) {
        self.intervalMicroseconds = intervalMicroseconds
        self.airtimeMicroseconds = airtimeMicroseconds
    }

    /// A fleet of equal advertisers in one place.
    public static func fleet(_ group: AdvertiserGroup) -> [AirAdvertiser] {
        let one = AirAdvertiser(
            intervalMicroseconds: group.intervalMicroseconds, airtimeMicroseconds: group.airtimeMicroseconds)
        return Array(repeating: one, count: min(group.count, AirSimulation.maximumAdvertisers + 1))
    }

    /// E, with the clock's drift.
    var meanPeriod: Double { (intervalMicroseconds + AdvertisingDelay.maximumMicroseconds / 2) * clock }
    var clock: Double { 1 + clockDriftPPM * 1e-6 }

    func check() throws(AirtimeError) {
        guard airtimeMicroseconds > 0, airtimeMicroseconds <= 100_000 else { throw .airtime(airtimeMicroseconds) }
        try AirLimit.check(
            secondCopyMicroseconds - airtimeMicroseconds, 0...1e6, "the pause before the second copy in µs")
        try AirLimit.check(
            thirdCopyMicroseconds - secondCopyMicroseconds - airtimeMicroseconds, 0...1e6,
            "the pause before the third copy in µs")
        guard intervalMicroseconds > thirdCopyMicroseconds + airtimeMicroseconds, intervalMicroseconds <= 1e12 else {
            throw .interval(intervalMicroseconds)
        }
        try AirLimit.check(clockDriftPPM, -10_000...10_000, "a clock drift in ppm")
        try AirLimit.check(radioPowerDBm, -200...200, "a radio power in dBm")
        guard position.isFinite else { throw .quantity(name: "a position", value: position.x + position.y) }
        if case .at(let time) = start { try AirLimit.check(time, 0...AirSimulation.maximumDuration, "a start in µs") }
    }
}

/// Refuses quantities out of range, NaN included.
enum AirLimit {
    static func check(_ value: Double, _ range: ClosedRange<Double>, _ name: String) throws(AirtimeError) {
        guard range.contains(value) else { throw .quantity(name: name, value: value) }
    }
}
