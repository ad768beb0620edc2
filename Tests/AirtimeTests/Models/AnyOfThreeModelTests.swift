import Airtime
import BluetoothTypes
import Testing

@Suite struct AnyOfThreeModelTests {
    private static func fleet(_ count: Int, _ interval: Double = 100_000) throws -> AdvertiserGroup {
        try AdvertiserGroup(count: count, intervalMicroseconds: interval, airtimeMicroseconds: 376)
    }

    @Test func ownSpacingsRaiseTheProbabilityOfAClearCopy() throws {
        let spacing = try CopySpacing(lowMicroseconds: 450, highMicroseconds: 6000)
        let model = try AnyOfThreeModel(groups: [Self.fleet(100)], spacing: spacing)
        #expect(isWithin(0.0001, model.atLeastOneProbability, of: 0.8355))
    }

    @Test func splittingAGroupChangesNothing() throws {
        let spacing = try CopySpacing(lowMicroseconds: 450, highMicroseconds: 6000)
        let model = try AnyOfThreeModel(groups: [Self.fleet(50), Self.fleet(50)], spacing: spacing)
        #expect(isWithin(0.0001, model.atLeastOneProbability, of: 0.8355))
    }

    @Test func identicalSpacingsMakeThreeCopiesAsGoodAsOne() throws {
        let model = try AnyOfThreeModel(
            groups: [Self.fleet(100)], spacing: CopySpacing(identicalMicroseconds: 1000))
        #expect(isWithin(0.0001, model.atLeastOneProbability, of: 0.49087))
    }

    @Test func aLoneBeaconLosesCopiesOnlyToOtherDevices() throws {
        let spacing = try CopySpacing(lowMicroseconds: 450, highMicroseconds: 6000)
        #expect(try AnyOfThreeModel(groups: [Self.fleet(1)], spacing: spacing).atLeastOneProbability == 1)
        let background = try BackgroundLoad(share: 0.25)
        let model = try AnyOfThreeModel(groups: [Self.fleet(1)], spacing: spacing, background: background)
        let lost = 1 - 0.5625
        #expect(isWithin(1e-12, model.atLeastOneProbability, of: 1 - lost * lost * lost))
    }

    @Test func threeCopiesLieBetweenOneAndThreeIndependentCopies() throws {
        var random = SplitMix64(seed: 63)
        for _ in 0..<30 {
            let groups = try (0...random.next(upTo: 2)).map { _ in
                try CollisionModelTests.group(count: 1 + random.next(upTo: 100), &random)
            }
            let low = Double(400 + random.next(upTo: 2000))
            let spacing = try CopySpacing(
                lowMicroseconds: low, highMicroseconds: low + Double(random.next(upTo: 6000)))
            let three = try AnyOfThreeModel(groups: groups, spacing: spacing).atLeastOneProbability
            let one = try CollisionModel(groups: groups).collisionFreeProbability
            #expect(three >= one - 1e-9)
            #expect(three <= 1)
            #expect(1 - three >= (1 - one) * (1 - one) * (1 - one) - 1e-3)
        }
    }

    /// Returns the probability that at least one copy of a beacon's event is clear, by inclusion and exclusion over the
    /// channels.
    ///
    /// Packets last 376 µs, and the interval is 20 ms.
    ///
    /// - Parameters:
    ///   - copies: The starts in µs of the beacon's copies on channels 37, 38 and 39.
    ///   - others: The starts of the copies of each other beacon.
    private static func atLeastOne(_ copies: [Double], among others: [[Double]]) -> Double {
        var total = 0.0
        for set in 1..<8 {
            let channels = (0..<3).filter { set >> $0 & 1 == 1 }
            var clear = 1.0
            for other in others {
                // The length of the union of the windows in which the start of the other event destroys one of the
                // copies.
                var length = 0.0
                var reached = -Double.infinity
                for shift in channels.map({ copies[$0] - other[$0] }).sorted() {
                    length += shift + 376 - max(shift - 376, reached)
                    reached = shift + 376
                }
                clear *= 1 - length / 25_000
            }
            total += channels.count == 2 ? -clear : clear
        }
        return total
    }

    /// The mean over drawn spacings, computed with fixed offsets, must equal the value of the model's integral.
    @Test func fixedOffsetsAverageToTheModel() throws {
        var random = SplitMix64(seed: 64)
        let spacing = try CopySpacing(lowMicroseconds: 450, highMicroseconds: 6000)
        let model = try AnyOfThreeModel(groups: [Self.fleet(30, 20_000)], spacing: spacing)
        var sum = 0.0
        let rounds = 400
        for _ in 0..<rounds {
            let copies = (0..<30).map { _ -> [Double] in
                let own = 450 + 5550 * Double(random.next(upTo: 1 << 24 - 1)) / Double(1 << 24)
                return [0, own, 2 * own]
            }
            sum += Self.atLeastOne(copies[0], among: Array(copies.dropFirst()))
        }
        #expect(isWithin(0.01, sum / Double(rounds), of: model.atLeastOneProbability))
    }

    @Test func whatNoModelCanAnswerIsRefused() throws {
        for (low, high) in [(-1.0, 1.0), (0, .nan), (2, 1), (0, 10_001), (-.infinity, 1)] {
            #expect(throws: AirtimeError.self) { try CopySpacing(lowMicroseconds: low, highMicroseconds: high) }
        }
        let wide = try CopySpacing(lowMicroseconds: 400, highMicroseconds: 10_000)
        #expect(throws: AirtimeError.saturated(intervalMicroseconds: 19_000, windowMicroseconds: 19_952)) {
            try AnyOfThreeModel(groups: [Self.fleet(2, 19_000)], spacing: wide)
        }
        #expect(throws: AirtimeError.count(0)) { try AnyOfThreeModel(groups: [], spacing: wide) }
    }
}
