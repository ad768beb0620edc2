@testable import Airtime

/// Returns true if `value` differs from `expected` by at most `share` of `expected`.
func isWithin(_ share: Double, _ value: Double, of expected: Double) -> Bool {
    (value - expected).magnitude <= share * expected.magnitude
}

extension AdvertiserGroup {
    /// Returns `count` advertisers with an interval of 100 ms and packets of 376 µs.
    static func of(_ count: Int) throws -> AdvertiserGroup {
        try AdvertiserGroup(count: count, intervalMicroseconds: 100_000, airtimeMicroseconds: 376)
    }
}
