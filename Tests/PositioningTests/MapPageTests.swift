import Airtime
import Configuration
import Planner
import PositioningWorlds
import Sites
import Testing

@testable import Positioning

@Suite struct MapPageTests {
    /// The tests share one fit, because a fit takes seconds in a debug build.
    private static let fitted = Result {
        try AlgorithmChoice(SimulatedBuilding(seed: 3).survey, candidates: [.field]).map
    }

    /// The map that was fitted to the survey of a simulated building.
    static func map() throws -> SignalMap { try fitted.get() }

    static func site(name: String = "b1") throws -> Site {
        let text = """
            {"version": 1, "name": "hall", "outline": [[0, 0], [18, 0], [18, 6], [0, 6]],
             "walls": [{"from": [6, 0], "to": [6, 5], "attenuationDb": 6}],
             "beacons": [{"name": "\(name)", "position": [2, 2]}, {"name": "b2", "position": [16, 4]}],
             "target": {"detectWithinS": 10, "probability": 0.9}}
            """
        return try #require(Site.decode(Array(text.utf8)).site)
    }

    @Test(arguments: [MapScript.text, MapStyle.text]) func nothingInItEndsItsElement(text: String) {
        for word in ["</", "<!--", "\u{FFFD}"] { #expect(!text.contains(word)) }
    }

    @Test func pageHoldsAllItNeeds() throws {
        let map = try Self.map()
        let html = try MapPage(MapAnalysis(map, cellLimit: 150), command: "pharos map show map.json", site: Self.site())
            .html
        #expect(html.utf8.count < 500_000)
        #expect(html.contains("Content-Security-Policy") && html.contains(MapScript.text))
        #expect(!html.contains("http://") && !html.contains("https://"))
        for word in [
            "Expected error", "Beacons received", "beacon-9", "P27", "Improvements that help most", "residual",
        ] {
            #expect(html.contains(word), "\(word)")
        }
    }

    @Test("the picture of a site is drawn behind the field")
    func picturesAreDrawn() throws {
        var site = try Self.site()
        let header: [UInt8] =
            [0x89] + Array("PNG\r\n".utf8) + [0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8) + [0, 0, 0, 9, 0, 0, 0, 3]
        let place = JSONNode(.null, at: JSONPosition(line: 1, column: 1), path: .root)
        site.picture = .init(
            file: "b.png", width: 18, position: .init(x: 0, y: 0), node: place, image: try PictureFile(header))
        let analysis = try MapAnalysis(try Self.map(), cellLimit: 50)
        let layer = try #require(MapLayer(.beacon(1), of: analysis))
        for text in [
            MapPage(analysis, command: "c", site: site).html,
            MapDrawing(analysis, layer: layer, title: "t", site: site).svg,
        ] {
            let image = try #require(text.firstRange(of: "<image class=\"floorPicture\""))
            let field = try #require(text.firstRange(of: "class=\"overPicture\" clip-path"))
            #expect(image.lowerBound < field.lowerBound)
            #expect(text.contains("href=\"data:image/png;base64,iVBORw0KGgo"))
        }
        let plain = MapPage(analysis, command: "c", site: try Self.site()).html
        #expect(!plain.contains("<image") && !plain.contains("class=\"overPicture\""))
    }

    @Test(arguments: ["<script>alert(1)</script>", "\"><img src=x>", "a\u{202E}b", String(repeating: "x", count: 250)])
    func namesAreOnlyNames(name: String) throws {
        let quoted = JSONValue.string(name).line.dropFirst().dropLast()
        var map = try SignalMap(site: Self.site(name: String(quoted)))
        map.sources = [.init(name: name, sha256: "00")]
        let analysis = try MapAnalysis(map, cellLimit: 50)
        for text in [
            MapPage(analysis, command: "pharos map show \(name)").html,
            try MapDrawing(analysis, layer: #require(MapLayer(.beacon(0), of: analysis)), title: name).svg,
        ] {
            #expect(!text.contains("<script>alert") && !text.contains("<img"))
            #expect(!text.contains("\u{202E}"))
        }
        let layer = try #require(MapLayer(.beacon(1), of: analysis))
        #expect(!MapHeatMap(analysis, layer: layer).text.contains("\u{202E}"))
    }

    @Test func heatMapShowsTheFloor() throws {
        let analysis = try MapAnalysis(Self.map(), cellLimit: 150)
        let layer = try #require(MapLayer(.heard, of: analysis))
        let text = MapHeatMap(analysis, layer: layer, width: 40, isPlain: true).text
        let lines = text.split(separator: "\n")
        #expect(lines.allSatisfy { $0.count <= 80 } && lines.count > 3)
        #expect(lines[1...].prefix(4).allSatisfy { $0.count <= 40 })
        #expect(text.contains("o") && text.allSatisfy(\.isASCII))
        // Three rows of nine places.
        #expect(lines.dropFirst().dropLast().joined().filter { $0 == "o" }.count >= 18)
    }

    @Test func shadesGoFromGoodToBad() {
        let error = FloorShades(of: [1, 2, 3, 9], isHigherBetter: false)
        #expect(error.shade(1) == 0 && error.shade(9) == 7 && error.shade(5.1) == 4)
        let heard = FloorShades(of: [0, 3, 12], isHigherBetter: true, target: 4)
        #expect(heard.shade(12) == 0 && heard.shade(4) == 3 && heard.shade(3) == 4 && heard.shade(0) == 7)
        #expect(FloorShades(of: [], isHigherBetter: true).bounds.count == 9)
        #expect(FloorShades.levels.shade(-30) == 0 && FloorShades.levels.shade(-120) == 7)
        #expect(error.names(unit: "m").count == 8)
    }

    @Test func mapWithoutPositionsHasTablesOnly() throws {
        var survey = Survey()
        let beacon = try #require(BeaconKey("b").flatMap { survey.number(of: $0) })
        for place in ["A", "B"] {
            survey.begin(Survey.Stay(number: 1, place: place))
            survey.append(SignalVector(seconds: 0, readings: [.init(beacon: beacon, level: -60)]))
        }
        let analysis = try MapAnalysis(SignalMap(survey))
        #expect(MapLayer(.heard, of: analysis) == nil)
        let html = MapPage(analysis, command: "").html
        #expect(html.contains("<caption>Places</caption>") && !html.contains("<form"))
        let json = MapSummary(analysis).json
        #expect(json.line.contains("\"stepM\":null") && json.line.contains("\"takenFor\":[{\"place\":\"B\""))
    }

    @Test func largeMapHasASmallPage() throws {
        var survey = Survey()
        let numbers = (0..<60).compactMap { number in BeaconKey("beacon-\(number)").flatMap { survey.number(of: $0) } }
        for place in 0..<400 {
            survey.begin(
                Survey.Stay(
                    number: place, place: "place \(place)",
                    position: .init(x: Double(place % 20) * 3, y: Double(place / 20) * 3)
                ))
            for second in 0..<2 {
                survey.append(
                    SignalVector(
                        seconds: Double(second),
                        readings: numbers.map { .init(beacon: $0, level: -60 - Double((place + $0) % 30)) }))
            }
        }
        let analysis = try MapAnalysis(SignalMap(survey), cellLimit: 300)
        #expect(MapPage(analysis, command: "").html.utf8.count < 500_000)
    }
}
