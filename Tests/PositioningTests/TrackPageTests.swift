import Airtime
import PositioningWorlds
import Testing

@testable import Positioning

@Suite struct TrackPageTests {
    static func track(_ count: Int, session: String = "walk") throws -> LocatedTrack {
        var world = SimulatedBuilding(seed: 3)
        var map = try SignalMap(world.survey)
        map.settings = LocatorSettings(.gauss)
        var locator = try Locator(map)
        let test = world.test()
        let numbers = map.numbers(for: test)
        let answer = locator.locate(map.vector(0, of: test, numbers: numbers))
        var track = try LocatedTrack(map, site: MapPageTests.site())
        for second in 0..<count {
            track.add(
                .init(
                    session: session, seconds: Double(second % 1000), algorithm: .gauss, answer: answer,
                    truth: .init(position: FloorPosition(x: Double(second % 18), y: 2), floor: nil, place: nil)))
        }
        return track
    }

    @Test func longRunsStayUnderTheLimit() throws {
        let page = TrackPage(try Self.track(6000), command: "pharos locate map.json")
        #expect(page.html.utf8.count < 500_000)
        #expect(page.html.contains("6000 seconds") && page.html.contains("of 6000"))
        #expect(page.svg.hasPrefix("<svg") && page.svg.contains("class=\"track\""))
    }

    @Test func aRestartedRunIsDrawnAsAnotherLine() throws {
        let path = try #require(
            TrackPage(try Self.track(2000), command: "").svg.components(after: "class=\"track\""))
        #expect(path.filter { $0 == "M" }.count == 2)
    }

    @Test(arguments: ["<script>alert(1)</script>", "\"><img src=x>", "a\u{202E}b"])
    func namesAreOnlyNames(name: String) throws {
        let page = TrackPage(try Self.track(3, session: name), command: "pharos locate \(name)")
        for text in [page.html, page.svg] {
            #expect(!text.contains("<script>alert") && !text.contains("<img") && !text.contains("\u{202E}"))
        }
    }

    @Test func emptyRunShowsASentence() throws {
        let page = TrackPage(try Self.track(0), command: "")
        #expect(page.html.contains("This run has no seconds."))
    }
}

extension String {
    /// The data of the path that follows `mark`.
    fileprivate func components(after mark: String) -> String? {
        guard let place = firstRange(of: mark) else { return nil }
        return self[place.upperBound...].split(separator: "\"").dropFirst().first.map(String.init)
    }
}
