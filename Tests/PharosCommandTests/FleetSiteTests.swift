import Configuration
import TestSupport
import Testing

/// Fleets in site files.
@Suite struct FleetSiteTests: FleetPlanning {
    private func site(_ folder: TemporaryFolder, _ fleet: String, rest: String = "") throws -> String {
        try folder.file(
            "site.json",
            Array(
                #"{"version":1,"name":"hall"\#(rest),"beacons":\#(fleet),"target":{"detectWithinS":10,"probability":0.9}}"#
                    .utf8))
    }

    @Test func aSiteTakesItsBeaconsFromAFleet() throws {
        let path = Program.profile("sites/museum-from-fleet")
        let result = try Program.run("plan", "site", path, "--places", "50")
        #expect(result.code == 0 && result.errors.isEmpty, "\(result.errors)")
        #expect(result.output.contains("hall-entrance at "))
        #expect(result.output.contains("come from ../fleets/museum.json, the site museum, the floor ground"))
        let json = try answer("site --places 50", path)
        #expect(number(json["beacons"]) == 4)
        #expect(json["fleet"]?.string == "../fleets/museum.json")
    }

    @Test func aListAndAFleetOfTheSameBeaconsSayTheSame() throws {
        let folder = try TemporaryFolder()
        _ = try folder.file("hall.json", Self.hall(beacons: 12))
        let fromFleet = try answer("site --places 40", site(folder, #"{"fleet":"hall.json"}"#))
        let list = (1...12).map {
            #"{"name":"n-\#($0)","position":[\#($0 % 4 * 5),\#($0 / 4 * 5)],"intervalMs":100,"payloadOctets":30}"#
        }
        let listed = try answer("site --places 40", site(folder, "[\(list.joined(separator: ","))]"))
        for key in ["beacons", "places", "holdingShare", "meanBeaconsHeard", "lowestCollisionFreeProbability"] {
            #expect(number(fromFleet[key]) == number(listed[key]), "\(key)")
        }
        // Other advertisements of the machines collide with packets, but do not count as more beacons.
        _ = try folder.file("hall.json", Self.hall(beacons: 12, urlInterval: 100))
        let more = try answer("site --places 40", site(folder, #"{"fleet":"hall.json"}"#))
        #expect(number(more["meanBeaconsHeard"]) == number(listed["meanBeaconsHeard"]))
        let worst = try #require(number(listed["lowestCollisionFreeProbability"]))
        #expect(try #require(number(more["lowestCollisionFreeProbability"])) < worst)
    }

    @Test func warnsOfBeaconsWithoutAUsablePosition() throws {
        let folder = try TemporaryFolder()
        let places = [
            #""position":[1,2],"#, "", #""position":{"latitude":52.5,"longitude":13.4},"#, #""position":[90,2],"#,
        ]
        let beacons = places.enumerated().map { #"{"name":"b\#($0.offset)",\#($0.element)"host":"h\#($0.offset)"}"# }
        let fleet =
            #"{"version":1,"name":"mixed","template":{"advertisements":[{"type":"eddystone-tlm","intervalMs":100}]},"#
            + #""groups":[{"name":"hall","beacons":[\#(beacons.joined(separator: ","))]}]}"#
        _ = try folder.file("mixed.json", Array(fleet.utf8))
        let path = try site(folder, #"{"fleet":"mixed.json"}"#, rest: #","outline":[[0,0],[9,0],[9,9],[0,9]]"#)
        let result = try Program.run("plan", "site", path, "--places", "20")
        #expect(result.code == 0, "\(result.errors)")
        for line in [
            "left out, because they have no position: b1",
            "left out, because their positions are geographic and not in metres on the plan: b2",
            "outside the outline: b3",
        ] {
            #expect(result.errors.contains(line), "\(result.errors)")
        }
        #expect(result.errors.hasPrefix("pharos: \(path):1:"))
    }

    @Test(arguments: [
        (#"{"fleet":"none.json"}"#, 66, "none.json: there is no such file"),
        (#"{"fleet":"shop.json"}"#, 78, "has several sites: berlin, hamburg; choose one with \"site\""),
        (#"{"fleet":"shop.json","site":"berlin"}"#, 78, "has a position on the plan: give each a \"position\""),
        (#"{"fleet":"museum.json","site":"louvre"}"#, 78, "has no beacons of a site \"louvre\"; its sites: museum"),
        (#"{"fleet":"museum.json","floor":"roof"}"#, 78, "no beacons of a floor \"roof\""),
        (#"{"fleet":"museum.json","floor":"roof"}"#, 78, "its floors: ground, upper"),
    ])
    func fleetsThatDoNotFitASiteAreRefused(_ fleet: String, _ code: Int, _ reason: String) throws {
        let folder = try TemporaryFolder()
        for name in ["museum", "shop"] {
            _ = try folder.file("\(name).json", RepositoryFile("profiles/fleets/\(name).json").octets)
        }
        let result = try Program.run("plan", "site", site(folder, fleet))
        #expect(result.code == Int32(code) && result.output.isEmpty)
        #expect(result.errors.contains(reason), "\(result.errors)")
    }

    @Test func warnsOfSeveralFloorsWithoutAChoice() throws {
        let folder = try TemporaryFolder()
        _ = try folder.file("museum.json", RepositoryFile("profiles/fleets/museum.json").octets)
        let result = try Program.run("plan", "site", site(folder, #"{"fleet":"museum.json"}"#), "--places", "20")
        #expect(result.code == 0)
        #expect(
            result.errors.contains("the plan has the beacons of 2 floors: ground, upper; choose one with \"floor\""))
    }

}
