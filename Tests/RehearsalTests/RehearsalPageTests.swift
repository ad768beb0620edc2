import Airtime
import Rehearsal
import TestSupport
import Testing

@Suite struct RehearsalPageTests {
    private static var html: String { RehearsalPage(.sample).html }

    /// The text of the element with an id.
    private func text(_ id: String, _ html: String) -> String? {
        guard let start = html.firstRange(of: "id=\"\(id)\"") else { return nil }
        return html[start.upperBound...].drop { $0 != ">" }.dropFirst().prefix { $0 != "<" }.description
    }

    @Test func isWellFormed() throws {
        let reader = try MarkupReader(Self.html)
        #expect(reader.problems == [])
        #expect(
            reader.identifiers.isSuperset(of: ["stage", "air", "controls", "time", "speed", "next", "filters", "data"]))
    }

    @Test func needsNoNetwork() {
        let html = Self.html
        #expect(html.contains("Content-Security-Policy") && html.contains("default-src 'none'"))
        // The page contains no address at all, not even the name of an XML namespace.
        #expect(!html.contains("http://") && !html.contains("https://"))
        #expect(!html.contains("src=") && !html.contains("@import") && !html.contains("url("))
    }

    @Test func numbersAreThoseOfTheReport() {
        let html = Self.html
        #expect(text("holding", html) == "2" && text("broken", html) == "1" && text("unjudged", html) == "1")
        #expect(text("beaconCount", html) == "3" && text("faultsFound", html) == "1 of 1")
        for cell in [
            "at most 4.1\u{A0}s", "3588\u{A0}s", "255.1 ± 0.2\u{A0}ms", "97.5 ± 1.1\u{A0}%", "at least 90\u{A0}%",
            "14117",
        ] {
            #expect(html.contains(">\(cell)<"), "\(cell)")
        }
    }

    @Test func brokenPromisesComeFirst() throws {
        let html = Self.html
        let order = try ["Promises that do not hold: 1", "Promises that cannot be judged: 1", "Promises that hold: 2"]
            .map {
                try #require(html.firstRange(of: $0)).lowerBound
            }
        #expect(order == order.sorted())
        // The promises that hold are in a collapsed section.
        #expect(html[..<order[2]].hasSuffix("<details class=\"data\"><summary>"))
    }

    @Test func beaconsHaveTheColourOfTheirVerdict() throws {
        let circles = try MarkupReader(Self.html).tags.filter { $0.hasPrefix("<circle") && $0.contains("disc") }
        #expect(
            circles.map { MarkupReader.attribute("class", of: $0) } == ["disc holds", "disc broken", "disc unjudged"])
        #expect(Self.html.contains("<title>hall-desk: does not hold</title>"))
        #expect(Self.html.contains("<title>hall-entrance: holds, detected in time in 97.5 %</title>"))
    }

    @Test(arguments: ["<script>alert(1)</script>", "</script><img src=x>", "a\u{202E}b", "\" onload=\"x", "a&b'"])
    func namesAreOnlyNames(name: String) throws {
        var report = RehearsalReport.sample
        report.fleet = name
        report.file = name
        report.replay = name
        report.scanners = name
        report.beacons[1].name = name
        report.faults[0].subject = name
        report.faults[0].kind = name
        report.promises[0].subject = name
        report.promises[0].reason = name
        report.notes = [name]
        report.playback?.changes[0].text = name
        report.playback?.phones[0].scanner = name
        let html = RehearsalPage(report).html
        #expect(try MarkupReader(html).problems == [])
        for word in ["<script>alert", "<img", "\u{202E}", "\" onload=\"x"] { #expect(!html.contains(word), "\(word)") }
    }

    @Test func pageWithoutPositionsHasTablesOnly() throws {
        var report = RehearsalReport.sample
        for index in report.beacons.indices { report.beacons[index].position = nil }
        let html = RehearsalPage(report).html
        #expect(try MarkupReader(html).problems == [])
        #expect(!html.contains("id=\"stage\"") && html.contains("Promises that do not hold: 1"))
    }

    @Test func pageWithoutPlaybackShowsTheFloor() throws {
        var report = RehearsalReport.sample
        report.playback = nil
        let html = RehearsalPage(report).html
        #expect(try MarkupReader(html).problems == [])
        #expect(html.contains("id=\"drawing\"") && !html.contains("<canvas") && html.contains("\"play\":null"))
    }

    @Test func emptyReportShowsASentence() throws {
        let report = RehearsalReport(
            version: "1", file: "f", fleet: "f", seeds: [], hours: 0, phones: 0, scanners: "", site: nil, beacons: [],
            replay: "")
        let html = RehearsalPage(report).html
        #expect(try MarkupReader(html).problems == [])
        #expect(html.contains("The rehearsal has no promises to compare."))
    }

    @Test func playbackEndsAtTheEventLimit() throws {
        var report = RehearsalReport.sample
        var events = RehearsalPlayback.Events()
        for number in 0..<200_100 {
            events.milliseconds.append(Double(number) / 100)
            events.beacons.append(number % 3)
            events.received.append(1)
            events.collided.append(0)
        }
        report.playback?.events = events
        let html = RehearsalPage(report).html
        #expect(html.contains("The page plays the first 200000 of 200100 advertising events, until 00:00:02."))
        #expect(html.contains("\"from\":0.0,\"to\":2000.0,"))
    }

    @Test func pageContainsNoInvalidNumbers() throws {
        var report = RehearsalReport.sample
        report.promises[0].measured = .nan
        report.promises[0].expected = .infinity
        report.beacons[0].position = FloorPosition(x: .nan, y: 1)
        report.playback?.phones[0].track[0].position = FloorPosition(x: .infinity, y: 1)
        let html = RehearsalPage(report).html
        #expect(try MarkupReader(html).problems == [])
        // Only the text between the styles and the scripts, because words in these may contain the letters.
        let body = try #require(html.firstRange(of: "<body>")).upperBound
        let text = html[body..<(try #require(html.firstRange(of: "<script"))).lowerBound]
        #expect(!text.contains("nan"))
        #expect(!text.contains("inf"))
    }
}
