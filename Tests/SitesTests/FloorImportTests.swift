import Airtime
import Configuration
import Testing

@testable import Sites

@Suite struct FloorImportTests {
    private static func feature(_ properties: String, _ type: String, _ coordinates: String) -> String {
        #"{"type":"Feature","properties":{\#(properties)},"geometry":{"type":"\#(type)","coordinates":\#(coordinates)}}"#
    }

    private static func file(_ features: [String], more: String = "") -> String {
        #"{"type":"FeatureCollection",\#(more)"features":[\#(features.joined(separator: ",\n"))]}"#
    }

    private static let square = feature(#""kind":"outline""#, "Polygon", "[[[0,0],[20,0],[20,10],[0,10],[0,0]]]")

    private func read(
        _ text: String, _ options: FloorImport.Options = .init()
    ) -> (draft: SiteDraft?, problems: [String]) {
        let (draft, problems) = FloorImport.read(Array(text.utf8), into: SiteDraft(name: "hall"), options)
        return (draft, problems.map(\.description))
    }

    /// Returns the draft, and checks that it is a valid site file.
    private func drawn(_ text: String, _ options: FloorImport.Options = .init()) throws -> SiteDraft {
        let (draft, problems) = read(text, options)
        let found = try #require(draft, "\(problems)")
        let (site, faults) = Site.decode(Array(found.text.utf8))
        #expect(site != nil, "\(faults)")
        return found
    }

    @Test func takesEveryKindOfPartAndGeometry() throws {
        let draft = try drawn(
            Self.file([
                Self.feature(#""kind":"wall","attenuationDb":9"#, "LineString", "[[5,0,3],[5,5,3],[8,5,3]]"),
                Self.square,
                Self.feature(#""Layer":"A-WALL-GLASS""#, "MultiLineString", "[[[1,1],[2,1]],[[3,1],[4,1]]]"),
                Self.feature(#""layer":"Trennwände","Material":"Gipskarton""#, "LineString", "[[9,1],[9,2]]"),
                Self.feature(#""layer":"Räume","name":"shop""#, "Polygon", "[[[0,0],[9,0],[9,9],[0,9],[0,0]]]"),
                Self.feature(
                    #""kind":"Room""#, "MultiPolygon", "[[[[10,0],[19,0],[19,9],[10,0]]],[[[1,9.5],[2,9.5],[2,9.9]]]]"),
                Self.feature(#""kind":"beacon","name":"door""#, "Point", "[1,2]"),
                Self.feature(#""kind":"beacons""#, "MultiPoint", "[[3,2],[4,2,9]]"),
                Self.feature(#""kind":"Empfänger","id":7"#, "Point", "[8,8]"),
                Self.feature(#""kind":"mount""#, "Polygon", "[[[1,1],[3,1],[3,2],[1,2],[1,1]]]"),
                Self.feature(#""kind":"Laufweg","speedMps":"0,8 m/s","name":"tour""#, "LineString", "[[1,1],[9,1]]"),
                #"{"type":"Feature","properties":{"kind":"path"},"geometry":{"type":"GeometryCollection","geometries":["#
                    + #"{"type":"LineString","coordinates":[[1,1],[2,2]]},{"type":"LineString","coordinates":[[3,1],[2,2]]}]}}"#,
                #"{"type":"Feature","properties":{"kind":"room"},"geometry":null}"#,
            ]))
        #expect(draft.outline.count == 4 && draft.outline[2] == FloorPosition(x: 20, y: 10))
        #expect(draft.walls.map(\.attenuation) == [9, 2, 2, 3])
        #expect(draft.walls[0].points.count == 3)
        #expect(draft.rooms.map(\.name) == ["shop", "room-2", "room-3"])
        #expect(draft.beacons.map(\.name) == ["door", "beacon-2", "beacon-3"])
        #expect(draft.beacons[2].position == FloorPosition(x: 4, y: 2))
        #expect(draft.receivers == [.init(name: "7", position: .init(x: 8, y: 8))])
        #expect(draft.mounts == [.init(x: 2, y: 1.5)])
        #expect(draft.paths.map(\.name) == ["tour", "path-2", "path-3"] && draft.paths[0].speed == 0.8)
    }

    @Test("a wall drawn as an area is crossed twice, with half the loss per crossing")
    func wallDrawnAsAnAreaHasHalfTheLossPerCrossing() throws {
        let area = Self.feature(
            #""kind":"wall","material":"concrete""#, "Polygon", "[[[5,0],[5.2,0],[5.2,9],[5,9],[5,0]]]")
        let draft = try drawn(Self.file([Self.square, area]))
        #expect(draft.walls.map(\.attenuation) == [6] && draft.walls[0].points.count == 5)
        let site = try #require(Site.decode(Array(draft.text.utf8)).site)
        let index = WallIndex(site.walls)
        #expect(index.attenuation(from: .init(x: 1, y: 5), to: .init(x: 10, y: 5)) == 12)
    }

    @Test("the last corner of an open ring is joined to the first")
    func closesOpenRings() throws {
        for (type, coordinates) in [
            ("Polygon", "[[[0,0],[20,0],[20,10],[0,10]]]"), ("LineString", "[[0,0],[20,0],[20,10],[0,10]]"),
            ("LineString", "[[0,0],[20,0],[20,0],[20,10],[0,10],[0,0]]"),
        ] {
            let draft = try drawn(Self.file([Self.feature(#""kind":"outline""#, type, coordinates)]))
            #expect(draft.outline.map(\.x) == [0, 20, 20, 0], "\(type)")
        }
    }

    @Test func nameOfTheFileIsTheLayerOfItsFeatures() throws {
        let text = Self.file([Self.feature("", "LineString", "[[0,0],[4,0]]")], more: #""name":"Waende","#)
        #expect(try drawn(text).walls.map(\.attenuation) == [6])
    }

    @Test(arguments: [
        (
            #"[[[0,0],[9,9],[9,0],[0,9],[0,0]]]"#,
            "features[0].geometry.coordinates[0]: the outline crosses or touches itself"
        ),
        (#"[[[0,0],[9,9],[0,0]]]"#, "features[0].geometry.coordinates[0]: an outline has at least three corners"),
        (#"[[[0,0],[9,9],["a",0],[0,9]]]"#, "features[0].geometry.coordinates[0][2][0]: a number is expected"),
        (#"[[[0,0],[9],[1,0],[0,9]]]"#, "features[0].geometry.coordinates[0][1]: a position such as [3.5, 12]"),
        (
            #"[[[0,0],[1e400,0],[1,0],[0,9]]]"#,
            "features[0].geometry.coordinates[0][1]: the numbers of a position are too"
        ),
        ("7", "features[0].geometry.coordinates: a list of rings is expected, not a number"),
    ])
    func reportsPositionsOfWrongRings(coordinates: String, message: String) {
        let (draft, problems) = read(Self.file([Self.feature(#""kind":"outline""#, "Polygon", coordinates)]))
        #expect(draft == nil && problems.count == 1 && problems[0].contains(message), "\(problems)")
    }

    @Test func refusesRoomsOutsideTheOutlineInAnyOrder() {
        let room = Self.feature(#""kind":"room","name":"annex""#, "Polygon", "[[[15,0],[25,0],[25,5],[15,5],[15,0]]]")
        for features in [[room, Self.square], [Self.square, room]] {
            let (draft, problems) = read(Self.file(features))
            #expect(draft == nil && problems.count == 1, "\(problems)")
            #expect(problems[0].contains("the room \"annex\" has a corner outside the outline, at [25, 0]"))
        }
        // Small errors of a drawing are accepted.
        let touching = Self.feature(#""kind":"room""#, "Polygon", "[[[15,0],[20.05,0],[20.05,5],[15,5],[15,0]]]")
        #expect(read(Self.file([Self.square, touching])).draft != nil)
    }

    @Test(arguments: [
        (#""kind":"room""#, "Point", "[1,1]", "a room is an area or a line around it, not a point"),
        (#""kind":"wall""#, "Point", "[1,1]", "a wall is a line or an area, not a point"),
        (#""kind":"path""#, "LineString", "[[1,1]]", "a path has at least two points"),
        (#""kind":"wall","attenuationDb":200"#, "LineString", "[[1,1],[2,2]]", "\"200\" is not a number in 0...100 dB"),
        (#""kind":"wall","attenuationDb":"thick""#, "LineString", "[[1,1],[2,2]]", "\"thick\" is not a number in"),
        (#""kind":"wall""#, "Circle", "[1,1]", "\"Circle\" is not a geometry of GeoJSON"),
        (#""kind":"outline""#, "Polygon", "[[[0,0],[9,0],[9,9]]]", "this is a second outline"),
    ])
    func reportsWrongParts(properties: String, type: String, coordinates: String, message: String) {
        let (draft, problems) = read(Self.file([Self.square, Self.feature(properties, type, coordinates)]))
        #expect(draft == nil && problems.contains { $0.contains(message) }, "\(problems)")
    }

    @Test func refusesTwoBeaconsWithOneName() {
        let beacon = Self.feature(#""kind":"beacon","name":"door""#, "Point", "[1,2]")
        let (draft, problems) = read(Self.file([beacon, beacon]))
        #expect(
            draft == nil
                && problems[0].contains("features[1].properties.name: \"door\" is also the name of another beacon"))
    }

    @Test func warnsAboutPartsThatAreLeftOut() throws {
        let dimension = Self.feature(#""Layer":"DIM""#, "LineString", "[[1,1],[2,1]]")
        let holed = Self.feature(#""kind":"room""#, "Polygon", "[[[0,0],[9,0],[9,9],[0,9]],[[1,1],[2,1],[2,2]]]")
        let wall = Self.feature(#""kind":"wall""#, "LineString", "[[1,1],[2,1]]")
        let (draft, problems) = read(Self.file([Self.square, dimension, dimension, holed, wall]))
        #expect(draft?.walls.count == 1 && draft?.rooms.count == 1)
        #expect(problems.count == 3 && problems.allSatisfy { $0.contains("warning: ") }, "\(problems)")
        #expect(
            problems.contains {
                $0.contains("left out 2 features without a known kind, of the layers \"DIM\"; the kinds")
            })
        #expect(problems.contains { $0.contains("left out 1 hole of areas") })
        #expect(problems.contains { $0.contains("1 wall names neither a loss nor a material, so 6 dB counts") })
        let (none, faults) = read(Self.file([dimension]))
        #expect(none == nil && faults.contains { $0.contains("path, not \"DIM\"") }, "\(faults)")
    }

    @Test(arguments: [
        ("  0\r\nSECTION\r\n", "this is a DXF drawing, not GeoJSON; convert it: ogr2ogr"),
        ("AC1032\0", "a DWG drawing"),
        ("[]", "an object is expected"), ("{}", "the key \"type\" is missing"), ("{", "1:2"),
        (#"{"type":"Polygon","coordinates":[]}"#, "a \"Polygon\" has no property"),
        (#"{"type":"FeatureCollection","features":[5]}"#, "a feature is expected"),
        (#"{"version":1,"name":"x","outline":[]}"#, "this is a site file, not GeoJSON"),
    ])
    func reportsFilesOfOtherKinds(text: String, message: String) {
        let (draft, problems) = read(text)
        #expect(draft == nil && problems.contains { $0.contains(message) }, "\(problems)")
    }
}

/// The units and coordinate systems of drawings.
@Suite struct DrawingScaleTests {
    private func read(
        _ corners: [(Double, Double)], crs: String? = nil, _ change: (inout FloorImport.Options) -> Void = { _ in }
    ) -> (draft: SiteDraft?, problems: [String]) {
        let ring = corners.map { "[\($0.0),\($0.1)]" }.joined(separator: ",")
        let system = crs.map { #""crs":{"type":"name","properties":{"name":"\#($0)"}},"# } ?? ""
        let text =
            #"{"type":"FeatureCollection",\#(system)"features":[{"type":"Feature","properties":{"kind":"outline"},"#
            + #""geometry":{"type":"Polygon","coordinates":[[\#(ring)]]}}]}"#
        var options = FloorImport.Options()
        change(&options)
        let (draft, problems) = FloorImport.read(Array(text.utf8), into: SiteDraft(name: "x"), options)
        return (draft, problems.map(\.description))
    }

    private static let metres = [(0.0, 0.0), (48, 0), (48, 30), (0, 30)]
    /// About 68 m × 111 m in Berlin.
    private static let degrees = [(13.377, 52.516), (13.378, 52.516), (13.378, 52.517), (13.377, 52.517)]

    @Test(arguments: [nil, "urn:ogc:def:crs:EPSG::25833", "EPSG:4978", "local"])
    func lengthsAreMetres(crs: String?) {
        #expect(read(Self.metres, crs: crs).draft?.outline.map(\.x) == [0, 48, 48, 0])
    }

    @Test func appliesUnitsAndOrigins() {
        let found = read(Self.metres.map { ($0.0 * 1000 + 5000, $0.1 * 1000) }) { options in
            options.metersPerUnit = 0.001
            options.origin = FloorPosition(x: 5, y: 0)
        }
        #expect(found.draft?.outline.map(\.x) == [0, 48, 48, 0] && found.problems.isEmpty)
        // If a unit is given, small numbers are not degrees.
        let small = read(Self.metres.map { ($0.0 / 1000, $0.1 / 1000) }) { $0.metersPerUnit = 1000 }
        #expect(small.draft?.outline.map(\.x) == [0, 48, 48, 0])
    }

    @Test(
        "coordinates in degrees need a reference, whether declared or recognized by their extent",
        arguments: [nil, "urn:ogc:def:crs:OGC:1.3:CRS84", "EPSG:4326"])
    func degreesNeedAReference(crs: String?) throws {
        let (none, problems) = read(Self.degrees, crs: crs)
        #expect(none == nil && problems.count == 1)
        #expect(
            problems[0].contains(
                "the coordinates are degrees: give the place that becomes the origin, such as --reference 13.377,52.516"
            ))
        let (draft, faults) = read(Self.degrees, crs: crs) { $0.reference = (13.377, 52.516) }
        let corners = try #require(draft, "\(faults)").outline
        // Lengths of 0.001° at 52.516° north on WGS 84: 67.878 m and 111.276 m.
        #expect(corners[0] == FloorPosition(x: 0, y: 0))
        #expect(abs(corners[1].x - 67.878) < 0.02 && abs(corners[1].y) < 0.001)
        #expect(abs(corners[2].y - 111.276) < 0.02)
        // Meridians come closer to each other in the north.
        #expect(corners[2].x < corners[1].x)
    }

    @Test func tangentPlaneHasTheLengthsOfDegrees() throws {
        let plane = try #require(TangentPlane(longitude: 0, latitude: 0))
        // At the equator a degree is 111.3195 km to the east and 110.5743 km to the north.
        let east = try #require(plane.position(longitude: 0.001, latitude: 0))
        let north = try #require(plane.position(longitude: 0, latitude: 0.001))
        #expect(abs(east.x - 111.3195) < 0.0001 && abs(east.y) < 1e-6)
        #expect(abs(north.y - 110.5743) < 0.0001 && abs(north.x) < 1e-6)
        #expect(TangentPlane(longitude: 181, latitude: 0) == nil && plane.position(longitude: 0, latitude: 91) == nil)
        // The plane also works across the date line.
        let edge = try #require(TangentPlane(longitude: 180, latitude: 10)?.position(longitude: -179.999, latitude: 10))
        #expect(abs(edge.x - 109.64) < 0.01)
    }

    @Test func reportsWrongSystemsAndReferences() {
        func problem(
            _ corners: [(Double, Double)], crs: String? = nil, _ change: (inout FloorImport.Options) -> Void = { _ in }
        ) -> String {
            let (draft, problems) = read(corners, crs: crs, change)
            #expect(draft == nil && problems.count == 1, "\(problems)")
            return problems.first ?? ""
        }
        #expect(
            problem(Self.metres, crs: "EPSG:3857").contains(
                "stretches lengths: convert the file to degrees with `ogr2ogr"))
        #expect(
            problem(Self.metres) { $0.reference = (1, 2) }.contains("are lengths, not degrees: leave out --reference"))
        #expect(
            problem(Self.degrees) { $0.origin = .init(x: 1, y: 2) }.contains(
                "use --reference LON,LAT instead of --origin"))
        #expect(problem(Self.degrees) { $0.reference = (8, 47) }.contains("more than 100000 m from the reference"))
        #expect(
            problem(Self.metres, crs: "EPSG:4326") { $0.reference = (8, 47) }.contains("100000 m from the reference"))
        #expect(
            problem([(200, 0), (201, 0), (201, 1)], crs: "EPSG:4326") { $0.reference = (8, 47) }
                .contains("this is not a longitude and a latitude"))
        let far = Self.metres.map { ($0.0 + 390_000.5, $0.1 + 5_820_000) }
        #expect(problem(far, crs: "EPSG:25833").contains("move the origin with --origin 390000,5820000"))
        #expect(problem(Self.metres.map { ($0.0 * 10_000, $0.1) }).contains("such as --unit mm"))
        let long = read(Self.metres.map { ($0.0 * 1000, $0.1 * 1000) })
        #expect(
            long.draft != nil
                && long.problems.contains { $0.contains("if the drawing is in millimetres, use --unit mm") })
    }
}
