import BluetoothTypes
import Testing

@testable import Airtime

/// The window of shifts at which one event destroys another event, and the autocorrelation of the window.
@Suite struct CollisionWindowTests {
    @Test func windowOfTwoLegacyPacketsIsTheSumOfTheirAirtimes() {
        let window = CollisionWindow(packetOf: 376, against: 376)
        #expect(window.microseconds == 752)
        #expect(abs(window.meanSquare - 376.0 * 376 / 3) < 1e-9)
        // The autocorrelation is a triangle with a half width of 752 µs.
        #expect(window.autocorrelationBends.map(\.time) == [-752, 0, 752])
        #expect(window.autocorrelationBends.map(\.slopeChange) == [1, -2, 1])
        #expect(CollisionWindow(packetOf: 300, against: 200).microseconds == 500)
    }

    /// The probability of a collision is 1 for shifts within ±136 µs, and 1/37 for larger shifts up to ±408 µs.
    @Test func windowOfTwoExtendedEventsIncludesAuxiliaryPackets() throws {
        let traffic = try ExtendedTraffic(.le1M, payloadOctets: 31)
        let window = CollisionWindow(eventOf: traffic, against: traffic)
        #expect(abs(window.microseconds - (272 + 544.0 / 37)) < 1e-9)
        let (near, far): (Double, Double) = (136 * 136 * 136, 408 * 408 * 408)
        let inner = 2 * near / 3
        let outer = 2 * (far - near) / 3 / 37
        #expect(abs(window.meanSquare - (inner + outer) / window.microseconds) < 1e-6)
    }

    /// The autocorrelation is 0 outside an interval, so the sum and the first moment of its bends are 0. Their second
    /// moment is twice the integral of the autocorrelation, which is the square of the window's integral.
    @Test(arguments: [(ExtendedPHY.le1M, 31), (.le2M, 1000), (.codedS2, 600), (.coded, 1650)])
    func moments(_ phy: ExtendedPHY, _ octets: Int) throws {
        let traffic = try ExtendedTraffic(phy, payloadOctets: octets)
        let window = CollisionWindow(eventOf: traffic, against: traffic)
        let bends = window.autocorrelationBends
        func moment(_ power: Int) -> Double {
            bends.reduce(0) { sum, bend in
                sum + bend.slopeChange * (0..<power).reduce(1) { value, _ in value * bend.time }
            }
        }
        #expect(abs(moment(0)) < 1e-9)
        #expect(abs(moment(1)) < 1e-4)
        #expect(abs(moment(2) - 2 * window.microseconds * window.microseconds) < 1e-6 * moment(2))
    }
}
