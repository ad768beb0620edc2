public import Airtime
internal import Planner
public import Sites

/// Where a receiver was found to be, second by second: what a page or a drawing of a run shows.
public struct LocatedTrack: Sendable {
    /// One answer.
    public struct Point: Sendable {
        /// `nil` for a run without a name.
        public var session: String?
        /// Since the run's start.
        public var seconds: Double
        public var answer: LocatorAnswer
        /// Where the receiver really was; `nil` where nobody said.
        public var truth: FloorPosition?

        /// - Parameters are as the properties of the same names.
        public init(session: String?, seconds: Double, answer: LocatorAnswer, truth: FloorPosition?) {
            self.session = session
            self.seconds = seconds
            self.answer = answer
            self.truth = truth
        }

        /// In metres, in the plane; `nil` without a truth and without an answer.
        var error: Double? {
            guard let truth else { return nil }
            return answer.position?.distance(to: truth)
        }
    }

    let map: SignalMap
    let site: Site?
    private(set) var points: [Point] = []
    /// Points that came when there were ``limit`` already.
    private(set) var leftOut = 0

    /// So many are kept: most of a day, one each second.
    public static let limit = 50_000
    /// More regions than these are not drawn.
    private static let drawnRegions = 300
    private static let wallLimit = 3000

    /// - Parameter site: Whose walls and outline are drawn; without one those of the map's own site, where it was made
    ///   from one.
    public init(_ map: SignalMap, site: Site? = nil) {
        self.map = map
        self.site = site ?? map.modelSite
    }

    /// Adds what was found next.
    public mutating func add(_ point: Point) {
        if points.count < Self.limit { points.append(point) } else { leftOut += 1 }
    }

    /// Metres off, where the truth is known.
    var errors: Percentiles { Percentiles(points.compactMap(\.error)) }

    /// One sentence.
    var answer: String {
        guard !points.isEmpty else { return "There is no second in this run." }
        let fixes = points.count { $0.answer.state == .fix }
        let poor = points.count { $0.answer.state == .poor }
        var text =
            "\(points.count) seconds: \(fixes) with a place, \(poor) with a poor one, \(points.count - fixes - poor) "
            + "without."
        if let mean = errors.mean {
            text +=
                " Off by \(NumberText.fixed(mean, 2)) m in the mean, \(NumberText.fixed(errors.value(at: 75), 2)) m in "
                + "75 % and \(NumberText.fixed(errors.value(at: 95), 2)) m in 95 % of the seconds."
        }
        return text
    }

    // MARK: Drawing

    /// The floors that the run was on, in the order in which it came there; that of the map's first place for a run
    /// without any position.
    var floors: [String?] {
        var found: [String?] = []
        for point in points where point.answer.position != nil && !found.contains(point.answer.floor) {
            found.append(point.answer.floor)
        }
        return found.isEmpty ? map.places.prefix(1).map(\.floor) : found
    }

    /// A floor from above, with the run on it.
    func drawing(_ floor: String?) -> SVG {
        let shown = points.filter { $0.answer.floor == floor && $0.answer.position != nil }
        let places = map.places.filter { $0.floor == floor }.compactMap(\.position)
        let plan = PlanPageContent.FloorPlan(
            title: floor ?? "", valueName: "", unit: "", isHigherBetter: false, spotSpacing: 1,
            outline: site?.outline?.corners.map(Self.point) ?? [],
            walls: (site?.walls ?? []).prefix(Self.wallLimit).map {
                .init(from: Self.point($0.from), to: Self.point($0.to), attenuation: $0.attenuation)
            },
            beacons: map.beacons.compactMap { beacon in
                beacon.position.map { PlanPageContent.FloorPlan.Beacon(beacon.key.text, at: Self.point($0)) }
            },
            spots: (places + shown.flatMap { [$0.answer.position, $0.truth].compactMap(\.self) })
                .map { .init(Self.point($0), nil) })
        let frame = FloorPlanFigure.Frame(of: plan)
        func place(_ position: FloorPosition) -> (x: Double, y: Double) { frame.place(Self.point(position)) }
        var drawing = SVG(width: FloorPlanFigure.Frame.width, height: frame.height)
        for region in shown.suffix(Self.drawnRegions).compactMap(\.answer.region95) {
            drawing.path(SVGPath(line: region.polygon.map(place), isClosed: true), class: "fill")
        }
        drawing.path(SVGPath(line: plan.outline.map(frame.place), isClosed: true), class: "outline")
        frame.draw(plan.walls, in: &drawing)
        for beacon in plan.beacons {
            let spot = frame.place(beacon.position)
            drawing.circle(spot.x, spot.y, radius: 4, class: "beacon", title: beacon.name)
        }
        // A run that begins anew, or that was on another floor meanwhile, is another line.
        drawing.path(SVGPath(line: line(floor) { $0.truth }.map { $0.map(place) ?? (.nan, .nan) }), class: "way")
        drawing.path(
            SVGPath(line: line(floor) { $0.answer.position }.map { $0.map(place) ?? (.nan, .nan) }), class: "links")
        for (point, name) in [(shown.first, "start"), (shown.last, "end")] {
            guard let position = point?.answer.position else { continue }
            let spot = place(position)
            drawing.circle(spot.x, spot.y, radius: 5, class: "place", title: name)
            drawing.text(name, spot.x, spot.y - 9, anchor: .middle, class: "label")
        }
        frame.drawRule(in: &drawing)
        return drawing
    }

    private func line(_ floor: String?, _ position: (Point) -> FloorPosition?) -> [FloorPosition?] {
        var line: [FloorPosition?] = []
        var session: String?
        var seconds = -Double.infinity
        for point in points {
            if point.session != session || point.seconds < seconds { line.append(nil) }
            (session, seconds) = (point.session, point.seconds)
            line.append(point.answer.floor == floor ? position(point) : nil)
        }
        return line
    }

    private static func point(_ position: FloorPosition) -> PlanPageContent.Point { .init(position.x, position.y) }

    /// For who cannot see it.
    func label(_ floor: String?) -> String {
        "The way on \(floor ?? "the floor"), with 95 % regions, from start to end. The seconds stand in the table below."
    }
}
