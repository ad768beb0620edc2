internal import Airtime
internal import BluetoothTypes

/// The floor from above: values as colored squares, walls, beacons, paths, and the weakest places.
package struct FloorPlanFigure {
    let plan: PlanPageContent.FloorPlan
    let limits: PageLimits

    /// The number of beacons above which beacons are drawn as dots without names.
    private static let namedBeacons = 300
    /// The number of beacons up to which names are drawn next to the beacons.
    private static let labelledBeacons = 60

    var html: String {
        let frame = Frame(of: plan)
        let shades = FloorPlanShades(plan)
        var drawing = SVG(width: Frame.width, height: frame.height)
        frame.draw(plan.picture, in: &drawing)
        if plan.picture != nil { drawing.beginGroup(class: "overPicture") }
        drawSpots(in: &drawing, frame, shades)
        if plan.picture != nil { drawing.endGroup() }
        drawing.path(SVGPath(line: plan.outline.map(frame.place), isClosed: true), class: "outline")
        for path in plan.paths.prefix(100) {
            drawing.path(SVGPath(line: path.points.prefix(500).map(frame.place)), class: "way")
        }
        frame.draw(CurveFigure.thinned(plan.walls, to: limits.walls), in: &drawing)
        if let target = plan.target {
            drawing.path(
                FloorPlanCells(plan, limit: limits.spots).contour(at: target, frame), class: "contour", id: "contour")
        }
        drawBeacons(in: &drawing, frame)
        for (index, spot) in plan.weakSpots.prefix(limits.weakSpots).enumerated() {
            let place = frame.place(spot.position)
            drawing.circle(place.x, place.y, radius: 11, class: "weak")
            drawing.text(String(index + 1), place.x, place.y + 5, anchor: .middle, class: "weakName")
        }
        frame.drawRule(in: &drawing)
        return HTML.figure(
            id: "floorPlan", title: plan.title, drawing: drawing.element(label: label), caption: caption,
            table: table, legend: legend(shades))
    }

    private func drawBeacons(in drawing: inout SVG, _ frame: Frame) {
        guard plan.beacons.count > Self.namedBeacons else {
            for beacon in plan.beacons {
                let place = frame.place(beacon.position)
                drawing.circle(
                    place.x, place.y, radius: 5, class: beacon.isProposed ? "beacon proposed" : "beacon",
                    title: HTMLEscaping.shortened(beacon.name, to: 40))
            }
            drawNames(in: &drawing, frame)
            return
        }
        var existing = SVGPath()
        var proposed = SVGPath()
        for beacon in CurveFigure.thinned(plan.beacons, to: limits.beacons) {
            if beacon.isProposed {
                proposed.addDot(frame.place(beacon.position))
            } else {
                existing.addDot(frame.place(beacon.position))
            }
        }
        drawing.path(existing, class: "dots")
        drawing.path(proposed, class: "dots proposed")
    }

    /// Draws the names of beacons next to them if there is room. The title of each circle contains the name even if
    /// there is no room.
    private func drawNames(in drawing: inout SVG, _ frame: Frame) {
        guard plan.beacons.count <= Self.labelledBeacons else { return }
        frame.drawNames(
            plan.beacons.map { (text: $0.name, position: $0.position) },
            avoiding: plan.beacons.map { (position: $0.position, radius: 6) }
                + plan.weakSpots.prefix(limits.weakSpots).map { (position: $0.position, radius: 12) }, in: &drawing)
    }

    private func drawSpots(in drawing: inout SVG, _ frame: Frame, _ shades: FloorPlanShades) {
        let cells = FloorPlanCells(plan, limit: limits.spots)
        var paths = [SVGPath](repeating: SVGPath(), count: FloorShades.count)
        var silent = SVGPath()
        for cell in cells.pieces {
            let part = rectangle(cell, frame)
            if let value = cell.value {
                paths[shades.shade(value)].addRectangle(part[0], part[1], part[2], part[3])
            } else {
                silent.addRectangle(part[0], part[1], part[2], part[3])
            }
        }
        for (index, path) in paths.enumerated() {
            drawing.path(path, class: "f\(index)", id: plan.goal == nil ? "" : "shade\(index)")
        }
        drawing.path(silent, class: "silent")
    }

    /// Returns the left edge, top edge, width and height of a cell in the drawing.
    func rectangle(_ cell: FloorPlanCells.Piece, _ frame: Frame) -> [Double] {
        let place = frame.place(.init(cell.x, cell.y))
        // A cell is drawn slightly larger, so that there is no gap between two cells.
        let (width, height) = (cell.width * frame.scale + 0.3, cell.height * frame.scale + 0.3)
        return [place.x, place.y - height, width, height]
    }

    private var caption: String {
        var caption = plan.caption
        if plan.spots.count > limits.spots {
            caption += " The drawing has \(limits.spots) of the \(plan.spots.count) computed places, evenly chosen."
        }
        if plan.beacons.count > limits.beacons {
            caption += " The drawing has \(limits.beacons) of the \(plan.beacons.count) beacons."
        }
        return caption
    }

    private var label: String {
        "\(plan.title): \(plan.valueName) at \(plan.spots.count) points, \(plan.beacons.count) beacons, "
            + "\(plan.walls.count) walls. The table below has the weakest places."
    }

    private func legend(_ shades: FloorPlanShades) -> String {
        var entries = shades.legend(isMoving: plan.goal != nil)
        if plan.spots.contains(where: { $0.value == nil }) { entries.append(.init("silent", "no beacon received")) }
        if let target = plan.target {
            entries.append(
                .init("contour", "target: \(NumberFormat.significant(target)) \(plan.unit)", id: "legendContour"))
        }
        entries.append(.init("beacon", "beacon"))
        if plan.beacons.contains(where: \.isProposed) { entries.append(.init("beacon proposed", "proposed beacon")) }
        if !plan.walls.isEmpty { entries.append(.init("wall", "wall: a wider line weakens more")) }
        if !plan.paths.isEmpty { entries.append(.init("way", "path")) }
        if !plan.weakSpots.isEmpty { entries.append(.init("weak", "weakest places (1 is the weakest)")) }
        return HTML.legend(entries)
    }

    private var table: String {
        guard !plan.weakSpots.isEmpty else { return "" }
        return HTML.table(
            caption: "Weakest places",
            header: ["place", "x (m)", "y (m)", "\(plan.valueName) (\(plan.unit))", "reason"],
            rows: plan.weakSpots.prefix(limits.weakSpots).enumerated().map { index, spot in
                [
                    String(index + 1), NumberFormat.fixed(spot.position.x, 1), NumberFormat.fixed(spot.position.y, 1),
                    NumberFormat.significant(spot.value), spot.remark,
                ]
            })
    }
}

extension FloorPlanFigure {
    /// The conversion from metres on the floor to units of the drawing.
    package struct Frame {
        package static let width = 600.0
        private static let margin = 16.0
        /// Room for the scale bar below the plan.
        private static let ruleHeight = 44.0

        /// The number of units of the drawing for one metre.
        package let scale: Double
        package let height: Double
        private let left: Double
        private let upper: Double
        private let offset: Double

        package init(of plan: PlanPageContent.FloorPlan) {
            let points =
                plan.outline + plan.walls.flatMap { [$0.from, $0.to] } + plan.beacons.map(\.position)
                + plan.spots.map(\.position) + plan.paths.flatMap(\.points)
            let xs = points.map(\.x).filter { abs($0) < 1e6 }
            let ys = points.map(\.y).filter { abs($0) < 1e6 }
            let wide = max(1, (xs.max() ?? 1) - (xs.min() ?? 0))
            let high = max(1, (ys.max() ?? 1) - (ys.min() ?? 0))
            left = xs.min() ?? 0
            upper = ys.max() ?? 0
            // A floor that is much higher than wide is drawn narrower.
            scale = min((Self.width - 2 * Self.margin) / wide, 760 / high)
            height = high * scale + 2 * Self.margin + Self.ruleHeight
            offset = (Self.width - wide * scale) / 2
        }

        /// Returns the position of a point in the drawing; NaN for a point that is too far away.
        package func place(_ point: PlanPageContent.Point) -> (x: Double, y: Double) {
            guard abs(point.x) < 1e6, abs(point.y) < 1e6 else { return (.nan, .nan) }
            return (offset + (point.x - left) * scale, Self.margin + (upper - point.y) * scale)
        }

        /// The size of names on the screen of a phone, as a multiple of the size in wide windows.
        private static let phoneScale = 1.55
        /// The size of small names, as a share of the ordinary size.
        private static let smallSize = 0.79

        /// Draws names next to their positions if there is room, in sizes for wide windows and for phones.
        /// - Parameter circles: The circles that no name may cover.
        package func drawNames(
            _ names: [(text: String, position: PlanPageContent.Point)],
            avoiding circles: [(position: PlanPageContent.Point, radius: Double)], in drawing: inout SVG
        ) {
            for (style, scale) in [("onWide", 1), ("onPhone", Self.phoneScale)] {
                var layout = LabelLayout(width: Self.width, height: height, scale: scale)
                for circle in circles { layout.block(place(circle.position), radius: circle.radius) }
                var unplaced = names
                // If there is no room for a name, a smaller size is tried.
                for (size, look) in [(1, style), (Self.smallSize, "\(style) small")] {
                    unplaced = unplaced.filter { name in
                        let text = HTMLEscaping.shortened(name.text, to: 24)
                        let spot = layout.place(text, beside: place(name.position), size: size)
                        guard let spot else { return true }
                        drawing.text(text, spot.x, spot.y, anchor: spot.anchor, class: "label beaconName \(look)")
                        return false
                    }
                }
            }
        }

        /// The widths of the lines of walls, from the weakest to the strongest walls.
        private static let wallWidths = [1.5, 2.5, 3.5, 5]

        /// Draws the walls. The lines of walls with a higher loss are wider, in steps of 5 dB. All walls with the same
        /// width are drawn as one path.
        package func draw(_ walls: [PlanPageContent.FloorPlan.Wall], in drawing: inout SVG) {
            var paths = Self.wallWidths.map { _ in SVGPath() }
            for wall in walls {
                let strength = wall.attenuation.isFinite ? max(0, min(19, wall.attenuation)) / 5 : 0
                paths[Int(strength)].addLine(from: place(wall.from), to: place(wall.to))
            }
            for (path, width) in zip(paths, Self.wallWidths) { drawing.path(path, class: "wall", strokeWidth: width) }
        }

        /// Draws a scale bar of a round length.
        package func drawRule(in drawing: inout SVG) {
            let rough = 120 / scale
            let power = pow(10, log10(rough).rounded(.down))
            let length = [5, 2, 1].map { $0 * power }.first { $0 <= rough } ?? power
            let (start, end, y) = (Self.margin, Self.margin + length * scale, height - 16)
            drawing.line(start, y, end, y, class: "rule")
            drawing.line(start, y - 5, start, y + 5, class: "rule")
            drawing.line(end, y - 5, end, y + 5, class: "rule")
            drawing.text(NumberFormat.significant(length) + " m", end + 8, y + 5, class: "tick")
        }
    }
}

/// Eight colours for values, from green for good values to red for bad values.
package struct FloorShades: Sendable {
    package static let count = 8

    /// The limits between the shades, from the best value to the worst: one more than the number of shades.
    package let bounds: [Double]
    package let isHigherBetter: Bool

    package init(bounds: [Double], isHigherBetter: Bool) {
        self.bounds = bounds
        self.isHigherBetter = isHigherBetter
    }

    /// Creates shades: half of them between the best value and the middle value, the other half between the middle
    /// value and the worst value.
    package init(best: Double, middle: Double, worst: Double, isHigherBetter: Bool) {
        let half = Double(Self.count / 2)
        let steps = [(best, middle), (middle, worst)].flatMap { first, last in
            (0..<Self.count / 2).map { first + (last - first) * Double($0) / half }
        }
        self.init(bounds: steps + [worst], isHigherBetter: isHigherBetter)
    }

    /// Returns the shade of a value: 0 for the best values, `count - 1` for the worst.
    package func shade(_ value: Double) -> Int {
        let worse = bounds.dropFirst().dropLast().prefix { isHigherBetter ? value < $0 : value > $0 }
        return worse.count
    }

    /// True for a shade without values.
    package func isEmpty(_ shade: Int) -> Bool { bounds[shade] == bounds[shade + 1] }

    /// Returns the range of values of a shade as text.
    package func range(_ shade: Int, unit: String) -> String {
        let ends = [bounds[shade], bounds[shade + 1]].sorted().map { NumberFormat.significant($0) }
        return "\(ends[0]) to \(ends[1]) \(unit)"
    }
}

/// The colours of the values on a floor plan. With a target, the colours change from good to bad at the target. Without
/// a target, they are spread evenly between the smallest and the largest value.
struct FloorPlanShades {
    private let shades: FloorShades
    private let unit: String
    private let isEmpty: Bool

    init(_ plan: PlanPageContent.FloorPlan) {
        let values = plan.spots.compactMap(\.value).filter(\.isFinite).map { max(-1e12, min(1e12, $0)) }
        unit = plan.unit
        isEmpty = values.isEmpty
        let (low, high) = (values.min() ?? 0, values.max() ?? 1)
        var (best, worst) = plan.isHigherBetter ? (high, low) : (low, high)
        var middle = (best + worst) / 2
        if let target = plan.target, target.isFinite {
            // Values that reach the target get the colours of good values, even if all values reach it.
            middle = target
            best = plan.isHigherBetter ? max(best, target) : min(best, target)
            worst = plan.isHigherBetter ? min(worst, target, 0) : max(worst, 2 * target)
        }
        shades = FloorShades(best: best, middle: middle, worst: worst, isHigherBetter: plan.isHigherBetter)
    }

    /// Returns the shade of a value: 0 for the best values, `FloorShades.count - 1` for the worst.
    func shade(_ value: Double) -> Int { shades.shade(value) }

    /// Returns one entry of the legend for each shade, with its range of values.
    ///
    /// - Parameter isMoving: True if a script changes the shades. The legend then also contains hidden entries for
    ///   shades without values.
    func legend(isMoving: Bool) -> [HTML.LegendEntry] {
        guard !isEmpty || isMoving else { return [] }
        return (0..<FloorShades.count).filter { isMoving || !shades.isEmpty($0) }.map {
            .init(
                "f\($0)", shades.range($0, unit: unit), id: isMoving ? "legendShade\($0)" : "",
                isHidden: shades.isEmpty($0))
        }
    }
}
