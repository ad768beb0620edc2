internal import Airtime
internal import PlanReport
public import Sites

/// What is heard on a floor, its weakest spots, and where to put beacons.
public struct SiteQuestion: Sendable {
    public let site: Site
    /// Where its beacons come from; `nil` where the site file lists them.
    public let fleet: SiteFleet?
    /// About how many places are looked at.
    public let places: Int
    public let proposes: Bool

    public init(site: Site, fleet: SiteFleet? = nil, places: Int = 2000, proposes: Bool = false) {
        self.site = site
        self.fleet = fleet
        self.places = places
        self.proposes = proposes
    }

    /// As many weak spots as people look at.
    private static let weakSpotCount = 5

    /// - Parameter observe: Ends the survey where it says `false`; the answer tells what was seen until then.
    public func answer(_ observe: PlanObserver = { _ in true }) throws(PlanError) -> PlanAnswer {
        guard let bounds = site.bounds else { throw PlanError(.configuration, "\(site.name): there is no floor") }
        let background = try PlanError.asking { () throws(AirtimeError) in
            try BackgroundLoad(share: site.backgroundLoad)
        }
        let model = SiteModel(beacons: site.beacons, walls: site.walls, radio: site.radio, background: background)
        var survey = SiteSurvey(model: model, scanner: site.scanner, target: site.target)
        let (positions, spacing) = SiteSurvey.grid(over: bounds, outline: site.outline, limit: limit(places, bounds))
        guard !positions.isEmpty else {
            throw PlanError(
                .configuration, "\(site.name): the outline is so narrow that no place was found in it")
        }
        var isStopped = false
        var points: [SiteSurvey.Point] = []
        for position in positions where !isStopped {
            isStopped = !observe(.init("places", done: points.count, of: positions.count))
            points.append(try PlanError.asking { () throws(AirtimeError) in try survey.point(at: position) })
        }
        var walks: [(String, SiteWalk.Result)] = []
        for path in site.paths where !isStopped {
            isStopped = !observe(.init("paths", done: walks.count, of: site.paths.count))
            let result = try PlanError.asking { () throws(AirtimeError) in try path.walk.result(in: &survey) }
            walks.append((path.name, result))
        }
        let proposal = proposes && !isStopped ? try propose(bounds, background, observe, &isStopped) : nil
        var answer = PlanAnswer(title: "Site \(site.name)", sentence: sentence(points, proposal))
        state(points, spacing, in: &answer)
        answer.state("interrupted", .flag(isStopped))
        for (name, walk) in walks { show(walk, name, in: &answer) }
        answer.state("paths", .list(walks.map { quantity($0.1, $0.0) }))
        if let proposal { state(proposal, in: &answer) }
        answer.pictures.floorPlan = SitePicture(site: site, points: points, spacing: spacing, proposal: proposal).plan
        if isStopped {
            answer.note(
                "Ended before its time: \(points.count) of \(positions.count) places, from the south on, and "
                    + "\(walks.count) of \(site.paths.count) paths were looked at.")
        }
        if site.outline == nil {
            answer.note("There is no outline: the rectangle around walls, beacons and paths was looked at.")
        }
        if let fleet {
            answer.state("fleet", .word(fleet.name))
            answer.note(fleet.note(proposes: proposes))
        }
        answer.note(
            "Detection of the beacon that is heard best at each place, by \(site.scanner.name); shadowing lasts, so it "
                + "decides whether a beacon is heard at a place at all.")
        return answer
    }

    /// How many places of the rectangle make so many inside the outline; not without end where it is a sliver.
    private func limit(_ places: Int, _ bounds: FloorBounds) -> Int {
        guard let outline = site.outline else { return places }
        let share = bounds.width * bounds.height / outline.area
        return Int(min(Double(places) * max(1, share), 4_000_000))
    }

    private func propose(
        _ bounds: FloorBounds, _ background: BackgroundLoad, _ observe: PlanObserver, _ isStopped: inout Bool
    ) throws(PlanError) -> SitePlacement? {
        var isEnded = false
        defer { isStopped = isEnded }
        return try PlanError.asking { () throws(AirtimeError) in
            let pattern = try SiteBeacon(
                name: "proposed", position: bounds.low, intervalMicroseconds: site.defaults.intervalMicroseconds,
                airtimeMicroseconds: PacketTiming.airtimeMicroseconds(payloadOctets: site.defaults.payloadOctets),
                radioPower: site.defaults.radioPower)
            let places = SiteSurvey.grid(
                over: bounds, outline: site.outline, limit: limit(min(places, 400), bounds)
            ).positions
            return try SitePlacement.propose(
                like: pattern, walls: site.walls, radio: site.radio, background: background, scanner: site.scanner,
                target: site.target, over: bounds, outline: site.outline, places: places
            ) {
                isEnded = isEnded || !observe(.init("placements", done: 0, of: nil))
                return isEnded
            }
        }
    }

    private func holding(_ points: [SiteSurvey.Point]) -> Double {
        let count = points.count { $0.detectedShare >= site.target.probability }
        return points.isEmpty ? 0 : Double(count) / Double(points.count)
    }

    private func sentence(_ points: [SiteSurvey.Point], _ proposal: SitePlacement?) -> String {
        let target =
            "a beacon within \(NumberText.duration(site.target.seconds)) in \(NumberText.percent(site.target.probability)) of the cases"
        if site.beacons.isEmpty {
            guard let proposal else {
                return
                    "No placement was found: a floor this large takes more than \(SitePlacement.beaconLimit) beacons."
            }
            return proposal.holdingShare >= 1
                ? "\(proposal.positions.count) beacons on a grid of \(NumberText.significant(proposal.spacing)) m let a receiver find \(target) everywhere."
                : "No grid reaches the target everywhere; the best found, \(proposal.positions.count) beacons, does at \(NumberText.percent(proposal.holdingShare)) of the places."
        }
        return "At \(NumberText.percent(holding(points))) of the places a receiver finds \(target)."
    }

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

    private func state(_ proposal: SitePlacement, in answer: inout PlanAnswer) {
        answer.state(
            "proposal",
            .record([
                ("gridSpacingM", .number(proposal.spacing)), ("holdingShare", .share(proposal.holdingShare)),
                ("weakestShare", .share(proposal.weakestShare)),
                ("positions", .list(proposal.positions.map { .list([.number($0.x), .number($0.y)]) })),
            ]))
        answer.show(
            "proposed beacons", .count(proposal.positions.count),
            remark: "a grid of \(NumberText.significant(proposal.spacing)) m")
        answer.show("their weakest place", .share(proposal.weakestShare), remark: "find a beacon in time")
    }
}
