/// A part of the page that answers again when a control moves: controls, numbers, pictures, and what the script starts
/// from.
protocol ControlledSection {
    /// Which part of the script answers.
    static var kind: String { get }
    var panel: ControlPanel { get }
    /// The numbers that follow the controls, as markup.
    var tiles: String { get }
    /// The pictures that follow the controls, as markup.
    var figures: String { get }
    /// What no control moves.
    var settings: [(String, PageData)] { get }
    /// What the lists of the panel hold, by the id of the list.
    var lists: [(String, PageData)] { get }
    /// The geometry of the pictures.
    var plots: [(String, PageData)] { get }
}

extension ControlledSection {
    var html: String {
        "<section class=\"explorer\" aria-labelledby=\"explorerTitle\"><h2 id=\"explorerTitle\">What if</h2>\n"
            + "<p class=\"hint\">Move a control: the numbers and pictures of this part are computed again, here in the "
            + "page. The headline and the command above stay as they were asked.</p>\n" + panel.html
            + "<p id=\"sentence\" role=\"status\" aria-live=\"polite\"></p>\n" + tiles
            + "<div class=\"pair\">\(figures)</div></section>\n"
    }

    var data: PageData {
        .object(
            [
                ("kind", .text(Self.kind)), ("settings", .object(settings)), ("lists", .object(lists)),
                ("plots", .object(plots)),
            ] + panel.data)
    }
}

extension ControlPanel.Slider {
    static func beacons(_ count: Int) -> Self {
        .init(
            id: "beacons", label: "Beacons in range", value: Double(count), range: 1...100_000, reach: 1...5000,
            isLogarithmic: true)
    }

    static func interval(_ milliseconds: Double) -> Self {
        .init(
            id: "intervalMs", label: "Advertising interval (ms)", value: milliseconds, range: ExplorerFigures.intervals,
            reach: ExplorerFigures.intervals, isLogarithmic: true, step: .interval)
    }

    static func payload(_ octets: Int) -> Self {
        .init(id: "payloadOctets", label: "Payload (octets)", value: Double(octets), range: 0...31, reach: 0...31)
    }
}

extension ControlPanel.Choice {
    /// A list whose values are its names.
    init(id: String, label: String, names: [String], chosen: String) {
        self.init(id: id, label: label, options: names.map { ($0, $0) }, chosen: chosen)
    }
}

extension [PlanPageContent.Scanner] {
    /// Names shortened alike in the list and in the data.
    func shortened(_ limits: PageLimits) -> [PlanPageContent.Scanner] {
        prefix(limits.scanners).map { .init(HTMLEscaping.shortened($0.name, to: 80), $0.pattern) }
    }
}
