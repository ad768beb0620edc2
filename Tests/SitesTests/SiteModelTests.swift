import Airtime
import BluetoothTypes
import Testing

@testable import Sites

@Suite struct SiteModelTests {
    /// Free space with a little shadowing: 40 dB at 1 m, n = 2.
    static func radio(shadowing: Double = 4, sensitivity: Double = -80) throws -> SiteRadio {
        try SiteRadio(
            pathLoss: try .logDistance(lossAtOneMeterDecibels: 40, exponent: 2), shadowing: shadowing,
            sensitivity: sensitivity)
    }

    static func beacon(_ x: Double, _ y: Double, interval: Double = 100_000) throws -> SiteBeacon {
        try SiteBeacon(
            name: "\(x),\(y)", position: FloorPosition(x: x, y: y), intervalMicroseconds: interval,
            airtimeMicroseconds: 376, radioPower: 0)
    }

    @Test func crowdAtOnePlaceMatchesTheExactCollisionModel() throws {
        let beacons = try (0..<250).map { try Self.beacon(Double($0 % 16) / 10, Double($0 / 16) / 10) }
        let reception = SiteModel(beacons: beacons, walls: [], radio: try Self.radio())
            .reception(at: FloorPosition(x: 1, y: 1))
        #expect(abs(reception.receivedBeacons - 250) < 1e-6)
        #expect(abs(reception.collisionFreeProbability - 0.16701) < 1e-5)
    }

    @Test func extendedAdvertisementsAlsoCollideOnTheSecondaryChannels() throws {
        let extended = try ExtendedTraffic(.codedS8, payloadOctets: 100)
        let beacons = try (0..<40).map { index in
            try SiteBeacon(
                name: "\(index)", position: FloorPosition(x: Double(index) / 10, y: 0), intervalMicroseconds: 500_000,
                airtimeMicroseconds: Double(extended.event.primaryMicroseconds), radioPower: 0, extended: extended)
        }
        #expect(beacons[0].payloadOctets == 100)
        let model = SiteModel(beacons: beacons, walls: [], radio: try Self.radio(shadowing: 0))
        let clear = model.reception(at: FloorPosition(x: 1, y: 1)).collisionFreeProbability
        let machines = try AdvertisingMachines(count: 40, advertisements: [beacons[0].group])
        let expected = try MachineCollisionModel(machines: [machines]).collisionFreeProbability
        #expect(abs(clear - expected) < 1e-9)
        #expect(clear < pow(1 - 2 * 1168 / 505_000, 39) - 0.01)
        var times = DetectionTimes(scanners: ScannerMix(.continuous), background: .none, horizonSeconds: 60)
        let seconds = try times.time(beacons[0], clear: clear, share: 0.9)
        let latency = try LatencyModel(group: try beacons[0].group.counting(40), preset: .continuous)
        let percentile = try latency.distribution(untilSeconds: 60).percentile(0.9)
        let (time, expectedTime) = (try #require(seconds), try #require(percentile))
        #expect(abs(time - expectedTime) < 0.01 * expectedTime)
    }

    @Test func halfIsReceivedIfTheMeanEqualsTheSensitivity() throws {
        // At 100 m the loss is 40 dB more than at 1 m.
        let model = SiteModel(beacons: [try Self.beacon(0, 0)], walls: [], radio: try Self.radio())
        let reception = model.reception(at: FloorPosition(x: 100, y: 0))
        #expect(abs(reception.receivedBeacons - 0.5) < 1e-9)
        #expect(abs((reception.best?.power ?? 0) + 80) < 1e-9)
    }

    @Test func wallsReduceTheLevel() throws {
        let wall = Wall(from: FloorPosition(x: 5, y: -5), to: FloorPosition(x: 5, y: 5), attenuation: 12)
        let model = SiteModel(beacons: [try Self.beacon(0, 0)], walls: [wall], radio: try Self.radio())
        #expect(abs((model.reception(at: FloorPosition(x: 10, y: 0)).best?.power ?? 0) + 72) < 1e-9)
        #expect(abs((model.reception(at: FloorPosition(x: 0, y: 10)).best?.power ?? 0) + 60) < 1e-9)
    }

    @Test func gridFindsTheSameBeaconsAsAFullSearch() throws {
        var random = SplitMix64(seed: 3)
        let beacons = try (0..<400).map { _ in
            try Self.beacon(Double(random.next(upTo: 5000)) / 10, Double(random.next(upTo: 5000)) / 10)
        }
        let radio = try Self.radio()
        let model = SiteModel(beacons: beacons, walls: [], radio: radio)
        for _ in 0..<50 {
            let place = FloorPosition(x: Double(random.next(upTo: 6000)) / 10, y: Double(random.next(upTo: 6000)) / 10)
            let heard = beacons.indices.reduce(0.0) { $0 + model.link($1, at: place).audible }
            #expect(abs(model.reception(at: place).receivedBeacons - heard) < 0.02)
        }
    }

    @Test func receivesNothingWithoutBeacons() throws {
        let reception = SiteModel(beacons: [], walls: [], radio: try Self.radio()).reception(
            at: FloorPosition(x: 0, y: 0))
        #expect(reception.best == nil && reception.receivedBeacons == 0)
    }

    @Test func surveyGivesTheLatencyOfTheFleetAtThePlace() throws {
        let beacons = try (0..<100).map { try Self.beacon(Double($0) / 100, 0) }
        let model = SiteModel(beacons: beacons, walls: [], radio: try Self.radio(shadowing: 0))
        let scanner = try #require(ScannerPreset(named: "android-low-latency"))
        var survey = SiteCoverage(
            model: model, scanners: ScannerMix(scanner), target: try .init(seconds: 2, probability: 0.9))
        let point = try survey.point(at: FloorPosition(x: 0, y: 1))
        let seconds = try #require(point.detectionSeconds)
        // A simulation gives 390.4 ms.
        #expect(abs(seconds - 0.3904) < 0.02, "\(seconds)")
        #expect(point.detectedShare > 0.999)
    }

    @Test func targetIsMissedIfTheBestBeaconIsTooWeak() throws {
        let model = SiteModel(beacons: [try Self.beacon(0, 0)], walls: [], radio: try Self.radio())
        let scanner = try #require(ScannerPreset(named: "continuous"))
        var survey = SiteCoverage(
            model: model, scanners: ScannerMix(scanner), target: try .init(seconds: 2, probability: 0.9))
        let point = try survey.point(at: FloorPosition(x: 100, y: 0))
        #expect(point.detectionSeconds == nil)
        #expect(abs(point.detectedShare - 0.5) < 1e-6)
    }

    @Test func walkSeesTheBeaconsThatItPasses() throws {
        let beacons = try [0.0, 100, 200].map { try Self.beacon($0, 3) }
        let model = SiteModel(beacons: beacons, walls: [], radio: try Self.radio(shadowing: 0, sensitivity: -60))
        let scanner = try #require(ScannerPreset(named: "continuous"))
        var survey = SiteCoverage(
            model: model, scanners: ScannerMix(scanner), target: try .init(seconds: 2, probability: 0.9))
        let walk = try SiteWalk(corners: [FloorPosition(x: -20, y: 0), FloorPosition(x: 220, y: 0)], speed: 1.5)
        let result = try walk.result(in: &survey)
        #expect(abs(result.duration - 160) < 1e-9)
        #expect(abs(result.seen - 3) < 0.01)
        // Each beacon is received within 10 m, which is 2·√(100 - 9) = 19.08 m of the path.
        #expect(abs(result.longestGap - (100 - 19.08)) < 1)
    }

    @Test("each visitor keeps one scanner of the mix at each place and along a whole path")
    func eachVisitorHasOneScannerOfTheMix() throws {
        let beacons = try [0.0, 30, 60].map { try Self.beacon($0, 3, interval: 1_000_000) }
        let model = SiteModel(beacons: beacons, walls: [], radio: try Self.radio(shadowing: 2, sensitivity: -70))
        let mix = try ScannerMix([
            (try #require(ScannerPreset(named: "android-low-power")), 3), (.continuous, 1),
        ])
        let target = try SiteCoverage.Target(seconds: 3, probability: 0.9)
        let walk = try SiteWalk(corners: [FloorPosition(x: -20, y: 0), FloorPosition(x: 80, y: 0)], speed: 4)
        var mixed = SiteCoverage(model: model, scanners: mix, target: target)
        let point = try mixed.point(at: FloorPosition(x: 10, y: 0))
        let result = try walk.result(in: &mixed)
        var (detected, seen, seenAny) = (0.0, 0.0, 0.0)
        for (index, part) in mix.parts.enumerated() {
            var survey = SiteCoverage(model: model, scanners: ScannerMix(part.scanner), target: target)
            let own = try survey.point(at: FloorPosition(x: 10, y: 0))
            let ownWalk = try walk.result(in: &survey)
            #expect(abs(point.detectedByScanner[index] - own.detectedShare) < 1e-9)
            #expect(abs(result.seenAnyByScanner[index] - ownWalk.seenAnyProbability) < 1e-9)
            detected += part.share * own.detectedShare
            seen += part.share * ownWalk.seen
            seenAny += part.share * ownWalk.seenAnyProbability
        }
        #expect(abs(point.detectedShare - detected) < 1e-5)
        #expect(abs(result.seen - seen) < 1e-9)
        #expect(abs(result.seenAnyProbability - seenAny) < 1e-9)
        // An average over the scanners for each beacon would give too much, because the beacons would be missed
        // independently of each other.
        #expect(result.seenAnyByScanner[0] < result.seenAnyProbability)
    }
}
