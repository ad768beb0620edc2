import Airtime
import BluetoothTypes
import Testing

@Suite struct SimultaneousStartTests {
    private static func start(_ beacons: Int, _ interval: Double = 1_000_000) throws -> SimultaneousStart {
        try SimultaneousStart(beacons: beacons, intervalMicroseconds: interval, airtimeMicroseconds: 376)
    }

    @Test(arguments: [(2, 0.0056), (10, 0.0441), (100, 0.215)])
    func beaconsPoweredOnTogetherDriftApartSlowly(event: Int, expected: Double) throws {
        let value = try Self.start(250).collisionFreeProbability(ofEvent: event)
        // The reference has as many digits as are printed there.
        #expect(isWithin(0.01, value, of: expected))
    }

    @Test func theProbabilityRisesToTheStationaryOne() throws {
        let start = try Self.start(250, 100_000)
        let model = try CollisionModel(beacons: 250, intervalMicroseconds: 100_000, airtimeMicroseconds: 376)
        var last = -1.0
        for event in [0, 1, 2, 3, 5, 8, 12, 15, 16, 17, 18, 25, 50, 100, 200] {
            let value = try start.collisionFreeProbability(ofEvent: event)
            #expect(value >= last)
            last = value
        }
        for event in [2000, 5000, 6000, 1 << 40, Int.max] {
            let value = try start.collisionFreeProbability(ofEvent: event)
            #expect(isWithin(1e-3, value, of: model.collisionFreeProbability))
        }
    }

    /// Seeded draws of the same experiment, with sums of uniform delays and nothing of the model.
    @Test(arguments: [(40, 3, 100_000.0), (40, 20, 20_000), (15, 60, 20_000)])
    func drawsAgree(beacons: Int, event: Int, interval: Double) throws {
        var random = SplitMix64(seed: 65)
        var clear = 0
        let rounds = 4000
        for _ in 0..<rounds {
            var asked = 0.0
            var isClear = true
            for beacon in 0..<beacons {
                var time = 0.0
                for count in 0...(event + 12) {
                    if beacon == 0 && count == event { asked = time }
                    if beacon > 0 && abs(time - asked) < 376 { isClear = false }
                    if beacon == 0 && count == event { break }
                    time += interval + 10_000 * Double(random.next(upTo: 1 << 24 - 1)) / Double(1 << 24)
                }
            }
            if isClear { clear += 1 }
        }
        let model = try Self.start(beacons, interval).collisionFreeProbability(ofEvent: event)
        let error = (model * (1 - model) / Double(rounds)).squareRoot()
        #expect(abs(Double(clear) / Double(rounds) - model) < 4 * error)
    }

    @Test func aLoneBeaconMeetsNobody() throws {
        #expect(try Self.start(1).collisionFreeProbability(ofEvent: 0) == 1)
        #expect(try Self.start(2).collisionFreeProbability(ofEvent: 0) == 0)
        #expect(throws: AirtimeError.self) { try Self.start(2).collisionFreeProbability(ofEvent: -1) }
        #expect(throws: AirtimeError.count(0)) { try Self.start(0) }
    }
}
