internal import Airtime
internal import BluetoothTypes
internal import Planner
internal import Sites

/// Draws the floor: each beacon in the colour of its verdict, with the share of visits in which phones detect it.
struct RehearsalFloor {
    private let report: RehearsalReport
    private let plan: PlanPageContent.FloorPlan
    private let verdicts: [RehearsalPromise.Verdict?]
    private let shares: [Double?]
    let frame: FloorPlanFigure.Frame

    private static let wallLimit = 3000
    /// If there are more beacons than this, they are drawn smaller.
    private static let largeBeacons = 120
    /// The largest number of beacons whose names are drawn.
    private static let labelledBeacons = 60
    /// The largest number of phones whose tracks are drawn.
    private static let trackLimit = 200

    /// The drawing of a report; nil if no beacon has a position.
    init?(_ report: RehearsalReport) {
        guard report.beacons.contains(where: { $0.position != nil }) else { return nil }
        self.report = report
        verdicts = report.verdicts
        shares = report.detectedShares
        var otherPositions = report.site?.receivers.map(\.position) ?? []
        for room in report.site?.rooms ?? [] { otherPositions += room.outline.corners }
        for phone in report.playback?.phones.prefix(Self.trackLimit) ?? [] {
            otherPositions += phone.track.map(\.position)
        }
        var plan = PlanPageContent.FloorPlan(
            title: "", valueName: "", unit: "", isHigherBetter: true, spotSpacing: 1,
            beacons: report.beacons.compactMap { beacon in
                beacon.position.map { PlanPageContent.FloorPlan.Beacon(beacon.name, at: Self.point($0)) }
            },
            spots: otherPositions.map { .init(Self.point($0), nil) },
            paths: (report.site?.paths ?? []).map { .init($0.name, $0.walk.corners.map(Self.point)) })
        if let site = report.site { plan.takeFloor(of: site, wallLimit: Self.wallLimit) }
        self.plan = plan
        frame = FloorPlanFigure.Frame(of: plan)
    }

    private static func point(_ position: FloorPosition) -> PlanPageContent.Point { .init(position.x, position.y) }

    /// Converts a position on the floor to units of the drawing.
    func place(_ position: FloorPosition) -> (x: Double, y: Double) { frame.place(Self.point(position)) }

    /// The radius of a beacon in units of the drawing.
    var radius: Double { report.beacons.count > Self.largeBeacons ? 3.5 : 5 }
    /// The radius of the ring around a beacon in units of the drawing.
    var ring: Double { radius + 3 }

    var drawing: SVG {
        var drawing = SVG(width: FloorPlanFigure.Frame.width, height: frame.height)
        frame.draw(plan.picture, in: &drawing)
        for room in report.site?.rooms ?? [] {
            drawing.path(SVGPath(line: room.outline.corners.map(place), isClosed: true), class: "room")
        }
        drawing.path(SVGPath(line: plan.outline.map(frame.place), isClosed: true), class: "outline")
        frame.draw(plan.walls, in: &drawing)
        for path in plan.paths {
            let style = isBroken(.walk, path.name) ? "way broken" : "way"
            drawing.path(SVGPath(line: path.points.map(frame.place)), class: style)
        }
        // The player hides this group, because it draws the state at the current time instead.
        drawing.beginGroup(id: "summary")
        drawTracks(in: &drawing)
        drawShares(in: &drawing)
        drawing.endGroup()
        for receiver in report.site?.receivers ?? [] {
            let spot = place(receiver.position)
            drawing.square(
                spot.x, spot.y, half: 6,
                class: isBroken(.receiver, receiver.name) ? "receiver broken" : "receiver",
                title: HTMLEscaping.shortened(receiver.name, to: 60))
        }
        drawBeacons(in: &drawing)
        drawNames(in: &drawing)
        frame.drawRule(in: &drawing)
        return drawing
    }

    private func isBroken(_ kind: RehearsalPromise.Kind, _ subject: String) -> Bool {
        report.promises.contains { $0.verdict == .broken && $0.kind == kind && $0.subject == subject }
    }

    private func drawTracks(in drawing: inout SVG) {
        for phone in (report.playback?.phones ?? []).prefix(Self.trackLimit) {
            drawing.path(SVGPath(line: phone.track.map { place($0.position) }), class: "phoneWay")
        }
    }

    /// Draws a ring around each beacon, and over it an arc whose length is the measured share of visits.
    private func drawShares(in drawing: inout SVG) {
        var rims = SVGPath()
        var arcs = SVGPath()
        for (beacon, share) in zip(report.beacons, shares) {
            guard let share, let spot = beacon.position.map(place) else { continue }
            rims.addArc(spot.x, spot.y, radius: ring, share: 1)
            arcs.addArc(spot.x, spot.y, radius: ring, share: share)
        }
        drawing.path(rims, class: "shareRim")
        drawing.path(arcs, class: "shareArc")
    }

    private func drawBeacons(in drawing: inout SVG) {
        var crosses = SVGPath()
        for (index, beacon) in report.beacons.enumerated() {
            guard let spot = beacon.position.map(place) else { continue }
            drawing.circle(
                spot.x, spot.y, radius: radius, class: "disc \(verdicts[index]?.rawValue ?? "unjudged")",
                title: title(index), id: "beacon\(index)")
            guard verdicts[index] == .broken else { continue }
            let half = radius * 0.45
            crosses.addLine(from: (spot.x - half, spot.y - half), to: (spot.x + half, spot.y + half))
            crosses.addLine(from: (spot.x - half, spot.y + half), to: (spot.x + half, spot.y - half))
        }
        drawing.path(crosses, class: "brokenMark")
    }

    private func title(_ index: Int) -> String {
        let name = HTMLEscaping.shortened(report.beacons[index].name, to: 60)
        let share = shares[index].map { ", detected in time in \(NumberFormat.percent($0))" } ?? ""
        return "\(name): \(verdicts[index]?.words ?? "no promise")\(share)"
    }

    /// Draws the names next to the beacons, beginning with beacons that have broken promises.
    private func drawNames(in drawing: inout SVG) {
        let byRank = report.beacons.indices.sorted {
            (verdicts[$0]?.rank ?? 3, $0) < (verdicts[$1]?.rank ?? 3, $1)
        }
        let isCrowded = byRank.count > Self.labelledBeacons
        let named = byRank.filter { !isCrowded || verdicts[$0] == .broken }.prefix(Self.labelledBeacons)
        frame.drawNames(
            named.compactMap { index in
                report.beacons[index].position.map { (text: report.beacons[index].name, position: Self.point($0)) }
            },
            avoiding: plan.beacons.map { (position: $0.position, radius: 6) }
                + (report.site?.receivers ?? []).map { (position: Self.point($0.position), radius: 7) },
            in: &drawing)
    }

    /// The description for screen readers.
    var label: String {
        let counts = [RehearsalPromise.Verdict.broken, .unjudged, .holds].map { verdict in
            verdicts.count { $0 == verdict }
        }
        return
            "The floor: \(NumberFormat.count(counts[0], "beacon")) with a promise that does not hold, \(counts[1]) "
            + "whose promises cannot be judged, \(counts[2]) whose promises hold, "
            + "\(NumberFormat.count(report.site?.receivers.count ?? 0, "receiver")), "
            + "\(NumberFormat.count(plan.walls.count, "wall")). The table below has a row for each beacon."
    }

    /// The entries of the legend for the colours of the beacons.
    private var beaconEntries: [HTML.LegendEntry] {
        [
            (RehearsalPromise.Verdict.holds, "beacon: all promises hold"), (.broken, "beacon: a promise does not hold"),
            (.unjudged, "beacon: a promise cannot be judged"),
        ].filter { verdict, _ in verdicts.contains(verdict) }
            .map { verdict, name in .init("disc \(verdict.rawValue)", name) }
    }

    /// The legend of the drawing with the result.
    var legend: String {
        var entries = beaconEntries
        if shares.contains(where: { $0 != nil }) {
            entries.append(.init("shareArc", "ring: share of visits in which the beacon is detected in time"))
        }
        if !(report.site?.receivers.isEmpty ?? true) { entries.append(.init("receiver", "receiver")) }
        if !(report.site?.rooms.isEmpty ?? true) { entries.append(.init("room", "room")) }
        if !plan.paths.isEmpty { entries.append(.init("way", "path")) }
        if report.playback?.phones.isEmpty == false { entries.append(.init("phoneWay", "way of a phone")) }
        if !plan.walls.isEmpty { entries.append(.init("wall", "wall: a wider line weakens more")) }
        return HTML.legend(entries)
    }

    /// The legend of the moving objects that the player draws.
    var playbackLegend: String {
        HTML.legend(
            beaconEntries + [
                .init("flash received", "a beacon sends, and a phone or receiver receives it"),
                .init("flash", "a beacon sends, and nothing receives it"),
                .init("flash lost", "a packet is destroyed by another packet at a phone or receiver"),
                .init("phone", "phone; filled when it has discovered a beacon"),
                .init("discovery", "a phone discovers a beacon"),
                .init("shareArc", "ring: share of the phones that have discovered the beacon so far"),
            ])
    }
}
