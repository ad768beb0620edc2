import Testing

@testable import Airtime

struct AirtimeErrorTests {
    @Test(arguments: [
        (AirtimeError.count(0), "0 beacons are not enough"),
        (.count(20_001), "20001 beacons are too many for this calculation"),
        (.airtime(0), "an airtime of 0.0 µs is not a positive number"),
        (.airtime(.infinity), "an airtime of inf µs is not a positive number"),
        (.airtime(5001), "an airtime of 5001.0 µs is too long for this calculation"),
    ])
    func valuesOnBothSidesOfARangeHaveTheirReason(_ error: AirtimeError, _ text: String) {
        #expect(error.description == text)
    }
}
