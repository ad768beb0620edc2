/// The floor from above: values as colored squares, walls, beacons, the ways people walk, and the weakest places.
struct FloorPlanFigure {
    let plan: PlanPageContent.FloorPlan

    /// What is drawn at most; of more an even part, so that the page stays small.
    private static let spots = 6000
    private static let beacons = 1500
    private static let walls = 3000
    private static let weakSpots = 24

    var html: String {
        let frame = Frame(of: plan)
        let values = plan.spots.compactMap(\.value).filter(\.isFinite)
        let low = values.min() ?? 0
        let high = values.max() ?? 0
        let scale = Scale(
            of: values, from: 0, to: Double(HeatMapFigure.shades), isLogarithmic: low > 0 && high > 20 * low)
        var drawing = SVG(width: Frame.width, height: frame.height)
        drawSpots(in: &drawing, frame, scale)
        drawing.path(SVGPath(line: plan.outline.map(frame.place), isClosed: true), class: "outline")
        for path in plan.paths.prefix(100) {
            drawing.path(SVGPath(line: path.points.prefix(500).map(frame.place)), class: "way")
        }
        for wall in CurveFigure.thinned(plan.walls, to: Self.walls) {
            let (from, to) = (frame.place(wall.from), frame.place(wall.to))
            let width = wall.attenuation.isFinite ? 1.5 + max(0, min(20, wall.attenuation)) / 6 : 1.5
            drawing.line(from.x, from.y, to.x, to.y, class: "wall", strokeWidth: width)
        }
        for beacon in CurveFigure.thinned(plan.beacons, to: Self.beacons) {
            let place = frame.place(beacon.position)
            drawing.circle(
                place.x, place.y, radius: plan.beacons.count > 300 ? 2 : 5,
                class: beacon.isProposed ? "beacon proposed" : "beacon",
                title: plan.beacons.count > 300 ? "" : HTMLEscaping.shortened(beacon.name, to: 60))
        }
        for (index, spot) in plan.weakSpots.prefix(Self.weakSpots).enumerated() {
            let place = frame.place(spot.position)
            drawing.circle(place.x, place.y, radius: 11, class: "weak")
            drawing.text(String(index + 1), place.x, place.y + 5, anchor: .middle, class: "weakName")
        }
        frame.drawRule(in: &drawing)
        return HTML.figure(
            id: "floorPlan", title: plan.title, drawing: drawing.element(label: label), caption: caption,
            table: table, legend: legend(scale, isEmpty: values.isEmpty))
    }

    private func drawSpots(in drawing: inout SVG, _ frame: Frame, _ scale: Scale) {
        let kept = CurveFigure.thinned(plan.spots, to: Self.spots)
        guard !kept.isEmpty else { return }
        // Where spots are left out the squares of the others cover their places.
        let growth = (Double(plan.spots.count) / Double(kept.count)).squareRoot()
        let side = max(1.5, plan.spotSpacing * frame.scale * growth + 0.3)
        var paths = [SVGPath](repeating: SVGPath(), count: HeatMapFigure.shades)
        var silent = SVGPath()
        for spot in kept {
            let place = frame.place(spot.position)
            guard let value = spot.value, value.isFinite else {
                silent.addSquare(place.x - side / 2, place.y - side / 2, side)
                continue
            }
            paths[shade(value, scale)].addSquare(place.x - side / 2, place.y - side / 2, side)
        }
        for (index, path) in paths.enumerated() { drawing.path(path, class: "h\(index)") }
        drawing.path(silent, class: "silent")
    }

    /// Hot is bad.
    private func shade(_ value: Double, _ scale: Scale) -> Int {
        let shade = HeatMapFigure.shade(value, scale)
        return plan.isHigherBetter ? HeatMapFigure.shades - 1 - shade : shade
    }

    private var caption: String {
        guard plan.spots.count > Self.spots || plan.beacons.count > Self.beacons else { return plan.caption }
        return "\(plan.caption) Drawn is an even part of the \(plan.spots.count) points and "
            + "\(plan.beacons.count) beacons."
    }

    private var label: String {
        "\(plan.title): \(plan.valueName) at \(plan.spots.count) points, \(plan.beacons.count) beacons, "
            + "\(plan.walls.count) walls. The weakest places stand in the table below."
    }

    private func legend(_ scale: Scale, isEmpty: Bool) -> String {
        var entries: [(swatch: String, name: String)] = []
        if !isEmpty {
            let bounds = [scale.domain.lowerBound, scale.domain.upperBound].map { NumberText.significant($0) }
            let ends = plan.isHigherBetter ? ("h7", "h0") : ("h0", "h7")
            entries = [(ends.0, "\(bounds[0]) \(plan.unit)"), (ends.1, "\(bounds[1]) \(plan.unit)")]
        }
        if plan.spots.contains(where: { $0.value == nil }) { entries.append(("silent", "nothing heard")) }
        entries.append(("beacon", "beacon"))
        if plan.beacons.contains(where: \.isProposed) { entries.append(("beacon proposed", "proposed beacon")) }
        return HTML.legend(entries)
    }

    private var table: String {
        guard !plan.weakSpots.isEmpty else { return "" }
        return HTML.table(
            caption: "The weakest places",
            header: ["place", "x (m)", "y (m)", "\(plan.valueName) (\(plan.unit))", "why"],
            rows: plan.weakSpots.prefix(Self.weakSpots).enumerated().map { index, spot in
                [
                    String(index + 1), NumberText.fixed(spot.position.x, 1), NumberText.fixed(spot.position.y, 1),
                    NumberText.significant(spot.value), HTMLEscaping.shortened(spot.remark, to: 200),
                ]
            })
    }
}
