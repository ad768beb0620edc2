import Airtime
import BluetoothTypes
import Configuration
import PositioningWorlds
import Sites
import Testing

@testable import Positioning

/// Maps of a site without a survey.
@Suite struct SiteMapTests {
    /// Two rooms of 8 m × 8 m with a thick wall between them that has a door, and eight beacons.
    static func site(walls: Bool = true, model: String = #"{"model": "log-distance"}"#) throws -> Site {
        let beacons = [(1, 1), (7, 1), (1, 7), (7, 7), (9, 1), (15, 1), (9, 7), (15, 7)].enumerated().map {
            #"{"name": "b\#($0.offset + 1)", "position": [\#($0.element.0), \#($0.element.1)], "radioPowerDbm": -4}"#
        }
        let text = """
            {"version": 1, "name": "two-rooms", "outline": [[0, 0], [16, 0], [16, 8], [0, 8]],
             "walls": [{"from": [8, 0], "to": [8, 6.5], "attenuationDb": \(walls ? 12 : 0)}],
             "beacons": [\(beacons.joined(separator: ", "))], "pathLoss": \(model),
             "target": {"detectWithinS": 10, "probability": 0.9}}
            """
        return try #require(Site.decode(Array(text.utf8)).site)
    }

    /// Returns a survey of what is received at places of the site by the planner's model, with fading.
    static func run(_ site: Site, at places: [FloorPosition], seed: UInt64, fading: Double = 5) -> Survey {
        var random = SplitMix64(seed: seed)
        let model = SiteModel(beacons: site.beacons, walls: site.walls, radio: site.radio)
        var survey = Survey()
        var numbers: [Int] = []
        for beacon in site.beacons {
            guard let number = BeaconKey(beacon.name).flatMap({ survey.number(of: $0) }) else { continue }
            numbers.append(number)
        }
        for (number, place) in places.enumerated() {
            survey.begin(Survey.Stay(number: number + 1, position: place))
            for second in 0..<5 {
                let readings = numbers.indices.compactMap { beacon -> SignalVector.Reading? in
                    let level = model.link(beacon, at: place).power + fading * ModelTests.normal(&random)
                    return level >= site.radio.sensitivity ? .init(beacon: numbers[beacon], level: level) : nil
                }
                survey.append(SignalVector(seconds: Double(second), readings: readings))
            }
        }
        return survey
    }

    static let places = (0..<16).map { FloorPosition(x: 1 + Double($0 % 4) * 4.5, y: 1 + Double($0 / 4) * 2) }

    @Test func siteAloneTellsThePlace() throws {
        let site = try Self.site()
        let test = Self.run(site, at: Self.places, seed: 5)
        let found = try Evaluator.evaluate(SignalMap(site: site), test: test)
        let mean = try #require(found.mean)
        #expect(mean < 1.8 && found.availability == 1, "\(mean)")
        #expect(try #require(found.coverage95) > 0.85)
        // A map without the wall has a larger error.
        let open = try Evaluator.evaluate(SignalMap(site: Self.site(walls: false)), test: test)
        #expect(try #require(open.mean) > mean + 0.1)
    }

    @Test func aDifferentTransmitPowerIsFoundAsAnOffset() throws {
        let site = try Self.site()
        var loud = site
        loud.beacons = try site.beacons.map {
            try SiteBeacon(
                name: $0.name, position: $0.position, intervalMicroseconds: $0.intervalMicroseconds,
                airtimeMicroseconds: $0.airtimeMicroseconds, radioPower: $0.radioPower + 15)
        }
        let test = Self.run(loud, at: Self.places, seed: 6)
        let map = try SignalMap(site: site)
        #expect(try #require(Evaluator.evaluate(map, test: test).mean) < 1.8)
        var locator = try Locator(map)
        let answer = locator.locate(map.vector(0, of: test, numbers: map.numbers(for: test)))
        #expect(abs(try #require(answer.receiverOffset) - 15) <= 6)
    }

    @Test(arguments: [
        #"{"model": "thesis", "shadowingDb": 6}"#, #"{"model": "heydon"}"#,
        #"{"model": "itu", "coefficient": 22, "floorLossDb": 6}"#,
        #"{"model": "log-distance", "lossAt1mDb": 58.5, "exponent": 2.7, "shadowingDb": 0}"#,
    ])
    func siteMapReadFromItsFileGivesTheSameAnswers(model: String) throws {
        let map = try SignalMap(site: Self.site(model: model))
        let (read, problems) = SignalMap.decode(Array(map.text.utf8))
        #expect(problems.isEmpty)
        let again = try #require(read)
        #expect(again.text == map.text && again.modelSite?.beacons.count == 8)
        let vector = SignalVector(seconds: 0, readings: (0..<4).map { .init(beacon: $0, level: -70 - Double($0)) })
        var (left, right) = (try Locator(map), try Locator(again))
        let (one, other) = (left.locate(vector), right.locate(vector))
        let position = try #require(one.position)
        #expect(position.distance(to: try #require(other.position)) < 1e-6)
        #expect(one.place == other.place)
    }

    @Test func algorithmsThatNeedASurveyAreRefused() throws {
        let map = try SignalMap(site: Self.site())
        for algorithm in PositioningAlgorithm.allCases where algorithm != .field && algorithm != .hmm {
            #expect(throws: PositioningError.noSurvey(algorithm)) {
                try Locator(map, settings: LocatorSettings(algorithm))
            }
        }
        #expect(try Locator(map, settings: LocatorSettings(.hmm), walls: Self.site().walls).map.places.count == 8)
    }

    @Test func siteWithoutBeaconsIsRefused() throws {
        var site = try Self.site()
        site.beacons = []
        #expect(throws: PositioningError.noBeacons) { try SignalMap(site: site) }
    }

    @Test func beaconsOfAFleetHaveTheirKeys() throws {
        let key = try #require(BeaconKey("ibeacon:fb0b57a2-8228-44cd-913a-94a122ba1206-1-2"))
        let map = try SignalMap(site: Self.site(), keys: ["b3": key], floor: "ground")
        let number = try #require(map.number(of: key))
        #expect(map.places[number].name == "b3" && map.places[number].floor == "ground")
        #expect(map.modelSite?.beacons[number].name == "b3")
        let twice = try SignalMap(site: Self.site(), keys: ["b3": key, "b4": key])
        #expect(twice.beacons.count == 7 && twice.notices.count == 1)
    }

    @Test func reportsProblemsOfADamagedField() throws {
        let text = try SignalMap(site: Self.site()).text
        for (from, to) in [
            ("\"field\": {", "\"field\": {\"more\":1,"), ("\"lossAt1mDb\":65", "\"lossAt1mDb\":\"much\""),
            (
                "\"name\":\"b8\",\"position\":[15,7],\"radioPowerDbm\"",
                "\"name\":\"b7\",\"position\":[15,7],\"radioPowerDbm\""
            ),
        ] {
            #expect(text.contains(from), "\(from)")
            let (map, problems) = SignalMap.decode(Array(text.replacing(from, with: to).utf8))
            #expect(map == nil && problems.contains(where: \.isError))
        }
    }

    /// With the positions of the beacons alone, the mean error is at most 2.0 m in the library and 2.9 m in the office.
    @Test func beaconPositionsAreEnoughOnPublicRecordings() throws {
        guard let recordings = PublicRecordings() else { return }
        var errors: [String: [Double]] = [:]
        for column in recordings.columns() where column.isOwnReceiver {
            var site = try Self.site(walls: false)
            site.outline = nil
            site.walls = []
            site.beacons = try column.beacons.map {
                try SiteBeacon(
                    name: $0.key.text, position: $0.value, intervalMicroseconds: 200_000, airtimeMicroseconds: 376,
                    radioPower: 0)
            }
            let found = try Evaluator.evaluate(SignalMap(site: site), test: column.test)
            let mean = try #require(found.mean)
            #expect(try #require(found.coverage95) >= 0.9, "\(column.name)")
            errors[String(column.name.prefix(6)), default: []].append(mean)
        }
        for (place, limit) in [("librar", 2.0), ("office", 2.9)] {
            let found = try #require(errors[place])
            #expect(found.count == 3 && found.reduce(0, +) / 3 <= limit, "\(place): \(found)")
        }
    }
}
