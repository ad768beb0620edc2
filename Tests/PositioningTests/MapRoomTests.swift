import Airtime
import BluetoothTypes
import Configuration
import Listener
import Sites
import Testing

@testable import Positioning

/// Rooms in answers, and the answers of all algorithms next to each other.
@Suite struct MapRoomTests {
    /// The site of ``SiteMapTests`` with its two rooms.
    private static func site() throws -> Site {
        var site = try SiteMapTests.site()
        func room(_ name: String, _ west: Double) throws -> Site.Room {
            let corners = [(west, 0.0), (west + 8, 0), (west + 8, 8), (west, 8)].map { FloorPosition(x: $0.0, y: $0.1) }
            return .init(name: name, outline: try FloorOutline(corners: corners))
        }
        site.rooms = [try room("west room", 0), try room("east room", 8)]
        return site
    }

    /// Returns the answers to what is received at a position.
    private static func answers(_ locator: inout RunLocator, at position: FloorPosition) throws -> [LocatedInstant] {
        let survey = SiteMapTests.run(try Self.site(), at: [position], seed: 3)
        return survey.stays[0].vectors.map { index in
            let vector = survey.vector(index)
            return locator.locate(
                seconds: vector.seconds,
                vector.readings.map { HeardBeacon(survey.beacons[$0.beacon], levels: [$0.level]) })
        }
    }

    @Test func roomHasTheProbabilityOfItsCells() throws {
        let map = try SignalMap(site: Self.site())
        var locator = try RunLocator(map, settings: map.settings)
        let found = try #require(try Self.answers(&locator, at: FloorPosition(x: 13, y: 2)).last)
        let room = try #require(found.answer.room)
        #expect(locator.rooms[room.room].name == "east room")
        #expect(try #require(room.probability) > 0.8)
        let sum = found.answer.rooms.reduce(0) { $0 + ($1.probability ?? 0) }
        #expect(abs(sum - 1) < 0.01, "the rooms cover the floor: \(sum)")
        let json = found.json(on: map, rooms: locator.rooms).line
        #expect(json.contains(#""room":"east room","roomProbability":0."#), "\(json)")
        #expect(json.contains(#""heading":null"#))
        #expect(found.text(on: map, rooms: locator.rooms).contains("room east room "))
    }

    @Test func roomsComeFromTheGivenSite() throws {
        let plain = try SignalMap(site: SiteMapTests.site())
        let none = try RunLocator(plain, settings: plain.settings)
        #expect(none.rooms.isEmpty)
        var locator = try RunLocator(plain, settings: plain.settings, site: Self.site())
        let found = try #require(try Self.answers(&locator, at: FloorPosition(x: 2, y: 2)).last)
        #expect(found.answer.room.map { locator.rooms[$0.room].name } == "west room")
        // A map that is written and read again keeps its rooms.
        let map = try SignalMap(site: Self.site())
        let read = try #require(SignalMap.decode(Array(map.text.utf8)).map)
        #expect(try RunLocator(read, settings: read.settings).rooms.map(\.name) == ["west room", "east room"])
    }

    @Test func positionsOutsideRoomsOrOnOtherFloorsHaveNoRoom() throws {
        let rooms = try Self.site().rooms.map { MapRoom(name: $0.name, floor: "ground", outline: $0.outline) }
        #expect(rooms.index(of: FloorPosition(x: 9, y: 1), floor: "ground") == 1)
        #expect(rooms.index(of: FloorPosition(x: 9, y: 1), floor: "upper") == nil)
        #expect(rooms.index(of: FloorPosition(x: 9, y: 9), floor: "ground") == nil)
    }

    @Test func comparesTheAnswersOfAllAlgorithms() throws {
        let site = try Self.site()
        let survey = SiteMapTests.run(site, at: SiteMapTests.places, seed: 1)
        let positions = Dictionary(
            uniqueKeysWithValues: try site.beacons.map { (try #require(BeaconKey($0.name)), $0.position) })
        let map = try SignalMap(survey, positions: positions)
        var compared = ComparedLocators(map, site: site) { LocatorSettings($0) }
        #expect(compared.notices.isEmpty)
        #expect(compared.algorithms == PositioningAlgorithm.allCases + PositioningAlgorithm.baselines)
        compared.begin(session: nil)
        let heard = site.beacons.compactMap { beacon in
            BeaconKey(beacon.name).map {
                HeardBeacon($0, levels: [-60 - 2 * beacon.position.distance(to: FloorPosition(x: 1, y: 1))])
            }
        }
        let instants = compared.locate(seconds: 0, heard)
        let rooms = MapRoom.rooms(of: site)
        let table = LocatedInstant.table(instants, on: map, rooms: rooms)
        let lines = table.split(separator: "\n")
        #expect(lines.count == 1 + compared.algorithms.count && lines[0].contains("room"))
        let json = instants[0].json(on: map, rooms: rooms, compared: instants)
        let found = try #require(JSONDocument.parse(Array(json.line.utf8)).root?["algorithms"]?.elements)
        #expect(found.compactMap { $0["algorithm"]?.string } == compared.algorithms.map(\.rawValue))
        // An algorithm without an answer has a reason. Most of the other algorithms find the right room.
        #expect(found.allSatisfy { $0["position"] != nil || $0["reason"] != nil })
        #expect(found.count { $0["room"]?.string == "west room" } >= 7, "\(table)")
        // A map without a survey lacks some algorithms, and the notices name them.
        let bare = ComparedLocators(try SignalMap(site: site), site: nil) { LocatorSettings($0) }
        #expect(bare.algorithms.contains(.field) && bare.notices.contains { $0.hasPrefix("nn needs a survey") })
    }
}
