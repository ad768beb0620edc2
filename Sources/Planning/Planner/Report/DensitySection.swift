internal import Airtime
internal import BluetoothTypes

/// The part of the page about the number of beacons that may be in range of one receiver. It shows the share found in
/// time over the number of beacons, and a picture of the grid.
struct DensitySection: ControlledSection {
    let density: PlanPageContent.Density
    let limits: PageLimits

    static let kind = "density"
    private static let counts = 1.0...10_000.0

    private var scanners: [PlanPageContent.Scanner] { density.scanners.shortened(limits) }

    var panel: ControlPanel {
        ControlPanel(
            sliders: [
                .init(
                    id: "detectWithinS", label: "Found within (s)", value: density.detectWithinS, range: 0.01...3600,
                    sliderRange: 0.5...300, isLogarithmic: true, step: .multiple(0.5)),
                .probability(density.probability, sliderRange: 0.5...0.99),
                .init(
                    id: "rangeM", label: "Range of a beacon (m)", value: density.rangeM, range: 0.001...1_000_000,
                    sliderRange: 1...200, isLogarithmic: true, step: .multiple(0.5)),
                .interval(density.intervalMs), .payload(density.payloadOctets),
            ],
            choices: [
                .init(
                    id: "scanner", label: "Scanner", names: scanners.map(\.name),
                    chosen: HTMLEscaping.shortened(density.scannerName, to: 80))
            ])
    }

    var tiles: String {
        ControlPanel.tiles(
            [
                .init(
                    "beaconsInRange", "Beacons in range, at most", "\(density.beaconsInRange)",
                    Double(density.beaconsInRange)),
                .init(
                    "gridSpacingM", "Spacing of a square grid",
                    density.gridSpacingM.map { NumberFormat.significant($0) + " m" } ?? NumberFormat.none,
                    density.gridSpacingM),
            ], class: "seen", id: "latencyNumbers")
    }

    var figures: String { curve + picture }

    private var plot: PlotArea {
        PlotArea(
            height: 340, top: 40, x: { Scale(Self.counts, from: $0, to: $1, isLogarithmic: true) },
            y: { Scale(0...1, from: $0, to: $1, isLogarithmic: false) })
    }

    private var curve: String {
        var plot = plot
        plot.drawAxes(
            xName: "beacons in range", yName: "", xTicks: [1, 10, 100, 1000, 10_000], yTicks: [0, 0.25, 0.5, 0.75, 1],
            yText: { NumberFormat.percent($0) })
        let target = plot.places([.init(1, density.probability), .init(10_000, density.probability)])
        plot.drawPath(SVGPath(line: target), class: "target", id: "targetLine")
        plot.drawPath(SVGPath(line: plot.places(density.shares)), class: "line s0", id: "densityLine")
        plot.drawText(
            "target: \(NumberFormat.percent(density.probability))", PlotArea.left + 6, (target.first?.y ?? 0) + 19,
            class: "label target", id: "targetName")
        plot.drawMarker(
            "\(density.beaconsInRange) beacons", x: Double(max(1, min(10_000, density.beaconsInRange))), at: 26,
            class: "m0", id: "densityMarker")
        return HTML.figure(
            id: "densityCurve", title: "Found in time, over the number of beacons",
            drawing: plot.drawing.element(
                label: "Share of cases in which a beacon is found in time, over the beacons in range."),
            caption: "The largest possible number of beacons is where the line crosses the dashed line of the target.",
            table: density.shares.isEmpty
                ? ""
                : HTML.table(
                    caption: "Found in time, by the command", header: ["beacons", "share"],
                    rows: density.shares.map { [NumberFormat.significant($0.x), NumberFormat.percent($0.y)] }))
    }

    /// The center of the circle that shows the range. The script changes the positions of the beacons, not the size of
    /// the circle.
    private static let center = (x: 300.0, y: 172.0)
    private static let radius = 136.0

    private var picture: String {
        let (center, radius) = (Self.center, Self.radius)
        var drawing = SVG(width: PlotArea.width, height: 340)
        drawing.circle(center.x, center.y, radius: radius, class: "range")
        drawing.path(dots, class: "gridDots", id: "gridDots")
        drawing.circle(center.x, center.y, radius: 7, class: "receiver", title: "receiver")
        drawing.text(
            "range \(NumberFormat.significant(density.rangeM)) m", center.x, center.y - radius - 10, anchor: .middle,
            class: "label", id: "rangeName")
        drawing.text(
            density.gridSpacingM.map { NumberFormat.significant($0) + " m apart" } ?? "none", center.x,
            center.y + radius + 24, anchor: .middle, class: "label", id: "spacingName")
        return HTML.figure(
            id: "grid", title: "The grid around a receiver",
            drawing: drawing.element(label: "Beacons of a square grid within the range of a receiver."),
            caption: "From above. The receiver is next to the beacon in the middle.")
    }

    private var dots: SVGPath {
        var path = SVGPath()
        guard let spacing = density.gridSpacingM, spacing > 0, density.rangeM > 0 else { return path }
        let step = max(Self.radius * spacing / density.rangeM, Self.radius / 40)
        let dotsPerRadius = Int(min(40, Self.radius / step + 1e-9))
        for row in -dotsPerRadius...dotsPerRadius {
            for column in -dotsPerRadius...dotsPerRadius
            where Double(row * row + column * column).squareRoot() * step <= Self.radius {
                path.addDot((Self.center.x + Double(column) * step, Self.center.y + Double(row) * step))
            }
        }
        return path
    }

    var settings: [(String, PageData)] {
        [
            ("backgroundLoad", .number(0)), ("backgroundAirtimeMs", .number(0)), ("copySpacingMs", .number(1)),
        ]
    }

    var lists: [(String, PageData)] { [("scanner", .list(scanners.map(\.data)))] }

    var plots: [(String, PageData)] {
        [
            ("densityCurve", plot.data(samples: 2)),
            (
                "grid",
                .object([
                    ("centerX", .number(Self.center.x)), ("centerY", .number(Self.center.y)),
                    ("radius", .number(Self.radius)),
                ])
            ),
        ]
    }
}
