internal import Airtime
internal import BluetoothTypes
internal import Configuration
public import Sites

/// A question for the planner: which beacons are received on a floor, where the weakest places of the floor are, and
/// where to add beacons.
public struct SiteQuestion: Sendable {
    public let site: Site
    /// The fleet that contains the site's beacons; nil if the site file lists the beacons.
    public let fleet: SiteFleet?
    /// The approximate number of places to compute.
    public let places: Int
    /// The kind of proposal; nil if no proposal is requested.
    public let proposal: Proposal?
    /// True to compute also the shares found within times other than the target time. Only a page needs these shares,
    /// which take additional time.
    public let drawsControls: Bool

    /// The kind of proposal.
    public enum Proposal: Sendable {
        /// New beacons in addition to the existing beacons.
        case addition
        /// New beacons instead of the existing beacons.
        case fromScratch
    }

    /// - Parameter places: The approximate number of places, at least 1. Fewer places are computed if they would be
    ///   less than half a metre apart.
    public init(
        site: Site, fleet: SiteFleet? = nil, places: Int = 2000, proposal: Proposal? = nil, drawsControls: Bool = false
    ) {
        self.site = site
        self.fleet = fleet
        self.places = places
        self.proposal = proposal
        self.drawsControls = drawsControls
    }

    /// The number of weakest places in an answer.
    private static let weakSpotCount = 5

    /// - Parameter observe: Stops the computation when it returns false; the answer has the results so far.
    public func answer(_ observe: PlanObserver = { _ in true }) throws(PlanError) -> PlanAnswer {
        try finding(observe).answer
    }

    /// The answer and, if beacons are proposed, the floor with the proposed beacons.
    public struct Finding: Sendable {
        public let answer: PlanAnswer
        /// The floor with the proposed beacons; nil if no beacons are proposed.
        public let proposed: ProposedSite?
    }

    /// Returns the answer and the proposal.
    ///
    /// - Parameter observe: Stops the computation when it returns false; the answer has the results so far.
    public func finding(_ observe: PlanObserver = { _ in true }) throws(PlanError) -> Finding {
        guard let bounds = site.bounds else { throw PlanError(.configuration, "\(site.name): there is no floor") }
        let (positions, spacing) = SiteCoverage.grid(over: bounds, outline: site.outline, limit: limit(places, bounds))
        guard !positions.isEmpty else {
            throw PlanError(
                .configuration, "\(site.name): the outline is too narrow: no place lies inside; make it wider")
        }
        var pass = CoveragePass(places: positions)
        var coverage = try Self.coverage(of: site)
        let points = try pass.points(&coverage, observe)
        var walks: [(String, SiteWalk.Result)] = []
        for path in site.paths where !pass.isStopped {
            pass.isStopped = !observe(.init("paths", done: walks.count, of: site.paths.count))
            let result = try PlanError.asking { () throws(AirtimeError) in try path.walk.result(in: &coverage) }
            walks.append((path.name, result))
        }
        var placement: SitePlacement?
        var proposed: ProposedSite?
        if let proposal, !pass.isStopped {
            placement = try self.placement(proposal, on: site, positions, spacing, observe, &pass.isStopped)
            proposed = placement.flatMap { ProposedSite(of: site, $0, keeps: proposal == .addition) }
        }
        var pointsAfter: [SiteCoverage.Point] = []
        var check: ProposalCheck?
        if let firstPlacement = placement, let firstProposed = proposed, !pass.isStopped {
            var trial = try self.trial(firstPlacement, firstProposed, bounds, &pass, observe)
            try repair(&trial, bounds, &pass, observe)
            (placement, proposed, pointsAfter, check) = (trial.placement, trial.proposed, trial.points, trial.check)
            if pointsAfter.count == positions.count { coverage = trial.coverage }
        }
        var answer = PlanAnswer(title: "Coverage of \(site.name)", sentence: sentence(points, placement, check))
        answer.holds = placement.map { $0.shortfall == nil } ?? true
        add(points, spacing, isBefore: placement != nil, in: &answer)
        stateSeveral(points, isBefore: placement != nil, in: &answer)
        stateScanners(points, in: &answer)
        stateAssumptions(in: &answer)
        answer.add(.interrupted, .flag(pass.isStopped))
        for (name, walk) in walks { show(walk, placement == nil ? name : "\(name), today", in: &answer) }
        answer.add(.paths, .list(walks.map { quantity($0.1, $0.0) }))
        if let placement { add(placement, proposed, check, in: &answer) }
        let isMapped = proposed != nil && pointsAfter.count == positions.count
        let mapped = isMapped ? pointsAfter : points
        answer.pictures.page.floorPlan =
            SitePicture(
                site: isMapped ? proposed?.site ?? site : site, points: mapped, spacing: spacing,
                proposed: isMapped ? proposed?.added ?? 0 : 0, goal: try goal(mapped, &coverage)
            ).floorPlan
        note(in: &answer, pass, points, walks)
        return Finding(answer: answer, proposed: proposed)
    }

    private func note(
        in answer: inout PlanAnswer, _ pass: CoveragePass, _ points: [SiteCoverage.Point],
        _ walks: [(String, SiteWalk.Result)]
    ) {
        if pass.isStopped {
            answer.note(
                "Stopped early: the answer covers \(points.count) of \(pass.places.count) places, beginning in the south, and "
                    + "\(walks.count) of \(site.paths.count) paths.")
        }
        if site.outline == nil {
            answer.note(
                "The site has no outline, so the answer covers the rectangle around its walls, beacons and paths.")
        }
        if !site.hasOwnTarget {
            answer.note(
                "The site file has no target, so the default applies: \(site.target.phrase). The key \"target\" sets "
                    + "another target."
            )
        }
        if let fleet {
            answer.add(.siteFleet, .word(fleet.name))
            answer.note(fleet.note(proposes: proposal != nil))
        }
        answer.note(
            "Each place is judged by \(site.target.subject) there, received by \(site.scanners.phrase). Shadowing does not "
                + "change over time: at a place where it weakens a beacon too much, waiting does not help.")
    }

    /// Computes the results at all places, before and after a proposal. The observer can stop it.
    private struct CoveragePass {
        let places: [FloorPosition]
        var isStopped = false

        mutating func points(
            _ coverage: inout SiteCoverage, _ observe: PlanObserver
        ) throws(PlanError) -> [SiteCoverage.Point] {
            var points: [SiteCoverage.Point] = []
            for position in places where !isStopped {
                isStopped = !observe(.init("places", done: points.count, of: places.count))
                points.append(try PlanError.asking { () throws(AirtimeError) in try coverage.point(at: position) })
            }
            return points
        }
    }

    /// A proposal with its results.
    private struct Trial {
        var placement: SitePlacement
        var proposed: ProposedSite
        /// The results at the places of the answer. Some are missing if the observer stopped the computation.
        var points: [SiteCoverage.Point]
        /// The coverage with which ``points`` were computed.
        var coverage: SiteCoverage
        /// The check on a finer grid. Nil if the places are already half a metre apart, so that there is no finer grid,
        /// or if the observer stopped the check.
        var check: ProposalCheck?
    }

    private func trial(
        _ placement: SitePlacement, _ proposed: ProposedSite, _ bounds: FloorBounds, _ pass: inout CoveragePass,
        _ observe: PlanObserver
    ) throws(PlanError) -> Trial {
        var coverage = try Self.coverage(of: proposed.site)
        let points = try pass.points(&coverage, observe)
        let check = try check(proposed, of: placement, bounds, &pass.isStopped, observe)
        return Trial(placement: placement, proposed: proposed, points: points, coverage: coverage, check: check)
    }

    /// Adds beacons for the places that miss the target in the check of a proposal, and checks again. Repeats this as
    /// long as more places reach the target.
    private func repair(
        _ trial: inout Trial, _ bounds: FloorBounds, _ pass: inout CoveragePass, _ observe: PlanObserver
    ) throws(PlanError) {
        for _ in 0..<ProposalCheck.repairLimit where !pass.isStopped && trial.placement.shortfall == nil {
            guard let check = trial.check, !check.missed.isEmpty,
                let more = try placement(.addition, on: trial.proposed.site, check.missed, 0, observe, &pass.isStopped)
            else { return }
            let placement = trial.placement.adding(more)
            let count = placement.positions.count - trial.placement.positions.count
            guard count > 0, !pass.isStopped,
                let proposed = ProposedSite(of: site, placement, keeps: proposal == .addition)
            else { return }
            var next = try self.trial(placement, proposed, bounds, &pass, observe)
            // The added beacons may cause collisions that worsen other places. In this case the previous proposal is
            // kept.
            guard let newCheck = next.check, newCheck.holdingShare > check.holdingShare,
                reachedShare(next.points) >= reachedShare(trial.points)
            else { return }
            next.check?.added = check.added + count
            // The value at the weakest place is updated only if the search for the proposal used the same places as
            // this pass. The search may have used a finer grid.
            if next.points.count == placement.places {
                next.placement = placement.replacing(weakestShare: next.points.reduce(1) { min($0, $1.detectedShare) })
            }
            trial = next
        }
    }

    /// Returns the results of the proposal at the places of a finer grid; `nil` if the grid would not be finer, or if
    /// the computation was stopped.
    private func check(
        _ proposed: ProposedSite, of placement: SitePlacement, _ bounds: FloorBounds, _ isStopped: inout Bool,
        _ observe: PlanObserver
    ) throws(PlanError) -> ProposalCheck? {
        guard !isStopped else { return nil }
        let count = ProposalCheck.places(ofProposalFor: placement.places)
        let positions = SiteCoverage.grid(over: bounds, outline: site.outline, limit: limit(count, bounds)).positions
        guard positions.count > placement.places else { return nil }
        var pass = CoveragePass(places: positions)
        var coverage = try Self.coverage(of: proposed.site)
        let points = try pass.points(&coverage) { observe(.init("places of the check", done: $0.done, of: $0.total)) }
        isStopped = pass.isStopped
        guard points.count == positions.count else { return nil }
        return ProposalCheck(points, at: positions, target: site.target)
    }

    /// Returns the values that the page's controls need: the shares found within times from an eighth of the target
    /// time to eight times the target time.
    private func goal(
        _ points: [SiteCoverage.Point], _ coverage: inout SiteCoverage
    ) throws(PlanError) -> PlanPageContent.FloorPlan.Goal? {
        guard drawsControls else { return nil }
        let steps = [0.125, 0.177, 0.25, 0.354, 0.5, 0.707, 1, 1.414, 2, 2.828, 4, 5.657, 8]
        let times = steps.map { $0 * site.target.seconds }
        return try PlanError.asking { () throws(AirtimeError) in
            var shares: [[Double]] = []
            for point in points { shares.append(try coverage.shares(at: point, within: times)) }
            return .init(
                seconds: site.target.seconds, probability: site.target.probability, found: site.target.firstWords,
                times: times, shares: shares)
        }
    }

    private static func coverage(of site: Site) throws(PlanError) -> SiteCoverage {
        let background = try PlanError.asking { () throws(AirtimeError) in
            try BackgroundLoad(site.backgroundLoad)
        }
        let model = SiteModel(beacons: site.beacons, walls: site.walls, radio: site.radio, background: background)
        return SiteCoverage(model: model, scanners: site.scanners, target: site.target)
    }

    /// Returns the number of places in the whole rectangle, at most 4 million, of which about `places` are inside the
    /// outline.
    private func limit(_ places: Int, _ bounds: FloorBounds) -> Int {
        guard let outline = site.outline else { return places }
        let share = bounds.width * bounds.height / outline.area
        return Int(min(Double(places) * max(1, share), 4_000_000))
    }

    private func placement(
        _ kind: Proposal, on site: Site, _ positions: [FloorPosition], _ spacing: Double, _ observe: PlanObserver,
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

    /// Returns the share of the places that reach the target.
    private func reachedShare(_ points: [SiteCoverage.Point]) -> Double {
        let count = points.count { $0.detectedShare >= site.target.probability }
        return points.isEmpty ? 0 : Double(count) / Double(points.count)
    }

    private func sentence(
        _ points: [SiteCoverage.Point], _ placement: SitePlacement?, _ check: ProposalCheck?
    ) -> String {
        let target = site.target.phrase
        let found = "\(NumberFormat.percent(reachedShare(points))) of the places a receiver finds \(target)."
        guard proposal != nil else { return "At " + found }
        let today = "Today, at " + found
        guard let placement else {
            return site.beacons.isEmpty ? Self.tooLarge : today + " " + Self.tooLarge
        }
        let count = placement.positions.count
        let isAddition = placement.kept > 0
        let beacons = "\(count)\(isAddition ? " more" : "") beacon\(count == 1 ? "" : "s")"
        let reach = "\(beacons) reach\(count == 1 ? "es" : "") the target"
        let places = "\(placement.places) computed places"
        let some = "\(reach) at \(NumberFormat.percent(placement.holdingShare)) of the \(places)"
        switch placement.shortfall {
        case nil where count == 0: return "\(today) No more beacons are needed at the \(places)."
        case nil:
            let isLeast = placement.least >= count
            let least = isLeast ? "This is the smallest number for these places." : Self.needed(placement)
            let all =
                isAddition
                ? "\(today) \(reach) at all \(places)."
                : "\(beacons) let\(count == 1 ? "s" : "") a receiver find \(target) at all \(places)."
            return "\(all) \(least)\(check?.sentence ?? "")"
        case .beacon:
            return
                "Even next to a beacon a receiver needs more than \(NumberFormat.duration(site.target.seconds)) to find it in "
                + "\(NumberFormat.percent(site.target.probability)) of the cases, so more beacons do not help. "
                + site.scanners.remedies
        case .mounts where count == 0:
            return
                "\(today) No beacon is proposed: no beacon on a listed mount reaches the target at any additional place."
        case .mounts: return "\(some). At the other places, a beacon on any listed mount is received too weakly."
        case .range:
            let power = "a beacon with \(NumberFormat.significant(site.defaults.radioPower)) dBm is received too weakly"
            let remedy = "Send with more power, or allow more time."
            return count == 0
                ? "No beacon is proposed: \(power) to reach the target, even close to it. \(remedy)"
                : "\(some). At the other places, \(power) from every examined position. \(remedy)"
        case .collisions:
            return
                "\(some). No better placement was found: more beacons collide too much. Send less often, or allow more time."
        }
    }

    private static func needed(_ placement: SitePlacement) -> String {
        placement.least == 1 ? "At least one is needed." : "At least \(placement.least) are needed."
    }

    private static let tooLarge =
        "No placement was computed: the floor is too large. Plan it in parts."

    /// - Parameter isBefore: True if a proposal follows. In this case the labels and remarks of these numbers contain
    ///   "today".
    private func add(
        _ points: [SiteCoverage.Point], _ spacing: Double, isBefore: Bool, in answer: inout PlanAnswer
    ) {
        let today = isBefore ? "today" : ""
        let weakest = Self.weakest(points)
        let meanReceived =
            points.isEmpty ? 0 : points.reduce(0) { $0 + $1.reception.receivedBeacons } / Double(points.count)
        let lowestClear = points.map(\.reception.collisionFreeProbability).min()
        let hasBeacons = !site.beacons.isEmpty
        answer.add(.siteName, .word(site.name))
        answer.add(.siteBeacons, .count(site.beacons.count), remark: today)
        answer.add(.places, .count(points.count), remark: "\(NumberFormat.significant(spacing)) m apart")
        answer.add(.placeSpacing, .number(spacing))
        answer.add(
            .holdingShare, .share(reachedShare(points)), isInText: hasBeacons,
            remark: isBefore ? "of the places, today" : "of the places")
        answer.add(
            .meanBeaconsHeard, .number(meanReceived), isInText: hasBeacons,
            remark: "on average, each counted with the probability that it is received" + (isBefore ? ", today" : ""))
        answer.add(.lowestCollisionFree, .share(lowestClear), isInText: hasBeacons, remark: today)
        answer.add(.weakestSpots, .list(weakest.map { quantity($0) }))
        guard hasBeacons else { return }
        for point in weakest {
            let place = point.reception.position
            answer.show(
                isBefore ? "weak spot today" : "weak spot", .number(nil, unit: "m"),
                shown: "\(NumberFormat.significant(place.x)), \(NumberFormat.significant(place.y))",
                remark: Self.remark(point, on: site))
        }
    }

    /// Adds the scanner. For a mix, also adds the share of the places that reach the target with each scanner.
    private func stateScanners(_ points: [SiteCoverage.Point], in answer: inout PlanAnswer) {
        answer.addScanners(site.scanners)
        guard site.scanners.only == nil else { return }
        var list: [PlanQuantity] = []
        for (index, part) in site.scanners.parts.enumerated() {
            let reachedCount = points.count { $0.detectedByScanner[index] >= site.target.probability }
            let share = points.isEmpty ? 0 : Double(reachedCount) / Double(points.count)
            list.append(
                .object([
                    (.mixScanner, .word(part.scanner.name)), (.mixShare, .share(part.share)),
                    (.mixHoldingShare, .share(share)),
                ]))
            answer.show(
                "with \(part.scanner.name)", .share(share),
                remark: "of the places reach the target; \(NumberFormat.percent(part.share)) of the visitors")
        }
        answer.add(.scanners, .list(list))
    }

    /// The weakest places. Their distance from each other is at least a tenth of the floor's longer side.
    static func weakest(_ points: [SiteCoverage.Point]) -> [SiteCoverage.Point] {
        guard let bounds = FloorBounds(points.map(\.reception.position)) else { return [] }
        let leastDistance = max(bounds.width, bounds.height) / 10
        var spots: [SiteCoverage.Point] = []
        for point in points.sorted(by: {
            ($0.beaconsInTime ?? 0, $0.detectedShare) < ($1.beaconsInTime ?? 0, $1.detectedShare)
        }) {
            guard spots.count < weakSpotCount else { break }
            let place = point.reception.position
            if spots.allSatisfy({ $0.reception.position.distance(to: place) >= leastDistance }) { spots.append(point) }
        }
        return spots
    }

    fileprivate static func remark(_ point: SiteCoverage.Point, on site: Site) -> String {
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

    private func quantity(_ point: SiteCoverage.Point) -> PlanQuantity {
        .object(
            [
                (.spotX, .number(point.reception.position.x)), (.spotY, .number(point.reception.position.y)),
                (.spotBeaconsHeard, .number(point.reception.receivedBeacons)),
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
                (.pathLongestGap, .number(walk.longestGap)),
            ] + (site.scanners.only == nil ? [(.pathScanners, .list(scanners(of: walk)))] : []))
    }

    private func scanners(of walk: SiteWalk.Result) -> [PlanQuantity] {
        zip(site.scanners.parts, walk.seenAnyByScanner).map { part, seen in
            .object([(.pathScanner, .word(part.scanner.name)), (.pathScannerSeen, .share(seen))])
        }
    }

    private func show(_ walk: SiteWalk.Result, _ name: String, in answer: inout PlanAnswer) {
        let seen = NumberFormat.significant(walk.seen)
        answer.show(
            "path \(name)", .share(walk.seenAnyProbability),
            remark:
                "of the walks find a beacon, in \(NumberFormat.duration(walk.duration)); a walk finds "
                + "\(seen) \(seen == "1" ? "beacon" : "beacons") on average; the longest part without a beacon has "
                + "\(NumberFormat.significant(walk.longestGap)) m")
    }

    private func add(
        _ placement: SitePlacement, _ proposed: ProposedSite?, _ check: ProposalCheck?, in answer: inout PlanAnswer
    ) {
        answer.add(
            .proposal,
            .object([
                (.proposedBeacons, .count(placement.positions.count)),
                (.positions, .list(placement.positions.map { .list([.number($0.x), .number($0.y)]) })),
                (.kept, .count(placement.kept)), (.least, .count(placement.least)),
                (.proposalPlaces, .count(placement.places)),
                (.proposedHoldingShare, .share(placement.holdingShare)),
                (.weakestShare, .share(placement.weakestShare)), (.reached, .flag(placement.shortfall == nil)),
                (
                    .check,
                    check.map {
                        .object([
                            (.checkPlaces, .count($0.places)), (.checkHoldingShare, .share($0.holdingShare)),
                            (.checkWeakestShare, .share($0.weakestShare)), (.checkAdded, .count($0.added)),
                        ])
                    } ?? .nothing
                ),
            ]))
        let least =
            placement.shortfall == nil
            ? "at least \(placement.least) \(placement.least == 1 ? "is" : "are") needed\(site.mounts.isEmpty ? "" : " at the listed mounts")"
            : "no number of beacons reaches the target everywhere"
        answer.show(
            placement.kept > 0 ? "beacons to add" : "proposed beacons", .count(placement.positions.count),
            remark: "proposed; \(least)")
        if placement.kept > 0 { answer.show("beacons kept", .count(placement.kept), remark: "with the proposal") }
        // The check has more places, so its values are more reliable than those of the placement.
        let places = "\(check?.places ?? placement.places) places, with the proposal"
        answer.show(
            "found at the weakest place", .share(check?.weakestShare ?? placement.weakestShare),
            remark: "of the cases; the weakest of \(places)")
        answer.show(
            "target reached at", .share(check?.holdingShare ?? placement.holdingShare), remark: "of \(places)")
        show(proposed, in: &answer)
        if let count = proposed?.added, count > Self.listedBeacons {
            answer.note(
                "\(count - Self.listedBeacons) more proposed beacons are in the JSON output, on the page and in the files of "
                    + "--write-site and --write-fleet.")
        }
    }

    /// Adds the list of proposed beacons. The page lists all of them, the text only the first ``listedBeacons``.
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

    /// The largest number of proposed beacons that the text lists.
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
            .pathName, .pathDuration, .pathBeaconsSeen, .pathProbabilitySeen, .pathLongestGap, .pathScanners,
            .pathScanner, .pathScannerSeen, .proposal, .proposedBeacons, .positions,
            .kept, .least, .proposalPlaces, .proposedHoldingShare, .weakestShare, .reached, .check, .checkPlaces,
            .checkHoldingShare, .checkWeakestShare, .checkAdded,
        ] + keysOfSeveral + keysOfAssumptions
}

extension PlanKey {
    fileprivate static let siteName = PlanKey("site", "Name of the site.")
    fileprivate static let siteFleet = PlanKey(
        "fleet", "The fleet file that the site file refers to; absent if the site file refers to no fleet.")
    fileprivate static let siteBeacons = PlanKey("beacons", "Number of existing beacons.", label: "beacons")
    fileprivate static let places = PlanKey("places", "Number of computed places.", label: "places computed")
    fileprivate static let placeSpacing = PlanKey("placeSpacingM", "Distance between neighboring places, in m.")
    fileprivate static let holdingShare = PlanKey(
        "holdingShare", "Share of the places that reach the target, 0 to 1.", label: "target reached at")
    fileprivate static let meanBeaconsHeard = PlanKey(
        "meanBeaconsHeard", "Mean number of beacons that a receiver at a place receives.",
        label: "beacons received at a place")
    fileprivate static let lowestCollisionFree = PlanKey(
        "lowestCollisionFreeProbability",
        "Share of packets that do not collide at the worst place; null if no place was computed.",
        label: "collision-free at worst")
    fileprivate static let weakestSpots = PlanKey("weakestSpots", "The weakest places, the weakest first.")
    fileprivate static let spotX = PlanKey("weakestSpots[].x", "Metres east of the origin.")
    fileprivate static let spotY = PlanKey("weakestSpots[].y", "Metres north of the origin.")
    fileprivate static let spotBeaconsHeard = PlanKey(
        "weakestSpots[].beaconsHeard", "Mean number of beacons that a receiver at this place receives.")
    fileprivate static let spotDetectedShare = PlanKey(
        "weakestSpots[].detectedShare", "Share of cases in which a beacon is found in time, 0 to 1.")
    fileprivate static let spotDetection = PlanKey(
        "weakestSpots[].detectionS",
        "Time within which a beacon is found with the target's probability, in s; null if this probability is never "
            + "reached.")
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
    fileprivate static let pathLongestGap = PlanKey(
        "paths[].longestSilenceM", "Longest part of the path on which no beacon is found, in m.")
    fileprivate static let proposal = PlanKey("proposal", "With --propose: the proposed beacons.")
    fileprivate static let proposedBeacons = PlanKey("proposal.beacons", "Number of proposed beacons.")
    fileprivate static let positions = PlanKey(
        "proposal.positions", "Positions of the proposed beacons, each a list of metres east and metres north.")
    fileprivate static let kept = PlanKey("proposal.kept", "Number of existing beacons that are kept.")
    fileprivate static let least = PlanKey(
        "proposal.least", "Lower bound of the number of new beacons that reach the same share of places.")
    fileprivate static let proposedHoldingShare = PlanKey(
        "proposal.holdingShare", "Share of the computed places that reach the target with the proposal, 0 to 1.")
    fileprivate static let weakestShare = PlanKey(
        "proposal.weakestShare",
        "Share of cases in which a beacon is found in time at the weakest of the computed places, 0 to 1.")
    fileprivate static let reached = PlanKey("proposal.reached", "True if all computed places reach the target.")
    fileprivate static let proposalPlaces = PlanKey(
        "proposal.places", "Number of places for which the proposal was computed.")
    fileprivate static let check = PlanKey(
        "proposal.check",
        "The check of the proposal on a finer grid; null if nothing is proposed, or if there is no finer grid.")
    fileprivate static let checkPlaces = PlanKey("proposal.check.places", "Number of places of the finer grid.")
    fileprivate static let checkHoldingShare = PlanKey(
        "proposal.check.holdingShare", "Share of the places of the finer grid that reach the target, 0 to 1.")
    fileprivate static let checkWeakestShare = PlanKey(
        "proposal.check.weakestShare",
        "Share of cases in which a beacon is found in time at the weakest place of the finer grid, 0 to 1.")
    fileprivate static let checkAdded = PlanKey(
        "proposal.check.added",
        "Number of beacons that were added because places of the finer grid missed the target. They are the last "
            + "elements of proposal.positions."
    )
}

/// The coverage of a site as a drawing for the page.
private struct SitePicture {
    let site: Site
    let points: [SiteCoverage.Point]
    let spacing: Double
    /// The number of proposed beacons, which are the last beacons of the site.
    let proposed: Int
    let goal: PlanPageContent.FloorPlan.Goal?

    /// The largest number of beacons in the figure. With more beacons, phones could not open the page.
    private static let beaconLimit = 2000

    var floorPlan: PlanPageContent.FloorPlan {
        let existingCount = site.beacons.count - proposed
        let beacons = site.beacons.enumerated().prefix(Self.beaconLimit).map { index, beacon in
            PlanPageContent.FloorPlan.Beacon(
                beacon.name, at: point(beacon.position), isProposed: index >= existingCount)
        }
        let weakest = SiteQuestion.weakest(points)
        var floorPlan = PlanPageContent.FloorPlan(
            title: proposed > 0 ? "Coverage with the proposed beacons" : "Coverage of the floor",
            caption:
                "The share of cases in which \(site.target.ranked) is found within \(NumberFormat.duration(site.target.seconds)), at each "
                + "place\(proposed > 0 ? ", with the proposed beacons" : "").",
            valueName: "found in time", unit: "%", isHigherBetter: true, target: 100 * site.target.probability,
            spotSpacing: spacing, beacons: beacons,
            spots: points.map {
                .init(point($0.reception.position), $0.reception.best == nil ? nil : 100 * $0.detectedShare)
            },
            paths: site.paths.map { path in .init(path.name, path.walk.corners.map { point($0) }) },
            weakSpots: weakest.map {
                .init(
                    point($0.reception.position), 100 * $0.detectedShare, remark: SiteQuestion.remark($0, on: site))
            })
        floorPlan.goal = goal
        floorPlan.takeFloor(of: site, wallLimit: 5000)
        return floorPlan
    }

    private func point(_ position: FloorPosition) -> PlanPageContent.Point { .init(position.x, position.y) }
}
