internal import Airtime

/// Intervals × scan modes as a colored table: it reads the same to the eye, to a screen reader and on paper.
struct HeatMapFigure {
    let map: PlanPageContent.HeatMap
    let limits: PageLimits

    /// Shades from calm to hot.
    static let shades = 8

    var html: String {
        let modes = map.scanModes.prefix(limits.heatColumns)
        let values = map.cells.flatMap { $0 }.compactMap(\.value).filter { $0.isFinite && $0 > 0 }
        let scale = Scale(of: values, from: 0, to: Double(Self.shades), isLogarithmic: true)
        let head = modes.map { "<th scope=\"col\"><span>\(text($0))</span></th>" }.joined()
        let body = zip(map.intervalsMs, map.cells).prefix(limits.heatRows).map { interval, cells in
            "<tr><th scope=\"row\">\(NumberText.significant(interval, 6))</th>"
                + cells.prefix(limits.heatColumns).map { cell($0, scale) }.joined() + "</tr>"
        }
        let table =
            "<div class=\"scroll\"><table class=\"heat\"><caption>\(text(map.valueName)) "
            + "(\(text(map.unit))) by advertising interval (ms) and scanner; "
            + "<span class=\"resonance\">◆</span> resonance with the scan interval; "
            + "– not reached within the horizon</caption><thead><tr><th scope=\"col\">ms</th>\(head)</tr></thead>"
            + "<tbody>\(body.joined())</tbody></table></div>"
        return HTML.figure(id: "heatMap", title: map.title, drawing: table, caption: map.caption)
    }

    private func text(_ raw: String) -> String { HTMLEscaping.text(HTMLEscaping.shortened(raw, to: 60)) }

    private func cell(_ cell: PlanPageContent.HeatMap.Cell, _ scale: Scale) -> String {
        let mark =
            cell.isResonant
            ? "<span class=\"resonance\" aria-hidden=\"true\">◆</span><span class=\"spoken\">, resonance</span>" : ""
        let style = cell.isResonant ? " resonant" : ""
        guard let value = cell.value, value.isFinite else {
            return "<td class=\"h\(Self.shades - 1)\(style)\"><span aria-hidden=\"true\">–</span>"
                + "<span class=\"spoken\">not reached within the horizon</span>\(mark)</td>"
        }
        return "<td class=\"h\(Self.shade(value, scale))\(style)\">\(NumberText.significant(value))\(mark)</td>"
    }

    /// The shade of a value on a scale from 0 to the number of shades.
    static func shade(_ value: Double, _ scale: Scale) -> Int {
        let place = scale(value)
        return place.isFinite ? min(shades - 1, max(0, Int(max(0, min(100, place))))) : 0
    }
}
