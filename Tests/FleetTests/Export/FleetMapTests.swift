import Configuration
import Fleet
import Testing

@Suite struct FleetMapTests {
    @Test func writesLongitudeBeforeLatitude() throws {
        let place = FleetManifest.Position.geographic(
            latitude: SampleFleet.number("52.50"), longitude: SampleFleet.number("-13.4"))
        #expect(try coordinates(of: place, FleetMap.GlobeOrigin?.none) == ["-13.4", "52.50"])
    }

    /// On the equator, a degree of longitude is 111.3195 km and a degree of latitude is 110.5743 km.
    @Test(arguments: [
        (0.0, "100", "0", ["13.0008983", "0.0000000"]), (0.0, "0", "-1000", ["13.0000000", "-0.0090437"]),
        (90.0, "0", "100", ["13.0008983", "0.0000000"]), (180.0, "100", "0", ["12.9991017", "0.0000000"]),
    ])
    func convertsPlanPositionsWithTheAnchor(_ bearing: Double, _ x: String, _ y: String, _ expected: [String]) throws {
        let origin = FleetMap.GlobeOrigin(latitude: 0, longitude: 13, bearing: bearing)
        let place = FleetManifest.Position.plan(x: SampleFleet.number(x), y: SampleFleet.number(y), z: nil)
        let found = try coordinates(of: place, origin)
        #expect(found?.map { $0.hasPrefix("-0.0000000") ? String($0.dropFirst()) : $0 } == expected)
    }

    /// At a latitude of 60°, a degree of longitude is 55.8 km.
    @Test func convertsLongitudesFarFromTheEquator() throws {
        let origin = FleetMap.GlobeOrigin(latitude: 60, longitude: 0)
        let place = FleetManifest.Position.plan(x: .init(1000), y: .init(0), z: SampleFleet.number("2.5"))
        #expect(try coordinates(of: place, origin) == ["0.0179211", "60.0000000", "2.5"])
    }

    @Test func prefersTheAnchorOfTheSite() throws {
        let fleet = FleetManifest(
            fleet: "f",
            beacons: [
                SampleFleet.beacon("a", position: .plan(x: .init(0), y: .init(0), z: nil)),
                SampleFleet.beacon("b", group: ["shop"], position: .plan(x: .init(0), y: .init(0), z: nil)),
            ])
        let map = FleetMap(
            fleet, defaultOrigin: .init(latitude: 1, longitude: 2),
            originsOfSites: ["shop": try #require(.init(latitude: 3, longitude: 4))])
        let root = try #require(JSONDocument.parse(Array(map.text.utf8)).root)
        let first = (0..<2).map { number in
            root["features"]?[number]?["geometry"]?["coordinates"]?[0].flatMap(Self.text)
        }
        #expect(first == ["2.0000000", "4.0000000"])
    }

    @Test func containsTheTitlesOfBeacons() throws {
        var titled = SampleFleet.beacon("a")
        titled.title = "Vase, 2"
        let text = FleetMap(FleetManifest(fleet: "f", beacons: [titled, SampleFleet.beacon("b")])).text
        let root = try #require(JSONDocument.parse(Array(text.utf8)).root)
        let titles = (0..<2).map { root["features"]?[$0]?["properties"]?["title"]?.string }
        #expect(titles == ["Vase, 2", nil])
    }

    @Test func exportsBeaconsWithoutAPositionWithoutAPoint() throws {
        let fleet = FleetManifest(
            fleet: "f",
            beacons: [
                SampleFleet.beacon("nowhere"),
                SampleFleet.beacon("plan", position: .plan(x: .init(1), y: .init(2), z: nil)),
                SampleFleet.beacon("far", position: .plan(x: SampleFleet.number("1e400"), y: .init(2), z: nil)),
            ])
        #expect(FleetMap(fleet).withoutPoint == ["nowhere", "plan", "far"])
        #expect(FleetMap(fleet, defaultOrigin: .init(latitude: 0, longitude: 0)).withoutPoint == ["nowhere", "far"])
        #expect(FleetMap(fleet).text.contains("\"geometry\": null"))
    }

    @Test(arguments: [(91.0, 0.0, 0.0), (0, 181, 0), (.nan, 0, 0), (0, .infinity, 0), (0, 0, .nan)])
    func refusesInvalidAnchors(_ latitude: Double, _ longitude: Double, _ bearing: Double) {
        #expect(FleetMap.GlobeOrigin(latitude: latitude, longitude: longitude, bearing: bearing) == nil)
    }

    private func coordinates(of position: FleetManifest.Position, _ origin: FleetMap.GlobeOrigin?) throws -> [String]? {
        let fleet = FleetManifest(fleet: "f", beacons: [SampleFleet.beacon("a", position: position)])
        let (root, problems) = JSONDocument.parse(Array(FleetMap(fleet, defaultOrigin: origin).text.utf8))
        #expect(problems.isEmpty)
        let list = root?["features"]?[0]?["geometry"]?["coordinates"]
        return list.map { node in (0..<3).compactMap { node[$0].flatMap(Self.text) } }
    }

    private static func text(_ node: JSONNode) -> String? {
        guard case .number(let number) = node.value else { return nil }
        return number.text
    }
}
