import Configuration
import Fleet
import Testing

@Suite struct PrometheusFleetTests {
    @Test func listsEachHostOnceWithTheLabelsItsBeaconsShare() throws {
        let fleet = FleetManifest(
            fleet: "museum",
            beacons: [
                SampleFleet.beacon("a", host: "pi-1"),
                SampleFleet.beacon("b", group: ["museum", "upper"], host: "pi-1"),
                SampleFleet.beacon("c", host: "2001:db8::1"), SampleFleet.beacon("d", host: nil),
            ])
        let prometheus = PrometheusFleet(fleet, port: 9200)
        let root = try #require(JSONDocument.parse(Array(prometheus.targets.utf8)).root)
        #expect(root[0]?["targets"]?[0]?.string == "pi-1:9200")
        #expect(root[0]?["labels"]?["beacons"]?.string == "a,b")
        #expect(root[0]?["labels"]?["site"]?.string == "museum")
        #expect(root[0]?["labels"]?["floor"] == nil)
        #expect(root[1]?["targets"]?[0]?.string == "[2001:db8::1]:9200")
        #expect(root[1]?["labels"]?["room"]?.string == "hall")
        #expect(root[2] == nil)
        #expect(prometheus.withoutHost == ["d"])
    }

    @Test func expectsEachBeaconByNameAndHash() {
        let rules = PrometheusFleet(FleetManifest(fleet: "f", beacons: [SampleFleet.beacon("a-1")])).rules
        #expect(
            rules.contains(
                """
                      - record: pharos_beacon_expected
                        expr: vector(1)
                        labels:
                          fleet: "f"
                          profile: "a-1"
                          profile_hash: "00e1234567890123"

                """))
    }

    @Test func aTitleIsALabel() {
        var beacon = SampleFleet.beacon("a-1")
        beacon.title = "Große Halle"
        let fleet = FleetManifest(fleet: "f", beacons: [beacon, SampleFleet.beacon("a-2")])
        let rules = PrometheusFleet(fleet).rules
        #expect(rules.contains("          profile_hash: \"00e1234567890123\"\n          title: \"Große Halle\"\n"))
        #expect(rules.split(separator: "\n").count { $0.hasPrefix("          title: ") } == 1)
    }

    @Test(arguments: SampleFleet.hostile)
    func quotesAllTextsOfTheFleet(_ text: String) {
        let fleet = FleetManifest(fleet: text, beacons: [SampleFleet.beacon(text)])
        var titled = fleet
        titled.beacons[0].title = text
        let titles = PrometheusFleet(titled).rules.split(separator: "\n").filter { $0.contains(" title: ") }
        #expect(titles.map { JSONDocument.parse(Array($0.drop { $0 != "\"" }.utf8)).root?.string } == [text])
        let plain = FleetManifest(fleet: "f", beacons: [SampleFleet.beacon("n")])
        let lines = PrometheusFleet(fleet).rules.split(separator: "\n")
        #expect(lines.count == PrometheusFleet(plain).rules.split(separator: "\n").count)
        for line in lines where line.contains("fleet: ") || line.contains("profile: ") {
            let value = line.drop { $0 != "\"" }
            #expect(value.last == "\"" && value.count >= 2)
            let (root, problems) = JSONDocument.parse(Array(value.utf8))
            #expect(problems.isEmpty && root?.string == text)
        }
    }
}
