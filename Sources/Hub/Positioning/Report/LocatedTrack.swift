internal import Airtime
internal import BluetoothTypes
internal import Planner
public import Sites

/// The positions of a receiver, second by second, for a page or a drawing.
public struct LocatedTrack: Sendable {
    let map: SignalMap
    private let site: Site?
    private(set) var points: [LocatedInstant] = []
    /// The number of points beyond ``limit``, which are left out.
    private(set) var leftOut = 0

    /// The largest number of points. With one point per second, this is enough for almost 14 hours.
    public static let limit = 50_000
    /// The largest number of regions that are drawn.
    private static let regionLimit = 300

    /// - Parameter site: The site whose walls and outline are drawn; `nil` for the site from which the map was made, if
    ///   there is one.
    public init(_ map: SignalMap, site: Site? = nil) {
        self.map = map
        self.site = site ?? map.modelSite
    }

    /// Adds the next point.
    public mutating func add(_ point: LocatedInstant) {
        if points.count < Self.limit { points.append(point) } else { leftOut += 1 }
    }

    /// The summary of the run, with the errors if true positions are known.
    var answer: String {
        guard !points.isEmpty else { return "This run has no seconds." }
        let fixes = points.count { $0.answer.state == .fix }
        let poor = points.count { $0.answer.state == .poor }
        let text =
            "\(points.count) seconds: \(fixes) with a position, \(poor) with a poor position, "
            + "\(points.count - fixes - poor) without a position."
        let errors = Percentiles(points.compactMap(\.error))
        guard let mean = errors.mean else { return text }
        return text + " Mean error \(NumberFormat.fixed(mean, 2)) m, 75th percentile "
            + "\(NumberFormat.fixed(errors.value(at: 75), 2)) m, 95th percentile "
            + "\(NumberFormat.fixed(errors.value(at: 95), 2)) m."
    }

    /// The floors of the run, in the order in which the receiver reached them. If the run has no positions, the floor
    /// of the map's first place.
    var floors: [String?] {
        var floors: [String?] = []
        for point in points where point.answer.position != nil && !floors.contains(point.answer.floor) {
            floors.append(point.answer.floor)
        }
        return floors.isEmpty ? map.places.prefix(1).map(\.floor) : floors
    }

    /// Draws a floor with the run on it.
    func drawing(_ floor: String?) -> SVG {
        let shown = points.filter { $0.answer.floor == floor && $0.answer.position != nil }
        let places = map.places.filter { $0.floor == floor }.compactMap(\.position)
        let runPositions = shown.flatMap { [$0.answer.position, $0.truth?.position].compactMap(\.self) }
        let base = FloorDrawing(map, floor: floor, site: site, spots: places + runPositions)
        var drawing = base.empty
        let floorIndex = floors.firstIndex(of: floor) ?? 0
        base.drawPicture(in: &drawing)
        // All regions are in one group, so that overlapping regions are no darker than a single region.
        base.beginInside(&drawing, id: "track\(floorIndex)inside", class: "regions")
        for region in shown.suffix(Self.regionLimit).compactMap(\.answer.region95) {
            drawing.path(SVGPath(line: region.polygon.map(base.place), isClosed: true), class: "fill")
        }
        drawing.endGroup()
        base.drawWalls(in: &drawing)
        base.drawBeacons(in: &drawing, radius: 4)
        func path(_ position: (LocatedInstant) -> FloorPosition?) -> SVGPath {
            SVGPath(line: line(floor, position).map { $0.map(base.place) ?? (.nan, .nan) })
        }
        drawing.path(path { $0.truth?.position }, class: "way")
        drawing.path(path { $0.answer.position }, class: "track")
        for (point, name) in [(shown.first, "start"), (shown.last, "end")] {
            guard let position = point?.answer.position else { continue }
            let spot = base.place(position)
            drawing.circle(spot.x, spot.y, radius: 5, class: "place", title: name)
            drawing.text(name, spot.x, spot.y - 9, anchor: .middle, class: "label")
        }
        base.frame.drawRule(in: &drawing)
        return drawing
    }

    /// Returns the positions on a floor as a line. A `nil` element interrupts the line at the start of a run, and while
    /// the receiver is on another floor.
    private func line(_ floor: String?, _ position: (LocatedInstant) -> FloorPosition?) -> [FloorPosition?] {
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

    /// The description for screen readers.
    func label(_ floor: String?) -> String {
        "The run on \(floor ?? "the floor"), with 95 % regions, from start to end. The table below lists the seconds."
    }
}
