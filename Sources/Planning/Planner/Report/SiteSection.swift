internal import Airtime
internal import BluetoothTypes

/// The part of the page with a floor whose colours change with the target time and the target share.
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
                id: "detectWithinS", label: "Found within (s)", value: goal.seconds, range: ends, sliderRange: ends,
                isLogarithmic: true, step: .multiple(0.01),
                hint: "The page has the results for \(NumberFormat.duration(ends.lowerBound)) to "
                    + "\(NumberFormat.duration(ends.upperBound)). For other times, change the target in the site file."),
            .probability(
                goal.probability, sliderRange: min(0.5, goal.probability)...max(0.99, goal.probability)),
        ])
    }

    var tiles: String {
        let shares = plan.spots.map { $0.value.map { $0 / 100 } }
        let reachedCount = shares.count { $0 ?? 0 >= goal.probability }
        let share = shares.isEmpty ? nil : Double(reachedCount) / Double(shares.count)
        let weakest = shares.map { $0 ?? 0 }.min()
        return ControlPanel.tiles(
            [
                .init(
                    "holdingShare", "Drawn places that reach the target\(proposalSuffix)", NumberFormat.percent(share),
                    share),
                .init(
                    "weakestShare", "Found in time at the weakest of them\(proposalSuffix)",
                    NumberFormat.percent(weakest),
                    weakest),
            ], class: "seen")
    }

    private var isProposed: Bool { plan.beacons.contains(where: \.isProposed) }

    /// The words after the names of the numbers: empty if the numbers do not include proposed beacons.
    private var proposalSuffix: String { isProposed ? ", with the proposal" : "" }

    var figures: String { figure.html }

    var settings: [(String, PageData)] { [("isProposed", .flag(isProposed)), ("found", .text(goal.found))] }
    var lists: [(String, PageData)] { [] }

    var plots: [(String, PageData)] {
        let frame = FloorPlanFigure.Frame(of: plan)
        let cells = FloorPlanCells(plan, limit: limits.spots)
        let spots = cells.spotIndices
        let positions = Dictionary(uniqueKeysWithValues: spots.enumerated().map { ($0.element, $0.offset) })
        let pieces = cells.pieces.compactMap { piece -> PageData? in
            guard let spot = positions[piece.spot] else { return nil }
            return numberList(figure.rectangle(piece, frame).map { rounded($0, 100) } + [Double(spot)])
        }
        let places = spots.map { spot -> PageData in
            let place = frame.place(plan.spots[spot].position)
            return numberList([rounded(place.x, 100), rounded(place.y, 100)])
        }
        // The shares are rounded down to a ten-thousandth, so that a share just below the target does not reach it by
        // rounding.
        let shares = spots.map { spot -> PageData in
            let isReceived = plan.spots[spot].value != nil && goal.shares.indices.contains(spot)
            return numberList(isReceived ? goal.shares[spot].map { ($0 * 10_000 + 1e-6).rounded(.down) } : [])
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
                                .list(corners.map { .number(positions[$0].map { Double($0) }) })
                            })
                    ),
                ])
            )
        ]
    }

    private func numberList(_ numbers: [Double]) -> PageData { .list(numbers.map { .number($0) }) }

    private func rounded(_ value: Double, _ scale: Double) -> Double { (value * scale).rounded() / scale }
}

/// The part of the page about a walk past a beacon: the path through the beacon's range, and the time to discovery.
struct WalkSection: ControlledSection {
    let walk: PlanPageContent.Walk
    let limits: PageLimits

    static let kind = "walk"

    private var scanners: [PlanPageContent.Scanner] { walk.fleet.scanners.shortened(limits) }

    private var chart: ExplorerFigures { ExplorerFigures(explorer: walk.fleet, limits: limits) }

    var panel: ControlPanel {
        ControlPanel(
            sliders: [
                .init(
                    id: "speedMps", label: "Speed (m/s)", value: walk.path.speedMetersPerSecond, range: 0.001...1000,
                    sliderRange: 0.2...20, isLogarithmic: true, step: .multiple(0.1)),
                .init(
                    id: "distanceM", label: "Shortest distance (m)", value: walk.path.closestDistanceMeters,
                    range: 0...1_000_000, sliderRange: 0...50, step: .multiple(0.5)),
                .init(
                    id: "rangeM", label: "Range of the beacon (m)", value: walk.path.rangeMeters,
                    range: 0.001...1_000_000, sliderRange: 1...200, isLogarithmic: true, step: .multiple(0.5)),
                .interval(walk.fleet.intervalMs), .beacons(walk.fleet.beacons), .payload(walk.fleet.payloadOctets),
            ],
            choices: [
                .init(
                    id: "scanner", label: "Scanner", names: scanners.map(\.name),
                    chosen: HTMLEscaping.shortened(walk.fleet.scannerName, to: 80))
            ])
    }

    var tiles: String {
        ControlPanel.tiles([
            .init(
                "probabilitySeen", "See the beacon", NumberFormat.percent(walk.probabilitySeen), walk.probabilitySeen),
            .init("dwellS", "In range for", NumberFormat.duration(walk.path.dwellSeconds), walk.path.dwellSeconds),
        ])
            + ControlPanel.tiles(walk.fleet.latencyTiles, class: "seen", id: "latencyNumbers")
    }

    var figures: String {
        picture
            + chart.discoveryFigure(extra: [
                (
                    id: "dwellMarker", name: "in range \(NumberFormat.duration(walk.path.dwellSeconds))",
                    seconds: walk.path.dwellSeconds
                )
            ])
    }

    /// The center of the circle that shows the range. The script changes the position of the path, not the size of the
    /// circle.
    private static let center = (x: 300.0, y: 160.0)
    private static let radius = 132.0
    private static let ends = (left: 14.0, right: 586.0)

    private var picture: String {
        let (center, radius) = (Self.center, Self.radius)
        let share = walk.path.rangeMeters > 0 ? walk.path.closestDistanceMeters / walk.path.rangeMeters : 0
        let y = center.y + min(1.15, share) * radius
        let halfLength = share < 1 ? radius * (1 - share * share).squareRoot() : 0
        var drawing = SVG(width: PlotArea.width, height: 340)
        drawing.circle(center.x, center.y, radius: radius, class: "range")
        drawing.path(SVGPath(line: [(Self.ends.left, y), (Self.ends.right, y)]), class: "passing", id: "wayLine")
        drawing.path(
            halfLength > 0 ? SVGPath(line: [(center.x - halfLength, y), (center.x + halfLength, y)]) : SVGPath(),
            class: "inRange",
            id: "wayInRange")
        drawing.path(SVGPath(line: [center, (center.x, y)]), class: "axis", id: "wayDistance")
        drawing.circle(center.x, center.y, radius: 7, class: "receiver", title: "beacon")
        drawing.text(
            "\(NumberFormat.significant(walk.path.closestDistanceMeters)) m", center.x + 10, center.y + 20,
            class: "label", id: "distanceName")
        drawing.text(
            "range \(NumberFormat.significant(walk.path.rangeMeters)) m", center.x, center.y - radius - 6,
            anchor: .middle, class: "label", id: "rangeName")
        drawing.text(
            halfLength > 0 ? "in range for \(NumberFormat.duration(walk.path.dwellSeconds))" : "never in range",
            center.x,
            y + 26, anchor: .middle, class: "label", id: "dwellName")
        return HTML.figure(
            id: "way", title: "The path past the beacon",
            drawing: drawing.element(label: "A straight path through the circle in which the beacon is received."),
            caption: "From above. The model counts the beacon as received everywhere inside the circle, and nowhere "
                + "outside; real reception falls off gradually.")
    }

    var settings: [(String, PageData)] { walk.fleet.settings }

    var lists: [(String, PageData)] { [("scanner", .list(scanners.map(\.data)))] }

    var plots: [(String, PageData)] {
        [
            chart.discoveryPlot,
            (
                "way",
                .object([
                    ("centerX", .number(Self.center.x)), ("centerY", .number(Self.center.y)),
                    ("radius", .number(Self.radius)), ("left", .number(Self.ends.left)),
                    ("right", .number(Self.ends.right)),
                ])
            ),
        ]
    }
}
