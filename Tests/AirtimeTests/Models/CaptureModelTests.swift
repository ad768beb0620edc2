import Airtime
import BluetoothTypes
import Testing

@Suite struct CaptureModelTests {
    @Test("survival of one overlap matches the model for many interferers", arguments: [-5.0, 0, 12, 14.2, 30])
    func survivalOfOneOverlapMatchesTheFullModel(_ advantage: Double) throws {
        let group = try AdvertiserGroup(count: 1, intervalMicroseconds: 10_000_000, airtimeMicroseconds: 376)
        let model = try CaptureModel(
            airtimeMicroseconds: 376, interferers: [.init(group, advantageDecibels: advantage)], shadowingDecibels: 4)
        let survival = try CaptureModel.survivalProbability(
            advantageDecibels: advantage, thresholdDecibels: 12, shadowingDecibels: 4)
        let lost = 752 / group.meanPeriodMicroseconds * (1 - survival)
        #expect(abs(1 - model.band.fullCapture - lost) < 1e-9)
        #expect(
            try CaptureModel.survivalProbability(
                advantageDecibels: advantage, thresholdDecibels: 12, shadowingDecibels: 0) == (advantage >= 12 ? 1 : 0))
    }

    private static func interferers(_ count: Int, _ advantage: Double) throws -> CaptureModel.Interferers {
        try CaptureModel.Interferers(
            AdvertiserGroup(count: count, intervalMicroseconds: 100_000, airtimeMicroseconds: 376),
            advantageDecibels: advantage)
    }

    private static func band(
        _ interferers: [CaptureModel.Interferers], threshold: Double = 12, shadowing: Double = 0,
        margin: Double = .infinity
    ) throws -> CaptureModel.Band {
        try CaptureModel(
            airtimeMicroseconds: 376, interferers: interferers, thresholdDecibels: threshold,
            shadowingDecibels: shadowing, marginDecibels: margin
        ).band
    }

    @Test func fullCaptureIgnoresWeakInterferers() throws {
        let band = try Self.band([Self.interferers(100, 13), Self.interferers(20, 0)])
        #expect(isWithin(0.0005, band.fullCapture, of: 0.866))
        // A receiver that stays with the first packet also loses events to weak packets that began earlier.
        #expect(band.stayingWithFirst < band.fullCapture)
        #expect(band.withoutCapture < band.stayingWithFirst)
    }

    /// Averaging each factor before multiplying would give 0.375.
    @Test func shadowingOfTheWantedLinkIsCommonToAllInterferers() throws {
        let band = try Self.band([Self.interferers(249, 20.3)], threshold: 21, shadowing: 4)
        #expect(isWithin(0.001, band.fullCapture, of: 0.4276))
    }

    @Test func equalLevelsAllowNoCapture() throws {
        let model = try CollisionModel(beacons: 250, intervalMicroseconds: 100_000, airtimeMicroseconds: 376)
        let band = try Self.band([Self.interferers(249, 0)])
        for value in [band.fullCapture, band.stayingWithFirst, band.withoutCapture] {
            #expect(isWithin(1e-9, value, of: model.collisionFreeProbability))
        }
    }

    @Test func inaudibleInterferersDoNoHarm() throws {
        let band = try Self.band([Self.interferers(249, 60)], shadowing: 4, margin: 20)
        #expect(band.fullCapture > 0.999)
        #expect(band.stayingWithFirst > 0.999)
        let heard = try Self.band([Self.interferers(249, 60)], shadowing: 4)
        #expect(heard.fullCapture > 0.999)
        // With an infinite margin, even the weakest earlier packet blocks the receiver: half of the window counts.
        #expect(isWithin(0.001, heard.stayingWithFirst, of: 0.40934))
    }

    @Test func bandIsOrderedAndRisesWithTheAdvantage() throws {
        var random = SplitMix64(seed: 66)
        for _ in 0..<20 {
            let shadowing = Double(random.next(upTo: 80)) / 10
            let threshold = Double(60 + random.next(upTo: 150)) / 10
            let margin = Double(random.next(upTo: 40))
            let levels = (0..<4).map { _ in Double(random.next(upTo: 400)) / 10 - 10 }
            let band = try Self.band(
                levels.map { try Self.interferers(30, $0) }, threshold: threshold, shadowing: shadowing, margin: margin)
            #expect(band.withoutCapture <= band.stayingWithFirst + 1e-9)
            #expect(band.stayingWithFirst <= band.fullCapture + 1e-9)
            #expect(band.fullCapture <= 1)
            let louder = try Self.band(
                levels.map { try Self.interferers(30, $0 + 3) }, threshold: threshold, shadowing: shadowing,
                margin: margin + 3)
            #expect(louder.fullCapture >= band.fullCapture - 1e-9)
        }
    }

    /// Each round draws the shadowing of one event of the target beacon, and the neighbors' packets with theirs.
    @Test func agreesWithDrawnEvents() throws {
        var random = SplitMix64(seed: 67)
        func uniform() -> Double { Double(random.next(upTo: 1 << 24 - 1)) / Double(1 << 24) }
        // The sum of twelve uniform numbers is close enough to a normal distribution for the tolerance of 0.025.
        func normal() -> Double { (0..<12).reduce(-6) { sum, _ in sum + uniform() } }
        let levels = [0.0, 8, 16]
        let band = try Self.band(
            levels.map { try Self.interferers(30, $0) }, threshold: 12, shadowing: 5, margin: 14)
        var full = 0
        var staying = 0
        let rounds = 6000
        for _ in 0..<rounds {
            let own = 5 * normal()
            var isFull = true
            var isStaying = true
            for level in levels {
                for _ in 0..<30 {
                    // The start of the interferer's packet, relative to the start of the target packet.
                    let shift = uniform() * 105_000 - 376
                    guard shift < 376 else { continue }
                    let other = 5 * normal()
                    let loses = level + own - other < 12
                    let isHeard = 14 - level + other >= 0
                    if loses { isFull = false }
                    if loses || (shift < 0 && isHeard) { isStaying = false }
                }
            }
            if isFull { full += 1 }
            if isStaying { staying += 1 }
        }
        #expect(abs(Double(full) / Double(rounds) - band.fullCapture) < 0.025)
        #expect(abs(Double(staying) / Double(rounds) - band.stayingWithFirst) < 0.025)
    }

    @Test func whatNoModelCanAnswerIsRefused() throws {
        #expect(throws: AirtimeError.self) { try Self.interferers(1, .nan) }
        #expect(throws: AirtimeError.self) { try Self.band([], threshold: -1) }
        #expect(throws: AirtimeError.self) { try Self.band([], threshold: .nan) }
        #expect(throws: AirtimeError.self) { try Self.band([], shadowing: .infinity) }
        #expect(throws: AirtimeError.self) { try Self.band([], margin: .nan) }
        let alone = try Self.band([])
        #expect([alone.stayingWithFirst, alone.fullCapture, alone.withoutCapture] == [1, 1, 1])
    }
}
