/// A floor whose colours follow the wanted time and share.
struct SiteSection: ControlledSection {
    let plan: PlanPageContent.FloorPlan
    let goal: PlanPageContent.FloorPlan.Goal
    let limits: PageLimits

    static let kind = "site"

    private var figure: FloorPlanFigure { FloorPlanFigure(plan: plan, limits: limits) }

    var panel: ControlPanel {
        let ends = (goal.times.first ?? goal.seconds)...max(goal.times.last ?? goal.seconds, goal.seconds)
        return ControlPanel(sliders: [
            .init(
                id: "detectWithinS", label: "Found within (s)", value: goal.seconds, range: ends, reach: ends,
                isLogarithmic: true, step: .multiple(0.01)),
            .init(
                id: "probability", label: "In this share of cases", value: goal.probability, range: 0.01...0.9999,
                reach: min(0.5, goal.probability)...max(0.99, goal.probability), step: .multiple(0.01)),
        ])
    }

    var tiles: String {
        let shares = plan.spots.map { $0.value.map { $0 / 100 } }
        let holding = shares.count { $0 ?? 0 >= goal.probability }
        let share = shares.isEmpty ? nil : Double(holding) / Double(shares.count)
        let weakest = shares.map { $0 ?? 0 }.min()
        return ControlPanel.tiles(
            [
                .init("holdingShare", "Target reached at, of the places", NumberText.percent(share), share),
                .init("weakestShare", "Found in time at the weakest place", NumberText.percent(weakest), weakest),
            ], class: "seen")
    }

    var figures: String { figure.html }

    var settings: [(String, PageData)] { [] }
    var lists: [(String, PageData)] { [] }

    var plots: [(String, PageData)] {
        let frame = FloorPlanFigure.Frame(of: plan)
        let cells = FloorPlanCells(plan, limit: limits.spots)
        let spots = cells.kept
        let numbers = Dictionary(uniqueKeysWithValues: spots.enumerated().map { ($0.element, $0.offset) })
        let pieces = cells.pieces.compactMap { piece -> PageData? in
            guard let spot = numbers[piece.spot] else { return nil }
            return numberList(figure.rectangle(piece, frame).map { rounded($0, 100) } + [Double(spot)])
        }
        let places = spots.map { spot -> PageData in
            let place = frame.place(plan.spots[spot].position)
            return numberList([rounded(place.x, 100), rounded(place.y, 100)])
        }
        // Down to a ten-thousandth, so that what just misses a target is not rounded up to it.
        let shares = spots.map { spot -> PageData in
            let isHeard = plan.spots[spot].value != nil && goal.shares.indices.contains(spot)
            return numberList(isHeard ? goal.shares[spot].map { ($0 * 10_000 + 1e-6).rounded(.down) } : [])
        }
        return [
            (
                "floor",
                .object([
                    ("times", numberList(goal.times)), ("pieces", .list(pieces)), ("places", .list(places)),
                    ("shares", .list(shares)),
                    (
                        "squares",
                        .list(
                            cells.squares.map { corners in
                                .list(corners.map { .number(numbers[$0].map { Double($0) }) })
                            })
                    ),
                ])
            )
        ]
    }

    private func numberList(_ numbers: [Double]) -> PageData { .list(numbers.map { .number($0) }) }

    private func rounded(_ value: Double, _ scale: Double) -> Double { (value * scale).rounded() / scale }
}
