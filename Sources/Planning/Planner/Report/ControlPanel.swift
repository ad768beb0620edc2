internal import BluetoothTypes

/// The controls of a page, and the numbers that the script computes from their values.
package struct ControlPanel {
    /// A field for a number, with a slider next to it.
    struct Slider {
        /// The values to which the control rounds.
        enum Step {
            /// Multiples of a number.
            case multiple(Double)
            /// Multiples of 0.625 ms, which controllers support.
            case interval
        }

        let id: String
        let label: String
        let value: Double
        /// The valid values of the field.
        let range: ClosedRange<Double>
        /// The range of the slider, a part of ``range``. The range of a logarithmic slider begins above 0.
        let sliderRange: ClosedRange<Double>
        var isLogarithmic = false
        var step = Step.multiple(1)
        /// True for a share between 0 and 1. The user may also type a percentage: values of 10 and more are read as
        /// percent.
        var isShare = false
        /// A sentence below the field; may be empty.
        var hint = ""

        /// The initial value as text, with only the digits that the control can set.
        var text: String {
            guard value.isFinite else { return "" }
            switch step {
            case .multiple(let size) where size < 1: return NumberFormat.significant(value, 4)
            case .multiple, .interval: return NumberFormat.significant(value, 9)
            }
        }
    }

    /// A list to choose from.
    struct Choice {
        let id: String
        let label: String
        /// The value and the name of each option.
        let options: [(value: String, name: String)]
        let chosen: String
    }

    /// A number that changes with the controls.
    package struct Tile {
        let id: String
        let name: String
        let shown: String
        let value: Double?
        var isHidden = false

        package init(_ id: String, _ name: String, _ shown: String, _ value: Double?, isHidden: Bool = false) {
            (self.id, self.name, self.shown, self.value, self.isHidden) = (id, name, shown, value, isHidden)
        }
    }

    var sliders: [Slider] = []
    var choices: [Choice] = []

    var html: String {
        "<form id=\"controls\" class=\"card controls\" autocomplete=\"off\">"
            + sliders.map(Self.field).joined() + choices.map(Self.list).joined()
            + "<div class=\"control\"><button type=\"reset\" id=\"reset\">Reset</button></div></form>\n"
            + "<noscript><p class=\"hint\">The controls need scripts. The numbers below are the program's own.</p>"
            + "</noscript>\n"
    }

    private static func field(_ slider: Slider) -> String {
        let step: String
        switch slider.step {
        case .multiple(let size) where size >= 1: step = NumberFormat.significant(size)
        case .multiple, .interval: step = "any"
        }
        let (low, high) = (slider.range.lowerBound, slider.range.upperBound * (slider.isShare ? 100 : 1))
        let hint = slider.hint.isEmpty ? "" : "<p class=\"fieldHint\">\(HTMLEscaping.sentence(slider.hint))</p>"
        return "<div class=\"control\"><label for=\"\(slider.id)\">\(slider.label)</label>"
            + "<input id=\"\(slider.id)\" type=\"number\" inputmode=\"decimal\" required "
            + "value=\"\(slider.text)\" "
            + "min=\"\(NumberFormat.significant(low, 9))\" max=\"\(NumberFormat.significant(high, 9))\" step=\"\(step)\" "
            + "aria-describedby=\"\(slider.id)Problem\">"
            + "<input id=\"\(slider.id)Slider\" type=\"range\" min=\"0\" max=\"1000\" value=\"0\" "
            + "aria-label=\"\(slider.label), slider\">\(hint)<p class=\"problem\" id=\"\(slider.id)Problem\" hidden></p></div>"
    }

    private static func list(_ choice: Choice) -> String {
        let options = choice.options.map { option in
            "<option value=\"\(HTMLEscaping.text(option.value))\"\(option.value == choice.chosen ? " selected" : "")>"
                + "\(HTMLEscaping.text(option.name))</option>"
        }
        return "<div class=\"control\"><label for=\"\(choice.id)\">\(choice.label)</label>"
            + "<select id=\"\(choice.id)\">\(options.joined())</select></div>"
    }

    /// Returns the markup of numbers side by side.
    package static func tiles(_ tiles: [Tile], class style: String = "", id: String = "") -> String {
        let items = tiles.map { tile in
            "<div\(tile.isHidden ? " hidden" : "")><dt>\(tile.name)</dt>"
                + "<dd>\(HTML.number(id: tile.id, shown: tile.shown, value: tile.value))</dd></div>"
        }
        let name = id.isEmpty ? "" : " id=\"\(id)\""
        return "<dl class=\"tiles\(style.isEmpty ? "" : " " + style)\"\(name)>\(items.joined())</dl>"
    }

    /// The sliders and lists for the script.
    var data: [(String, PageData)] {
        let ends = sliders.map { slider -> (String, PageData) in
            let step: PageData =
                switch slider.step {
                case .multiple(let size): .number(size)
                case .interval: .text("interval")
                }
            return (
                slider.id,
                .object([
                    ("low", .number(slider.sliderRange.lowerBound)), ("high", .number(slider.sliderRange.upperBound)),
                    ("isLogarithmic", .flag(slider.isLogarithmic)), ("step", step),
                    ("largestShare", .number(slider.isShare ? slider.range.upperBound : nil)),
                ])
            )
        }
        return [("sliders", .object(ends)), ("choices", .list(choices.map { .text($0.id) }))]
    }
}

/// A part of the page that the script computes again when a control moves: controls, numbers, pictures and data.
protocol ControlledSection {
    /// The name of the part of the script that computes this section.
    static var kind: String { get }
    var panel: ControlPanel { get }
    /// The numbers that change with the controls, as markup.
    var tiles: String { get }
    /// The pictures that change with the controls, as markup.
    var figures: String { get }
    /// The settings that have no control.
    var settings: [(String, PageData)] { get }
    /// The entries of the panel's lists, by the id of the list.
    var lists: [(String, PageData)] { get }
    /// The geometry of the pictures.
    var plots: [(String, PageData)] { get }
}

extension ControlledSection {
    var html: String {
        "<section class=\"explorer\" aria-labelledby=\"explorerTitle\"><h2 id=\"explorerTitle\">Try other "
            + "settings</h2>\n<p class=\"hint\">Move a control: the numbers and pictures of this part are computed "
            + "again, here in the page. The headline and the command above do not change. The address of the page "
            + "contains the settings, so a link to it shows them.</p>\n"
            + panel.html
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
            id: "beacons", label: "Beacons in range", value: Double(count), range: 1...100_000, sliderRange: 1...5000,
            isLogarithmic: true)
    }

    static func interval(_ milliseconds: Double) -> Self {
        .init(
            id: "intervalMs", label: "Advertising interval (ms)", value: milliseconds, range: ExplorerFigures.intervals,
            sliderRange: ExplorerFigures.intervals, isLogarithmic: true, step: .interval)
    }

    static func probability(_ share: Double, sliderRange: ClosedRange<Double>) -> Self {
        .init(
            id: "probability", label: "In this share of cases", value: share, range: 0.01...0.9999,
            sliderRange: sliderRange,
            step: .multiple(0.01), isShare: true)
    }

    static func payload(_ octets: Int) -> Self {
        .init(id: "payloadOctets", label: "Payload (bytes)", value: Double(octets), range: 0...31, sliderRange: 0...31)
    }
}

extension ControlPanel.Choice {
    /// Creates a list in which the value of each option is its name.
    init(id: String, label: String, names: [String], chosen: String) {
        self.init(id: id, label: label, options: names.map { ($0, $0) }, chosen: chosen)
    }
}

extension [PlanPageContent.Scanner] {
    /// Returns at most the allowed number of scanners, with shortened names. The list of the panel and the data for the
    /// script use the same names.
    func shortened(_ limits: PageLimits) -> [PlanPageContent.Scanner] {
        prefix(limits.scanners).map { .init(HTMLEscaping.shortened($0.name, to: 80), $0.pattern) }
    }
}
