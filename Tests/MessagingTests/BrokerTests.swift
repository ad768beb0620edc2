import Testing

@testable import Messaging

@Suite struct BrokerBackoffTests {
    @Test func waitsLongerEachTimeUpToOneMinute() {
        var backoff = BrokerBackoff()
        var generator = SystemRandomNumberGenerator()
        for planned in [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000] {
            let wait = backoff.wait(after: nil, using: &generator)
            #expect((planned * 4 / 5...planned * 6 / 5).contains(wait), "\(wait) ms instead of about \(planned) ms")
        }
    }
}
