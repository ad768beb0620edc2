internal import Airtime
public import Sites

/// What is heard on a floor, its weakest spots, and where to put beacons.
public struct SiteQuestion: Sendable {
    public let site: Site
    /// Where its beacons come from; `nil` where the site file lists them.
    public let fleet: SiteFleet?
    /// About how many places are looked at.
    public let places: Int
    /// What is to be proposed; `nil` where nothing is.
    public let proposal: Proposal?
    /// Whether other times than the wanted one are looked at as well, which takes time that only a page is worth.
    public let drawsControls: Bool

    /// Where new beacons are proposed.
    public enum Proposal: Hashable, Sendable {
        /// Beside the beacons that stand there.
        case addition
        /// As if none stood there.
        case fromScratch
    }

    /// `places`: about how many, 1 or more; a grid finer than half a metre is never made.
    public init(
        site: Site, fleet: SiteFleet? = nil, places: Int = 2000, proposal: Proposal? = nil, drawsControls: Bool = false
    ) {
        self.site = site
        self.fleet = fleet
        self.places = places
        self.proposal = proposal
        self.drawsControls = drawsControls
    }

    /// As many weak spots as people look at.
    private static let weakSpotCount = 5

    /// - Parameter observe: Ends the survey where it says `false`; the answer tells what was seen until then.
    public func answer(_ observe: PlanObserver = { _ in true }) throws(PlanError) -> PlanAnswer {
        try finding(observe).answer
    }

    /// What was found out about a floor.
    public struct Finding: Sendable {
        public let answer: PlanAnswer
        /// The floor with the beacons that are proposed; `nil` where none are.
        public let proposed: ProposedSite?
    }

    /// The answer, and the proposal as a floor of its own.
    ///
    /// - Parameter observe: Ends the survey where it says `false`; the answer tells what was seen until then.
    public func finding(_ observe: PlanObserver = { _ in true }) throws(PlanError) -> Finding {
        guard let bounds = site.bounds else { throw PlanError(.configuration, "\(site.name): there is no floor") }
        let (positions, spacing) = SiteSurvey.grid(over: bounds, outline: site.outline, limit: limit(places, bounds))
        guard !positions.isEmpty else {
            throw PlanError(
                .configuration, "\(site.name): the outline is so narrow that no place was found in it")
        }
        var visit = Visit(places: positions)
        var survey = try Self.survey(of: site)
        let points = try visit.points(&survey, observe)
        var walks: [(String, SiteWalk.Result)] = []
        for path in site.paths where !visit.isStopped {
            visit.isStopped = !observe(.init("paths", done: walks.count, of: site.paths.count))
            let result = try PlanError.asking { () throws(AirtimeError) in try path.walk.result(in: &survey) }
            walks.append((path.name, result))
        }
        var placement: SitePlacement?
        var proposed: ProposedSite?
        if let proposal, !visit.isStopped {
            placement = try self.placement(proposal, positions, spacing, observe, &visit.isStopped)
            proposed = placement.flatMap { ProposedSite(of: site, $0, keeps: proposal == .addition) }
        }
        var after: [SiteSurvey.Point] = []
        if let proposed, !visit.isStopped {
            var extended = try Self.survey(of: proposed.site)
            after = try visit.points(&extended, observe)
            if after.count == positions.count { survey = extended }
        }
        var answer = PlanAnswer(title: "Site \(site.name)", sentence: sentence(points, placement, after))
        answer.holds = placement.map { $0.shortfall == nil } ?? true
        state(points, spacing, in: &answer)
        answer.state("interrupted", .flag(visit.isStopped))
        for (name, walk) in walks { show(walk, name, in: &answer) }
        answer.state("paths", .list(walks.map { quantity($0.1, $0.0) }))
        if let placement { state(placement, proposed, after, in: &answer) }
        let isMapped = proposed != nil && after.count == positions.count
        let mapped = isMapped ? after : points
        answer.pictures.floorPlan =
            SitePicture(
                site: isMapped ? proposed?.site ?? site : site, points: mapped, spacing: spacing,
                proposed: isMapped ? proposed?.added ?? 0 : 0, goal: try goal(mapped, &survey)
            ).plan
        note(in: &answer, visit, points, walks)
        return Finding(answer: answer, proposed: proposed)
    }

    private func note(
        in answer: inout PlanAnswer, _ visit: Visit, _ points: [SiteSurvey.Point], _ walks: [(String, SiteWalk.Result)]
    ) {
        if visit.isStopped {
            answer.note(
                "Ended before its time: \(points.count) of \(visit.places.count) places, from the south on, and "
                    + "\(walks.count) of \(site.paths.count) paths were looked at.")
        }
        if site.outline == nil {
            answer.note("There is no outline: the rectangle around walls, beacons and paths was looked at.")
        }
        if let fleet {
            answer.state("fleet", .word(fleet.name))
            answer.note(fleet.note(proposes: proposal != nil))
        }
        answer.note(
            "Detection of the beacon that is heard best at each place, by \(site.scanner.name); shadowing lasts, so it "
                + "decides whether a beacon is heard at a place at all.")
    }

    /// The places that are surveyed, once or twice, until somebody has seen enough.
    private struct Visit {
        let places: [FloorPosition]
        var isStopped = false

        mutating func points(
            _ survey: inout SiteSurvey, _ observe: PlanObserver
        ) throws(PlanError) -> [SiteSurvey.Point] {
            var points: [SiteSurvey.Point] = []
            for position in places where !isStopped {
                isStopped = !observe(.init("places", done: points.count, of: places.count))
                points.append(try PlanError.asking { () throws(AirtimeError) in try survey.point(at: position) })
            }
            return points
        }
    }

    /// What the page's controls move: the shares within times from an eighth to eight times of the wanted one.
    private func goal(
        _ points: [SiteSurvey.Point], _ survey: inout SiteSurvey
    ) throws(PlanError) -> PlanPageContent.FloorPlan.Goal? {
        guard drawsControls else { return nil }
        let steps = [0.125, 0.177, 0.25, 0.354, 0.5, 0.707, 1, 1.414, 2, 2.828, 4, 5.657, 8]
        let times = steps.map { $0 * site.target.seconds }
        return try PlanError.asking { () throws(AirtimeError) in
            var shares: [[Double]] = []
            for point in points { shares.append(try survey.shares(at: point, within: times)) }
            return .init(
                seconds: site.target.seconds, probability: site.target.probability, times: times, shares: shares)
        }
    }

    private static func survey(of site: Site) throws(PlanError) -> SiteSurvey {
        let background = try PlanError.asking { () throws(AirtimeError) in
            try BackgroundLoad(share: site.backgroundLoad)
        }
        let model = SiteModel(beacons: site.beacons, walls: site.walls, radio: site.radio, background: background)
        return SiteSurvey(model: model, scanner: site.scanner, target: site.target)
    }

    /// How many places of the rectangle make so many inside the outline; not without end where it is a sliver.
    private func limit(_ places: Int, _ bounds: FloorBounds) -> Int {
        guard let outline = site.outline else { return places }
        let share = bounds.width * bounds.height / outline.area
        return Int(min(Double(places) * max(1, share), 4_000_000))
    }

    private func placement(
        _ kind: Proposal, _ positions: [FloorPosition], _ spacing: Double, _ observe: PlanObserver,
        _ isStopped: inout Bool
    ) throws(PlanError) -> SitePlacement? {
        var isEnded = false
        defer { isStopped = isStopped || isEnded }
        return try PlanError.asking { () throws(AirtimeError) in
            let search = try SitePlacementSearch(
                site, startsAnew: kind == .fromScratch, places: positions, spacing: spacing)
            return try search?.placement { what, done, total in
                isEnded = isEnded || !observe(.init("\(what) for the proposal", done: done, of: total))
                return !isEnded
            }
        }
    }

    private func holding(_ points: [SiteSurvey.Point]) -> Double {
        let count = points.count { $0.detectedShare >= site.target.probability }
        return points.isEmpty ? 0 : Double(count) / Double(points.count)
    }

    private func sentence(
        _ points: [SiteSurvey.Point], _ placement: SitePlacement?, _ after: [SiteSurvey.Point]
    ) -> String {
        let target =
            "a beacon within \(NumberText.duration(site.target.seconds)) in "
            + "\(NumberText.percent(site.target.probability)) of the cases"
        let today = "At \(NumberText.percent(holding(points))) of the places a receiver finds \(target)."
        guard proposal != nil else { return today }
        guard let placement else {
            return site.beacons.isEmpty ? Self.tooLarge : today + " " + Self.tooLarge
        }
        let count = placement.positions.count
        let isAddition = placement.kept > 0
        let beacons = "\(count)\(isAddition ? " more" : "") beacon\(count == 1 ? "" : "s")"
        let fewer =
            placement.least >= count
            ? "fewer cannot." : "fewer than \(placement.least) cannot, and perhaps \(placement.least) can."
        switch placement.shortfall {
        case nil where count == 0: return today + " No more beacons are needed."
        case nil:
            return isAddition
                ? "\(today) With \(beacons) it does at all places; \(fewer)"
                : "\(beacons) let a receiver find \(target) at all places; \(fewer)"
        case .beacon:
            return "No number of beacons reaches the target: even beside a beacon a receiver does not find it within "
                + "\(NumberText.duration(site.target.seconds)) in \(NumberText.percent(site.target.probability)) of the "
                + "cases; send more often, allow more time, or let the scanner listen more."
        case .mounts:
            return "From the places to mount at not all others can be reached: \(beacons) reach the target at "
                + "\(NumberText.percent(placement.holdingShare)) of them."
        case .collisions:
            return "More beacons collide too much: the best found, \(beacons), reach the target at "
                + "\(NumberText.percent(placement.holdingShare)) of the places; send less often, or allow more time."
        }
    }

    private static let tooLarge =
        "No placement was found: the floor is too large to be looked at place by place; plan it in parts."

    private func state(_ points: [SiteSurvey.Point], _ spacing: Double, in answer: inout PlanAnswer) {
        let weakest = Self.weakest(points)
        let heard = points.isEmpty ? 0 : points.reduce(0) { $0 + $1.reception.heard } / Double(points.count)
        let clear = points.map(\.reception.collisionFreeProbability).min()
        let shown = !site.beacons.isEmpty
        answer.state("site", .word(site.name))
        answer.state("beacons", .count(site.beacons.count), as: "beacons")
        answer.state(
            "places", .count(points.count), as: "places looked at", remark: "\(NumberText.significant(spacing)) m apart"
        )
        answer.state("placeSpacingM", .number(spacing, unit: "m"))
        answer.state(
            "holdingShare", .share(holding(points)), as: shown ? "target reached at" : nil, remark: "of the places")
        answer.state(
            "meanBeaconsHeard", .number(heard), as: shown ? "beacons heard at a place" : nil, remark: "on average")
        answer.state(
            "lowestCollisionFreeProbability", .share(clear), as: shown ? "collision-free at worst" : nil)
        answer.state("weakestSpots", .list(weakest.map { quantity($0) }))
        guard shown else { return }
        for point in weakest {
            let place = point.reception.position
            answer.show(
                "weak spot", .number(nil, unit: "m"),
                shown: "\(NumberText.significant(place.x)), \(NumberText.significant(place.y))",
                remark: remark(point))
        }
    }

    /// The weakest places, those beside one that is named already left out.
    static func weakest(_ points: [SiteSurvey.Point]) -> [SiteSurvey.Point] {
        guard let bounds = FloorBounds(points.map(\.reception.position)) else { return [] }
        let apart = max(bounds.width, bounds.height) / 10
        var spots: [SiteSurvey.Point] = []
        for point in points.sorted(by: { $0.detectedShare < $1.detectedShare }) {
            guard spots.count < weakSpotCount else { break }
            let place = point.reception.position
            if spots.allSatisfy({ $0.reception.position.distance(to: place) >= apart }) { spots.append(point) }
        }
        return spots
    }

    private func remark(_ point: SiteSurvey.Point) -> String {
        guard let best = point.reception.best else { return "nothing is heard here" }
        return
            "found within \(NumberText.duration(site.target.seconds)) in \(NumberText.percent(point.detectedShare)): "
            + "\(site.beacons[best.beacon].name) at \(NumberText.significant(best.power)) dBm"
    }

    private func quantity(_ point: SiteSurvey.Point) -> PlanQuantity {
        .record([
            ("x", .number(point.reception.position.x)), ("y", .number(point.reception.position.y)),
            ("beaconsHeard", .number(point.reception.heard)),
            ("collisionFreeProbability", .share(point.reception.collisionFreeProbability)),
            ("detectedShare", .share(point.detectedShare)), ("detectionS", .seconds(point.detectionSeconds)),
        ])
    }

    private func quantity(_ walk: SiteWalk.Result, _ name: String) -> PlanQuantity {
        .record([
            ("name", .word(name)), ("durationS", .seconds(walk.duration)), ("beaconsSeen", .number(walk.seen)),
            ("probabilitySeen", .share(walk.seenAnyProbability)), ("longestSilenceM", .number(walk.longestSilence)),
        ])
    }

    private func show(_ walk: SiteWalk.Result, _ name: String, in answer: inout PlanAnswer) {
        answer.show(
            "path \(name)", .share(walk.seenAnyProbability),
            remark:
                "see a beacon in \(NumberText.duration(walk.duration)); \(NumberText.significant(walk.seen)) beacons on average, "
                + "nothing heard for \(NumberText.significant(walk.longestSilence)) m at most")
    }

    private func state(
        _ placement: SitePlacement, _ proposed: ProposedSite?, _ after: [SiteSurvey.Point], in answer: inout PlanAnswer
    ) {
        answer.state(
            "proposal",
            .record([
                ("positions", .list(placement.positions.map { .list([.number($0.x), .number($0.y)]) })),
                ("kept", .count(placement.kept)), ("least", .count(placement.least)),
                ("holdingShare", .share(placement.holdingShare)), ("weakestShare", .share(placement.weakestShare)),
                ("reached", .flag(placement.shortfall == nil)),
            ]))
        answer.show(
            placement.kept > 0 ? "more beacons" : "proposed beacons", .count(placement.positions.count),
            remark: "at least \(placement.least) are needed\(site.mounts.isEmpty ? "" : " at the places to mount")")
        if placement.kept > 0 { answer.show("beacons kept", .count(placement.kept)) }
        answer.show("their weakest place", .share(placement.weakestShare), remark: "find a beacon in time")
        if !after.isEmpty {
            answer.show("target reached with them at", .share(holding(after)), remark: "of the places")
        }
        for beacon in proposed?.beacons.prefix(Self.listedBeacons) ?? [] {
            let place = [beacon.position.x, beacon.position.y].map { NumberText.significant($0) }
            answer.show(beacon.name, .number(nil, unit: "m"), shown: place.joined(separator: ", "))
        }
        if let count = proposed?.added, count > Self.listedBeacons {
            answer.note("\(count - Self.listedBeacons) more are in the JSON, on the page and in a file to be written.")
        }
    }

    /// More places than these nobody reads.
    private static let listedBeacons = 40
}

/// A surveyed site as the page draws it.
private struct SitePicture {
    let site: Site
    let points: [SiteSurvey.Point]
    let spacing: Double
    /// How many of the beacons, the last of them, are proposed.
    let proposed: Int
    let goal: PlanPageContent.FloorPlan.Goal?

    /// More beacons than this are a grey smear, and a page that no phone opens.
    private static let beaconLimit = 2000

    var plan: PlanPageContent.FloorPlan {
        let standing = site.beacons.count - proposed
        let beacons = site.beacons.enumerated().prefix(Self.beaconLimit).map { index, beacon in
            PlanPageContent.FloorPlan.Beacon(beacon.name, at: point(beacon.position), isProposed: index >= standing)
        }
        let weakest = SiteQuestion.weakest(points)
        var plan = PlanPageContent.FloorPlan(
            title: site.name,
            caption:
                "The share of cases in which a beacon is found within \(NumberText.duration(site.target.seconds)), place by place.",
            valueName: "found in time", unit: "%", isHigherBetter: true, target: 100 * site.target.probability,
            spotSpacing: spacing,
            outline: (site.outline?.corners ?? []).map { point($0) },
            walls: site.walls.prefix(5000).map {
                .init(from: point($0.from), to: point($0.to), attenuation: $0.attenuation)
            },
            beacons: beacons,
            spots: points.map {
                .init(point($0.reception.position), $0.reception.best == nil ? nil : 100 * $0.detectedShare)
            },
            paths: site.paths.map { path in .init(path.name, path.walk.corners.map { point($0) }) },
            weakSpots: weakest.map { .init(point($0.reception.position), 100 * $0.detectedShare) })
        plan.goal = goal
        return plan
    }

    private func point(_ position: FloorPosition) -> PlanPageContent.Point { .init(position.x, position.y) }
}
