import Airtime
import BluetoothTypes
import FoundationEssentials
import Sites
import Testing

@testable import Planner

/// The page computes in JavaScript what the program computes in Swift. `Tests/Page/vectors.json` contains the program's
/// answers, with which the page's models are tested. These tests compare the file with the program.
///
/// With `PHAROS_WRITE_VECTORS=1` in the environment, the file is written again.
@Suite struct PageVectorTests {
    private static let path = #filePath.replacing("PlannerTests/PageVectorTests.swift", with: "Page/vectors.json")

    @Test func theFileHoldsTheProgramsAnswers() throws {
        let answers = try PageVectors()
        if ProcessInfo.processInfo.environment["PHAROS_WRITE_VECTORS"] == "1" {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            try (encoder.encode(answers) + Data("\n".utf8)).write(to: URL(filePath: Self.path))
        }
        let written = try JSONDecoder().decode(PageVectors.self, from: Data(contentsOf: URL(filePath: Self.path)))
        #expect(written.texts == answers.texts)
        #expect(written.airs.map(\.settings) == answers.airs.map(\.settings))
        for (old, new) in zip(written.airs, answers.airs) {
            for (name, value) in new.values {
                let before = try #require(old.values[name], "\(name)")
                #expect(abs(before - value) <= 1e-9 * abs(value), "\(name) of \(new.settings)")
            }
        }
        #expect(written.grids == answers.grids)
        for (old, new) in zip(written.batteries, answers.batteries) {
            #expect(old.settings == new.settings && old.chip == new.chip && old.battery == new.battery)
            #expect(abs(old.days - new.days) <= 1e-9 * new.days)
            #expect(abs(old.microjoules - new.microjoules) <= 1e-9 * new.microjoules)
        }
        #expect(written.scanners == answers.scanners)
        #expect(written.floors.map(\.site) == answers.floors.map(\.site))
        for (old, new) in zip(written.floors, answers.floors) {
            #expect(old.places == new.places)
            for (before, value) in zip(old.received, new.received) {
                #expect(before.keys == value.keys)
                for (name, number) in value {
                    #expect(abs((before[name] ?? 0) - number) <= 1e-9 * max(1, abs(number)), "\(name) of \(new.site)")
                }
            }
        }
        #expect(written.latencies.map(\.settings) == answers.latencies.map(\.settings))
        for (old, new) in zip(written.latencies, answers.latencies) {
            for (before, value) in zip(old.percentiles, new.percentiles) {
                #expect(abs(before - value) <= 1e-9 * value, "\(new.settings)")
            }
        }
    }
}

/// The values that the page and the program compute, with the program's answers.
struct PageVectors: Codable {
    /// Equal beacons around a receiver on one channel.
    struct Air: Codable {
        var settings: [String: Double]
        var values: [String: Double]
    }

    /// The latency's percentiles 50, 90, 95 and 99 in seconds.
    struct Latency: Codable {
        var settings: [String: Double]
        var percentiles: [Double]
    }

    /// A number as the page writes it.
    struct Text: Codable, Equatable {
        var value: Double
        var significant: String
        var percent: String
        var duration: String
    }

    /// A battery's life in days.
    struct Battery: Codable {
        var settings: [String: Double]
        var chip: String
        var battery: String
        var days: Double
        var microjoules: Double
    }

    /// A number of beacons within a radius, and the spacing of the square grid that has so many beacons there.
    struct Grid: Codable, Equatable {
        var radiusM: Double
        var beacons: Int
        var spacingM: Double
    }

    /// A site file, and the values at some places: the received power of the strongest beacon in dBm, the probability
    /// that it is above the sensitivity, the share of the beacon's packets that do not collide, and the probability of
    /// the site's target. A place where no beacon is received has no values.
    struct Floor: Codable {
        var site: String
        var places: [[Double]]
        var received: [[String: Double]]
    }

    /// A known scanner.
    struct Scanner: Codable, Equatable {
        var name: String
        var windowMs: Double
        var intervalMs: Double
        var channels: Int
    }

    var airs: [Air]
    var floors: [Floor]
    var scanners: [Scanner]
    var batteries: [Battery]
    var grids: [Grid]
    var latencies: [Latency]
    var texts: [Text]

    init() throws {
        airs = try [
            (1, 100.0, 31, 0.0), (2, 20, 0, 0), (50, 100, 31, 0), (100, 100, 31, 0.25), (250, 183.125, 31, 0),
            (250, 1022.5, 12, 0.1), (1000, 1000, 31, 0), (1000, 10_240, 31, 0.5),
        ].map { try Air($0, $1, $2, $3) }
        latencies = try [
            (1, 100.0, 512, 5120), (1, 760, 512, 5120), (100, 100, 4096, 4096), (250, 271.25, 1024, 4096),
            (1, 1022.5, 30, 300), (50, 1000, 20, 600), (20, 1000, 1024, 4096),
        ].map { try Latency($0, $1, $2, $3) }
        batteries = try [
            ("nrf52832", "cr2477", 500.0, 31), ("da14580", "cr2032", 100, 10), ("nrf52832", "2xaa", 20, 0),
        ]
        .map { try Battery($0, $1, $2, $3) }
        grids = try [(317, 100.0), (137, 100), (1, 10), (5, 20), (1000, 50)].map { beacons, radius in
            Grid(
                radiusM: radius, beacons: beacons,
                spacingM: try Neighborhood.gridSpacing(holding: beacons, radiusMeters: radius))
        }
        scanners = ScannerPreset.all.map {
            Scanner(
                name: $0.name, windowMs: Double($0.pattern.windowMicroseconds) / 1000,
                intervalMs: Double($0.pattern.intervalMicroseconds) / 1000, channels: $0.pattern.channelCount)
        }
        floors = try [
            Floor.museum, Floor.museum.replacing(#""probability":0.8"#, with: #""probability":0.8,"beacons":3"#),
            Floor.withPathLoss(#"{"model":"itu","coefficient":28}"#),
            Floor.withPathLoss(#"{"model":"heydon"}"#), Floor.withPathLoss(#"{"model":"thesis","shadowingDb":0}"#),
            Floor.withBackground("0.5"), Floor.withBackground(#"{"37":0.7,"38":0,"39":0.3}"#),
        ].map { try Floor($0) }
        let values = [
            0, 1e-12, 3.21e-7, 9.9996e-5, 0.00043, 0.05, 0.167, 0.9951, 0.99951, 0.99999, 1, 2.154, 9.999, 12.5, 99.96,
            100, 185, 599.96, 702, 1022.5, 7199, 7800, 123_456.7, 1e9, 1.5e15, -3.1,
        ]
        texts = values.map {
            Text(
                value: $0, significant: NumberFormat.significant($0), percent: NumberFormat.percent($0),
                duration: NumberFormat.duration($0))
        }
    }
}

extension PageVectors.Air {
    init(_ beacons: Int, _ intervalMs: Double, _ octets: Int, _ load: Double) throws {
        settings = [
            "beacons": Double(beacons), "intervalMs": intervalMs, "payloadOctets": Double(octets),
            "backgroundLoad": load,
        ]
        let airtime = try PacketTiming.airtimeMicroseconds(payloadOctets: octets)
        let group = try AdvertiserGroup(
            count: beacons, intervalMicroseconds: intervalMs * 1000, airtimeMicroseconds: airtime)
        let background = try BackgroundLoad(share: load)
        let model = try CollisionModel(groups: [group], background: background)
        let runs = try RunsModel(
            group: group, otherClearProbability: background.clearProbability(forPacketOf: airtime))
        let best = try BestInterval(beacons: beacons, airtimeMicroseconds: airtime, background: background)
        values = [
            "airtimeMs": airtime / 1000, "collisionFreeProbability": model.collisionFreeProbability,
            "bestThroughputMeanPeriodMs": best.throughputMeanPeriodMicroseconds / 1000,
            "bestLatencyMeanPeriodMs": best.latencyMeanPeriodMicroseconds / 1000,
        ]
        values["lossAfterLossProbability"] = beacons > 1 ? runs.lossAfterLossProbability : nil
        guard beacons > 1 else { return }
        for length in [2, 3, 10] { values["lossRun\(length)"] = runs.lossRunProbability(length: length) }
        let others = try CaptureModel.Interferers(
            AdvertiserGroup(count: beacons - 1, intervalMicroseconds: intervalMs * 1000, airtimeMicroseconds: airtime),
            advantageDecibels: 0)
        let band = try CaptureModel(
            airtimeMicroseconds: airtime, interferers: [others], thresholdDecibels: 12, shadowingDecibels: 4,
            background: background
        ).band
        values["captureLow"] = band.stayingWithFirst
        values["captureHigh"] = band.fullCapture
    }
}

extension PageVectors.Battery {
    init(_ chip: String, _ battery: String, _ intervalMs: Double, _ octets: Int) throws {
        (self.chip, self.battery) = (chip, battery)
        settings = ["beacons": 50, "intervalMs": intervalMs, "payloadOctets": Double(octets)]
        let model = try EnergyModel(
            chip: #require(BeaconChip.named(chip)), battery: #require(BeaconBattery.named(battery)),
            intervalMicroseconds: intervalMs * 1000, payloadOctets: octets)
        let clear = try CollisionModel(
            beacons: 50, intervalMicroseconds: intervalMs * 1000,
            airtimeMicroseconds: PacketTiming.airtimeMicroseconds(payloadOctets: octets)
        ).collisionFreeProbability
        days = model.lifeDays
        microjoules = try model.microjoulesPerReceived(probability: clear)
    }
}

extension PageVectors.Latency {
    init(_ beacons: Int, _ intervalMs: Double, _ windowMs: Int, _ scanIntervalMs: Int) throws {
        settings = [
            "beacons": Double(beacons), "intervalMs": intervalMs, "payloadOctets": 31,
            "windowMs": Double(windowMs), "scanIntervalMs": Double(scanIntervalMs),
        ]
        let group = try AdvertiserGroup(
            count: beacons, intervalMicroseconds: intervalMs * 1000,
            airtimeMicroseconds: PacketTiming.airtimeMicroseconds(payloadOctets: 31))
        let pattern = try ScanPattern(
            windowMicroseconds: windowMs * 1000, intervalMicroseconds: scanIntervalMs * 1000)
        let latency = try LatencyModel(group: group, pattern: pattern).distribution(horizonSeconds: 3600)
        percentiles = try [0.5, 0.9, 0.95, 0.99].map { try #require(latency.percentile($0)) }
    }
}

extension PageVectors.Floor {
    /// Beacons with different intervals, lengths and powers behind walls, and two kinds of visitors.
    static let museum = #"""
        {"version":1,"name":"hall","outline":[[0,0],[40,0],[40,20],[0,20]],
        "walls":[{"points":[[10,0],[10,15],[20,15]],"attenuationDb":6.5},{"from":[30,20],"to":[30,5],"attenuationDb":12}],
        "defaults":{"intervalMs":300,"payloadOctets":20},
        "beacons":[{"name":"a","position":[5,5]},{"name":"b","position":[15,10],"intervalMs":100,"payloadOctets":31},
        {"name":"c","position":[35,10],"radioPowerDbm":-8},{"name":"d","position":[25,2],"intervalMs":1000}],
        "pathLoss":{"model":"log-distance","lossAt1mDb":60,"exponent":2.6,"shadowingDb":5},
        "receiverSensitivityDbm":-85,"backgroundLoad":0.1,
        "scanners":[{"scanner":"android-balanced","weight":3},{"scanner":{"windowMs":30,"intervalMs":40},"weight":1}],
        "target":{"detectWithinS":5,"probability":0.8}}
        """#

    static func withPathLoss(_ model: String) -> String {
        #"""
        {"version":1,"name":"hall","walls":[{"from":[12,-5],"to":[12,5],"attenuationDb":3.5}],
        "beacons":[{"name":"a","position":[0,0]},{"name":"b","position":[25,0],"radioPowerDbm":4}],
        "scanner":"continuous","pathLoss":\#(model)}
        """#
    }

    /// One beacon that several losses in a row keep from the target, and one with another interval and length.
    static func withBackground(_ load: String) -> String {
        #"""
        {"version":1,"name":"hall","walls":[{"from":[12,-5],"to":[12,5],"attenuationDb":3.5}],
        "beacons":[{"name":"a","position":[0,0],"intervalMs":100},
        {"name":"b","position":[25,0],"intervalMs":417.5,"payloadOctets":10}],
        "scanner":"continuous","backgroundLoad":\#(load),"target":{"detectWithinS":0.5,"probability":0.8}}
        """#
    }

    init(_ text: String) throws {
        site = text
        let decoded = try #require(Site.decode(Array(text.utf8)).site)
        let background = try BackgroundLoad(decoded.backgroundLoad)
        let model = SiteModel(
            beacons: decoded.beacons, walls: decoded.walls, radio: decoded.radio, background: background)
        var survey = SiteCoverage(model: model, scanners: decoded.scanners, target: decoded.target)
        // No place is on a wall, because rounding would decide on which side of the wall it is.
        places = [
            [0.5, 0.5], [5, 5], [11, 8], [15, 14.5], [22.25, 9], [29, 19], [31, 19], [39.5, 0.5], [60, 3],
        ]
        received = []
        for place in places {
            let point = try survey.point(at: FloorPosition(x: place[0], y: place[1]))
            guard let best = point.reception.best else {
                received.append([:])
                continue
            }
            received.append([
                "power": best.power, "audible": best.audible, "clear": point.reception.collisionFreeProbability,
                "share": point.detectedShare,
            ])
        }
    }
}
