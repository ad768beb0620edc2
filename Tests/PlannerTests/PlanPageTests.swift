import Airtime
import TestSupport
import Testing

@testable import Planner

@Suite struct PlanPageTests {
    /// A hostile name, which must never become markup in the page.
    private static let hostile = "\"><script>alert('x')</script><img src=x onerror=alert(1)>&lt;"

    private func hostilePage() throws -> String {
        let name = Self.hostile
        var content = try SamplePage.content()
        content.title = name
        content.answer = name
        content.command = name
        content.figures = [.init(name, name, unit: name, remark: name)]
        content.notes = [name]
        content.explorer?.scanners.append(.init(name, .continuous))
        content.explorer?.scannerName = name
        content.latencies?.rows[0].name = name
        content.latencies?.caption = name
        content.heatMap?.title = name
        content.heatMap?.scanModes[0] = name
        content.heatMap?.unit = name
        content.floorPlan?.title = name
        content.floorPlan?.beacons[0].name = name
        content.floorPlan?.weakSpots[0].remark = name
        content.curves[0].title = name
        content.curves[0].series[0].name = name
        content.curves[0].markers[0].name = name
        content.curves[0].x.name = name
        return PlanPage(content).html
    }

    @Test func namesFromOutsideNeverBecomeMarkup() throws {
        let html = try hostilePage()
        #expect(!html.contains("<script>alert"))
        #expect(!html.contains("<img"))
        #expect(html.contains("&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)"))
        #expect(html.contains(#"\u0022\u003e\u003cscript\u003ealert"#))
        #expect(try MarkupReader(html).problems == [])
    }

    @Test func tagsAreClosedAndIdentifiersAreUnique() throws {
        let reader = try MarkupReader(PlanPage(SamplePage.content()).html)
        #expect(reader.problems == [])
        #expect(reader.identifiers.isSuperset(of: ["collisionFreeProbability", "latencyP50", "heatMap", "floorPlan"]))
    }

    @Test func everyDrawingHasANameAndEveryControlALabel() throws {
        let reader = try MarkupReader(PlanPage(SamplePage.content()).html)
        #expect(reader.tags.filter { $0.hasPrefix("<svg") }.allSatisfy { $0.contains("aria-") })
        for control in reader.tags where control.hasPrefix("<input") || control.hasPrefix("<select") {
            let id = MarkupReader.attribute("id", of: control) ?? ""
            #expect(control.contains("aria-label=") || reader.tags.contains("<label for=\"\(id)\">"), "\(control)")
        }
    }

    @Test func pageNeedsNoOtherFiles() throws {
        let html = try PlanPage(SamplePage.content()).html
        for word in ["http:", "https:", "//www", "@import", "url(", "src=\"", "<link rel=\"stylesheet\"", "style=\""] {
            #expect(!html.contains(word), "\(word)")
        }
        #expect(html.contains("default-src 'none'"))
    }

    @Test func emptyContentMakesAWellFormedPage() throws {
        let html = PlanPage(PlanPageContent(title: "", answer: "", command: "")).html
        #expect(try MarkupReader(html).problems == [])
        #expect(!html.contains("<script"))
    }

    @Test(arguments: [
        Double.nan, .infinity, -.infinity, 0, -1, 1e308, .leastNonzeroMagnitude, .greatestFiniteMagnitude,
    ])
    func drawsNoInvalidNumbers(value: Double) throws {
        var content = try SamplePage.content()
        content.explorer?.intervalMs = value
        content.explorer?.captureDecibels = value
        content.explorer?.backgroundLoad = value
        content.explorer?.numbers.latencyP50 = value
        content.explorer?.numbers.bestLatencyIntervalMs = value
        content.explorer?.discovered = [.init(value, 0.5), .init(1, value)]
        content.latencies?.rows[0].p50 = value
        content.latencies?.rows[0].discovered = [.init(value, value), .init(1, value), .init(value, 0.5)]
        content.heatMap?.cells[0][0].value = value
        content.heatMap?.intervalsMs[0] = value
        content.curves[0].series = [.init("a", [.init(value, value), .init(value, 1), .init(1, value)])]
        content.curves[0].markers = [.init("m", x: value)]
        content.floorPlan?.outline = [.init(value, 0), .init(1, value)]
        content.floorPlan?.spots = [.init(.init(value, value), value), .init(.init(1, 1), value)]
        content.floorPlan?.walls = [.init(from: .init(0, 0), to: .init(value, 1), attenuation: value)]
        content.floorPlan?.beacons = [.init("b", at: .init(value, value))]
        content.floorPlan?.spotSpacing = value
        for isLogarithmic in [false, true] {
            content.curves[0].x.isLogarithmic = isLogarithmic
            content.curves[0].y.isLogarithmic = isLogarithmic
            let reader = try MarkupReader(PlanPage(content).html)
            #expect(reader.problems == [])
            let spoiled = reader.tags.filter { $0.contains(/\b-?(nan|inf)\b/.ignoresCase()) }
            #expect(spoiled.map { $0.prefix(200) } == [])
        }
    }

    @Test func extremeCountsMakeAWellFormedPage() throws {
        var content = try SamplePage.content()
        for beacons in [Int.max, 0, -5, Int.min] {
            content.explorer?.beacons = beacons
            content.explorer?.payloadOctets = beacons
            #expect(try MarkupReader(PlanPage(content).html).problems == [])
        }
    }

    @Test func thePageStaysUnder500Kilobytes() throws {
        var content = try SamplePage.content()
        let long = String(repeating: "&", count: 20_000) + "e" + String(repeating: "\u{301}", count: 20_000)
        content.answer = long
        content.notes = Array(repeating: long, count: 3)
        content.figures = Array(repeating: .init(long, "1"), count: 500)
        content.explorer?.scanners = Array(repeating: .init(long, .continuous), count: 200)
        let points = (0..<20_000).map { PlanPageContent.Point(Double($0) + 0.123, Double($0 % 977) + 0.456) }
        content.curves = Array(
            repeating: .init(
                title: long, x: .init(long), y: .init(long),
                series: Array(repeating: .init(long, points), count: 8),
                markers: Array(repeating: .init(long, x: 5), count: 9)), count: 20)
        content.floorPlan?.spots = points.map { .init(.init($0.x / 60, $0.y / 3), $0.y) }
        content.floorPlan?.beacons = points.map { .init(long, at: $0) }
        content.floorPlan?.walls = points.map { .init(from: $0, to: .init($0.y, $0.x), attenuation: 3) }
        content.heatMap?.intervalsMs = points.map(\.x)
        content.heatMap?.cells = points.map { _ in Array(repeating: .init(1.25), count: 100) }
        content.heatMap?.scanModes = Array(repeating: long, count: 100)
        let html = PlanPage(content).html
        #expect(html.utf8.count < 500_000, "\(html.utf8.count)")
        #expect(try MarkupReader(html).problems == [])
    }

    @Test func anOrdinaryPageIsSmall() throws {
        let size = try PlanPage(SamplePage.content()).html.utf8.count
        #expect((40_000..<250_000).contains(size), "\(size)")
    }

    @Test func theSameContentMakesTheSamePage() throws {
        #expect(try PlanPage(SamplePage.content()).html == PlanPage(SamplePage.content()).html)
    }

    private static func questions() throws -> [(String, PlanPageContent)] {
        var pages: [(String, PlanPageContent)] = []
        for kind in ["battery", "walk", "density"] {
            var content = PlanPageContent(title: kind, answer: "answer", command: "pharos plan")
            switch kind {
            case "battery": content.battery = try SamplePage.battery
            case "walk": content.walk = try SamplePage.walk
            default: content.density = try SamplePage.density
            }
            pages.append((kind, content))
        }
        return pages
    }

    @Test func everyQuestionHasPicturesControlsAndNumbers() throws {
        for (kind, content) in try Self.questions() {
            let html = PlanPage(content).html
            let reader = try MarkupReader(html)
            #expect(reader.problems == [])
            #expect(reader.tags.count { $0.hasPrefix("<svg") } == 3, "\(kind)")
            #expect(reader.identifiers.isSuperset(of: ["controls", "sentence", "reset", "intervalMs", "plan"]))
            #expect(html.contains(#""kind":"\#(kind)""#))
            #expect(html.contains("Answer of the command below"))
        }
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, 0, -1, 1e308])
    func questionPagesDrawNoInvalidNumbers(value: Double) throws {
        for (_, page) in try Self.questions() {
            var content = page
            content.battery?.intervalMs = value
            content.walk?.fleet.intervalMs = value
            content.walk?.probabilitySeen = value
            content.density?.gridSpacingM = value
            content.density?.rangeM = value
            content.density?.probability = value
            content.density?.shares = [.init(value, 0.5), .init(1, value)]
            let reader = try MarkupReader(PlanPage(content).html)
            #expect(reader.problems == [])
            #expect(reader.tags.filter { $0.contains(/\b-?(nan|inf)\b/.ignoresCase()) } == [])
        }
    }

    @Test func linesAreInterruptedAtMissingValues() throws {
        var content = PlanPageContent(title: "t", answer: "a", command: "c")
        content.decidingCurve = .init(
            title: "curve", x: .init("x"), y: .init("y", unit: "s"),
            series: [.init("a", [.init(1, 1), .init(2, 2), .init(3, .nan), .init(4, 4), .init(5, .nan), .init(6, 6)])],
            gapMeaning: "not within 60 s")
        content.decidingCurve?.wanted = 3
        let html = PlanPage(content).html
        let line = try MarkupReader(html).tags.first { $0.hasPrefix("<path class=\"line s0\"") } ?? ""
        let path = MarkupReader.attribute("d", of: line) ?? ""
        #expect(path.count { $0 == "M" } == 3 && path.count { $0 == "L" } == 1)
        // A single value between two gaps is a dot.
        #expect(path.hasSuffix("h0"))
        #expect(html.contains("An interrupted line means: not within 60\u{A0}s."))
        #expect(html.contains("target: 3 s"))
    }
}
