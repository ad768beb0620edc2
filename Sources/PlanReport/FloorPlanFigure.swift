/// The floor from above: values as colored squares, walls, beacons, the ways people walk, and the weakest places.
struct FloorPlanFigure {
    let plan: PlanPageContent.FloorPlan
    /// Of more than these an even part is drawn.
    let limits: PageLimits

    /// More beacons than that are dots without names.
    private static let namedBeacons = 300
    /// Walls are drawn in these widths.
    private static let wallWidths = [1.5, 2.5, 3.5, 5]

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
        drawWalls(in: &drawing, frame)
        drawBeacons(in: &drawing, frame)
        for (index, spot) in plan.weakSpots.prefix(limits.weakSpots).enumerated() {
            let place = frame.place(spot.position)
            drawing.circle(place.x, place.y, radius: 11, class: "weak")
            drawing.text(String(index + 1), place.x, place.y + 5, anchor: .middle, class: "weakName")
        }
        frame.drawRule(in: &drawing)
        return HTML.figure(
            id: "floorPlan", title: plan.title, drawing: drawing.element(label: label), caption: caption,
            table: table, legend: legend(scale, isEmpty: values.isEmpty))
    }

    /// One path for all walls of a width: a stronger wall is a wider one, in steps of 5 dB.
    private func drawWalls(in drawing: inout SVG, _ frame: Frame) {
        var paths = Self.wallWidths.map { _ in SVGPath() }
        for wall in CurveFigure.thinned(plan.walls, to: limits.walls) {
            let strength = wall.attenuation.isFinite ? max(0, min(19, wall.attenuation)) / 5 : 0
            paths[Int(strength)].addLine(from: frame.place(wall.from), to: frame.place(wall.to))
        }
        for (path, width) in zip(paths, Self.wallWidths) {
            drawing.path(path, class: "wall", strokeWidth: width)
        }
    }

    private func drawBeacons(in drawing: inout SVG, _ frame: Frame) {
        guard plan.beacons.count > Self.namedBeacons else {
            for beacon in plan.beacons {
                let place = frame.place(beacon.position)
                drawing.circle(
                    place.x, place.y, radius: 5, class: beacon.isProposed ? "beacon proposed" : "beacon",
                    title: HTMLEscaping.shortened(beacon.name, to: 40))
            }
            return
        }
        var there = SVGPath()
        var proposed = SVGPath()
        for beacon in CurveFigure.thinned(plan.beacons, to: limits.beacons) {
            if beacon.isProposed {
                proposed.addDot(frame.place(beacon.position))
            } else {
                there.addDot(frame.place(beacon.position))
            }
        }
        drawing.path(there, class: "dots")
        drawing.path(proposed, class: "dots proposed")
    }

    private func drawSpots(in drawing: inout SVG, _ frame: Frame, _ scale: Scale) {
        let kept = CurveFigure.thinned(plan.spots, to: limits.spots)
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
        guard plan.spots.count > limits.spots || plan.beacons.count > limits.beacons else { return plan.caption }
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
            rows: plan.weakSpots.prefix(limits.weakSpots).enumerated().map { index, spot in
                [
                    String(index + 1), NumberText.fixed(spot.position.x, 1), NumberText.fixed(spot.position.y, 1),
                    NumberText.significant(spot.value), HTMLEscaping.shortened(spot.remark, to: 200),
                ]
            })
    }
}
