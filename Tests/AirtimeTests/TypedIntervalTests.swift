import Airtime
import BluetoothTypes
import Testing

/// What is asked with the controllers' own intervals is what is asked with microseconds.
@Suite struct TypedIntervalTests {
    /// 152.5 ms.
    private let interval = AdvertisingInterval(rawValue: 244)

    @Test func collisionsAreThoseOfTheMicroseconds() throws {
        let group = try AdvertiserGroup(count: 30, interval: interval, airtimeMicroseconds: 376)
        #expect(group.intervalMicroseconds == 152_500)
        #expect(
            try CollisionModel(beacons: 30, interval: interval, airtimeMicroseconds: 376)
                == CollisionModel(beacons: 30, intervalMicroseconds: 152_500, airtimeMicroseconds: 376))
        #expect(
            try CollisionModel.largestFleet(holding: 0.9, interval: interval, airtimeMicroseconds: 376)
                == CollisionModel.largestFleet(holding: 0.9, intervalMicroseconds: 152_500, airtimeMicroseconds: 376))
        #expect(
            try AdvertisingBoxes(count: 3, advertisements: [(interval: interval, airtimeMicroseconds: 376)])
                == AdvertisingBoxes(
                    count: 3, advertisements: [(intervalMicroseconds: 152_500, airtimeMicroseconds: 376)]))
        #expect(
            try BoxSurroundings(interval: interval, airtimeMicroseconds: 376)
                == BoxSurroundings(intervalMicroseconds: 152_500, airtimeMicroseconds: 376))
        #expect(
            AirAdvertiser(interval: interval, airtimeMicroseconds: 376)
                == AirAdvertiser(intervalMicroseconds: 152_500, airtimeMicroseconds: 376))
    }

    @Test func scannersAreThoseOfTheMicroseconds() throws {
        let window = ScanInterval(rawValue: 48)
        let cycle = ScanInterval(rawValue: 480)
        let pattern = try ScanPattern(window: window, interval: cycle)
        #expect(try pattern == ScanPattern(windowMicroseconds: 30_000, intervalMicroseconds: 300_000))
        #expect(try ScannerPreset(window: window, interval: cycle).name == "30/300 ms")
        #expect(throws: AirtimeError.self) { try ScanPattern(window: cycle, interval: window) }
        #expect(throws: AirtimeError.self) { try ScanPattern(window: window, interval: cycle, channelCount: 2) }
        #expect(
            try Resonance.slowest(interval: interval, pattern: pattern, airtimeMicroseconds: 376)
                == Resonance.slowest(intervalMicroseconds: 152_500, pattern: pattern, airtimeMicroseconds: 376))
        let range = interval...AdvertisingInterval(rawValue: 320)
        #expect(
            try Resonance.bands(within: range, pattern: pattern, airtimeMicroseconds: 376)
                == Resonance.bands(within: 152_500...200_000, pattern: pattern, airtimeMicroseconds: 376))
    }
}
