import Airtime
import BluetoothTypes
import Testing

@Suite struct AnyOfThreeModelTests {
    private static func fleet(_ count: Int, _ interval: Double = 100_000) throws -> AdvertiserGroup {
        try AdvertiserGroup(count: count, intervalMicroseconds: interval, airtimeMicroseconds: 376)
    }

    @Test func ownSpacingsMakeThreeCopiesWorthMore() throws {
        let spacing = try CopySpacing(lowMicroseconds: 450, highMicroseconds: 6000)
        let model = try AnyOfThreeModel(groups: [Self.fleet(100)], spacing: spacing)
        #expect(isWithin(0.0001, model.atLeastOneProbability, of: 0.8355))
    }

    @Test func splittingAGroupChangesNothing() throws {
        let spacing = try CopySpacing(lowMicroseconds: 450, highMicroseconds: 6000)
        let model = try AnyOfThreeModel(groups: [Self.fleet(50), Self.fleet(50)], spacing: spacing)
        #expect(isWithin(0.0001, model.atLeastOneProbability, of: 0.8355))
    }

    @Test func identicalFirmwareMakesThreeCopiesWorthOne() throws {
        let model = try AnyOfThreeModel(
            groups: [Self.fleet(100)], spacing: CopySpacing(identicalMicroseconds: 1000))
        #expect(isWithin(0.0001, model.atLeastOneProbability, of: 0.49087))
    }

    @Test func aLoneBeaconIsAlwaysHeard() throws {
        let spacing = try CopySpacing(lowMicroseconds: 450, highMicroseconds: 6000)
        #expect(try AnyOfThreeModel(groups: [Self.fleet(1)], spacing: spacing).atLeastOneProbability == 1)
        let background = try BackgroundLoad(share: 0.25)
        let model = try AnyOfThreeModel(groups: [Self.fleet(1)], spacing: spacing, background: background)
        let lost = 1 - 0.5625
        #expect(isWithin(1e-12, model.atLeastOneProbability, of: 1 - lost * lost * lost))
    }

    @Test func threeCopiesAreWorthBetweenOneAndThreeIndependentOnes() throws {
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

    /// Drawing each device's spacing and asking for the fixed offsets must come to the integral's value.
    @Test func fixedOffsetsAverageToTheModel() throws {
        var random = SplitMix64(seed: 64)
        let spacing = try CopySpacing(lowMicroseconds: 450, highMicroseconds: 6000)
        let model = try AnyOfThreeModel(groups: [Self.fleet(30, 20_000)], spacing: spacing)
        let single = try Self.fleet(1, 20_000)
        var sum = 0.0
        let rounds = 400
        for _ in 0..<rounds {
            let offsets = try (0..<30).map { _ in
                let own = 450 + 5550 * Double(random.next(upTo: 1 << 24 - 1)) / Double(1 << 24)
                return try CopyOffsets(0, own, 2 * own)
            }
            let others = offsets.dropFirst().map { CopyOffsets.Interferers(single, offsets: $0) }
            sum += try offsets[0].atLeastOneProbability(airtimeMicroseconds: 376, among: others)
        }
        #expect(isWithin(0.01, sum / Double(rounds), of: model.atLeastOneProbability))
    }

    @Test func offsetsFarApartAreIndependentOnlyIfTheirWindowsAre() throws {
        let asked = try CopyOffsets(0, 1000, 2000)
        let other = try CopyOffsets.Interferers(Self.fleet(1), offsets: CopyOffsets(0, 3000, 6000))
        let hit = 752 / 105_000.0
        let three = try asked.atLeastOneProbability(airtimeMicroseconds: 376, among: [other])
        // One interferer never takes all three: the windows are apart.
        #expect(isWithin(1e-12, three, of: 1))
        let same = try CopyOffsets.Interferers(Self.fleet(1), offsets: asked)
        #expect(
            try isWithin(1e-12, asked.atLeastOneProbability(airtimeMicroseconds: 376, among: [same]), of: 1 - hit))
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
        #expect(throws: AirtimeError.self) { try CopyOffsets(0, .nan, 1) }
        #expect(throws: AirtimeError.self) {
            try CopyOffsets(0, 1, 2).atLeastOneProbability(airtimeMicroseconds: .nan, among: [])
        }
    }
}
