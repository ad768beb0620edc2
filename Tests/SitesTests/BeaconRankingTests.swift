import Airtime
import BluetoothTypes
import Testing

@testable import Sites

/// Compares targets of several beacons with the definition, which computes each beacon separately and sorts the shares.
@Suite struct BeaconRankingTests {
    private func beacons(_ seed: UInt64, count: Int) throws -> [SiteBeacon] {
        var random = SplitMix64(seed: seed)
        func number(_ range: ClosedRange<Double>) -> Double {
            range.lowerBound + Double(random.next() % 1000) / 1000 * (range.upperBound - range.lowerBound)
        }
        return try (0..<count).map { index in
            try SiteBeacon(
                name: "b\(index)", position: .init(x: number(0...60), y: number(0...30)),
                intervalMicroseconds: [100_000, 417_500, 1_022_500][index % 3],
                airtimeMicroseconds: index % 2 == 0 ? 376 : 200,
                radioPower: number(-12...4))
        }
    }

    private let scanners: ScannerMix

    init() throws { scanners = ScannerMix(try #require(ScannerPreset(named: "continuous"))) }

    /// Returns the share of each beacon by the model's formula, the largest first.
    private func shares(
        _ model: SiteModel, at place: FloorPosition, within seconds: Double, _ times: inout DetectionTimes
    ) throws -> [Double] {
        let links = model.beacons.indices.map { model.link($0, at: place) }
        return try model.beacons.indices.map { number in
            let beacon = model.beacons[number]
            var clear = 1.0
            for other in model.beacons.indices where other != number && links[other].audible > 1e-5 {
                let sum = beacon.airtimeMicroseconds + model.beacons[other].airtimeMicroseconds
                clear *= 1 - links[other].audible * sum / (model.beacons[other].intervalMicroseconds + 5000)
            }
            return links[number].audible * (try times.received(beacon, clear: clear, within: seconds))
        }.sorted(by: >)
    }

    @Test(arguments: 1...3)
    func theRankedShareIsThatOfTheDefinition(seed: UInt64) throws {
        let model = SiteModel(
            beacons: try beacons(seed, count: 40),
            walls: [Wall(from: .init(x: 20, y: 0), to: .init(x: 20, y: 25), attenuation: 12)],
            radio: try SiteModelTests.radio(sensitivity: -78))
        let seconds = 1.5
        var times = DetectionTimes(scanners: scanners, background: .none, horizonSeconds: seconds * 10)
        for wanted in [2, 4, 10, 41] {
            var survey = SiteCoverage(
                model: model, scanners: scanners,
                target: try .init(seconds: seconds, probability: 0.7, beacons: wanted))
            for place in [FloorPosition(x: 3, y: 3), .init(x: 30, y: 15), .init(x: 59, y: 29), .init(x: 400, y: 9)] {
                let expected = try shares(model, at: place, within: seconds, &times)
                let point = try survey.point(at: place)
                let ranked = wanted <= expected.count ? expected[wanted - 1] : 0
                #expect(abs(point.detectedShare - ranked) < 1e-4, "\(wanted) at \(place)")
                let count = expected.count { $0 >= 0.7 }
                #expect(point.beaconsInTime == count, "\(wanted) at \(place)")
                #expect((point.detectedShare >= 0.7) == (count >= wanted))
                if let time = point.detectionSeconds { #expect((time <= seconds) == (count >= wanted)) }
                let later = try survey.shares(at: point, within: [seconds, seconds * 2])
                if point.reception.best != nil {
                    #expect(abs(later[0] - point.detectedShare) < 1e-9 && later[1] >= later[0])
                }
            }
        }
    }

    @Test func countsNoBeaconsInTimeIfOneIsWanted() throws {
        let model = SiteModel(
            beacons: try beacons(9, count: 20), walls: [], radio: try SiteModelTests.radio(sensitivity: -78))
        var survey = SiteCoverage(
            model: model, scanners: scanners, target: try .init(seconds: 5, probability: 0.9, beacons: 1))
        let point = try survey.point(at: .init(x: 20, y: 10))
        #expect(point.beaconsInTime == nil && point.reception.best != nil)
    }

    @Test func refusesBeaconCountsOutOfRange() {
        #expect(throws: AirtimeError.self) { try SiteCoverage.Target(seconds: 5, probability: 0.9, beacons: 0) }
        #expect(throws: AirtimeError.self) { try SiteCoverage.Target(seconds: 5, probability: 0.9, beacons: 101) }
    }
}
