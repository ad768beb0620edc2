import Testing

@testable import Planner

@Suite struct TextChartTests {
    private static let curve = PlanPageContent.Curve(
        title: "t", x: .init("interval", unit: "ms"), y: .init("share"),
        series: [
            .init("up", (0...50).map { .init(Double($0), Double($0)) }),
            .init("down", (0...50).map { .init(Double($0), 50 - Double($0)) }),
        ], markers: [.init("best", x: 25)])

    @Test(arguments: [24, 40, 72, 120], [true, false])
    func noLineIsWiderThanTheChart(width: Int, isPlain: Bool) {
        let chart = TextChart(width: width, isPlain: isPlain)
        let long = String(repeating: "long ", count: 50)
        let texts = [
            chart.curve(Self.curve),
            chart.curve(.init(title: long, x: .init(long), y: .init(long), series: [], markers: [.init(long, x: 1)])),
        ]
        for text in texts {
            for line in text.split(separator: "\n") { #expect(line.count <= width, "\(line)") }
        }
    }

    @Test func curvesRiseAndFall() {
        let lines = TextChart(width: 40, isPlain: true).curve(Self.curve, height: 8).split(separator: "\n")
        #expect(lines.count == 1 + 8 + 2 + 4)
        let top = lines[1]
        let bottom = lines[8]
        #expect(top.firstIndex(of: "o") ?? top.endIndex < top.firstIndex(of: "*") ?? top.startIndex)
        #expect(bottom.firstIndex(of: "*") ?? bottom.endIndex < bottom.firstIndex(of: "o") ?? bottom.startIndex)
        #expect(lines.last == ": best 25")
    }

    /// The points from 20 to 30 have no value, so the line has a gap there.
    @Test func drawsNothingWhereValuesAreMissing() {
        var curve = Self.curve
        curve.series = [.init("a", (0...50).map { .init(Double($0), (20...30).contains($0) ? .nan : 10) })]
        curve.markers = []
        curve.gapMeaning = "not within 60 s"
        let lines = TextChart(width: 60, isPlain: true).curve(curve, height: 8).split(separator: "\n")
        let row = lines.first { $0.contains("*") } ?? ""
        #expect(row.contains("*" + String(repeating: " ", count: 11) + "*") || row.contains(/\* {8,}\*/))
        #expect(lines.last == "an interrupted line means: not within 60 s")
    }

    @Test(arguments: [true, false])
    func legendNamesEachLine(isPlain: Bool) {
        let text = TextChart(width: 60, isPlain: isPlain).curve(Self.curve, height: 8)
        #expect(text.contains(isPlain ? "* up\no down" : "lines from the top: up, down"))
        let colored = TextChart(width: 60, isPlain: isPlain, isColored: true).curve(Self.curve, height: 8)
        #expect(colored.contains("\u{1B}[36m\(isPlain ? "*" : "━━")\u{1B}[0m cyan: up"))
        let bare = colored.replacing(/\u{1B}\[[0-9]+m/, with: "")
        for line in bare.split(separator: "\n") { #expect(line.count <= 60) }
        // The lines of the frame differ only in colour.
        #expect(bare.split(separator: "\n").prefix(10) == text.split(separator: "\n").prefix(10))
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, 1e308, -1e308, 0])
    func chartContainsNoInvalidNumbers(value: Double) {
        for isPlain in [true, false] {
            let chart = TextChart(isPlain: isPlain)
            var curve = Self.curve
            curve.series[0].points[10].y = value
            curve.series[0].points[20].x = value
            curve.markers = [.init("m", x: value)]
            for isLogarithmic in [true, false] {
                curve.x.isLogarithmic = isLogarithmic
                curve.y.isLogarithmic = isLogarithmic
                #expect(!chart.curve(curve).contains("nan"))
            }
        }
    }

    @Test func removesControlCharactersFromNames() {
        var curve = Self.curve
        curve.x.name = "\u{1B}[31mred\n\u{7}"
        let chart = TextChart()
        let text = chart.curve(curve)
        #expect(!text.contains("\u{1B}"))
        #expect(!text.contains("\u{7}"))
        #expect(text.split(separator: "\n").count == chart.curve(Self.curve).split(separator: "\n").count)
    }
}
