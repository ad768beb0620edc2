internal import Airtime
internal import BluetoothTypes
internal import Configuration
public import Sites

/// Asks which beacons are received on a floor, for its weakest spots, and where to put beacons.
public struct SiteQuestion: Sendable {
    public let site: Site
    /// The fleet of its beacons; nil if the site file lists them.
    public let fleet: SiteFleet?
    /// The approximate number of places to compute.
    public let places: Int
    /// The kind of proposal; nil for none.
    public let proposal: Proposal?
    /// True computes other times than the target's too, which takes longer and only a page needs.
    public let drawsControls: Bool

    /// The kind of proposal.
    public enum Proposal: Hashable, Sendable {
        /// In addition to the existing beacons.
        case addition
        /// Instead of the existing beacons.
        case fromScratch
    }

    /// - Parameter places: The approximate number of places, at least 1; they are at least half a metre apart.
    public init(
        site: Site, fleet: SiteFleet? = nil, places: Int = 2000, proposal: Proposal? = nil, drawsControls: Bool = false
    ) {
        self.site = site
        self.fleet = fleet
        self.places = places
        self.proposal = proposal
        self.drawsControls = drawsControls
    }

    /// The number of weak spots in an answer.
    private static let weakSpotCount = 5

    /// - Parameter observe: Stops the survey when it returns false; the answer has the results so far.
    public func answer(_ observe: PlanObserver = { _ in true }) throws(PlanError) -> PlanAnswer {
        try finding(observe).answer
    }

    /// The answer and, if beacons are proposed, the floor with them.
    public struct Finding: Sendable {
        public let answer: PlanAnswer
        /// The floor with the proposed beacons; nil if none are proposed.
        public let proposed: ProposedSite?
    }

    /// The answer and the proposal.
    ///
    /// - Parameter observe: Stops the survey when it returns false; the answer has the results so far.
    public func finding(_ observe: PlanObserver = { _ in true }) throws(PlanError) -> Finding {
        guard let bounds = site.bounds else { throw PlanError(.configuration, "\(site.name): there is no floor") }
        let (positions, spacing) = SiteSurvey.grid(over: bounds, outline: site.outline, limit: limit(places, bounds))
        guard !positions.isEmpty else {
            throw PlanError(
                .configuration, "\(site.name): the outline is too narrow: no place lies inside; make it wider")
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
        var answer = PlanAnswer(title: "Coverage of \(site.name)", sentence: sentence(points, placement, after))
        answer.holds = placement.map { $0.shortfall == nil } ?? true
        state(points, spacing, isBefore: placement != nil, in: &answer)
        stateSeveral(points, in: &answer)
        stateScanners(points, in: &answer)
        answer.state(.interrupted, .flag(visit.isStopped))
        for (name, walk) in walks { show(walk, placement == nil ? name : "\(name), today", in: &answer) }
        answer.state(.paths, .list(walks.map { quantity($0.1, $0.0) }))
        if let placement { state(placement, proposed, after, in: &answer) }
        let isMapped = proposed != nil && after.count == positions.count
        let mapped = isMapped ? after : points
        answer.pictures.page.floorPlan =
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
                "Stopped early: the answer covers \(points.count) of \(visit.places.count) places, from the south on, and "
                    + "\(walks.count) of \(site.paths.count) paths.")
        }
        if site.outline == nil {
            answer.note(
                "The site has no outline, so the answer covers the rectangle around its walls, beacons and paths.")
        }
        if !site.hasOwnTarget {
            answer.note(
                "The site has no target, so this one counts: \(site.target.phrase). The key \"target\" of the file sets another."
            )
        }
        if let fleet {
            answer.state(.siteFleet, .word(fleet.name))
            answer.note(fleet.note(proposes: proposal != nil))
        }
        answer.note(
            "The values are for \(site.target.subject) at each place, with \(site.scanners.phrase). Shadowing is constant over "
                + "time, so it decides whether a beacon is received at a place at all.")
    }

    /// The places to survey, once or twice, until the observer stops the survey.
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

    /// The values that the page's controls need: the shares within times from an eighth to eight times the target's.
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
                seconds: site.target.seconds, probability: site.target.probability, found: site.target.found,
                times: times, shares: shares)
        }
    }

    private static func survey(of site: Site) throws(PlanError) -> SiteSurvey {
        let background = try PlanError.asking { () throws(AirtimeError) in
            try BackgroundLoad(share: site.backgroundLoad)
        }
        let model = SiteModel(beacons: site.beacons, walls: site.walls, radio: site.radio, background: background)
        return SiteSurvey(model: model, scanners: site.scanners, target: site.target)
    }

    /// The number of places in the rectangle that gives `places` inside the outline, up to 4 million.
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
        let seconds = NumberFormat.duration(site.target.seconds)
        let probability = NumberFormat.percent(site.target.probability)
        let target = site.target.phrase
        let found = "\(NumberFormat.percent(holding(points))) of the places a receiver finds \(target)."
        guard proposal != nil else { return "At " + found }
        let today = "Today, at " + found
        guard let placement else {
            return site.beacons.isEmpty ? Self.tooLarge : today + " " + Self.tooLarge
        }
        let count = placement.positions.count
        let isAddition = placement.kept > 0
        let beacons = "\(count)\(isAddition ? " more" : "") beacon\(count == 1 ? "" : "s")"
        let least =
            placement.least >= count ? "This is the smallest number." : "At least \(placement.least) are needed."
        let holding = NumberFormat.percent(placement.holdingShare)
        switch placement.shortfall {
        case nil where count == 0: return today + " No more beacons are needed."
        case nil:
            return isAddition
                ? "\(today) \(beacons) reach\(count == 1 ? "es" : "") the target everywhere. \(least)"
                : "\(beacons) let a receiver find \(target) at all places. \(least)"
        case .beacon:
            return
                "Even next to a beacon a receiver needs more than \(seconds) to find it in \(probability) of the cases, so "
                + "more beacons do not help. \(site.scanners.remedies)"
        case .mounts:
            return "\(beacons) reach the target at \(holding) of the places, the most that the listed mounts allow."
        case .collisions:
            return
                "\(beacons) reach the target at \(holding) of the places, the best found: more beacons collide too much. "
                + "Send less often, or allow more time."
        }
    }

    private static let tooLarge =
        "No placement was computed: the floor is too large. Plan it in parts."

    /// - Parameter isBefore: True if a proposal follows, from which the numbers of today are told apart.
    private func state(
        _ points: [SiteSurvey.Point], _ spacing: Double, isBefore: Bool, in answer: inout PlanAnswer
    ) {
        let today = isBefore ? "today" : ""
        let weakest = Self.weakest(points)
        let heard = points.isEmpty ? 0 : points.reduce(0) { $0 + $1.reception.heard } / Double(points.count)
        let clear = points.map(\.reception.collisionFreeProbability).min()
        let shown = !site.beacons.isEmpty
        answer.state(.siteName, .word(site.name))
        answer.state(.siteBeacons, .count(site.beacons.count), remark: today)
        answer.state(.places, .count(points.count), remark: "\(NumberFormat.significant(spacing)) m apart")
        answer.state(.placeSpacing, .number(spacing))
        answer.state(
            .holdingShare, .share(holding(points)), isInText: shown,
            remark: isBefore ? "of the places, today" : "of the places")
        answer.state(
            .meanBeaconsHeard, .number(heard), isInText: shown, remark: isBefore ? "on average, today" : "on average")
        answer.state(.lowestCollisionFree, .share(clear), isInText: shown, remark: today)
        answer.state(.weakestSpots, .list(weakest.map { quantity($0) }))
        guard shown else { return }
        for point in weakest {
            let place = point.reception.position
            answer.show(
                isBefore ? "weak spot today" : "weak spot", .number(nil, unit: "m"),
                shown: "\(NumberFormat.significant(place.x)), \(NumberFormat.significant(place.y))",
                remark: Self.remark(point, on: site))
        }
    }

    /// Adds the mix, and the share of the places that reach the target with each of its scanners.
    private func stateScanners(_ points: [SiteSurvey.Point], in answer: inout PlanAnswer) {
        answer.state(site.scanners)
        guard site.scanners.only == nil else { return }
        var list: [PlanQuantity] = []
        for (index, part) in site.scanners.parts.enumerated() {
            let holding = points.count { $0.detectedByScanner[index] >= site.target.probability }
            let share = points.isEmpty ? 0 : Double(holding) / Double(points.count)
            list.append(
                .object([
                    (.mixScanner, .word(part.scanner.name)), (.mixShare, .share(part.share)),
                    (.mixHoldingShare, .share(share)),
                ]))
            answer.show(
                "with \(part.scanner.name)", .share(share),
                remark: "of the places reach the target; \(NumberFormat.percent(part.share)) of the visitors")
        }
        answer.state(.scanners, .list(list))
    }

    /// The weakest places, at least a tenth of the floor apart.
    static func weakest(_ points: [SiteSurvey.Point]) -> [SiteSurvey.Point] {
        guard let bounds = FloorBounds(points.map(\.reception.position)) else { return [] }
        let apart = max(bounds.width, bounds.height) / 10
        var spots: [SiteSurvey.Point] = []
        for point in points.sorted(by: {
            ($0.beaconsInTime ?? 0, $0.detectedShare) < ($1.beaconsInTime ?? 0, $1.detectedShare)
        }) {
            guard spots.count < weakSpotCount else { break }
            let place = point.reception.position
            if spots.allSatisfy({ $0.reception.position.distance(to: place) >= apart }) { spots.append(point) }
        }
        return spots
    }

    fileprivate static func remark(_ point: SiteSurvey.Point, on site: Site) -> String {
        guard let best = point.reception.best else { return "no beacon is received here" }
        if let count = point.beaconsInTime {
            return "\(count) of \(site.target.beacons) beacons found within "
                + "\(NumberFormat.duration(site.target.seconds)) in \(NumberFormat.percent(site.target.probability)) of the "
                + "cases"
        }
        return
            "found within \(NumberFormat.duration(site.target.seconds)) in \(NumberFormat.percent(point.detectedShare)): "
            + "\(site.beacons[best.beacon].name) at \(NumberFormat.significant(best.power)) dBm"
    }

    private func quantity(_ point: SiteSurvey.Point) -> PlanQuantity {
        .object(
            [
                (.spotX, .number(point.reception.position.x)), (.spotY, .number(point.reception.position.y)),
                (.spotBeaconsHeard, .number(point.reception.heard)),
                (.collisionFree, .share(point.reception.collisionFreeProbability)),
                (.spotDetectedShare, .share(point.detectedShare)), (.spotDetection, .seconds(point.detectionSeconds)),
            ] + (point.beaconsInTime.map { [(.spotBeaconsInTime, .count($0))] } ?? []))
    }

    private func quantity(_ walk: SiteWalk.Result, _ name: String) -> PlanQuantity {
        .object(
            [
                (.pathName, .word(name)), (.pathDuration, .seconds(walk.duration)),
                (.pathBeaconsSeen, .number(walk.seen)),
                (.pathProbabilitySeen, .share(walk.seenAnyProbability)),
                (.pathLongestSilence, .number(walk.longestSilence)),
            ] + (site.scanners.only == nil ? [(.pathScanners, .list(scanners(of: walk)))] : []))
    }

    private func scanners(of walk: SiteWalk.Result) -> [PlanQuantity] {
        zip(site.scanners.parts, walk.seenAnyByScanner).map { part, seen in
            .object([(.pathScanner, .word(part.scanner.name)), (.pathScannerSeen, .share(seen))])
        }
    }

    private func show(_ walk: SiteWalk.Result, _ name: String, in answer: inout PlanAnswer) {
        answer.show(
            "path \(name)", .share(walk.seenAnyProbability),
            remark:
                "of the walks find a beacon, in \(NumberFormat.duration(walk.duration)); \(NumberFormat.significant(walk.seen)) beacons "
                + "on average, at most \(NumberFormat.significant(walk.longestSilence)) m without a beacon")
    }

    private func state(
        _ placement: SitePlacement, _ proposed: ProposedSite?, _ after: [SiteSurvey.Point], in answer: inout PlanAnswer
    ) {
        answer.state(
            .proposal,
            .object([
                (.positions, .list(placement.positions.map { .list([.number($0.x), .number($0.y)]) })),
                (.kept, .count(placement.kept)), (.least, .count(placement.least)),
                (.proposedHoldingShare, .share(placement.holdingShare)),
                (.weakestShare, .share(placement.weakestShare)), (.reached, .flag(placement.shortfall == nil)),
            ]))
        answer.show(
            placement.kept > 0 ? "beacons to add" : "proposed beacons", .count(placement.positions.count),
            remark:
                "proposed; at least \(placement.least) are needed\(site.mounts.isEmpty ? "" : " at the listed mounts")")
        if placement.kept > 0 { answer.show("beacons kept", .count(placement.kept), remark: "with the proposal") }
        answer.show(
            "found at the weakest place", .share(placement.weakestShare), remark: "of the cases, with the proposal")
        if !after.isEmpty {
            answer.show("target reached at", .share(holding(after)), remark: "of the places, with the proposal")
        }
        show(proposed, in: &answer)
        if let count = proposed?.added, count > Self.listedBeacons {
            answer.note(
                "\(count - Self.listedBeacons) more proposed beacons are in the JSON output, on the page and in the files of "
                    + "--write-site and --write-fleet.")
        }
    }

    /// Lists the proposed beacons: all on the page, the first ones in the text.
    private func show(_ proposed: ProposedSite?, in answer: inout PlanAnswer) {
        guard let proposed else { return }
        let header = ["proposed beacon", "x (m)", "y (m)"]
        let rows = proposed.beacons.map { beacon in
            [beacon.name] + [beacon.position.x, beacon.position.y].map { NumberFormat.significant($0) }
        }
        answer.pictures.page.tables.append(.init(caption: "Proposed beacons", header: header, rows: rows))
        var table = Table(header, alignment: [.left, .right, .right])
        for row in rows.prefix(Self.listedBeacons) { table.add(row.map(TerminalText.line)) }
        answer.pictures.terminal.append(.table(table, legend: ""))
    }

    /// The text lists this many proposed beacons.
    private static let listedBeacons = 40
}

extension SiteQuestion {
    /// The keys of the answer in JSON.
    static let keys: [PlanKey] =
        [
            .siteName, .siteFleet, .siteBeacons, .places, .placeSpacing, .holdingShare, .meanBeaconsHeard,
            .lowestCollisionFree, .weakestSpots, .spotX, .spotY, .spotBeaconsHeard,
            PlanKey.collisionFree.within("weakestSpots[]"), .spotDetectedShare, .spotDetection, .scanner,
        ] + PlanKey.mix + [
            .mixHoldingShare, .interrupted, .paths,
            .pathName, .pathDuration, .pathBeaconsSeen, .pathProbabilitySeen, .pathLongestSilence, .pathScanners,
            .pathScanner, .pathScannerSeen, .proposal, .positions,
            .kept, .least, .proposedHoldingShare, .weakestShare, .reached,
        ] + keysOfSeveral
}

extension PlanKey {
    fileprivate static let siteName = PlanKey("site", "Name of the site.")
    fileprivate static let siteFleet = PlanKey(
        "fleet", "The fleet file that the site file refers to; absent if it refers to none.")
    fileprivate static let siteBeacons = PlanKey("beacons", "Number of existing beacons.", label: "beacons")
    fileprivate static let places = PlanKey("places", "Number of computed places.", label: "places computed")
    fileprivate static let placeSpacing = PlanKey("placeSpacingM", "Distance between neighboring places, in m.")
    fileprivate static let holdingShare = PlanKey(
        "holdingShare", "Share of the places that reach the target, 0 to 1.", label: "target reached at")
    fileprivate static let meanBeaconsHeard = PlanKey(
        "meanBeaconsHeard", "Mean number of beacons that a place receives.", label: "beacons received at a place")
    fileprivate static let lowestCollisionFree = PlanKey(
        "lowestCollisionFreeProbability",
        "Share of packets that do not collide at the worst place; null if no place was computed.",
        label: "collision-free at worst")
    fileprivate static let weakestSpots = PlanKey("weakestSpots", "The weakest places, the weakest first.")
    fileprivate static let spotX = PlanKey("weakestSpots[].x", "Metres east of the origin.")
    fileprivate static let spotY = PlanKey("weakestSpots[].y", "Metres north of the origin.")
    fileprivate static let spotBeaconsHeard = PlanKey(
        "weakestSpots[].beaconsHeard", "Mean number of beacons that the place receives.")
    fileprivate static let spotDetectedShare = PlanKey(
        "weakestSpots[].detectedShare", "Share of cases in which a beacon is found in time, 0 to 1.")
    fileprivate static let spotDetection = PlanKey(
        "weakestSpots[].detectionS",
        "Time within which a beacon is found with the target's probability, in s; null if it never is.")
    fileprivate static let paths = PlanKey("paths", "The paths of the site file.")
    fileprivate static let pathName = PlanKey("paths[].name", "Name of the path.")
    fileprivate static let pathDuration = PlanKey("paths[].durationS", "Duration of the walk in s.")
    fileprivate static let pathBeaconsSeen = PlanKey("paths[].beaconsSeen", "Mean number of beacons found on the walk.")
    fileprivate static let pathProbabilitySeen = PlanKey(
        "paths[].probabilitySeen", "Share of walks that find a beacon, 0 to 1.")
    fileprivate static let mixHoldingShare = PlanKey(
        "scanners[].holdingShare", "Share of the places that reach the target with this scanner, 0 to 1.")
    fileprivate static let pathScanners = PlanKey("paths[].scanners", "With a mix: the results with each scanner.")
    fileprivate static let pathScanner = PlanKey("paths[].scanners[].scanner", "Name of the scanner.")
    fileprivate static let pathScannerSeen = PlanKey(
        "paths[].scanners[].probabilitySeen", "Share of walks in which this scanner finds a beacon, 0 to 1.")
    fileprivate static let pathLongestSilence = PlanKey(
        "paths[].longestSilenceM", "Longest part of the path without a beacon, in m.")
    fileprivate static let proposal = PlanKey("proposal", "With --propose: the proposed beacons.")
    fileprivate static let positions = PlanKey(
        "proposal.positions", "Their positions, each a list of metres east and metres north.")
    fileprivate static let kept = PlanKey("proposal.kept", "Number of existing beacons that stay.")
    fileprivate static let least = PlanKey(
        "proposal.least", "Lower bound of the number of new beacons that reach the same share of places.")
    fileprivate static let proposedHoldingShare = PlanKey(
        "proposal.holdingShare", "Share of places that reach the target with the proposal, 0 to 1.")
    fileprivate static let weakestShare = PlanKey(
        "proposal.weakestShare", "Share of cases in which a beacon is found in time at the weakest place, 0 to 1.")
    fileprivate static let reached = PlanKey("proposal.reached", "True if all places reach the target.")
}

/// A surveyed site as a figure of the page.
private struct SitePicture {
    let site: Site
    let points: [SiteSurvey.Point]
    let spacing: Double
    /// The number of proposed beacons, which are the last ones.
    let proposed: Int
    let goal: PlanPageContent.FloorPlan.Goal?

    /// The figure shows at most this many beacons, so that phones can open the page.
    private static let beaconLimit = 2000

    var plan: PlanPageContent.FloorPlan {
        let standing = site.beacons.count - proposed
        let beacons = site.beacons.enumerated().prefix(Self.beaconLimit).map { index, beacon in
            PlanPageContent.FloorPlan.Beacon(beacon.name, at: point(beacon.position), isProposed: index >= standing)
        }
        let weakest = SiteQuestion.weakest(points)
        var plan = PlanPageContent.FloorPlan(
            title: proposed > 0 ? "Coverage with the proposed beacons" : "Coverage of the floor",
            caption:
                "The share of cases in which \(site.target.ranked) is found within \(NumberFormat.duration(site.target.seconds)), at each "
                + "place\(proposed > 0 ? ", with the proposed beacons" : "").",
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
            weakSpots: weakest.map {
                .init(
                    point($0.reception.position), 100 * $0.detectedShare, remark: SiteQuestion.remark($0, on: site))
            })
        plan.goal = goal
        plan.picture = .init(of: site)
        return plan
    }

    private func point(_ position: FloorPosition) -> PlanPageContent.Point { .init(position.x, position.y) }
}
