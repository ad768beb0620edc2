import Testing

@testable import Planner

@Suite struct MarkerLayoutTests {
    private static let width = 600.0

    /// The part of the width that a name takes.
    private static func span(_ marker: (x: Double, letters: Int), _ place: MarkerLayout.Place) -> ClosedRange<Double> {
        let reach = Double(marker.letters) * 12.5 + 6
        return place.isLeft ? marker.x - reach...marker.x : marker.x...marker.x + reach
    }

    @Test func noLineCrossesTheNameOfAnotherMarker() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<500 {
            let markers = (0..<3).map { _ in
                (x: Double.random(in: 92...586, using: &random), letters: Int.random(in: 6...11, using: &random))
            }
            let places = MarkerLayout.places(markers, width: Self.width)
            #expect(Set(places.map(\.row)) == [0, 1, 2])
            for (index, place) in places.enumerated() {
                let span = Self.span(markers[index], place)
                #expect(span.lowerBound >= 0 && (span.upperBound <= Self.width || place.isLeft), "\(markers)")
                for (other, line) in zip(markers, places) where line.row < place.row {
                    let isCrossed = other.x > span.lowerBound && other.x < span.upperBound
                    #expect(!isCrossed, "\(markers) \(places)")
                }
            }
        }
    }

    @Test func namesStandToTheRightIfTheyFit() {
        let places = MarkerLayout.places([(x: 300, letters: 10), (x: 100, letters: 10)], width: Self.width)
        #expect(places == [.init(row: 1, isLeft: false), .init(row: 0, isLeft: false)])
        #expect(MarkerLayout.places([(x: 590, letters: 10)], width: Self.width) == [.init(row: 0, isLeft: true)])
        #expect(MarkerLayout.places([], width: Self.width) == [])
    }
}

@Suite struct PageTextTests {
    @Test(arguments: [
        ("within 15 s in 95 % of the cases", "within 15\u{A0}s in 95\u{A0}% of the cases"),
        ("at 1.4 m/s, 3 m", "at 1.4\u{A0}m/s, 3\u{A0}m"), ("room 5 means 3 beacons", "room 5 means 3 beacons"),
        ("use `pharos map show` for it", "use <code>pharos map show</code> for it"), ("a ` alone", "a ` alone"),
        ("`<b>`", "<code>&lt;b&gt;</code>"),
    ])
    func sentencesKeepNumbersWithUnitsAndShowCode(raw: String, markup: String) {
        #expect(HTMLEscaping.sentence(raw) == markup)
    }

    @Test func wordsAreSetToTheLeftAndRowsAreColoured() {
        let table = HTML.table(
            caption: "c", header: ["name", "state", "n"], rows: [["a", "silent", "3"], ["b", "ok", "–"]],
            marks: [.bad])
        #expect(table.contains("<tr class=\"bad\"><th scope=\"row\">a</th><td class=\"words\">silent</td><td>3</td>"))
        #expect(table.contains("<tr><th scope=\"row\">b</th>"))
    }

    @Test func keepsTextsWholeIfDrawingsAreTooLarge() throws {
        var content = try SamplePage.content()
        let remark = String(repeating: "found within 10 s at the entrance ", count: 8)
        content.figures = (0..<40).map { .init("spot \($0)", "1", remark: remark) }
        content.floorPlan?.spots = (0..<40_000).map { number in
            let (x, y, value) = (Double(number % 200), Double(number / 200), Double(number % 97))
            return .init(.init(x, y), value)
        }
        let html = PlanPage(content).html
        #expect(html.utf8.count < 500_000)
        #expect(html.contains("spot 39") && html.components(of: "at the entrance ") >= 40 * 7)
    }
}

extension String {
    /// The number of times that a text occurs.
    fileprivate func components(of text: String) -> Int { ranges(of: text).count }
}
