internal import Glibc

/// Formulas for advertising collisions that many people quote, and that are wrong. Here so that a program can show how
/// far they are off; nothing builds on them. ``CollisionModel`` has the exact value.
public enum QuotedFormulas {
    /// (1 - 2·tau/(3·T))^(N-1): the share of clear packets if each event used one of the three channels.
    ///
    /// Wrong: every event sends on all three channels, so nothing is divided by three; and the random advDelay is
    /// forgotten (T in place of E). For 500 beacons, 40 ms and 300 µs it gives 0.082, where 0.00123 is exact.
    public static func dividedByThreeChannels(
        beacons: Int, intervalMicroseconds: Double, airtimeMicroseconds: Double
    ) throws(AirtimeError) -> Double {
        let group = try group(beacons, intervalMicroseconds, airtimeMicroseconds)
        let hit = 2 * group.airtimeMicroseconds / (3 * group.intervalMicroseconds)
        return exp(Double(group.count - 1) * log1p(-hit))
    }

    /// exp(-N·tau/T): Poisson arrivals with one airtime as the vulnerable window.
    ///
    /// Wrong: a packet dies of those that start up to one airtime before it as well as of those that start while it is
    /// sent, so the window is two airtimes; the asked beacon does not collide with itself; E belongs where T stands.
    /// For 100 beacons, 500 ms and 376 µs it finds 7.2 % lost, where 13.7 % is exact.
    public static func oneWindowPoisson(
        beacons: Int, intervalMicroseconds: Double, airtimeMicroseconds: Double
    ) throws(AirtimeError) -> Double {
        let group = try group(beacons, intervalMicroseconds, airtimeMicroseconds)
        return exp(-Double(group.count) * group.airtimeMicroseconds / group.intervalMicroseconds)
    }

    private static func group(
        _ beacons: Int, _ interval: Double, _ airtime: Double
    ) throws(AirtimeError) -> AdvertiserGroup {
        guard beacons > 0 else { throw .count(beacons) }
        return try AdvertiserGroup(
            count: beacons, intervalMicroseconds: interval, airtimeMicroseconds: airtime)
    }
}
