internal import Airtime
internal import Configuration
internal import PlanReport
internal import Sites

/// What `plan site` asks of one site.
struct SiteQuestion {
    let site: Site
    /// Where its beacons come from; `nil` where the site file lists them.
    let fleet: SiteFleet?
    let places: Int
    let proposes: Bool

    /// As many weak spots as people look at.
    private static let weakSpotCount = 5

    func answer(_ progress: SiteProgress) throws -> PlanAnswer {
        guard let bounds = site.bounds else { throw Failure(.configuration, "\(site.name): there is no floor") }
        let background = try PlanValue.answer { () throws(AirtimeError) in
            try BackgroundLoad(share: site.backgroundLoad)
        }
        let model = SiteModel(beacons: site.beacons, walls: site.walls, radio: site.radio, background: background)
        var survey = SiteSurvey(model: model, scanner: site.scanner, target: site.target)
        let (positions, spacing) = SiteSurvey.grid(over: bounds, outline: site.outline, limit: limit(places, bounds))
        guard !positions.isEmpty else {
            throw Failure(.configuration, "\(site.name): the outline is so narrow that no place was found in it")
        }
        var points: [SiteSurvey.Point] = []
        for position in positions where !progress.isStopped {
            progress.report("\(points.count) of \(positions.count) places")
            points.append(try PlanValue.answer { () throws(AirtimeError) in try survey.point(at: position) })
        }
        var walks: [(String, SiteWalk.Result)] = []
        for path in site.paths where !progress.isStopped {
            progress.report("\(walks.count) of \(site.paths.count) paths")
            let result = try PlanValue.answer { () throws(AirtimeError) in try path.walk.result(in: &survey) }
            walks.append((path.name, result))
        }
        let proposal = proposes && !progress.isStopped ? try propose(bounds, background, progress) : nil
        progress.finish()
        var answer = PlanAnswer(title: "Site \(site.name)", answer: sentence(points, proposal))
        describe(points, spacing, to: &answer)
        answer.json.append(("interrupted", .boolean(progress.isStopped)))
        for (name, walk) in walks { describe(walk, name, to: &answer) }
        answer.json.append(("paths", .array(walks.map { json($0.1, $0.0) })))
        if let proposal { describe(proposal, to: &answer) }
        answer.content.floorPlan = SitePicture(site: site, points: points, spacing: spacing, proposal: proposal).plan
        if progress.isStopped {
            answer.note(
                "Ended before its time: \(points.count) of \(positions.count) places, from the south on, and "
                    + "\(walks.count) of \(site.paths.count) paths were looked at.")
        }
        if site.outline == nil {
            answer.note("There is no outline: the rectangle around walls, beacons and paths was looked at.")
        }
        if let fleet {
            answer.json.append(("fleet", .string(fleet.name)))
            answer.note(fleet.note(site, proposes: proposes))
        }
        answer.note(
            "Detection of the beacon that is heard best at each place, by \(site.scanner.name); shadowing lasts, so it decides whether a beacon is heard at a place at all."
        )
        return answer
    }

    /// How many places of the rectangle make so many inside the outline; not without end where it is a sliver.
    private func limit(_ places: Int, _ bounds: FloorBounds) -> Int {
        guard let outline = site.outline else { return places }
        let share = bounds.width * bounds.height / outline.area
        return Int(min(Double(places) * max(1, share), 4_000_000))
    }

    private func propose(
        _ bounds: FloorBounds, _ background: BackgroundLoad, _ progress: SiteProgress
    ) throws -> SitePlacement? {
        try PlanValue.answer { () throws(AirtimeError) in
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
                progress.report("looking for a placement")
                return progress.isStopped
            }
        }
    }

    private func holding(_ points: [SiteSurvey.Point]) -> Double {
        let count = points.count { $0.detectedShare >= site.target.probability }
        return points.isEmpty ? 0 : Double(count) / Double(points.count)
    }

    private func sentence(_ points: [SiteSurvey.Point], _ proposal: SitePlacement?) -> String {
        let target =
            "a beacon within \(PlanNumber.duration(site.target.seconds)) in \(PlanNumber.percent(site.target.probability)) of the cases"
        if site.beacons.isEmpty {
            guard let proposal else {
                return
                    "No placement was found: a floor this large takes more than \(SitePlacement.beaconLimit) beacons."
            }
            return proposal.holdingShare >= 1
                ? "\(proposal.positions.count) beacons on a grid of \(PlanNumber.text(proposal.spacing)) m let a receiver find \(target) everywhere."
                : "No grid reaches the target everywhere; the best found, \(proposal.positions.count) beacons, does at \(PlanNumber.percent(proposal.holdingShare)) of the places."
        }
        return "At \(PlanNumber.percent(holding(points))) of the places a receiver finds \(target)."
    }

    private func describe(_ points: [SiteSurvey.Point], _ spacing: Double, to answer: inout PlanAnswer) {
        let weakest = Self.weakest(points)
        let heard = points.isEmpty ? 0 : points.reduce(0) { $0 + $1.reception.heard } / Double(points.count)
        let clear = points.map(\.reception.collisionFreeProbability).min()
        answer.json.append(("site", .string(site.name)))
        answer.member("beacons", Double(site.beacons.count))
        answer.member("places", Double(points.count))
        answer.member("placeSpacingM", spacing)
        answer.member("holdingShare", holding(points))
        answer.member("meanBeaconsHeard", heard)
        answer.member("lowestCollisionFreeProbability", clear)
        answer.json.append(("weakestSpots", .array(weakest.map { json($0) })))
        answer.figure("beacons", "\(site.beacons.count)")
        answer.figure("places looked at", "\(points.count)", remark: "\(PlanNumber.text(spacing)) m apart")
        guard !site.beacons.isEmpty else { return }
        answer.figure("target reached at", PlanNumber.percent(holding(points)), remark: "of the places")
        answer.figure("beacons heard at a place", PlanNumber.text(heard), remark: "on average")
        answer.figure("collision-free at worst", PlanNumber.percent(clear))
        for point in weakest {
            let place = point.reception.position
            answer.figure(
                "weak spot", "\(PlanNumber.text(place.x)), \(PlanNumber.text(place.y))", unit: "m",
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
            "found within \(PlanNumber.duration(site.target.seconds)) in \(PlanNumber.percent(point.detectedShare)): "
            + "\(site.beacons[best.beacon].name) at \(PlanNumber.text(best.power)) dBm"
    }

    private func json(_ point: SiteSurvey.Point) -> JSONValue {
        .record([
            ("x", .real(point.reception.position.x)), ("y", .real(point.reception.position.y)),
            ("beaconsHeard", .real(point.reception.heard)),
            ("collisionFreeProbability", .real(point.reception.collisionFreeProbability)),
            ("detectedShare", .real(point.detectedShare)), ("detectionS", .real(point.detectionSeconds)),
        ])
    }

    private func json(_ walk: SiteWalk.Result, _ name: String) -> JSONValue {
        .record([
            ("name", .string(name)), ("durationS", .real(walk.duration)), ("beaconsSeen", .real(walk.seen)),
            ("probabilitySeen", .real(walk.seenAnyProbability)), ("longestSilenceM", .real(walk.longestSilence)),
        ])
    }

    private func describe(_ walk: SiteWalk.Result, _ name: String, to answer: inout PlanAnswer) {
        answer.figure(
            "path \(name)", PlanNumber.percent(walk.seenAnyProbability),
            remark:
                "see a beacon in \(PlanNumber.duration(walk.duration)); \(PlanNumber.text(walk.seen)) beacons on average, "
                + "nothing heard for \(PlanNumber.text(walk.longestSilence)) m at most")
    }

    private func describe(_ proposal: SitePlacement, to answer: inout PlanAnswer) {
        answer.json.append(
            (
                "proposal",
                .record([
                    ("gridSpacingM", .real(proposal.spacing)), ("holdingShare", .real(proposal.holdingShare)),
                    ("weakestShare", .real(proposal.weakestShare)),
                    ("positions", .array(proposal.positions.map { .array([.real($0.x), .real($0.y)]) })),
                ])
            ))
        answer.figure(
            "proposed beacons", "\(proposal.positions.count)",
            remark: "a grid of \(PlanNumber.text(proposal.spacing)) m")
        answer.figure("their weakest place", PlanNumber.percent(proposal.weakestShare), remark: "find a beacon in time")
    }
}
