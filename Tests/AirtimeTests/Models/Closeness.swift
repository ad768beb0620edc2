@testable import Airtime

/// Returns true if two numbers agree to within a share of the second.
func isWithin(_ share: Double, _ value: Double, of expected: Double) -> Bool {
    (value - expected).magnitude <= share * expected.magnitude
}

extension AdvertiserGroup {
    /// So many advertisers at 100 ms with 376 µs.
    static func of(_ count: Int) throws -> AdvertiserGroup {
        try AdvertiserGroup(count: count, intervalMicroseconds: 100_000, airtimeMicroseconds: 376)
    }
}
