internal import Airtime

extension FloorPlanFigure {
    /// From metres on the floor to units of the drawing.
    struct Frame {
        static let width = 600.0
        private static let margin = 16.0
        /// Room for the rule below the plan.
        private static let ruleHeight = 44.0

        /// Units of the drawing for one metre.
        let scale: Double
        let height: Double
        private let left: Double
        private let upper: Double
        private let offset: Double

        init(of plan: PlanPageContent.FloorPlan) {
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

        func place(_ point: PlanPageContent.Point) -> (x: Double, y: Double) {
            guard abs(point.x) < 1e6, abs(point.y) < 1e6 else { return (.nan, .nan) }
            return (offset + (point.x - left) * scale, Self.margin + (upper - point.y) * scale)
        }

        /// A rule of a round length.
        func drawRule(in drawing: inout SVG) {
            let rough = 120 / scale
            let power = pow(10, log10(rough).rounded(.down))
            let length = [5, 2, 1].map { $0 * power }.first { $0 <= rough } ?? power
            let (start, end, y) = (Self.margin, Self.margin + length * scale, height - 16)
            drawing.line(start, y, end, y, class: "rule")
            drawing.line(start, y - 5, start, y + 5, class: "rule")
            drawing.line(end, y - 5, end, y + 5, class: "rule")
            drawing.text(NumberText.significant(length) + " m", end + 8, y + 5, class: "tick")
        }
    }
}
