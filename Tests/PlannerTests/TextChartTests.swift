import Testing

@testable import Planner

@Suite struct TextChartTests {
    private static let curve = PlanPageContent.Curve(
        title: "t", x: .init("interval", unit: "ms"), y: .init("share"),
        series: [
            .init("up", (0...50).map { .init(Double($0), Double($0)) }),
            .init("down", (0...50).map { .init(Double($0), 50 - Double($0)) }),
        ], markers: [.init("best", x: 25)])

    @Test func barsAreAsLongAsTheirValues() {
        let text = TextChart(width: 30, isPlain: true).bars([("a", 10, "10"), ("bb", 5, "5"), ("c", 0, "0")])
        #expect(
            text == """
                a  | ###################### 10
                bb | ###########             5
                c  |                         0

                """)
    }

    @Test func barsEndInEighthsOfACell() {
        let text = TextChart(width: 24).bars([("a", 16, ""), ("b", 1, "")])
        #expect(text.split(separator: "\n")[1].contains("█▏") || text.split(separator: "\n")[1].contains("▏"))
        #expect(!text.contains("#"))
    }

    @Test(arguments: [24, 40, 72, 120], [true, false])
    func nothingIsWiderThanAsked(width: Int, isPlain: Bool) {
        let chart = TextChart(width: width, isPlain: isPlain)
        let long = String(repeating: "long ", count: 50)
        let texts = [
            chart.curve(Self.curve), chart.bars([(long, 1, long), ("b", .nan, "–")]),
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

    /// Twenty columns in the middle have no value, so nothing may be drawn there.
    @Test func gapsAreGaps() {
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
    func linesAreToldApartInWords(isPlain: Bool) {
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
    func whatIsNoNumberLeavesAGap(value: Double) {
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
            #expect(!chart.bars([("a", value, "")]).contains("nan"))
            #expect(!chart.heat(columns: ["a"], rows: [("r", [(value, false)])]).contains("nan"))
        }
    }

    @Test func heatRowsHoldValuesShadesAndMarks() {
        let text = TextChart(width: 40, isPlain: true).heat(
            columns: ["30/300", "20/600"],
            rows: [("100", [(1, false), (100, true)]), ("1285", [(nil, false), (10, false)])])
        #expect(
            text == """
                             30/300         20/600
                 100            . 1         # 100*
                1285              -           + 10

                """)
    }

    @Test func namesKeepNoControlCharacters() {
        let text = TextChart().bars([("\u{1B}[31mred\n", 1, "\u{7}")])
        #expect(!text.contains("\u{1B}") && !text.contains("\u{7}"))
        #expect(text.split(separator: "\n").count == 1)
    }
}
