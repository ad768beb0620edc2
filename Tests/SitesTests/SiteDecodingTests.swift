import Airtime
import Configuration
import Sites
import Testing

@Suite struct SiteDecodingTests {
    private static let hall = """
        {
          "version": 1, "name": "hall", "outline": [[0, 0], [40, 0], [40, 20], [0, 20]],
          "walls": [ { "from": [20, 0], "to": [20, 15], "attenuationDb": 6 },
                     { "points": [[0, 10], [10, 10], [10, 12]], "attenuationDb": 3 } ],
          "defaults": { "intervalMs": 200, "radioPowerDbm": -4 },
          "beacons": [ { "position": [5, 5] }, { "name": "door", "position": [39, 1], "intervalMs": 100 } ],
          "paths": [ { "name": "to the door", "points": [[1, 1], [39, 1]] } ],
          "pathLoss": { "model": "log-distance", "lossAt1mDb": 60, "exponent": 2.2, "shadowingDb": 3 },
          "scanner": { "windowMs": 60, "intervalMs": 600 },
          "target": { "detectWithinS": 10, "probability": 0.9 }
        }
        """

    private func problems(_ text: String) -> [String] {
        Site.decode(Array(text.utf8)).problems.map(\.description)
    }

    @Test func readsAWholeFile() throws {
        let (decoded, problems) = Site.decode(Array(Self.hall.utf8))
        let site = try #require(decoded, "\(problems)")
        #expect(problems == [])
        #expect(site.outline?.area == 800)
        #expect(site.walls.map(\.attenuation) == [6, 3, 3])
        #expect(site.beacons.map(\.name) == ["beacon-1", "door"])
        #expect(site.beacons.map(\.intervalMicroseconds) == [200_000, 100_000])
        #expect(site.beacons.map(\.radioPower) == [-4, -4])
        #expect(site.paths.first?.walk.length == 38)
        #expect(site.scanners.only?.pattern.windowMicroseconds == 60_000)
        #expect(site.target.probability == 0.9)
    }

    @Test func readsRooms() throws {
        func text(_ rooms: String) -> String {
            Self.hall.replacing(#""paths": ["#, with: #""rooms": [\#(rooms)], "paths": ["#)
        }
        let rooms = #"{"name": "ships", "outline": [[0, 0], [20, 0], [20, 20], [0, 20], [0, 0]]}"#
        let site = try #require(Site.decode(Array(text(rooms).utf8)).site)
        #expect(site.rooms.map(\.name) == ["ships"] && site.rooms[0].outline.area == 400)
        #expect(
            problems(text(#"{"name": "ships", "outline": [[0, 0], [20, 0]]}"#)).contains {
                $0.contains("rooms[0].outline")
            })
        #expect(
            problems(text(#"{"name": "ships", "outline": [[0, 0], [9, 9], [9, 0], [0, 9]]}"#)).contains {
                $0.contains("crosses or touches itself")
            })
    }

    @Test func readsTheFleetOfASite() throws {
        let text = #"""
            {"version":1,"name":"hall","beacons":{"fleet":"../museum.json","site":"museum","floor":"ground"},
             "target":{"detectWithinS":10,"probability":0.9}}
            """#
        let site = try #require(Site.decode(Array(text.utf8)).site)
        let fleet = try #require(site.fleet)
        #expect(fleet.path == "../museum.json" && fleet.site == "museum" && fleet.floor == "ground")
        #expect(fleet.node.position.line == 1 && fleet.node.path.description == "beacons")
        #expect(site.beacons.isEmpty)
        #expect(
            problems(#"{"version":1,"name":"hall","beacons":{"flet":"x"},"target":1}"#).contains {
                $0.contains("did you mean")
            })
        #expect(try #require(Site.decode(Array(Self.hall.utf8)).site).fleet == nil)
    }

    @Test(arguments: [
        ("[40, 0]", "[40, 30], [0, 10]", "the outline crosses or touches itself"),
        ("\"intervalMs\": 200", "\"intervalMs\": 5", "5 is out of range 20...10240 ms"),
        ("[5, 5]", "[5, 1e400]", "is out of range -100000...100000 m"),
        ("[5, 5]", "[5]", "a position such as [3.5, 12]"),
        ("[5, 5]", "[50, 5]", "warning: beacons[0].position: \"beacon-1\" is outside the outline"),
        ("[39, 1]] }", "[99, 1]] }", "paths[0].points: point 2 of the path \"to the door\" is outside the outline"),
        (
            "\"paths\"", "\"receivers\": [{\"name\": \"ear\", \"position\": [40.2, 5]}], \"paths\"",
            "warning: receivers[0].position: \"ear\" is outside the outline"
        ),
        (
            "\"paths\"", "\"mounts\": [[40, 5], [4, 50]], \"paths\"",
            "warning: mounts[1]: mount 2 is outside the outline"
        ),
        ("\"door\"", "\"beacon-1\"", "is also the name of beacons[0]"),
        ("\"windowMs\": 60", "\"windowMs\": 700", "the scan window is longer than the scan interval"),
        ("\"probability\": 0.9", "\"probability\": 1", "1 is out of range 0.01...0.9999"),
        ("\"probability\": 0.9", "\"probability\": 2", "2 is out of range 0.01...0.9999; for 2 %, write 0.02"),
        ("\"probability\": 0.9", "\"probability\": 100", "100 is out of range 0.01...0.9999"),
        ("\"attenuationDb\": 6", "\"attenuation\": 6", "did you mean \"attenuationDb\"?"),
        ("log-distance", "logdistance", "did you mean \"log-distance\"?"),
        ("\"version\": 1", "\"version\": 2", "version 2 of the format is not known"),
        ("[[0, 10], [10, 10], [10, 12]]", "[[0, 10]]", "at least 2 points are needed, not 1"),
    ])
    func everyMistakeHasItsMessage(text: String, mistake: String, message: String) {
        let problems = problems(Self.hall.replacing(text, with: mistake))
        #expect(problems.contains { $0.contains(message) }, "\(problems)")
    }

    @Test("a probability of 10 or more is read as a percentage", arguments: ["0.95", "95", "95.0"])
    func readsPercent(text: String) throws {
        let file = Self.hall.replacing("\"probability\": 0.9", with: "\"probability\": \(text)")
        let site = try #require(Site.decode(Array(file.utf8)).site)
        #expect(abs(site.target.probability - 0.95) < 1e-12)
    }

    @Test("a mix of scanners is read, and a scanner may have no name")
    func readsMix() throws {
        let mix = """
            "scanners": [ { "scanner": "continuous", "weight": 1 }, { "scanner": { "windowMs": 60, "intervalMs": 600 },
              "weight": 3 } ]
            """
        let text = Self.hall.replacing(#""scanner": { "windowMs": 60, "intervalMs": 600 }"#, with: mix)
        let site = try #require(Site.decode(Array(text.utf8)).site)
        #expect(site.scanners.parts.map(\.share) == [0.25, 0.75])
        #expect(site.scanners.parts.map(\.scanner.name) == ["continuous", "60/600 ms"])
    }

    @Test(arguments: [
        (#"{"scanner":"linux","weight":0}"#, "scanners[0].weight: 0 is out of range 0.001...1000000"),
        (#"{"scanner":"linux","weight":-1}"#, "scanners[0].weight: -1 is out of range"),
        (#"{"scanner":"linux","weight":1e999}"#, "scanners[0].weight: 1e999 is out of range"),
        (#"{"scanner":"linux"}"#, "scanners[0]: the key \"weight\" is missing"),
        (#"{"scanner":"linus","weight":1}"#, "scanners[0].scanner: \"linus\" is not known; did you mean \"linux\"?"),
        (
            #"{"scanner":"linux","weight":1},{"scanner":"linux","weight":2}"#,
            "scanners[1].scanner: linux occurs twice: add up its weights"
        ),
    ])
    func reportsWrongMixes(mix: String, message: String) {
        let text = Self.hall.replacing(
            #""scanner": { "windowMs": 60, "intervalMs": 600 }"#, with: #""scanners": [\#(mix)]"#)
        let problems = problems(text)
        #expect(problems.count == 1 && problems[0].contains(message), "\(problems)")
    }

    @Test(
        "an outline, walls or beacons alone are enough for a site",
        arguments: [
            #""outline":[[0,0],[9,0],[9,9]]"#, #""walls":[{"from":[0,0],"to":[9,0],"attenuationDb":3}]"#,
            #""beacons":[{"position":[1,1]}]"#,
        ])
    func acceptsTheSmallestSites(_ floor: String) throws {
        let (decoded, problems) = Site.decode(Array(#"{"version":1,"name":"x",\#(floor)}"#.utf8))
        let site = try #require(decoded, "\(problems)")
        #expect(site.target.seconds == 10 && site.target.probability == 0.9 && !site.hasOwnTarget)
        let own = #"{"version":1,"name":"x",\#(floor),"target":{"detectWithinS":10,"probability":0.9}}"#
        #expect(Site.decode(Array(own.utf8)).site?.hasOwnTarget == true)
        #expect(problems.isEmpty)
        #expect(!self.problems(#"{"version":1,"name":"x",\#(floor),"target":{"probability":0.9}}"#).isEmpty)
    }

    @Test func emptySiteIsRefused() {
        let problems = problems(#"{"version":1,"name":"x","target":{"detectWithinS":1,"probability":0.5}}"#)
        #expect(problems.contains { $0.contains("there is no floor") })
    }

    @Test func reportsTextThatIsNoSite() {
        for text in ["", "[]", "{", "null", "{\"outline\":5}", "{\"beacons\":[[[]]]}"] {
            let (site, problems) = Site.decode(Array(text.utf8))
            #expect(site == nil && !problems.isEmpty)
        }
    }
}
