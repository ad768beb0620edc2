public import Configuration

/// The result of making a map: the algorithms that were tried, the chosen algorithm with the reason, and the errors.
public struct FitReport: Sendable {
    private let map: SignalMap
    private let trials: [AlgorithmChoice.Trial]
    private let output: String
    private var sessions = 0
    private var stays = 0
    private var vectors = 0

    /// Creates the report of a map that was made from a survey.
    ///
    /// - Parameters:
    ///   - survey: The survey from which the map was made.
    ///   - output: The path of the map file.
    public init(_ choice: AlgorithmChoice, _ survey: Survey, output: String) {
        map = choice.map
        trials = choice.trials
        self.output = output
        let usedStays = survey.stays.filter { !$0.isCancelled && !$0.vectors.isEmpty }
        stays = usedStays.count
        vectors = usedStays.reduce(0) { $0 + $1.vectors.count }
        sessions = Set(usedStays.map { survey.session(of: $0) ?? "" }).count
    }

    /// Creates the report of a map that was made from a site file.
    ///
    /// - Parameter output: The path of the map file.
    public init(siteMap: SignalMap, output: String) {
        map = siteMap
        trials = []
        self.output = output
    }

    /// The report as text.
    public var text: String {
        guard map.modelSite == nil else {
            return "\(MapText.count(map.beacons.count, "beacon")) of a site file, no survey\n\n"
                + "chose \(map.settings.algorithm.rawValue): the levels are computed from path loss and walls; without a "
                + "survey, the error is unknown\n"
        }
        var text =
            "\(MapText.count(map.places.count, "place")), \(MapText.count(map.beacons.count, "beacon")), "
            + "\(vectors) s of \(MapText.count(stays, "stay")) in \(MapText.count(sessions, "session"))\n\n"
        if !trials.isEmpty {
            var table = Table(
                ["algorithm", "mean m", "95 % interval", "75 % m", "95 % m", "exact %", "answered %", "worse by m"],
                alignment: [.left, .right, .right, .right, .right, .right, .right, .right])
            for trial in trials { table.add(row(trial)) }
            text += table.text + "\n"
        }
        for sentence in sentences { text += sentence + "\n" }
        return text
    }

    private func row(_ trial: AlgorithmChoice.Trial) -> [String] {
        let evaluation = trial.evaluation
        return [
            evaluation.algorithm.rawValue, MapText.metres(evaluation.mean), MapText.interval(evaluation.meanInterval),
            MapText.metres(evaluation.percentile75), MapText.metres(evaluation.percentile95),
            MapText.percent(evaluation.exact), MapText.percent(evaluation.availability),
            trial.behind.map { "\(MapText.metres($0.mean)) (\(MapText.interval([$0.low, $0.high])))" } ?? "",
        ]
    }

    /// The chosen algorithm, its errors, and advice, one sentence each.
    var sentences: [String] {
        [chosen] + expectedErrors + worst
            + MapAdvice(map).improvements.map {
                "one more \($0.kind.rawValue) would help at \(MapText.name(map.places[$0.place])): \($0.reason)"
            }
    }

    /// The chosen algorithm and the reason.
    private var chosen: String {
        let start = "chose \(map.settings.algorithm.rawValue)"
        guard let best = trials.first else {
            return "\(start): no part of the survey can be left out, so the error is unknown; record more visits"
        }
        guard trials.count > 1 else { return "\(start), as requested" }
        guard let second = trials.dropFirst().first(where: { $0.behind != nil }), let behind = second.behind else {
            let share = MapText.percent(best.evaluation.exact)
            return "\(start): it finds the right place in \(share) % of the seconds left out"
        }
        return "\(start): its mean error is \(MapText.metres(behind.mean)) m "
            + "(\(MapText.interval([behind.low, behind.high]))) smaller than that of "
            + second.settings.algorithm.rawValue
            + (behind.isCertain && behind.mean > 0 ? "" : ", which may be chance")
    }

    private static func leftOut(_ leaving: Evaluation.LeftOut) -> String {
        leaving == .half ? "halves of stays" : "\(leaving.rawValue)s"
    }

    /// The expected errors, and sentences about the limits of their validity.
    private var expectedErrors: [String] {
        guard let evaluation = map.evaluation else { return [] }
        var sentences: [String] = []
        if let mean = evaluation.mean {
            let interval =
                evaluation.meanInterval.isEmpty
                ? "" : " (95 % interval \(MapText.interval(evaluation.meanInterval)))"
            sentences.append(
                "expected error, by leaving \(Self.leftOut(evaluation.leaving)) out: \(MapText.metres(mean)) m mean\(interval), "
                    + "\(MapText.metres(evaluation.percentile75)) m 75th percentile, "
                    + "\(MapText.metres(evaluation.percentile95)) m 95th percentile")
        }
        if let coverage = evaluation.coverage95 {
            sentences.append(
                "the 95 % region contains the true position in \(MapText.percent(coverage)) % of the seconds left out")
        }
        if sessions < 2 {
            sentences.append(
                "one session only: expect larger errors on another day; the regions already allow for the usual changes "
                    + "of levels from day to day; to measure these changes, survey on a second day")
        }
        return sentences
    }

    /// The places with the largest errors, and the places that are mistaken for others.
    private var worst: [String] {
        guard let evaluation = map.evaluation else { return [] }
        let places = evaluation.byPlace.enumerated().filter { $0.element.meanError != nil }
            .sorted { ($0.element.meanError ?? 0, $1.offset) > ($1.element.meanError ?? 0, $0.offset) }.prefix(3)
        let worstPlaces = places.map { "\(MapText.line($0.element.place)) (\(MapText.metres($0.element.meanError)) m)" }
        var sentences = worstPlaces.isEmpty ? [] : ["worst places: " + worstPlaces.joined(separator: ", ")]
        let mistakes = evaluation.confusion.prefix(3).filter { $0.share >= 0.2 }.map {
            "\(MapText.line($0.place)) for \(MapText.line($0.mistakenFor)) (\(MapText.percent($0.share)) %)"
        }
        if !mistakes.isEmpty { sentences.append("mistaken for others: " + mistakes.joined(separator: ", ")) }
        return sentences
    }

    /// The report as one JSON object.
    public var json: JSONValue {
        let advice = map.modelSite == nil ? MapAdvice(map).improvements : []
        return .record([
            ("map", .string(output)), ("places", .integer(map.places.count)),
            ("beacons", .integer(map.beacons.count)), ("vectors", .integer(vectors)), ("stays", .integer(stays)),
            ("sessions", .integer(sessions)), ("algorithm", map.settings.json),
            ("evaluation", .optional(map.evaluation, \.json)), ("trials", .array(trials.map(\.json))),
            (
                "advice",
                .array(
                    advice.map {
                        .record([
                            ("kind", .string($0.kind.rawValue)), ("place", .string(map.places[$0.place].name)),
                            ("reason", .string($0.reason)),
                        ])
                    })
            ),
            ("notices", .array(map.notices.map(JSONValue.string))),
        ])
    }
}

extension AlgorithmChoice.Trial {
    fileprivate var json: JSONValue {
        let behind = JSONValue.optional(behind) {
            .record([
                ("mean", .rounded($0.mean)), ("low", .rounded($0.low)), ("high", .rounded($0.high)),
                ("certain", .boolean($0.isCertain)),
            ])
        }
        return .record([
            ("algorithm", .string(settings.algorithm.rawValue)), ("evaluation", evaluation.json), ("behindM", behind),
        ])
    }
}

/// The result of updating a map: which data was kept, replaced and added.
public struct UpdateReport: Sendable {
    private let changes: [MapUpdate.Change]
    private let fit: FitReport

    /// Creates the report of an update.
    ///
    /// - Parameter fit: The report of the new map.
    public init(_ update: MapUpdate, _ fit: FitReport) {
        changes = update.changes
        self.fit = fit
    }

    /// One line for each kind of change, and the report of the new map.
    public var text: String {
        let kinds: [(MapUpdate.Kind, String)] = [
            (.placeKept, "kept"), (.placeReplaced, "replaced"), (.placeNew, "new"),
            (.beaconMoved, "moved, or changed in power; old readings left out"),
            (.beaconGone, "no longer received; left out"), (.beaconNew, "new"),
        ]
        var text = ""
        for (kind, effect) in kinds {
            let ofKind = changes.filter { $0.kind == kind }
            guard !ofKind.isEmpty else { continue }
            let word = kind.rawValue.prefix { $0 != " " }
            let names = ofKind.prefix(12).map { change in
                MapText.key(change.subject)
                    + (change.difference.map { " (\(Int($0.rounded())) dB)" } ?? "")
            }
            let omission = ofKind.count > names.count ? " and \(ofKind.count - names.count) more" : ""
            text +=
                "\(MapText.count(ofKind.count, String(word))) \(effect): \(names.joined(separator: ", "))\(omission)\n"
        }
        return text + "\n" + fit.text
    }

    /// The report as one JSON object.
    public var json: JSONValue {
        let changes = changes.map {
            JSONValue.record([
                ("kind", .string($0.kind.rawValue)), ("subject", .string($0.subject)),
                ("differenceDb", .rounded($0.difference)),
            ])
        }
        return .record([("changes", .array(changes)), ("fit", fit.json)])
    }
}
