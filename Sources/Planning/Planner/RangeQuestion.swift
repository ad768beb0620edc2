internal import Airtime
internal import BluetoothTypes
internal import Configuration

/// A question for the planner about spacing and range: beacons in range, levels and distances with each path-loss
/// model, mounting height, a body between beacon and receiver, and capture by distance.
public struct RangeQuestion: Sendable {
    /// The spacing of a square grid in m; nil to use the spacings of the usual rule.
    public var spacing: Double?
    /// The range of a beacon in m; nil to compute it from radio power, sensitivity and path loss.
    public var range: Double?
    /// The distance between beacon and receiver on the floor, in m.
    public var distance: Double?
    /// A level at the receiver in dBm.
    public var level: Double?
    /// The height of the beacons above the receiver, in m.
    public var height: Double?
    /// The loss of a body between beacon and receiver, in dB.
    public var body: Double?
    /// The distance of an interfering beacon on the floor, in m.
    public var interferer: Double?
    /// The ratio in dB from which a receiver of common silicon decodes the stronger of two packets.
    public var captureThreshold = CaptureModel.commonThresholdDecibels
    /// The path-loss model for all values except the table, which lists the values of all models.
    public var pathLoss = NamedPathLoss.usual
    public var radioPower = 0.0
    public var sensitivity = -90.0
    public var shadowing = 4.0

    public init() {}

    /// True if at least one value is given, so that there is something to answer.
    public var hasValues: Bool {
        [spacing, range, distance, level, height, body, interferer].contains { $0 != nil }
    }

    /// Returns the answer. Throws the errors of the models. Also throws if a spacing is given and the range is not
    /// finite.
    public func answer() throws(PlanError) -> PlanAnswer {
        let models = try NamedPathLoss.all(with: pathLoss)
        let results = try PlanError.asking { () throws(AirtimeError) in
            var results: [(name: String, result: ModelResult)] = []
            for model in models { results.append((model.name, try result(model))) }
            return results
        }
        let chosen = results.first { $0.name == pathLoss.name }?.result ?? results[0].result
        let grids = try grids()
        var answer = PlanAnswer(
            title: "Spacing and range of beacons", sentence: sentence(chosen, grids, results.map(\.result)))
        if let range = try rangeOfGrids() { answer.add(.range, .number(range.meters), remark: range.remark) }
        answer.add(.pathLoss, .word(pathLoss.name))
        for fact in chosen.facts(for: self) {
            answer.add(fact.key, fact.quantity, isInText: fact.isRequested, shown: fact.shown, remark: fact.remark)
        }
        add(grids, in: &answer)
        answer.add(
            .models,
            .list(
                results.map { name, result in
                    let facts = result.facts(for: self).map { ($0.key, $0.quantity) }
                    return .object([(.modelName, .word(name))] + facts)
                }))
        answer.pictures.terminal.append(.table(table(results), legend: ""))
        answer.pictures.page.tables.append(tableOfPage(results))
        stateRule(in: &answer)
        addNotes(to: &answer)
        return answer
    }

    // MARK: One model

    /// The values with one path-loss model; nil for values that the question does not request.
    fileprivate struct ModelResult {
        /// The range in m; infinite if the loss never exceeds the largest loss with which the receiver still receives
        /// the beacon.
        var range = 0.0
        var rangeBehindBody: Double?
        var floorRange: Double?
        var levelBelow: Double?
        var loss: Double?
        var level: Double?
        var received: Double?
        var distanceAtLevel: Double?
        var advantage: Double?
        var survival: Double?
        var farthestBySpecification: Double?
        var farthest: Double?
    }

    private func result(_ model: NamedPathLoss) throws(AirtimeError) -> ModelResult {
        let link = try RadioLink(
            radioPowerDBm: radioPower, sensitivityDBm: sensitivity, pathLoss: model.model,
            shadowingDecibels: shadowing)
        let bodyLoss = body ?? 0
        var result = ModelResult()
        result.range = try link.rangeMeters()
        let rangeBehindBody = try model.model.meters(atDecibels: radioPower - sensitivity - bodyLoss)
        if body != nil { result.rangeBehindBody = rangeBehindBody }
        if let height {
            result.floorRange = Self.onFloor(rangeBehindBody, height)
            result.levelBelow = try link.meanLevelDBm(atMeters: height, extraLossDecibels: bodyLoss)
        }
        if let distance {
            let meters = slant(distance)
            result.loss = try model.model.decibels(atMeters: meters) + bodyLoss
            result.level = try link.meanLevelDBm(atMeters: meters, extraLossDecibels: bodyLoss)
            result.received = try link.audibleProbability(atMeters: meters, extraLossDecibels: bodyLoss)
        }
        if let level {
            let meters = try model.model.meters(atDecibels: radioPower - level - bodyLoss)
            result.distanceAtLevel = Self.onFloor(meters, height ?? 0)
        }
        if let interferer {
            let loss = try model.model.decibels(atMeters: slant(interferer))
            if let distance {
                let advantage = loss - (try model.model.decibels(atMeters: slant(distance))) - bodyLoss
                result.advantage = advantage
                result.survival = try CaptureModel.survivalProbability(
                    advantageDecibels: advantage, thresholdDecibels: captureThreshold, shadowingDecibels: shadowing)
            }
            func farthest(_ threshold: Double) throws(AirtimeError) -> Double? {
                let meters = try model.model.meters(atDecibels: loss - bodyLoss - threshold)
                return Self.onFloor(min(meters, slant(interferer)), height ?? 0)
            }
            result.farthestBySpecification = try farthest(CaptureModel.specifiedThresholdDecibels)
            result.farthest = try farthest(captureThreshold)
        }
        return result
    }

    /// Returns the distance between the antennas in m, from their distance on the floor in m.
    private func slant(_ distance: Double) -> Double {
        let height = height ?? 0
        return (distance * distance + height * height).squareRoot()
    }

    /// Returns the distance on the floor between antennas that are `meters` apart and differ by `height` m in height; 0
    /// if the height is larger than `meters`.
    private static func onFloor(_ meters: Double, _ height: Double) -> Double {
        guard meters.isFinite else { return meters }
        return meters > height ? (meters * meters - height * height).squareRoot() : 0
    }

    // MARK: Grids

    fileprivate struct Grid {
        let spacing: Double
        let atBeacon: Int
        let atCenter: Int
        /// The mean number of beacons in range over all places: π·R²/spacing².
        let mean: Double
        /// The largest distance of any place from its nearest beacon, in m.
        let farthest: Double

        /// The smallest and the largest of ``atBeacon``, ``atCenter`` and ``mean``, as text. It says "about", because
        /// at some places a few more or fewer beacons are in range.
        var countText: String {
            let all = [atBeacon, atCenter, Int(mean.rounded())]
            let (low, high) = (all.min() ?? 0, all.max() ?? 0)
            return low == high ? "about \(low)" : "about \(low) to \(high)"
        }
    }

    /// Returns the range within which beacons on grids are counted; nil if neither a spacing nor a range is given.
    private func rangeOfGrids() throws(PlanError) -> PlannedRange? {
        if let range { return PlannedRange(meters: range) }
        guard spacing != nil else { return nil }
        return try PlannedRange(
            radioPower: radioPower, sensitivity: sensitivity, pathLoss: pathLoss, shadowing: shadowing)
    }

    private func grids() throws(PlanError) -> [Grid] {
        guard let radius = try rangeOfGrids()?.meters else { return [] }
        return try PlanError.asking { () throws(AirtimeError) in
            var grids: [Grid] = []
            for spacing in spacing.map({ [$0] }) ?? UsualRule.spacings {
                grids.append(
                    Grid(
                        spacing: spacing,
                        atBeacon: try Neighborhood.gridCount(radiusMeters: radius, spacingMeters: spacing),
                        atCenter: try Neighborhood.gridCount(
                            radiusMeters: radius, spacingMeters: spacing, from: .cellCenter),
                        mean: Double.pi * radius * radius / spacing / spacing,
                        farthest: slant(UsualRule.farthest(onGridOf: spacing))))
            }
            return grids
        }
    }

    // MARK: Text

    private func sentence(_ chosen: ModelResult, _ grids: [Grid], _ all: [ModelResult]) -> String {
        let behind = body.map { " behind a body that costs \(number($0)) dB" } ?? ""
        var sentences: [String] = []
        if let radius = (try? rangeOfGrids())?.meters {
            for grid in grids {
                sentences.append(
                    "A square grid of \(meters(grid.spacing)) has \(grid.countText) beacons within \(meters(radius)), "
                        + "and no place is more than \(meters(grid.farthest)) from a beacon.")
            }
        }
        if let distance, let level = chosen.level {
            let levels = all.compactMap(\.level)
            let width = (levels.max() ?? level) - (levels.min() ?? level)
            sentences.append(
                "At \(meters(distance))\(behind) the level is \(number(level)) dBm by \(pathLoss.name); the models differ by up to "
                    + "\(number(width)) dB.")
        }
        if let level, let distance = chosen.distanceAtLevel {
            sentences.append(
                "A level of \(number(level)) dBm\(behind) means a distance of \(Self.text(distance)) by \(pathLoss.name)."
            )
        }
        if let height, let floorRange = chosen.floorRange {
            let place = "\(meters(height)) above the receiver" + (body == nil ? "" : " and" + behind)
            sentences.append(
                "A beacon \(place) has a range of "
                    + "\(Self.text(floorRange)) on the floor by \(pathLoss.name).")
        }
        if let body, let range = chosen.rangeBehindBody {
            sentences.append(
                "A body that costs \(number(body)) dB shortens the range from \(Self.text(chosen.range)) to "
                    + "\(Self.text(range)) by \(pathLoss.name).")
        }
        if let interferer { sentences.append(capture(interferer, chosen, all)) }
        return sentences.joined(separator: " ")
    }

    private func capture(_ interferer: Double, _ chosen: ModelResult, _ all: [ModelResult]) -> String {
        let threshold = CaptureModel.specifiedThresholdDecibels
        guard let distance, chosen.advantage != nil else {
            return "A beacon survives the collision with a beacon at \(meters(interferer)) up to a distance of "
                + "\(Self.text(chosen.farthest)) with a common receiver, and of "
                + "\(Self.text(chosen.farthestBySpecification)) with any receiver, by \(pathLoss.name)."
        }
        let count = all.count { ($0.advantage ?? 0) >= threshold }
        let verdict =
            switch count {
            case all.count: "under each model"
            case 0: "under no model"
            default: "under some models and not under others"
            }
        return
            "A beacon at \(meters(distance)) survives the collision with a beacon at \(meters(interferer)) in any "
            + "receiver (\(number(threshold)) dB) \(verdict)."
    }

    private func add(_ grids: [Grid], in answer: inout PlanAnswer) {
        answer.add(
            .grids,
            .list(
                grids.map { grid in
                    .object([
                        (.gridSpacing, .number(grid.spacing)), (.gridAtBeacon, .count(grid.atBeacon)),
                        (.gridAtCenter, .count(grid.atCenter)), (.gridMean, .number(grid.mean)),
                        (.gridFarthest, .number(grid.farthest)),
                    ])
                }))
        for grid in grids {
            answer.show(
                "grid of \(meters(grid.spacing))", .word(grid.countText),
                remark: "beacons in range; a place is at most \(meters(grid.farthest)) from a beacon")
        }
        guard !grids.isEmpty else { return }
        answer.note(
            "The beacons of a grid are counted in range of a receiver such as a phone: at a beacon, in the middle between "
                + "four beacons, and on average over all places.")
    }

    /// Returns a row for each model, with a column for each value that the question requests.
    private func rows(_ results: [(name: String, result: ModelResult)]) -> (header: [String], rows: [[String]]) {
        let facts = results.map { $0.result.facts(for: self).filter(\.isRequested) }
        let header = (facts.first ?? []).map { fact in
            fact.heading + (fact.key.unit.isEmpty ? "" : " (\(fact.key.unit))")
        }
        let rows = zip(results, facts).map { result, facts in
            [result.name] + facts.map { $0.shown ?? $0.quantity.text }
        }
        return (["model"] + header, rows)
    }

    private func table(_ results: [(name: String, result: ModelResult)]) -> Table {
        let (header, rows) = rows(results)
        var table = Table(header, alignment: [.left] + header.dropFirst().map { _ in .right })
        for row in rows { table.add(row.map(TerminalText.line)) }
        return table
    }

    private func tableOfPage(_ results: [(name: String, result: ModelResult)]) -> PlanPageContent.DataTable {
        let (header, rows) = rows(results)
        return .init(caption: "Each path-loss model", header: header, rows: rows)
    }

    private func stateRule(in answer: inout PlanAnswer) {
        let grids = UsualRule.distances.map { UsualRule.grid(within: $0) }
        let farthest = UsualRule.spacings.map { UsualRule.farthest(onGridOf: $0) }
        func list(_ values: [Double]) -> PlanQuantity { .list(values.map { .number($0) }) }
        answer.add(
            .usualRule,
            .object([
                (.ruleSpacings, list(UsualRule.spacings)), (.ruleFarthest, list(farthest)),
                (.ruleDistances, list(UsualRule.distances)), (.ruleGrids, list(grids)),
                (.ruleSource, .word(UsualRule.source)),
            ]))
        answer.note(
            "The usual rule: \"a beacon every 10 to 15 m, and one within 3 to 4 m of any place\" "
                + "(\(UsualRule.source)). On square grids the two parts of the rule contradict each other: with a "
                + "beacon every 10 to 15 m, the farthest places are \(number(farthest[0])) to \(number(farthest[1])) m "
                + "from a beacon; a beacon within 3 to 4 m of any place needs a grid of \(number(grids[0])) to "
                + "\(number(grids[1])) m. pharos plan site shows which spacing your floor needs."
        )
    }

    private func addNotes(to answer: inout PlanAnswer) {
        if range == 100, spacing.map({ UsualRule.spacings.contains($0) }) ?? true {
            answer.note(
                "A widely read thesis counts 250 beacons within 100 m on a grid of 10 m, and 130 on a grid of 15 m. "
                    + "Both numbers are too small.")
        }
        if body != nil {
            answer.note(
                "A thesis measured a loss of 15 dB with a body 5 cm from the receiver, and of 6 dB with a body 20 cm "
                    + "away. Measure the loss of your own body with pharos calibrate --turn.")
        }
        if interferer != nil {
            answer.note(
                "The specification demands that a receiver decodes a packet that is 21 dB stronger than another packet "
                    + "on its channel (Core Specification 5.4, Vol 6 Part A 4.2); common receivers need 6 to 14 dB. "
                    + "The share of survived collisions takes the shadowing of both links into account.")
        }
        if distance != nil || level != nil || interferer != nil {
            answer.note("Levels are means over places with the same distance. Walls are not included.")
        }
    }

    private func meters(_ value: Double) -> String { NumberFormat.significant(value) + " m" }
    private func number(_ value: Double) -> String { NumberFormat.significant(value) }

    fileprivate static func text(_ meters: Double?) -> String {
        meters.map { $0.isFinite ? NumberFormat.significant($0) + " m" : "any distance" } ?? NumberFormat.none
    }

    /// The keys of the answer in JSON.
    static let keys: [PlanKey] = {
        let facts = ModelResult().facts(for: RangeQuestion()).map(\.key)
        return [.range, .pathLoss] + facts + [
            .grids, .gridSpacing, .gridAtBeacon, .gridAtCenter, .gridMean, .gridFarthest, .models, .modelName,
        ] + facts.map { $0.within("models[]") } + [
            .usualRule, .ruleSpacings, .ruleFarthest, .ruleDistances, .ruleGrids, .ruleSource,
        ]
    }()
}

extension RangeQuestion.ModelResult {
    /// A value with its key and its heading in the table of models.
    fileprivate struct Fact {
        let key: PlanKey
        let heading: String
        let quantity: PlanQuantity
        let isRequested: Bool
        var remark = ""
        /// The text that replaces the value, such as `any` for an infinite distance; nil to show the value.
        var shown: String?

        static func distance(
            _ key: PlanKey, _ heading: String, _ meters: Double?, isRequested: Bool, remark: String = ""
        ) -> Fact {
            let isInfinite = meters.map { !$0.isFinite } ?? false
            return Fact(
                key: key, heading: heading, quantity: .number(isInfinite ? nil : meters), isRequested: isRequested,
                remark: remark, shown: isInfinite ? "any" : nil)
        }
    }

    /// Returns all values. Values that the question requests have `isRequested` set, and are shown in the text.
    fileprivate func facts(for question: RangeQuestion) -> [Fact] {
        let specified = advantage.map { $0 >= CaptureModel.specifiedThresholdDecibels }
        let common = advantage.map { $0 >= question.captureThreshold }
        func flag(_ value: Bool?) -> PlanQuantity { value.map { .flag($0) } ?? .nothing }
        let threshold = NumberFormat.significant(question.captureThreshold)
        let body = question.body.map { ", with a body of \(NumberFormat.significant($0)) dB in between" } ?? ""
        return [
            .distance(.linkRange, "range", range, isRequested: true, remark: "half of the beacons are received there"),
            .distance(
                .rangeBehindBody, "behind a body", rangeBehindBody, isRequested: question.body != nil,
                remark: "half of the beacons are received there\(body)"),
            .distance(
                .floorRange, "on the floor", floorRange, isRequested: question.height != nil,
                remark: "from the point below the beacon\(body)"),
            Fact(
                key: .levelBelow, heading: "level below", quantity: .number(levelBelow),
                isRequested: question.height != nil,
                remark: "directly below the beacon\(body)"),
            Fact(
                key: .loss, heading: "loss", quantity: .number(loss), isRequested: question.distance != nil,
                remark: String(body.dropFirst(2))),
            Fact(
                key: .level, heading: "level", quantity: .number(level), isRequested: question.distance != nil,
                remark: String(body.dropFirst(2))),
            Fact(
                key: .received, heading: "received", quantity: .share(received), isRequested: question.distance != nil,
                remark: "of the beacons at this distance are above the sensitivity"),
            .distance(
                .distanceAtLevel, "distance at level", distanceAtLevel, isRequested: question.level != nil,
                remark: "on the floor\(body)"),
            Fact(
                key: .advantage, heading: "advantage", quantity: .number(advantage), isRequested: advantage != nil,
                remark: "over the interferer", shown: advantage.map { NumberFormat.significant($0, 4) }),
            Fact(
                key: .survivesSpecified, heading: "survives 21 dB", quantity: flag(specified),
                isRequested: advantage != nil,
                remark: "at 21 dB, which the specification demands"),
            Fact(
                key: .survivesCommon, heading: "survives \(threshold) dB", quantity: flag(common),
                isRequested: advantage != nil, remark: "in a receiver that needs \(threshold) dB"),
            Fact(
                key: .survival, heading: "collisions survived", quantity: .share(survival),
                isRequested: survival != nil,
                remark: "with \(threshold) dB and shadowing"),
            .distance(
                .farthestSpecified, "up to, 21 dB", farthestBySpecification, isRequested: question.interferer != nil,
                remark: "survives the interferer at 21 dB"),
            .distance(
                .farthestCommon, "up to, \(threshold) dB", farthest, isRequested: question.interferer != nil,
                remark: "survives the interferer at \(threshold) dB"),
        ]
    }
}

/// The rule about the spacing of beacons that installers' guides repeat.
private enum UsualRule {
    static let spacings = [10.0, 15]
    static let distances = [3.0, 4]
    static let source =
        "Esri's guide to ArcGIS Indoor Positioning: at most 15 m apart; nerdian.ca, on Aruba's beacons: within 3 to 4 m of "
        + "a beacon anywhere; no source is known for the 10 m"

    /// Returns the distance in m from a beacon of a square grid to the farthest place, which is the middle of a cell.
    static func farthest(onGridOf spacing: Double) -> Double { spacing / 2.0.squareRoot() }

    /// Returns the spacing in m of the widest square grid on which every place has a beacon within this distance.
    static func grid(within distance: Double) -> Double { distance * 2.0.squareRoot() }
}

extension NamedPathLoss {
    /// Returns every kind of model with its usual numbers. If a model in this list equals `chosen`, `chosen` replaces
    /// it, because the names may differ. Otherwise `chosen` is inserted as the first model.
    fileprivate static func all(with chosen: NamedPathLoss) throws(PlanError) -> [NamedPathLoss] {
        var all = [usual]
        for name in ["itu:30,0", "heydon", "thesis"] { all.append(try NamedPathLoss(name)) }
        if let index = all.firstIndex(where: { $0.model == chosen.model }) {
            all[index] = chosen
        } else {
            all.insert(chosen, at: 0)
        }
        return all
    }
}

extension PlanKey {
    fileprivate static let pathLoss = PlanKey(
        "pathLoss", "Path-loss model of all values except those in models.", label: "path loss")
    fileprivate static let linkRange = PlanKey(
        "linkRangeM",
        "Distance in m at which half of the beacons are received, by power, sensitivity and path loss; null if infinite.",
        label: "range of the link", unit: "m")
    fileprivate static let rangeBehindBody = PlanKey(
        "rangeBehindBodyM",
        "With --body-db: distance as in linkRangeM, with a body in between, in m; null if infinite, or without "
            + "--body-db.",
        label: "range behind a body", unit: "m")
    fileprivate static let floorRange = PlanKey(
        "floorRangeM",
        "With --height-m: the range on the floor from the point below the beacon, in m; null if infinite, or without "
            + "--height-m.",
        label: "range on the floor", unit: "m")
    fileprivate static let levelBelow = PlanKey(
        "levelBelowDbm", "With --height-m: mean level directly below the beacon, in dBm; null otherwise.",
        label: "level below the beacon", unit: "dBm")
    fileprivate static let loss = PlanKey(
        "lossDb", "With --distance-m: path loss in dB, including a body; null otherwise.", label: "loss", unit: "dB")
    fileprivate static let level = PlanKey(
        "levelDbm", "With --distance-m: mean level in dBm; null otherwise.", label: "level", unit: "dBm")
    fileprivate static let received = PlanKey(
        "receivedProbability",
        "With --distance-m: share of beacons at this distance that are received, 0 to 1; null otherwise.",
        label: "received")
    fileprivate static let distanceAtLevel = PlanKey(
        "distanceAtLevelM",
        "With --level-dbm: distance on the floor with this mean level, in m; 0 if no distance has this level, null if "
            + "infinite, or without --level-dbm.", label: "distance at that level", unit: "m")
    fileprivate static let advantage = PlanKey(
        "advantageDb",
        "With --distance-m and --interferer-m: mean level above that of the interferer, in dB; null otherwise.",
        label: "advantage", unit: "dB")
    fileprivate static let survivesSpecified = PlanKey(
        "survivesSpecification",
        "With --distance-m and --interferer-m: true if the advantage reaches the 21 dB that the specification demands of "
            + "receivers; null otherwise.",
        label: "survives in any receiver")
    fileprivate static let survivesCommon = PlanKey(
        "survivesCapture",
        "With --distance-m and --interferer-m: true if the advantage reaches --capture-db; null otherwise.",
        label: "survives with capture")
    fileprivate static let survival = PlanKey(
        "survivalProbability",
        "With --distance-m and --interferer-m: share of the collisions that the beacon survives with --capture-db and "
            + "shadowing, 0 to 1; null otherwise.",
        label: "collisions survived")
    fileprivate static let farthestSpecified = PlanKey(
        "farthestBySpecificationM",
        "With --interferer-m: distance up to which a beacon's level is 21 dB above that of the interferer, in m; null "
            + "otherwise.",
        label: "farthest in any receiver", unit: "m")
    fileprivate static let farthestCommon = PlanKey(
        "farthestByCaptureM",
        "With --interferer-m: distance up to which a beacon's level is --capture-db above that of the interferer, in "
            + "m; null otherwise.",
        label: "farthest with capture", unit: "m")
    fileprivate static let grids = PlanKey(
        "grids", "With --spacing-m or --range-m: square grids; without --spacing-m, the grids of the usual rule.")
    fileprivate static let gridSpacing = PlanKey("grids[].spacingM", "Spacing in m.")
    fileprivate static let gridAtBeacon = PlanKey(
        "grids[].beaconsAtBeacon", "Number of beacons in range of a receiver at a beacon, including this beacon.")
    fileprivate static let gridAtCenter = PlanKey(
        "grids[].beaconsAtCellCenter", "Number of beacons in range of a receiver in the middle between four beacons.")
    fileprivate static let gridMean = PlanKey("grids[].meanBeacons", "Mean number of beacons in range over all places.")
    fileprivate static let gridFarthest = PlanKey(
        "grids[].farthestM", "Largest distance of a place from its nearest beacon, in m.")
    fileprivate static let models = PlanKey(
        "models", "The results under each path-loss model, with the same keys as the answer itself.")
    fileprivate static let modelName = PlanKey("models[].model", "The model, as for --path-loss.")
    fileprivate static let usualRule = PlanKey(
        "usualRule", "The usual rule in guides for installers, and the grids that follow from this rule.")
    fileprivate static let ruleSpacings = PlanKey("usualRule.spacingsM", "Spacings in the rule, in m.")
    fileprivate static let ruleFarthest = PlanKey(
        "usualRule.farthestM", "Distance of the farthest place from a beacon on square grids with these spacings, in m."
    )
    fileprivate static let ruleDistances = PlanKey(
        "usualRule.withinM", "Largest distances from any place to its nearest beacon in the rule, in m.")
    fileprivate static let ruleGrids = PlanKey(
        "usualRule.gridSpacingsM", "Spacings of the square grids that these distances require, in m.")
    fileprivate static let ruleSource = PlanKey("usualRule.source", "The sources of the rule.")
}
